/*
 * algebra/nonres_inl.h - multiplication by xi = XI_A + u, the non-residue that the tower stands on
 *
 * (a0 + a1 u) xi = (XI_A a0 - a1) + (a0 + XI_A a1) u. For XI_A = 1 that is an addition and a subtraction. Otherwise each
 * coefficient is summed as an integer below 16p and reduced by a quotient guessed from its top bits: the guess is right or
 * one too small (asserted in tools/gen_curve_consts.py), so one conditional subtraction ends it. Wide forms the same,
 * with p R in place of p.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ALGEBRA_NONRES_INL_H
#define ALGEBRA_NONRES_INL_H

#include "algebra/curve_consts_inl.h"
#include "algebra/fp2_type_inl.h"

#if CURVE_XI_A == 1

static inline void fp2_mul_nonres(fp2 *r, const fp2 *a)
{
    fp t;
    fp_sub(&t, &a->c0, &a->c1);
    fp_add(&r->c1, &a->c0, &a->c1);
    r->c0 = t;
}

static inline void fp2_wide_mul_nonres(fp2_wide *r, const fp2_wide *a)
{
    fp_wide t;
    fp_wide_sub(&t, &a->c0, &a->c1);
    fp_wide_add(&r->c1, &a->c0, &a->c1);
    r->c0 = t;
}

#else

/* where the top bits of 16p begin */
#    define NONRES_LIMB ((FP_BITS - 4) / 64)
#    define NONRES_SHIFT ((FP_BITS - 4) % 64)

/** r = t mod p, t < 16p */
static inline void fp_reduce_16p(fp *r, const uint64_t t[FP_LIMBS + 1])
{
    uint64_t s[FP_LIMBS], hi = 0, borrow = 0;
    uint64_t h = t[NONRES_LIMB] >> NONRES_SHIFT | t[NONRES_LIMB + 1] << (64 - NONRES_SHIFT);
    uint64_t q = h * CURVE_P_RECIP >> 16;

    FIELD_UNROLL
    for (int i = 0; i < FP_LIMBS; i++)
        s[i] = u64_subb(t[i], word_mac(q, fp_modulus[i], 0, &hi), &borrow);
    fp_reduce_once(r, s);
}

/** r = XI_A a + b mod p, b <= p */
static inline void fp_nonres_sum(fp *r, const fp *a, const uint64_t b[FP_LIMBS])
{
    uint64_t t[FP_LIMBS + 1], hi = 0;
    FIELD_UNROLL
    for (int i = 0; i < FP_LIMBS; i++) t[i] = word_mac(CURVE_XI_A, a->l[i], b[i], &hi);
    t[FP_LIMBS] = hi;
    fp_reduce_16p(r, t);
}

static inline void fp2_mul_nonres(fp2 *r, const fp2 *a)
{
    uint64_t minus[FP_LIMBS], borrow = 0;
    fp t;
    FIELD_UNROLL
    for (int i = 0; i < FP_LIMBS; i++) minus[i] = u64_subb(fp_modulus[i], a->c1.l[i], &borrow);
    fp_nonres_sum(&t, &a->c0, minus);
    fp_nonres_sum(&r->c1, &a->c1, a->c0.l);
    r->c0 = t;
}

/** r = XI_A a + b mod p R, b <= p R */
static inline void fp_wide_nonres_sum(fp_wide *r, const fp_wide *a, const uint64_t b[2 * FP_LIMBS])
{
    uint64_t t[FP_LIMBS + 1], hi = 0;
    fp high;
    FIELD_UNROLL
    for (int i = 0; i < FP_LIMBS; i++) r->l[i] = word_mac(CURVE_XI_A, a->l[i], b[i], &hi);
    FIELD_UNROLL
    for (int i = 0; i < FP_LIMBS; i++)
        t[i] = word_mac(CURVE_XI_A, a->l[i + FP_LIMBS], b[i + FP_LIMBS], &hi);
    t[FP_LIMBS] = hi;
    fp_reduce_16p(&high, t);
    FIELD_UNROLL
    for (int i = 0; i < FP_LIMBS; i++) r->l[i + FP_LIMBS] = high.l[i];
}

static inline void fp2_wide_mul_nonres(fp2_wide *r, const fp2_wide *a)
{
    uint64_t minus[2 * FP_LIMBS], borrow = 0;
    fp_wide t;
    FIELD_UNROLL
    for (int i = 0; i < FP_LIMBS; i++) minus[i] = u64_subb(0, a->c1.l[i], &borrow);
    FIELD_UNROLL
    for (int i = 0; i < FP_LIMBS; i++)
        minus[i + FP_LIMBS] = u64_subb(fp_modulus[i], a->c1.l[i + FP_LIMBS], &borrow);
    fp_wide_nonres_sum(&t, &a->c0, minus);
    fp_wide_nonres_sum(&r->c1, &a->c1, a->c0.l);
    r->c0 = t;
}

#endif

#endif
