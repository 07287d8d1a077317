/*
 * circuit/poseidon_ifma.c - the permutation of eight inputs at once, on AVX-512 IFMA
 *
 * The matrix is Cauchy's, 1 / (t + i + j), and with L the least common multiple of t to 3t - 2 its multiple by L has integers
 * below 2^48: a product by one takes a fifth of a product of elements. So every round multiplies by L / 2^52 times the matrix (one
 * limb of Montgomery's reduction takes the 2^52 off), the partial ones too, and there is no sparse form. What the state is
 * too large by is known beforehand and the same for all its elements:
 *
 *   hash    never taken off but at the end. An S-box takes scale s to s^5 / 2^16, since memory's radix is 2^256 and that of
 *           products 2^260; keys come scaled so. In a partial round one product brings the S-box back to the others' scale.
 *   trace   writes true values: whatever goes into an S-box is brought to scale 1 before, in partial rounds back after it.
 *
 * Bounds, in multiples of m (docs/cpu.md): S-boxes come out below 1.2, with a key below 2.2; the sum of a row of the scaled matrix is below
 * 2^47, so a step's result is below 1 + 2.2 / 2^5. Products of values below 5.9 are below 2.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define CURVE_BLS12_381
#define FIELD_ADX 1
#include "circuit/poseidon_impl.h"

#include <string.h>

#include "algebra/lanes_inl.h"

#if defined(LANES)

#    define HALF (POSEIDON_FULL_ROUNDS / 2)
#    define FORM_SHIFT 4 /* from memory's radix 2^256 to 2^260 */
#    define LIMBS FR_LIMBS52

_Static_assert(POSEIDON_LANES == LANES, "lanes of a batch");
_Static_assert(sizeof(((poseidon_limbs *)0)->l) == FR_LIMBS52 * sizeof(uint64_t), "limbs");

/* ---- constants ---- */

static void set_limbs(poseidon_limbs *r, const fr *a)
{
    for (int j = 0; j < LIMBS; j++) r->l[j] = lanes_limb(a->l, FR_LIMBS, j);
}

/* A factor: products by it keep memory's radix. */
static void set_factor(poseidon_limbs *r, const fr *a)
{
    fr x = *a;

    for (unsigned i = 0; i < FORM_SHIFT; i++) fr_dbl(&x, &x);
    set_limbs(r, &x);
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t r = a % b;

        a = b;
        b = r;
    }
    return a;
}

/* The scaled matrix; what it is scaled by, L / 2^52. */
static fr make_mds(poseidon_scaled *to, unsigned t)
{
    uint64_t common = 1;
    fr l, x;

    for (uint64_t k = t; k <= 3 * t - 2; k++) common *= k / gcd(common, k);
    for (unsigned k = 0; k <= 2 * t - 2; k++) to->mds[k] = common / (t + k);
    fr_from_u64(&l, common);
    fr_from_u64(&x, UINT64_C(1) << LANES_BITS);
    fr_inv_var(&x, &x);
    fr_mul(&l, &l, &x);
    return l;
}

/* Scale s becomes that of its S-box. */
static void scale_sbox(fr *s)
{
    fr x, k;

    fr_from_u64(&k, UINT64_C(1) << (4 * FORM_SHIFT));
    fr_inv_var(&k, &k);
    fr_sqr(&x, s);
    fr_sqr(&x, &x);
    fr_mul(s, &x, s);
    fr_mul(s, s, &k);
}

static void scale_keys(poseidon_limbs *to, const fr *keys, size_t n, const fr *scale)
{
    for (size_t i = 0; i < n; i++) {
        fr x;

        fr_mul(&x, &keys[i], scale);
        set_limbs(&to[i], &x);
    }
}

static void make_hash_constants(const poseidon *p, poseidon_scaled *to, const fr *step)
{
    size_t t = p->t, at = t;
    fr s, after, x;

    fr_set_one(&s);
    scale_keys(to->keys, p->keys, t, &s);
    for (unsigned r = 0; r < HALF; r++, at += t) {
        scale_sbox(&s);
        scale_keys(&to->keys[at], &p->keys[at], t, &s);
        fr_mul(&s, &s, step);
    }
    for (unsigned r = 0; r < p->n_partial; r++, at++) {
        after = s;
        scale_sbox(&after);
        fr_inv_var(&x, &after);
        fr_mul(&x, &x, &s);
        set_factor(&to->fix[r], &x);
        scale_keys(&to->keys[at], &p->keys[at], 1, &s);
        fr_mul(&s, &s, step);
    }
    for (unsigned r = 1; r < HALF; r++, at += t) {
        scale_sbox(&s);
        scale_keys(&to->keys[at], &p->keys[at], t, &s);
        fr_mul(&s, &s, step);
    }
    VERIFY(at == p->n_keys);
    scale_sbox(&s);
    fr_mul(&s, &s, step);
    fr_inv_var(&x, &s);
    set_factor(&to->out, &x);
}

static void make_trace_constants(const poseidon *p, poseidon_scaled *to, const fr *step)
{
    fr up, down, down_step;

    for (uint32_t i = 0; i < p->n_keys; i++) set_limbs(&to->true_keys[i], &p->keys[i]);
    fr_set_one(&up);
    fr_set_one(&down);
    fr_inv_var(&down_step, step);
    for (unsigned r = 0; r < p->n_partial; r++) {
        set_factor(&to->rescale[r], &up);
        set_factor(&to->unscale[r], &down);
        fr_mul(&up, &up, step);
        fr_mul(&down, &down, &down_step);
    }
    set_factor(&to->unscale[p->n_partial], &down);
}

static void prepare(const poseidon *p, poseidon_scaled *to)
{
    fr step = make_mds(to, p->t);

    make_hash_constants(p, to, &step);
    make_trace_constants(p, to, &step);
}

/* ---- words ---- */

/* Element `at` of eight arrays. */
U128_INLINE void gather(fr_x8 *r, const fr *const *in, size_t at)
{
    const __m512i even = _mm512_setr_epi64(0, 4, 1, 5, 8, 12, 9, 13);
    const __m512i odd = _mm512_setr_epi64(2, 6, 3, 7, 10, 14, 11, 15);
    __m512i z[4], lo[2], hi[2], w[4];

    for (int i = 0; i < 4; i++)
        z[i] = _mm512_inserti64x4(
            _mm512_castsi256_si512(
                _mm256_loadu_si256((const __m256i *)(const void *)&in[2 * i][at])),
            _mm256_loadu_si256((const __m256i *)(const void *)&in[2 * i + 1][at]), 1);
    for (int i = 0; i < 2; i++) {
        lo[i] = _mm512_unpacklo_epi64(z[2 * i], z[2 * i + 1]);
        hi[i] = _mm512_unpackhi_epi64(z[2 * i], z[2 * i + 1]);
    }
    w[0] = _mm512_permutex2var_epi64(lo[0], even, lo[1]);
    w[1] = _mm512_permutex2var_epi64(hi[0], even, hi[1]);
    w[2] = _mm512_permutex2var_epi64(lo[0], odd, lo[1]);
    w[3] = _mm512_permutex2var_epi64(hi[0], odd, hi[1]);
    fr_x8_from_words(r, w);
}

/* The reverse, of canonical values. */
static void scatter(fr *const *out, size_t at, const fr_x8 *a)
{
    uint64_t words[LANES * FR_LIMBS];
    __m512i w[4];

    fr_x8_to_words(w, a);
    lanes_store4(words, w);
    for (int i = 0; i < LANES; i++) memcpy(&out[i][at], &words[i * FR_LIMBS], sizeof(fr));
}

U128_INLINE void set_all(fr_x8 *r, const poseidon_limbs *a)
{
    FIELD_UNROLL
    for (int j = 0; j < LIMBS; j++) r->l[j] = lanes_set1(a->l[j]);
}

/* ---- steps ---- */

/* r += key */
U128_INLINE void add_key(fr_x8 *r, const poseidon_limbs *key)
{
    FIELD_UNROLL
    for (int j = 0; j < LIMBS; j++) r->l[j] = _mm512_add_epi64(r->l[j], lanes_set1(key->l[j]));
    fr_x8_carry(r);
}

static void scale(fr_x8 *x, const poseidon_limbs *factor)
{
    fr_x8 f;

    set_all(&f, factor);
    fr_x8_mul(x, x, &f);
}

/* x := x^5 + key, or times a factor before the key comes to it. */
static void sbox(fr_x8 *x, const poseidon_limbs *factor, const poseidon_limbs *key)
{
    fr_x8 x2, x4, y = *x;

    if (factor != NULL) scale(&y, factor);
    fr_x8_sqr(&x2, x);
    fr_x8_sqr(&x4, &x2);
    fr_x8_mul_raw(x, &x4, &y);
    if (key == NULL)
        fr_x8_carry(x);
    else
        add_key(x, key);
}

/* r / 2^52, from limbs that are sums; the lowest goes by adding q m. */
U128_INLINE void shift_limb(fr_x8 *r, __m512i a[LIMBS + 1])
{
    __m512i q =
        _mm512_madd52lo_epu64(_mm512_setzero_si512(), a[0], lanes_set1(FR_NEG_INV & LANES_MASK));

    FIELD_UNROLL
    for (int j = 0; j < LIMBS; j++)
        a[j] = _mm512_madd52lo_epu64(a[j], q, lanes_set1(lanes_limb(fr_modulus, FR_LIMBS, j)));
    a[1] = _mm512_add_epi64(a[1], lanes_shr(a[0], LANES_BITS));
    FIELD_UNROLL
    for (int j = 0; j < LIMBS; j++)
        r->l[j] =
            _mm512_madd52hi_epu64(a[j + 1], q, lanes_set1(lanes_limb(fr_modulus, FR_LIMBS, j)));
    fr_x8_carry(r);
}

/* n rows of the scaled matrix, the first one's constants at c: r[k] = sum of c[k + j] s[j] / 2^52. s[0], which a partial round has
   last, comes last. */
U128_INLINE void mix_rows(fr_x8 *r, const fr_x8 *s, const uint64_t *c, const size_t t,
                          const size_t n)
{
    __m512i a[3][LIMBS + 1];

    FIELD_UNROLL
    for (size_t k = 0; k < n; k++) {
        FIELD_UNROLL
        for (int l = 0; l <= LIMBS; l++) a[k][l] = _mm512_setzero_si512();
    }
    for (size_t j = t; j-- > 0;) {
        const fr_x8 v = s[j];

        FIELD_UNROLL
        for (size_t k = 0; k < n; k++) {
            __m512i f = lanes_set1(c[k + j]);

            FIELD_UNROLL
            for (int l = 0; l < LIMBS; l++) a[k][l] = _mm512_madd52lo_epu64(a[k][l], v.l[l], f);
            FIELD_UNROLL
            for (int l = 0; l < LIMBS; l++)
                a[k][l + 1] = _mm512_madd52hi_epu64(a[k][l + 1], v.l[l], f);
        }
    }
    FIELD_UNROLL
    for (size_t k = 0; k < n; k++) shift_limb(&r[k], a[k]);
}

/* s := the scaled matrix times s */
U128_INLINE void mix(fr_x8 *s, const uint64_t *c, const size_t t)
{
    fr_x8 r[POSEIDON_MAX_T];
    size_t i = 0;

    for (; i + 3 <= t; i += 3) mix_rows(&r[i], s, c + i, t, 3);
    if (t % 3 != 0) mix_rows(&r[i], s, c + i, t, t % 3);
    for (i = 0; i < t; i++) s[i] = r[i];
}

/* The state before the first S-boxes: tag and inputs with their keys. */
U128_INLINE void start(const poseidon *p, fr_x8 *s, const fr *const *in, const fr *tag, size_t t)
{
    fr_x8_set1(&s[0], tag);
    for (size_t i = 1; i < t; i++) gather(&s[i], in, i - 1);
    for (size_t i = 0; i < t; i++) add_key(&s[i], &p->scaled->true_keys[i]);
}

/* ---- hashes ---- */

U128_INLINE void full_round(fr_x8 *s, const poseidon_limbs *key, const uint64_t *mds, size_t t)
{
    for (size_t i = 0; i < t; i++) sbox(&s[i], NULL, &key[i]);
    mix(s, mds, t);
}

U128_INLINE void hash_t(const poseidon *p, fr *const *out, const fr *const *in, const fr *tag,
                        const size_t t)
{
    const poseidon_scaled *c = p->scaled;
    const poseidon_limbs *key = c->keys + t;
    fr_x8 s[POSEIDON_MAX_T];

    start(p, s, in, tag, t);
    for (unsigned r = 0; r < HALF; r++, key += t) full_round(s, key, c->mds, t);
    for (unsigned r = 0; r < p->n_partial; r++, key++) {
        sbox(&s[0], &c->fix[r], key);
        mix(s, c->mds, t);
    }
    for (unsigned r = 1; r < HALF; r++, key += t) full_round(s, key, c->mds, t);
    for (size_t i = 0; i < t; i++) sbox(&s[i], NULL, NULL);
    mix_rows(&s[1], s, c->mds + 1, t, 1);
    scale(&s[1], &c->out);
    fr_x8_canonical(&s[1]);
    scatter(out, 0, &s[1]);
}

static void hash8(const poseidon *p, fr *const *out, const fr *const *in, const fr *tag)
{
    switch (p->t) {
    case 3: hash_t(p, out, in, tag, 3); break;
    case 5: hash_t(p, out, in, tag, 5); break;
    case 9: hash_t(p, out, in, tag, 9); break;
    default: hash_t(p, out, in, tag, 12); break;
    }
}

/* ---- traces ---- */

/* Where the next values go: the same place in eight traces. */
typedef struct trail {
    fr *const *to;
    size_t at;
} trail;

/* x becomes canonical and is written. */
static void put(trail *x, fr_x8 *a)
{
    fr_x8_canonical(a);
    scatter(x->to, x->at++, a);
}

/* r = 16 a b / 2^260: the product in memory's radix. a below 2m. */
static void mul_true(fr_x8 *r, const fr_x8 *a, const fr_x8 *b)
{
    fr_x8 a16;

    FIELD_UNROLL
    for (int j = 0; j < LIMBS; j++) a16.l[j] = lanes_shl(a->l[j], FORM_SHIFT);
    fr_x8_carry(&a16);
    fr_x8_mul(r, &a16, b);
}

/* x := x^5 + key, at scale 1; its square, fourth power and itself are written. */
static void sbox_true(fr_x8 *x, const poseidon_limbs *key, trail *at)
{
    fr_x8 x2, x4;

    fr_x8_canonical(x);
    mul_true(&x2, x, x);
    put(at, &x2);
    mul_true(&x4, &x2, &x2);
    put(at, &x4);
    mul_true(x, x, &x4);
    if (key != NULL) {
        fr_x8_canonical(x);
        add_key(x, key);
    }
    put(at, x);
}

/* The same for variables that the circuit allocates first, of a given scale. */
static void sbox_allocated(fr_x8 *x, const poseidon_limbs *unscale, const poseidon_limbs *key,
                           trail *at)
{
    scale(x, unscale);
    put(at, x);
    sbox_true(x, key, at);
}

static void trace_t(const poseidon *p, fr *const *traces, const fr *const *in, const fr *tag,
                    const size_t t)
{
    const poseidon_scaled *c = p->scaled;
    const poseidon_limbs *key = c->true_keys + t, *last = &c->unscale[p->n_partial];
    fr tag_trace[3], *tag_at[LANES];
    trail at = {traces, 0}, aside = {tag_at, 0};
    fr_x8 s[POSEIDON_MAX_T];

    for (unsigned i = 0; i < LANES; i++) tag_at[i] = tag_trace;
    start(p, s, in, tag, t);
    sbox_true(&s[0], key, &aside); /* a constant in the circuit: no variables */
    for (size_t i = 1; i < t; i++) sbox_true(&s[i], &key[i], &at);
    mix(s, c->mds, t);
    key += t;
    for (unsigned r = 1; r < HALF; r++, key += t) {
        for (size_t i = 0; i < t; i++) sbox_allocated(&s[i], &c->unscale[1], &key[i], &at);
        mix(s, c->mds, t);
    }
    for (size_t i = 0; i < t; i++) scale(&s[i], &c->unscale[1]);
    for (unsigned r = 0; r < p->n_partial; r++, key++) {
        sbox_allocated(&s[0], &c->unscale[r], key, &at);
        scale(&s[0], &c->rescale[r]);
        mix(s, c->mds, t);
    }
    for (unsigned r = 1; r < HALF; r++, key += t) {
        for (size_t i = 0; i < t; i++)
            sbox_allocated(&s[i], r == 1 ? last : &c->unscale[1], &key[i], &at);
        mix(s, c->mds, t);
    }
    for (size_t i = 0; i < t; i++) sbox_allocated(&s[i], &c->unscale[1], NULL, &at);
    mix_rows(&s[1], s, c->mds + 1, t, 1);
    scale(&s[1], &c->unscale[1]);
    put(&at, &s[1]);
}

static void trace8(const poseidon *p, fr *const *traces, const fr *const *in, const fr *tag)
{
    switch (p->t) {
    case 3: trace_t(p, traces, in, tag, 3); break;
    case 5: trace_t(p, traces, in, tag, 5); break;
    case 9: trace_t(p, traces, in, tag, 9); break;
    default: trace_t(p, traces, in, tag, 12); break;
    }
}

const poseidon_lanes_kernel poseidon_lanes_ifma = {prepare, hash8, trace8};

#endif
