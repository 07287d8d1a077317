/*
 * algebra/lanes_tmpl.h - one prime field in eight lanes; included by lanes_inl.h for fp and fr
 *
 * Before inclusion: FIELD, FIELD_LIMBS, FIELD_LIMBS52, FIELD_NEG_INV. With n = FIELD_LIMBS52, R = 2^(52 n) and S = R / m (at least
 * 35), a value has one of two forms:
 *
 *   settled   limbs in [0, 2^52); the value, of no more than 52 n bits, is below B m for a B that each caller knows
 *   raw       limbs are signed, below 2^60 in size; what is added up is the value
 *
 * Only settled values are multiplied: the instruction reads 52 bits of a limb. For a < A m and b < B m a product is below
 * (A B / S + 1) m, or with eight limbs (A B / S + 1.25) m: with A B < S below 2m, or with A B < 2^34. Sums and differences are raw; _carry settles one that is not negative, _reduce also
 * brings it below 2m.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#define LANES_X8 FIELD_FN(x8)
#define LANES_FN(verb) FIELD_CAT(LANES_X8, verb)

typedef struct LANES_X8 {
    __m512i l[FIELD_LIMBS52];
} LANES_X8;

/* ---- constants ---- */

#define LANES_M(j) lanes_limb(FIELD_FN(modulus), FIELD_LIMBS, j)
#define LANES_NEG_INV (FIELD_NEG_INV & LANES_MASK)
/* limb j of R - m: adding it q times takes q m off, modulo R */
#define LANES_COMPLEMENT(j) ((j) == 0 ? LANES_MASK + 1 - LANES_M(0) : LANES_MASK - LANES_M(j))
/* 2^52 / (m / 2^(52(n-1)) + 1), rounded down: quotients by m from the top limb */
#define LANES_QUOT ((LANES_MASK + 1) / (LANES_M(FIELD_LIMBS52 - 1) + 1))

/* ---- forms ---- */

#ifdef CUZK_VERIFY
static bool LANES_FN(is_settled)(const LANES_X8 *a)
{
    __mmask8 bad = 0;
    for (int j = 0; j < FIELD_LIMBS52; j++)
        bad |= _mm512_cmpgt_epu64_mask(a->l[j], lanes_set1(LANES_MASK));
    return bad == 0;
}
#endif

/** Settles a raw value in [0, R). */
LANES_KERNEL void LANES_FN(carry)(LANES_X8 *r)
{
    FIELD_UNROLL
    for (int j = 0; j + 1 < FIELD_LIMBS52; j++) {
        __m512i c = lanes_sar(r->l[j], LANES_BITS);
        r->l[j] = _mm512_and_si512(r->l[j], lanes_set1(LANES_MASK));
        r->l[j + 1] = _mm512_add_epi64(r->l[j + 1], c);
    }
    VERIFY(LANES_FN(is_settled)(r));
}

U128_INLINE void LANES_FN(set1)(LANES_X8 *r, const FIELD *a)
{
    for (int j = 0; j < FIELD_LIMBS52; j++) r->l[j] = lanes_set1(lanes_limb(a->l, FIELD_LIMBS, j));
}

/** r = a in the lanes of k, else r. */
U128_INLINE void LANES_FN(blend)(LANES_X8 *r, __mmask8 k, const LANES_X8 *a)
{
    FIELD_UNROLL
    for (int j = 0; j < FIELD_LIMBS52; j++) r->l[j] = _mm512_mask_mov_epi64(r->l[j], k, a->l[j]);
}

/* ---- sums: raw ---- */

LANES_KERNEL void LANES_FN(add)(LANES_X8 *r, const LANES_X8 *a, const LANES_X8 *b)
{
    FIELD_UNROLL
    for (int j = 0; j < FIELD_LIMBS52; j++) r->l[j] = _mm512_add_epi64(a->l[j], b->l[j]);
}

/** r = a - b, raw, and perhaps negative */
LANES_KERNEL void LANES_FN(sub)(LANES_X8 *r, const LANES_X8 *a, const LANES_X8 *b)
{
    FIELD_UNROLL
    for (int j = 0; j < FIELD_LIMBS52; j++) r->l[j] = _mm512_sub_epi64(a->l[j], b->l[j]);
}

/** r += k m, raw; k at most 2^5 */
LANES_KERNEL void LANES_FN(add_m)(LANES_X8 *r, uint64_t k)
{
    FIELD_UNROLL
    for (int j = 0; j < FIELD_LIMBS52; j++)
        r->l[j] = _mm512_add_epi64(r->l[j], lanes_set1(k * LANES_M(j)));
}

/** r = k m - a, raw */
LANES_KERNEL void LANES_FN(neg)(LANES_X8 *r, const LANES_X8 *a, uint64_t k)
{
    FIELD_UNROLL
    for (int j = 0; j < FIELD_LIMBS52; j++)
        r->l[j] = _mm512_sub_epi64(lanes_set1(k * LANES_M(j)), a->l[j]);
}

/**
 * Settles a raw value in [m, R / 4) and takes it below 2m. The quotient is estimated from the top limb, less what the limbs below
 * may borrow from it: never too large; and too small by less than 1 + value / R.
 */
LANES_KERNEL void LANES_FN(reduce)(LANES_X8 *r)
{
    __m512i zero = _mm512_setzero_si512(), top, q;

    top = _mm512_sub_epi64(r->l[FIELD_LIMBS52 - 1], lanes_set1(4));
    q = _mm512_madd52hi_epu64(zero, top, lanes_set1(LANES_QUOT));
    FIELD_UNROLL
    for (int j = 0; j < FIELD_LIMBS52; j++) {
        r->l[j] = _mm512_madd52lo_epu64(r->l[j], q, lanes_set1(LANES_COMPLEMENT(j)));
        if (j + 1 < FIELD_LIMBS52)
            r->l[j + 1] = _mm512_madd52hi_epu64(r->l[j + 1], q, lanes_set1(LANES_COMPLEMENT(j)));
    }
    FIELD_UNROLL
    for (int j = 0; j + 1 < FIELD_LIMBS52; j++) {
        __m512i c = lanes_sar(r->l[j], LANES_BITS);
        r->l[j] = _mm512_and_si512(r->l[j], lanes_set1(LANES_MASK));
        r->l[j + 1] = _mm512_add_epi64(r->l[j + 1], c);
    }
    r->l[FIELD_LIMBS52 - 1] =
        _mm512_and_si512(r->l[FIELD_LIMBS52 - 1], lanes_set1(LANES_MASK)); /* modulo R */
}

/** Settled and below 2m: below m. */
LANES_KERNEL void LANES_FN(canonical)(LANES_X8 *r)
{
    LANES_X8 t = *r;
    __mmask8 below;

    FIELD_UNROLL
    for (int j = 0; j < FIELD_LIMBS52; j++)
        t.l[j] = _mm512_sub_epi64(t.l[j], lanes_set1(LANES_M(j)));
    FIELD_UNROLL
    for (int j = 0; j + 1 < FIELD_LIMBS52; j++) {
        t.l[j + 1] = _mm512_add_epi64(t.l[j + 1], lanes_sar(t.l[j], LANES_BITS));
        t.l[j] = _mm512_and_si512(t.l[j], lanes_set1(LANES_MASK));
    }
    below = _mm512_movepi64_mask(t.l[FIELD_LIMBS52 - 1]);
    LANES_FN(blend)(r, (__mmask8)~below, &t);
}

/** Lanes where a settled value below k m is 0 modulo m. */
static inline __mmask8 LANES_FN(is_zero_mask)(const LANES_X8 *a, uint64_t k)
{
    LANES_X8 t = *a, n;
    __mmask8 any = 0, is;

    for (uint64_t i = 0; i < k; i++) /* almost never so */
        any |= _mm512_cmpeq_epi64_mask(a->l[0], lanes_set1((i * LANES_M(0)) & LANES_MASK));
    if (U128_LIKELY(any == 0)) return 0;
    any = 0;
    for (uint64_t i = 0; i < k; i++) {
        LANES_FN(neg)(&n, &t, i); /* i m - a: its carries leave nothing when it is 0 */
        is = LANES_ALL;
        for (int j = 0; j < FIELD_LIMBS52; j++) {
            is &= _mm512_testn_epi64_mask(n.l[j], lanes_set1(LANES_MASK));
            if (j + 1 < FIELD_LIMBS52)
                n.l[j + 1] = _mm512_add_epi64(n.l[j + 1], lanes_sar(n.l[j], LANES_BITS));
        }
        any |= is & _mm512_cmpeq_epi64_mask(n.l[FIELD_LIMBS52 - 1], _mm512_setzero_si512());
    }
    return any;
}

/* ---- products ---- */

/** A product before its reduction: raw columns, each below 2^58 in size. */
typedef struct LANES_FN(wide) {
    __m512i l[2 * FIELD_LIMBS52];
} LANES_FN(wide);

#if FIELD_LIMBS52 == 8

/* z = a b for halves of four limbs */
U128_INLINE void LANES_FN(half_mul)(__m512i z[8], const __m512i a[4], const __m512i b[4])
{
    FIELD_UNROLL
    for (int j = 0; j < 8; j++) z[j] = _mm512_setzero_si512();
    FIELD_UNROLL
    for (int i = 0; i < 4; i++) {
        FIELD_UNROLL
        for (int j = 0; j < 4; j++) z[i + j] = _mm512_madd52lo_epu64(z[i + j], a[j], b[i]);
        FIELD_UNROLL
        for (int j = 0; j < 4; j++) z[i + j + 1] = _mm512_madd52hi_epu64(z[i + j + 1], a[j], b[i]);
    }
}

/* The sum of both halves, settled; the lanes where it is above 2^208, which s leaves out. */
U128_INLINE __mmask8 LANES_FN(half_sum)(__m512i s[4], const __m512i a[8])
{
    __mmask8 above;

    FIELD_UNROLL
    for (int j = 0; j < 4; j++) s[j] = _mm512_add_epi64(a[j], a[j + 4]);
    FIELD_UNROLL
    for (int j = 0; j < 3; j++) {
        s[j + 1] = _mm512_add_epi64(s[j + 1], lanes_shr(s[j], LANES_BITS));
        s[j] = _mm512_and_si512(s[j], lanes_set1(LANES_MASK));
    }
    above = _mm512_cmpgt_epu64_mask(s[3], lanes_set1(LANES_MASK));
    s[3] = _mm512_and_si512(s[3], lanes_set1(LANES_MASK));
    return above;
}

/* Karatsuba's three products of halves: 96 multiply-adds instead of 128, and additions, which have units of their own. */
LANES_KERNEL void LANES_FN(mul_wide)(LANES_FN(wide) * r, const LANES_X8 *a, const LANES_X8 *b)
{
    __m512i s[4], t[4], z[8], m[8];
    __mmask8 ks, kt;

    VERIFY(LANES_FN(is_settled)(a));
    VERIFY(LANES_FN(is_settled)(b));
    ks = LANES_FN(half_sum)(s, a->l);
    kt = LANES_FN(half_sum)(t, b->l);
    LANES_FN(half_mul)(m, s, t);
    FIELD_UNROLL
    for (int j = 0; j < 4; j++) {
        m[4 + j] = _mm512_mask_add_epi64(m[4 + j], ks, m[4 + j], t[j]);
        m[4 + j] = _mm512_mask_add_epi64(m[4 + j], kt, m[4 + j], s[j]);
    }
    LANES_FN(half_mul)(z, a->l, b->l);
    FIELD_UNROLL
    for (int j = 0; j < 8; j++) m[j] = _mm512_sub_epi64(m[j], z[j]);
    FIELD_UNROLL
    for (int j = 0; j < 4; j++) {
        r->l[j] = z[j];
        r->l[4 + j] = _mm512_add_epi64(z[4 + j], m[j]);
    }
    LANES_FN(half_mul)(z, a->l + 4, b->l + 4);
    FIELD_UNROLL
    for (int j = 0; j < 4; j++) {
        r->l[4 + j] = _mm512_sub_epi64(r->l[4 + j], z[j]);
        r->l[8 + j] = _mm512_add_epi64(_mm512_sub_epi64(m[4 + j], z[4 + j]), z[j]);
        r->l[12 + j] = z[4 + j];
    }
    r->l[12] = _mm512_mask_add_epi64(r->l[12], ks & kt, r->l[12], lanes_set1(1));
}

#else

LANES_KERNEL void LANES_FN(mul_wide)(LANES_FN(wide) * r, const LANES_X8 *a, const LANES_X8 *b)
{
    __m512i t[2 * FIELD_LIMBS52];

    VERIFY(LANES_FN(is_settled)(a));
    VERIFY(LANES_FN(is_settled)(b));
    FIELD_UNROLL
    for (int j = 0; j < 2 * FIELD_LIMBS52; j++) t[j] = _mm512_setzero_si512();
    FIELD_UNROLL
    for (int i = 0; i < FIELD_LIMBS52; i++) {
        FIELD_UNROLL
        for (int j = 0; j < FIELD_LIMBS52; j++)
            t[i + j] = _mm512_madd52lo_epu64(t[i + j], a->l[j], b->l[i]);
        FIELD_UNROLL
        for (int j = 0; j < FIELD_LIMBS52; j++)
            t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], a->l[j], b->l[i]);
    }
    FIELD_UNROLL
    for (int j = 0; j < 2 * FIELD_LIMBS52; j++) r->l[j] = t[j];
}

#endif

/** Products of different limbs once, doubled, then the squares of limbs. */
LANES_KERNEL void LANES_FN(sqr_wide)(LANES_FN(wide) * r, const LANES_X8 *a)
{
    __m512i t[2 * FIELD_LIMBS52];

    VERIFY(LANES_FN(is_settled)(a));
    FIELD_UNROLL
    for (int j = 0; j < 2 * FIELD_LIMBS52; j++) t[j] = _mm512_setzero_si512();
    FIELD_UNROLL
    for (int i = 0; i < FIELD_LIMBS52; i++) {
        FIELD_UNROLL
        for (int j = i + 1; j < FIELD_LIMBS52; j++) {
            t[i + j] = _mm512_madd52lo_epu64(t[i + j], a->l[j], a->l[i]);
            t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], a->l[j], a->l[i]);
        }
    }
    FIELD_UNROLL
    for (int j = 1; j < 2 * FIELD_LIMBS52; j++) t[j] = _mm512_add_epi64(t[j], t[j]);
    FIELD_UNROLL
    for (int i = 0; i < FIELD_LIMBS52; i++) {
        t[2 * i] = _mm512_madd52lo_epu64(t[2 * i], a->l[i], a->l[i]);
        t[2 * i + 1] = _mm512_madd52hi_epu64(t[2 * i + 1], a->l[i], a->l[i]);
    }
    FIELD_UNROLL
    for (int j = 0; j < 2 * FIELD_LIMBS52; j++) r->l[j] = t[j];
}

#if FIELD_LIMBS52 == 8

/**
 * r = w / R, raw: above w / R - 1, below w / R + 1.25m. t - t_0 + t_0 (1 + m (-1/m mod 2^52)) is a multiple of 2^52: the lowest limb goes and
 * t_0 times a constant, below m / 4, is added, which waits for no quotient. Seven times; the last limb goes by adding q m.
 */
LANES_KERNEL void LANES_FN(redc_raw)(LANES_X8 *r, const LANES_FN(wide) * w)
{
    __m512i t[16], q;

    FIELD_UNROLL
    for (int j = 0; j < 16; j++) t[j] = w->l[j];
    FIELD_UNROLL
    for (int i = 0; i < 7; i++) {
        t[i + 1] = _mm512_add_epi64(t[i + 1], lanes_sar(t[i], LANES_BITS));
        FIELD_UNROLL
        for (int j = 0; j < 8; j++)
            t[i + 1 + j] =
                _mm512_madd52lo_epu64(t[i + 1 + j], t[i], lanes_set1(FIELD_FN(fold52)[j]));
        FIELD_UNROLL
        for (int j = 0; j < 8; j++)
            t[i + 2 + j] =
                _mm512_madd52hi_epu64(t[i + 2 + j], t[i], lanes_set1(FIELD_FN(fold52)[j]));
    }
    q = _mm512_madd52lo_epu64(_mm512_setzero_si512(), t[7], lanes_set1(LANES_NEG_INV));
    FIELD_UNROLL
    for (int j = 0; j < 8; j++)
        t[7 + j] = _mm512_madd52lo_epu64(t[7 + j], q, lanes_set1(LANES_M(j)));
    t[8] = _mm512_add_epi64(t[8], lanes_sar(t[7], LANES_BITS));
    FIELD_UNROLL
    for (int j = 0; j < 8; j++)
        t[8 + j] = _mm512_madd52hi_epu64(t[8 + j], q, lanes_set1(LANES_M(j)));
    FIELD_UNROLL
    for (int j = 0; j < 8; j++) r->l[j] = t[8 + j];
}

/** r = a b / R, raw, from settled values. */
U128_INLINE void LANES_FN(mul_raw)(LANES_X8 *r, const LANES_X8 *a, const LANES_X8 *b)
{
    LANES_FN(wide) t;
    LANES_FN(mul_wide)(&t, a, b);
    LANES_FN(redc_raw)(r, &t);
}

#else

/** r = w / R, raw: above w / R - 1, below w / R + m. */
LANES_KERNEL void LANES_FN(redc_raw)(LANES_X8 *r, const LANES_FN(wide) * w)
{
    __m512i t[FIELD_LIMBS52 + 1], zero = _mm512_setzero_si512(), q, low;

    FIELD_UNROLL
    for (int j = 0; j < FIELD_LIMBS52; j++) t[j] = w->l[j];
    FIELD_UNROLL
    for (int i = 0; i < FIELD_LIMBS52; i++) {
        q = _mm512_madd52lo_epu64(zero, t[0], lanes_set1(LANES_NEG_INV));
        FIELD_UNROLL
        for (int j = 0; j < FIELD_LIMBS52; j++)
            t[j] = _mm512_madd52lo_epu64(t[j], q, lanes_set1(LANES_M(j)));
        low = lanes_sar(t[0], LANES_BITS);
        FIELD_UNROLL
        for (int j = 0; j + 1 < FIELD_LIMBS52; j++) t[j] = t[j + 1];
        t[FIELD_LIMBS52 - 1] = w->l[FIELD_LIMBS52 + i];
        t[0] = _mm512_add_epi64(t[0], low);
        FIELD_UNROLL
        for (int j = 0; j < FIELD_LIMBS52; j++)
            t[j] = _mm512_madd52hi_epu64(t[j], q, lanes_set1(LANES_M(j)));
    }
    FIELD_UNROLL
    for (int j = 0; j < FIELD_LIMBS52; j++) r->l[j] = t[j];
}

/** r = a b / R, raw, from settled values. Row by row: a b_i, then what makes the lowest limb vanish. High halves are added when
 *  the limbs have moved down by one, so n accumulators are enough. */
LANES_KERNEL void LANES_FN(mul_raw)(LANES_X8 *r, const LANES_X8 *a, const LANES_X8 *b)
{
    __m512i t[FIELD_LIMBS52], zero = _mm512_setzero_si512(), q, low;

    VERIFY(LANES_FN(is_settled)(a));
    VERIFY(LANES_FN(is_settled)(b));
    FIELD_UNROLL
    for (int j = 0; j < FIELD_LIMBS52; j++) t[j] = zero;
    FIELD_UNROLL
    for (int i = 0; i < FIELD_LIMBS52; i++) {
        __m512i bi = b->l[i];
        FIELD_UNROLL
        for (int j = 0; j < FIELD_LIMBS52; j++) t[j] = _mm512_madd52lo_epu64(t[j], a->l[j], bi);
        q = _mm512_madd52lo_epu64(zero, t[0], lanes_set1(LANES_NEG_INV));
        FIELD_UNROLL
        for (int j = 0; j < FIELD_LIMBS52; j++)
            t[j] = _mm512_madd52lo_epu64(t[j], q, lanes_set1(LANES_M(j)));
        low = lanes_sar(t[0], LANES_BITS);
        FIELD_UNROLL
        for (int j = 0; j + 1 < FIELD_LIMBS52; j++) t[j] = t[j + 1];
        t[FIELD_LIMBS52 - 1] = zero;
        t[0] = _mm512_add_epi64(t[0], low);
        FIELD_UNROLL
        for (int j = 0; j < FIELD_LIMBS52; j++) {
            t[j] = _mm512_madd52hi_epu64(t[j], a->l[j], bi);
            t[j] = _mm512_madd52hi_epu64(t[j], q, lanes_set1(LANES_M(j)));
        }
    }
    FIELD_UNROLL
    for (int j = 0; j < FIELD_LIMBS52; j++) r->l[j] = t[j];
}

#endif

U128_INLINE void LANES_FN(sqr_raw)(LANES_X8 *r, const LANES_X8 *a)
{
    LANES_FN(wide) t;
    LANES_FN(sqr_wide)(&t, a);
    LANES_FN(redc_raw)(r, &t);
}

U128_INLINE void LANES_FN(mul)(LANES_X8 *r, const LANES_X8 *a, const LANES_X8 *b)
{
    LANES_FN(mul_raw)(r, a, b);
    LANES_FN(carry)(r);
}

U128_INLINE void LANES_FN(sqr)(LANES_X8 *r, const LANES_X8 *a)
{
    LANES_FN(sqr_raw)(r, a);
    LANES_FN(carry)(r);
}

/* ---- words of memory ---- */

/** Limbs of 52 bits of x << left, from the words of x; left is 0 or a constant up to 12. */
U128_INLINE void LANES_FN(from_words_shl)(LANES_X8 *r, const __m512i w[FIELD_LIMBS], const int left)
{
    r->l[0] = _mm512_and_si512(lanes_shl(w[0], left), lanes_set1(LANES_MASK));
    FIELD_UNROLL
    for (int j = 1; j < FIELD_LIMBS52; j++) {
        int at = (LANES_BITS * j - left) / 64, shift = (LANES_BITS * j - left) % 64;
        __m512i v = lanes_shr(w[at], shift);
        if (shift > 64 - LANES_BITS && at + 1 < FIELD_LIMBS)
            v = _mm512_or_si512(v, lanes_shl(w[at + 1], 64 - shift));
        r->l[j] = _mm512_and_si512(v, lanes_set1(LANES_MASK));
    }
}

U128_INLINE void LANES_FN(from_words)(LANES_X8 *r, const __m512i w[FIELD_LIMBS])
{
    LANES_FN(from_words_shl)(r, w, 0);
}

/** Words of 64 bits from a settled value that fits them. */
LANES_KERNEL void LANES_FN(to_words)(__m512i w[FIELD_LIMBS], const LANES_X8 *a)
{
    FIELD_UNROLL
    for (int i = 0; i < FIELD_LIMBS; i++) {
        int j = 64 * i / LANES_BITS, shift = 64 * i % LANES_BITS;
        __m512i v = lanes_shr(a->l[j], shift);
        if (j + 1 < FIELD_LIMBS52)
            v = _mm512_or_si512(v, lanes_shl(a->l[j + 1], LANES_BITS - shift));
        if (2 * LANES_BITS - shift < 64 && j + 2 < FIELD_LIMBS52)
            v = _mm512_or_si512(v, lanes_shl(a->l[j + 2], 2 * LANES_BITS - shift));
        w[i] = v;
    }
}

/** Eight elements, `stride` bytes from one to the next, as integers: no change of form. */
U128_INLINE void LANES_FN(load)(LANES_X8 *r, const void *in, size_t stride)
{
    const uint8_t *p = in;
    __m512i w[LANES];

    for (int i = 0; i < LANES; i++)
        w[i] =
            _mm512_maskz_loadu_epi64((__mmask8)((1u << FIELD_LIMBS) - 1), p + (size_t)i * stride);
    lanes_transpose(w);
    LANES_FN(from_words)(r, w);
}

/** Eight settled values that fit FIELD_LIMBS words. */
U128_INLINE void LANES_FN(store)(void *out, const LANES_X8 *a, size_t stride)
{
    uint8_t *p = out;
    __m512i w[LANES];

    LANES_FN(to_words)(w, a);
    for (int i = FIELD_LIMBS; i < LANES; i++) w[i] = _mm512_setzero_si512();
    lanes_transpose(w);
    for (int i = 0; i < LANES; i++)
        _mm512_mask_storeu_epi64(p + (size_t)i * stride, (__mmask8)((1u << FIELD_LIMBS) - 1), w[i]);
}

/* From the ordinary Montgomery form x 2^(64 k) of a field of k words to x R, below 2m: times R^2 / 2^(64 k). And back, below m:
   times 2^(64 k). */
static inline void LANES_FN(form_factors)(LANES_X8 *to, LANES_X8 *from)
{
    FIELD f;

    FIELD_FN(set_one)(&f);
    LANES_FN(set1)(from, &f);
    for (int i = 0; i < 2 * LANES_BITS * FIELD_LIMBS52 - 128 * FIELD_LIMBS; i++)
        FIELD_FN(dbl)(&f, &f);
    LANES_FN(set1)(to, &f);
}

#undef LANES_X8
#undef LANES_FN
#undef LANES_M
#undef LANES_NEG_INV
#undef LANES_COMPLEMENT
#undef LANES_QUOT
