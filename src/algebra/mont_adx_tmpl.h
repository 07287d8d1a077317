/*
 * algebra/mont_adx_tmpl.h - Montgomery products in ADX/BMI2 assembly, for 4 and 6 limbs; included by mont_tmpl.h
 *
 * The same functions as mont_mul_tmpl.h, bit for bit. A product is its rows by turns: t += a b_i, then the lowest word of t
 * cleared and dropped, by folding where the modulus allows (FIELD_FOLDS), in the last row always by reduction. A square
 * is a wide square, each product a_i a_j once, and a reduction.
 *
 * Bounds, which gen_consts.py checks for each modulus: windows stay in n + 1 words; a product ends below 2m, and
 * redc_wide of w < m R, whose high half is added last, below 3m. The modulus of BLS12-381's fr does not allow folds (its
 * windows would need a bit more); all its rows are reductions.
 *
 * Multiplications (6 limbs; 4; 4 without folds): mul 78, 36, 42; mul_wide 36, 16; sqr_wide 21, 10; redc_wide 40, 19, 23.
 * Of these mul has 5, 3, 6 and redc_wide 3, 2, 3 that only keep instructions apart, see mont_adx_inl.h.
 *
 * Not more than 14 registers, rdx included, so that builds with a frame pointer find them; memory is clobbered as a whole,
 * since a memory operand may ask for a register of its own.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

/* the length of an asm text has no limit */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverlength-strings"

#define M(i) ADX_MEM(m##i, FIELD_FN(modulus)[i])
#define NIL ADX_MEM(nil, FIELD_FN(adx)[2 * FIELD_LIMBS + 1])
/* rows but the last: the end of t += a b_i, and how the lowest word goes */
#if FIELD_FOLDS
#    define ROW_GAP ""
#    define NEXT4(gap, ...) ADX_FOLD4(gap, __VA_ARGS__)
#    define NEXT6(gap, ...) ADX_FOLD6(gap, __VA_ARGS__)
#else
#    define ROW_GAP ADX_SPACER
#    define NEXT4(gap, ...) ADX_REDUCE4(ADX_SPACER, __VA_ARGS__)
#    define NEXT6(gap, ...) ADX_REDUCE6(ADX_SPACER, __VA_ARGS__)
#endif

#if FIELD_LIMBS == 6
#    include "algebra/mont_adx6_tmpl.h"
#elif FIELD_LIMBS == 4
#    include "algebra/mont_adx4_tmpl.h"
#else
#    error "no ADX kernels for this number of limbs"
#endif

#undef M
#undef NIL
#undef ROW_GAP
#undef NEXT4
#undef NEXT6

U128_INLINE void FIELD_FN(mul_inl)(FIELD *r, const FIELD *a, const FIELD *b)
{
    uint64_t t[FIELD_LIMBS];
    VERIFY(FIELD_FN(is_canonical)(a) && FIELD_FN(is_canonical)(b));
    FIELD_FN(adx_mul)(t, a, b);
    FIELD_FN(adx_finish)(r, t);
}

/* mul_lazy and mul_last are made for the sums of an MSM and always inlined there */
U128_INLINE void FIELD_FN(mul_lazy)(FIELD *r, const FIELD *a, const FIELD *b)
{
    FIELD_FN(adx_mul)(r->l, a, b);
}

U128_INLINE void FIELD_FN(mul_last)(FIELD *r, const FIELD *a, const FIELD *b)
{
    uint64_t t[FIELD_LIMBS];
    FIELD_FN(adx_mul)(t, a, b);
    FIELD_FN(adx_finish)(r, t);
    VERIFY(FIELD_FN(is_canonical)(r));
}

U128_INLINE void FIELD_FN(redc_wide_once_inl)(FIELD *r, const FIELD_WIDE *w)
{
    uint64_t t[FIELD_LIMBS];
    FIELD_FN(adx_redc)(t, w);
    FIELD_FN(adx_finish)(r, t);
    VERIFY(FIELD_FN(is_canonical)(r));
}

U128_INLINE void FIELD_FN(redc_wide_inl)(FIELD *r, const FIELD_WIDE *w)
{
    uint64_t t[FIELD_LIMBS];
    FIELD u;
    FIELD_FN(adx_redc)(t, w);
    FIELD_FN(adx_finish)(&u, t);
    FIELD_FN(adx_finish)(r, u.l);
}

U128_INLINE void FIELD_FN(sqr_inl)(FIELD *r, const FIELD *a)
{
    uint64_t t[FIELD_LIMBS];
    FIELD_WIDE w;
    VERIFY(FIELD_FN(is_canonical)(a));
    FIELD_FN(sqr_wide_inl)(&w, a);
    FIELD_FN(adx_redc)(t, &w);
    FIELD_FN(adx_finish)(r, t);
}

/** r = a b / R */
FIELD_KERNEL void FIELD_FN(mul)(FIELD *r, const FIELD *a, const FIELD *b)
{
    FIELD_FN(mul_inl)(r, a, b);
}

/** r = a a / R */
FIELD_KERNEL void FIELD_FN(sqr)(FIELD *r, const FIELD *a)
{
    FIELD_FN(sqr_inl)(r, a);
}

/** r = a b, all of it; a and b are any n limbs. */
FIELD_KERNEL void FIELD_FN(mul_wide)(FIELD_WIDE *r, const FIELD *a, const FIELD *b)
{
    FIELD_FN(mul_wide_inl)(r, a, b);
}

/** r = a a, all of it; a is any n limbs. */
FIELD_KERNEL void FIELD_FN(sqr_wide)(FIELD_WIDE *r, const FIELD *a)
{
    FIELD_FN(sqr_wide_inl)(r, a);
}

/** r = w / R, w < m R */
FIELD_KERNEL void FIELD_FN(redc_wide)(FIELD *r, const FIELD_WIDE *w)
{
    FIELD_FN(redc_wide_inl)(r, w);
}

#pragma GCC diagnostic pop
