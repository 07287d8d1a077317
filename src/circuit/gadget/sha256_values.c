/*
 * circuit/gadget/sha256_values.c - the values of a compression's variables: a plain run that writes down what it computes
 *
 * Source: FIPS 180-4; the plan is sha256_rows.c's
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/bytes.h"
#include "base/hash.h"
#include "circuit/gadget/sha256.h"

typedef uint32_t word;
typedef uint64_t sum;

typedef struct context {
    const sha256_step *step; /* the next one */
    bit_writer out;
} context;

/* Appends the bits of value under the step's mask. Masks that are not whole have few gaps: constants come in bytes. */
static void put_masked(context *x, uint64_t value, uint64_t mask)
{
    while (mask != 0) {
        unsigned at = u64_ctz(mask), n;

        mask >>= at;
        value >>= at;
        n = mask == UINT64_MAX ? 64 : u64_ctz(~mask);
        bit_writer_put(&x->out, n == 64 ? value : value & ((UINT64_C(1) << n) - 1), n);
        if (n == 64) return;
        mask >>= n;
        value >>= n;
    }
}

U128_INLINE void put(context *x, uint64_t value)
{
    const sha256_step *s = x->step++;

    if (U128_LIKELY((s->mask & (s->mask + 1)) == 0))
        bit_writer_put(&x->out, value & s->mask, s->n);
    else
        put_masked(x, value, s->mask);
}

U128_INLINE word word_constant(uint32_t value)
{
    return value;
}

U128_INLINE word word_rotr(word w, unsigned k)
{
    return w >> k | w << (32 - k);
}

U128_INLINE word word_shr(word w, unsigned k)
{
    return w >> k;
}

U128_INLINE word word_xor(context *x, word a, word b)
{
    word r = a ^ b;

    put(x, r ^ x->step->negated);
    return r;
}

U128_INLINE word word_ch(context *x, word a, word b, word c)
{
    word r = c ^ (a & (b ^ c));

    put(x, r ^ x->step->negated);
    return r;
}

/* Bit i goes to bit 2 i. */
U128_INLINE uint64_t spread(uint64_t v)
{
    v = (v | v << 16) & UINT64_C(0x0000ffff0000ffff);
    v = (v | v << 8) & UINT64_C(0x00ff00ff00ff00ff);
    v = (v | v << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    v = (v | v << 2) & UINT64_C(0x3333333333333333);
    return (v | v << 1) & UINT64_C(0x5555555555555555);
}

U128_INLINE word word_maj(context *x, word a, word b, word c)
{
    word both = b & c, r = both | (a & (b | c));

    put(x, spread(r ^ x->step->negated) | spread(both) << 1);
    return r;
}

U128_INLINE sum sum_of(word w)
{
    return w;
}

U128_INLINE sum sum_plus(sum s, word w)
{
    return s + w;
}

U128_INLINE word sum_end(context *x, sum s)
{
    put(x, s);
    return (word)s;
}

#include "circuit/gadget/sha256_tmpl.h"

void sha256_compress_values(const sha256_plan *plan, bit_writer *out, uint32_t h[8],
                            const uint8_t block[64])
{
    context x = {.step = plan->step, .out = *out};
    word w[64];

    for (size_t t = 0; t < 16; t++) w[t] = load_u32be(block + 4 * t);
    schedule(&x, w);
    compress(&x, h, w);
    VERIFY(x.step == plan->step + SHA256_STEPS);
    *out = x.out;
}

void sha256_digest_bytes(uint8_t out[32], const uint32_t h[8])
{
    for (size_t i = 0; i < 8; i++) store_u32be(out + 4 * i, h[i]);
}
