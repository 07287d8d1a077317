/*
 * circuit/gadget/sha256_rows.c - SHA-256's compression as rows, and the plan of its values
 *
 * Additions do not enforce their equation themselves: equations are packed, many bits in one row, until the field is full. A full
 * row is therefore written when the next addition finds no room, after that addition's own bits.
 *
 * Source: spec/filecoin-circuits.md sections 4 and 5
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit/gadget/sha256.h"

#include "base/hash.h"

#define ONE 0u       /* wire of the constant */
#define CAPACITY 254 /* bits that one row can compare */
#define MAX_OPERANDS 10

/* lowest bit first */
typedef struct word {
    boolean b[32];
} word;

typedef struct sum {
    word operand[MAX_OPERANDS];
    unsigned n;
} sum;

typedef struct context {
    gadget g;
    sha256_step *step; /* the next one to record */
    /* equations not yet written: both sides, and the bits that they take */
    r1cs_lc *left, *right;
    unsigned used;
    fr power[CAPACITY]; /* of two */
} context;

/* ---- words ---- */

static word word_constant(uint32_t value)
{
    word w;

    for (unsigned i = 0; i < 32; i++) w.b[i] = boolean_constant((value >> i & 1) != 0);
    return w;
}

static word word_rotr(word w, unsigned k)
{
    word r;

    for (unsigned i = 0; i < 32; i++) r.b[i] = w.b[(i + k) % 32];
    return r;
}

static word word_shr(word w, unsigned k)
{
    word r;

    for (unsigned i = 0; i < 32; i++) r.b[i] = i + k < 32 ? w.b[i + k] : boolean_constant(false);
    return r;
}

/* Notes what making bit i allocated, bit i's variables being `at` and, for a majority, the one after. */
static void record(context *x, sha256_step *s, unsigned i, unsigned at, uint32_t before,
                   boolean result)
{
    uint32_t n = r1cs_builder_n_local(x->g.b) - before;

    if (n == 0) return;
    s->mask |= ((UINT64_C(1) << n) - 1) << at;
    s->n += n;
    if (boolean_is_negated(result)) s->negated |= UINT32_C(1) << i;
}

static word word_xor(context *x, word a, word b)
{
    sha256_step s = {0};
    word r;

    for (unsigned i = 0; i < 32; i++) {
        uint32_t before = r1cs_builder_n_local(x->g.b);

        r.b[i] = boolean_xor(&x->g, a.b[i], b.b[i]);
        record(x, &s, i, i, before, r.b[i]);
    }
    *x->step++ = s;
    return r;
}

static word word_ch(context *x, word a, word b, word c)
{
    sha256_step s = {0};
    word r;

    for (unsigned i = 0; i < 32; i++) {
        uint32_t before = r1cs_builder_n_local(x->g.b);

        r.b[i] = boolean_ch(&x->g, a.b[i], b.b[i], c.b[i]);
        record(x, &s, i, i, before, r.b[i]);
    }
    *x->step++ = s;
    return r;
}

static word word_maj(context *x, word a, word b, word c)
{
    sha256_step s = {0};
    word r;

    for (unsigned i = 0; i < 32; i++) {
        uint32_t before = r1cs_builder_n_local(x->g.b);

        r.b[i] = boolean_maj(&x->g, a.b[i], b.b[i], c.b[i]);
        record(x, &s, i, 2 * i, before, r.b[i]);
    }
    *x->step++ = s;
    return r;
}

/* ---- sums ---- */

static sum sum_of(word w)
{
    sum s = {.n = 1};

    s.operand[0] = w;
    return s;
}

static sum sum_plus(sum s, word w)
{
    s.operand[s.n++] = w;
    return s;
}

static void flush(context *x)
{
    if (x->used > 0) gadget_row(&x->g, x->left, r1cs_lc_wire(x->g.b, ONE), x->right);
    x->left = r1cs_lc_new(x->g.b);
    x->right = r1cs_lc_new(x->g.b);
    x->used = 0;
}

/* lc += 2^from * the number of n bits */
static void add_shifted(context *x, r1cs_lc *lc, unsigned from, const boolean *bits, unsigned n)
{
    for (unsigned i = 0; i < n; i++) boolean_add_to(&x->g, lc, bits[i], &x->power[from + i]);
}

static bool is_constant(const sum *s, uint32_t *value)
{
    *value = 0;
    for (unsigned k = 0; k < s->n; k++) {
        for (unsigned i = 0; i < 32; i++) {
            boolean b = s->operand[k].b[i];

            if (!boolean_is_constant(b)) return false;
            if (!boolean_is_negated(b)) *value += UINT32_C(1) << i;
        }
    }
    return true;
}

static word sum_end(context *x, sum s)
{
    unsigned width = u64_bits(s.n * (uint64_t)UINT32_MAX);
    boolean bits[36];
    uint32_t value;
    word r;

    if (is_constant(&s, &value)) {
        *x->step++ = (sha256_step){0};
        return word_constant(value);
    }
    for (unsigned i = 0; i < width; i++) bits[i] = boolean_is(bit_alloc(&x->g));
    if (x->used + width >= CAPACITY) flush(x);
    for (unsigned k = 0; k < s.n; k++) add_shifted(x, x->left, x->used, s.operand[k].b, 32);
    add_shifted(x, x->right, x->used, bits, width);
    x->used += width;
    *x->step++ = (sha256_step){.mask = (UINT64_C(1) << width) - 1, .n = width};
    for (unsigned i = 0; i < 32; i++) r.b[i] = bits[i];
    return r;
}

#include "circuit/gadget/sha256_tmpl.h"

/* ---- entry points ---- */

unsigned sha256_digest_at(unsigned k)
{
    unsigned byte = k / 8;

    return byte / 4 * 32 + 8 * (3 - byte % 4) + k % 8;
}

sha256_hash sha256_initial_hash(void)
{
    sha256_hash h;

    for (unsigned i = 0; i < 256; i++)
        h.bit[i] = boolean_constant((sha256_initial[i / 32] >> i % 32 & 1) != 0);
    return h;
}

static context context_of(const gadget *g, sha256_plan *plan)
{
    context x = {.g = *g, .step = plan->step};

    x.power[0] = g->cv->fr_one;
    for (unsigned i = 1; i < CAPACITY; i++)
        g->cv->fr_add(&x.power[i], &x.power[i - 1], &x.power[i - 1]);
    flush(&x);
    return x;
}

static void compress_words(context *x, word h[8], const boolean block[512])
{
    word w[64];

    for (unsigned k = 0; k < 512; k++) {
        unsigned at = sha256_digest_at(k);

        w[at / 32].b[at % 32] = block[k];
    }
    schedule(x, w);
    compress(x, h, w);
}

void sha256_compress_rows(const gadget *g, sha256_plan *plan, sha256_hash *h,
                          const boolean block[512])
{
    context x = context_of(g, plan);
    word words[8];

    for (unsigned i = 0; i < 256; i++) words[i / 32].b[i % 32] = h->bit[i];
    compress_words(&x, words, block);
    flush(&x);
    r1cs_lc_free(g->b, x.left);
    r1cs_lc_free(g->b, x.right);
    VERIFY(x.step == plan->step + SHA256_STEPS);
    for (unsigned i = 0; i < 256; i++) h->bit[i] = words[i / 32].b[i % 32];
}
