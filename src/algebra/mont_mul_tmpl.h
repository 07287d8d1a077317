/*
 * algebra/mont_mul_tmpl.h - Montgomery products in portable C; included by mont_tmpl.h
 *
 * The judge of every faster form of the same functions.
 *
 * Bounds of the interleaved product: the top limb of m is below 2^63 - 1 (gen_consts.py asserts it). Before a row t < 2m;
 * t + a b_i + q m < 2^64 * 2m, so after the shift t < 2m again and the two carries of a row add without leaving a word;
 * one subtraction at the end.
 *
 * Source: Koc, Acar, Kaliski, "Analyzing and comparing Montgomery multiplication algorithms", IEEE Micro 1996
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

/** r = a b / R */
FIELD_KERNEL void FIELD_FN(mul)(FIELD *r, const FIELD *a, const FIELD *b)
{
    uint64_t t[FIELD_LIMBS] = {0};
    VERIFY(FIELD_FN(is_canonical)(a) && FIELD_FN(is_canonical)(b));
    FIELD_UNROLL
    for (int i = 0; i < FIELD_LIMBS; i++) {
        uint64_t hi_a = 0, hi_m = 0, lo, q;
        lo = word_mac(a->l[0], b->l[i], t[0], &hi_a);
        q = lo * FIELD_NEG_INV;
        (void)word_mac(q, FIELD_FN(modulus)[0], lo, &hi_m);
        FIELD_UNROLL
        for (int j = 1; j < FIELD_LIMBS; j++) {
            lo = word_mac(a->l[j], b->l[i], t[j], &hi_a);
            t[j - 1] = word_mac(q, FIELD_FN(modulus)[j], lo, &hi_m);
        }
        t[FIELD_LIMBS - 1] = hi_a + hi_m;
    }
    FIELD_FN(reduce_once)(r, t);
}

/** Here products are always reduced. */
U128_INLINE void FIELD_FN(mul_lazy)(FIELD *r, const FIELD *a, const FIELD *b)
{
    FIELD_FN(mul)(r, a, b);
}

U128_INLINE void FIELD_FN(mul_last)(FIELD *r, const FIELD *a, const FIELD *b)
{
    FIELD_FN(mul)(r, a, b);
}

FIELD_KERNEL void FIELD_FN(sqr)(FIELD *r, const FIELD *a)
{
    FIELD_FN(mul)(r, a, a);
}

/** r = a b, all of it; a and b are any n limbs. */
FIELD_KERNEL void FIELD_FN(mul_wide)(FIELD_WIDE *r, const FIELD *a, const FIELD *b)
{
    FIELD_FN(wide) t = {{0}};
    FIELD_UNROLL
    for (int i = 0; i < FIELD_LIMBS; i++) {
        uint64_t hi = 0;
        FIELD_UNROLL
        for (int j = 0; j < FIELD_LIMBS; j++)
            t.l[i + j] = word_mac(a->l[j], b->l[i], t.l[i + j], &hi);
        t.l[i + FIELD_LIMBS] = hi;
    }
    *r = t;
}

FIELD_KERNEL void FIELD_FN(sqr_wide)(FIELD_WIDE *r, const FIELD *a)
{
    FIELD_FN(mul_wide)(r, a, a);
}

/** r = w / R for w < m R */
FIELD_KERNEL void FIELD_FN(redc_wide)(FIELD *r, const FIELD_WIDE *w)
{
    FIELD_FN(wide) t = *w;
    uint64_t carry = 0;
    FIELD_UNROLL
    for (int i = 0; i < FIELD_LIMBS; i++) {
        uint64_t hi = 0, q = t.l[i] * FIELD_NEG_INV;
        FIELD_UNROLL
        for (int j = 0; j < FIELD_LIMBS; j++)
            t.l[i + j] = word_mac(q, FIELD_FN(modulus)[j], t.l[i + j], &hi);
        t.l[i + FIELD_LIMBS] = u64_addc(t.l[i + FIELD_LIMBS], hi, &carry);
    }
    VERIFY(carry == 0);
    FIELD_FN(reduce_once)(r, &t.l[FIELD_LIMBS]);
}

/* inlined into a loop, these run out of registers: 1.3 to 1.7 times the time */

U128_INLINE void FIELD_FN(mul_inl)(FIELD *r, const FIELD *a, const FIELD *b)
{
    FIELD_FN(mul)(r, a, b);
}

U128_INLINE void FIELD_FN(sqr_inl)(FIELD *r, const FIELD *a)
{
    FIELD_FN(sqr)(r, a);
}

U128_INLINE void FIELD_FN(mul_wide_inl)(FIELD_WIDE *r, const FIELD *a, const FIELD *b)
{
    FIELD_FN(mul_wide)(r, a, b);
}

U128_INLINE void FIELD_FN(sqr_wide_inl)(FIELD_WIDE *r, const FIELD *a)
{
    FIELD_FN(sqr_wide)(r, a);
}

U128_INLINE void FIELD_FN(redc_wide_inl)(FIELD *r, const FIELD_WIDE *w)
{
    FIELD_FN(redc_wide)(r, w);
}

U128_INLINE void FIELD_FN(redc_wide_once_inl)(FIELD *r, const FIELD_WIDE *w)
{
    FIELD_FN(redc_wide)(r, w);
}
