/*
 * algebra/fp2_inl.h - Fp2 = Fp[u] / (u^2 + 1)
 *
 * Products are Karatsuba's with one reduction for each coefficient: 3 wide products, 2 reductions. Constant time
 * unless the name ends in _var.
 *
 * Bounds of wide forms: a coefficient c0 = a0 b0 - a1 b1 is kept in [0, p R) by wide_sub; c1 = a0 b1 + a1 b0 is an exact
 * sum of two products. With canonical factors c1 < 2 p^2 < p R. With factors whose coefficients are below 2p (sums that
 * were not reduced) c1 < 8 p^2, which fits a wide but may pass p R: the caller subtracts until it is below.
 *
 * Source: Aranha, Karabina, Longa, Gebotys, Lopez, EUROCRYPT 2011 (lazy reduction in towers)
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ALGEBRA_FP2_INL_H
#define ALGEBRA_FP2_INL_H

#include "algebra/fp2_type_inl.h"
#include "algebra/nonres_inl.h"

/** r = 3 b a, b of the curve over Fp */
static inline void fp_mul_b3(fp *r, const fp *a)
{
    fp t, s;
    fp_dbl(&t, a);
    fp_add(&t, &t, a);
#if CURVE_B == 3
    fp_dbl(&s, &t);
    fp_add(r, &s, &t);
#elif CURVE_B == 4
    fp_dbl(&s, &t);
    fp_dbl(r, &s);
#elif CURVE_B == 7
    fp_dbl(&s, &t);
    fp_dbl(&s, &s);
    fp_dbl(&s, &s);
    fp_sub(r, &s, &t);
#else
#    error "no code for this b"
#endif
}

/* ---- Fp2 ---- */

static inline void fp2_set_zero(fp2 *r)
{
    fp_set_zero(&r->c0);
    fp_set_zero(&r->c1);
}

static inline void fp2_set_one(fp2 *r)
{
    fp_set_one(&r->c0);
    fp_set_zero(&r->c1);
}

static inline bool fp2_is_zero(const fp2 *a)
{
    return (int)fp_is_zero(&a->c0) & (int)fp_is_zero(&a->c1);
}

static inline bool fp2_eq(const fp2 *a, const fp2 *b)
{
    return (int)fp_eq(&a->c0, &b->c0) & (int)fp_eq(&a->c1, &b->c1);
}

/** r = c ? a : r */
static inline void fp2_cmov(fp2 *r, const fp2 *a, bool c)
{
    fp_cmov(&r->c0, &a->c0, c);
    fp_cmov(&r->c1, &a->c1, c);
}

static inline bool fp2_is_canonical(const fp2 *a)
{
    return (int)fp_is_canonical(&a->c0) & (int)fp_is_canonical(&a->c1);
}

static inline void fp2_add(fp2 *r, const fp2 *a, const fp2 *b)
{
    fp_add(&r->c0, &a->c0, &b->c0);
    fp_add(&r->c1, &a->c1, &b->c1);
}

static inline void fp2_sub(fp2 *r, const fp2 *a, const fp2 *b)
{
    fp_sub(&r->c0, &a->c0, &b->c0);
    fp_sub(&r->c1, &a->c1, &b->c1);
}

static inline void fp2_dbl(fp2 *r, const fp2 *a)
{
    fp_dbl(&r->c0, &a->c0);
    fp_dbl(&r->c1, &a->c1);
}

static inline void fp2_neg(fp2 *r, const fp2 *a)
{
    fp_neg(&r->c0, &a->c0);
    fp_neg(&r->c1, &a->c1);
}

/** r = a^p */
static inline void fp2_conj(fp2 *r, const fp2 *a)
{
    r->c0 = a->c0;
    fp_neg(&r->c1, &a->c1);
}

/** r = a + b, not reduced: a factor of fp2_mul_wide, nothing else. */
static inline void fp2_add_lazy(fp2 *r, const fp2 *a, const fp2 *b)
{
    fp_add_lazy(&r->c0, &a->c0, &b->c0);
    fp_add_lazy(&r->c1, &a->c1, &b->c1);
}

/** r = a b; coefficients of a and b below 2p; bounds above. */
U128_NOINLINE void fp2_mul_wide(fp2_wide *r, const fp2 *a, const fp2 *b)
{
    fp_wide t0, t1;
    fp s, t;

    fp_add_lazy(&s, &a->c0, &a->c1);
    fp_add_lazy(&t, &b->c0, &b->c1);
    fp_mul_wide(&t0, &a->c0, &b->c0);
    fp_mul_wide(&t1, &a->c1, &b->c1);
    fp_mul_wide(&r->c1, &s, &t);
    fp_wide_sub_lazy(&r->c1, &r->c1, &t0);
    fp_wide_sub_lazy(&r->c1, &r->c1, &t1);
    fp_wide_sub(&r->c0, &t0, &t1);
}

static inline void fp2_redc_wide(fp2 *r, const fp2_wide *w)
{
    fp_redc_wide(&r->c0, &w->c0);
    fp_redc_wide(&r->c1, &w->c1);
}

/** The kernels are inlined here and in fp2_sqr: sums over G2 spend their time in these two. */
U128_NOINLINE void fp2_mul(fp2 *r, const fp2 *a, const fp2 *b)
{
    fp_wide t0, t1, t2;
    fp s, t;

    fp_mul_wide_inl(&t0, &a->c0, &b->c0);
    fp_mul_wide_inl(&t1, &a->c1, &b->c1);
    fp_add_lazy(&s, &a->c0, &a->c1);
    fp_add_lazy(&t, &b->c0, &b->c1);
    fp_mul_wide_inl(&t2, &s, &t);
    fp_wide_sub_lazy(&t2, &t2, &t0);
    fp_wide_sub_lazy(&t2, &t2, &t1);
    fp_wide_sub(&t0, &t0, &t1);
    fp_redc_wide_inl(&r->c0, &t0);
    fp_redc_wide_once_inl(&r->c1, &t2); /* a0 b1 + a1 b0 */
}

/** r = a^2, a canonical: (a0 + a1)(a0 - a1) + 2 a0 a1 u; both coefficients below 2 p^2. */
U128_NOINLINE void fp2_sqr_wide(fp2_wide *r, const fp2 *a)
{
    fp s, d, e;
    fp_add_lazy(&s, &a->c0, &a->c1);
    fp_sub(&d, &a->c0, &a->c1);
    fp_add_lazy(&e, &a->c0, &a->c0);
    fp_mul_wide(&r->c1, &e, &a->c1);
    fp_mul_wide(&r->c0, &s, &d);
}

/** (a0 + a1)(a0 - a1) + 2 a0 a1 u */
U128_NOINLINE void fp2_sqr(fp2 *r, const fp2 *a)
{
    fp s, d, m;
    fp_add(&s, &a->c0, &a->c1);
    fp_sub(&d, &a->c0, &a->c1);
    fp_mul_inl(&m, &a->c0, &a->c1);
    fp_mul_inl(&r->c0, &s, &d);
    fp_dbl(&r->c1, &m);
}

/* What fp has for the sums of an MSM. Here products are long enough to be calls, and reduced. */
static inline void fp2_mul_inl(fp2 *r, const fp2 *a, const fp2 *b)
{
    fp2_mul(r, a, b);
}
static inline void fp2_sqr_inl(fp2 *r, const fp2 *a)
{
    fp2_sqr(r, a);
}
static inline void fp2_mul_lazy(fp2 *r, const fp2 *a, const fp2 *b)
{
    fp2_mul(r, a, b);
}
static inline void fp2_mul_last(fp2 *r, const fp2 *a, const fp2 *b)
{
    fp2_mul(r, a, b);
}

static inline void fp2_mul_fp(fp2 *r, const fp2 *a, const fp *b)
{
    fp t = *b;
    fp_mul(&r->c0, &a->c0, &t);
    fp_mul(&r->c1, &a->c1, &t);
}

/** r = 3 b a, b of the twist */
static inline void fp2_mul_b3(fp2 *r, const fp2 *a)
{
#if CURVE_TWIST_M
    fp2 t; /* 3 b xi a */
    fp_mul_b3(&t.c0, &a->c0);
    fp_mul_b3(&t.c1, &a->c1);
    fp2_mul_nonres(r, &t);
#else
    fp2_mul(r, a, &g2_b3);
#endif
}

/** r = norm of a = a0^2 + a1^2 */
static inline void fp2_norm(fp *r, const fp2 *a)
{
    fp_wide t0, t1;
    fp_sqr_wide(&t0, &a->c0);
    fp_sqr_wide(&t1, &a->c1);
    fp_wide_add_lazy(&t0, &t0, &t1);
    fp_redc_wide(r, &t0);
}

/** 0 for 0. */
U128_NOINLINE void fp2_inv(fp2 *r, const fp2 *a)
{
    fp n;
    fp2_norm(&n, a);
    fp_inv(&n, &n);
    fp_mul(&r->c0, &a->c0, &n);
    fp_mul(&r->c1, &a->c1, &n);
    fp_neg(&r->c1, &r->c1);
}

U128_NOINLINE void fp2_inv_var(fp2 *r, const fp2 *a)
{
    fp n;
    fp2_norm(&n, a);
    fp_inv_var(&n, &n);
    fp_mul(&r->c0, &a->c0, &n);
    fp_mul(&r->c1, &a->c1, &n);
    fp_neg(&r->c1, &r->c1);
}

/**
 * r = a square root of a; false, r untouched, when there is none.
 *
 * With s^2 = a0^2 + a1^2, r0^2 is one of (a0 + s)/2 and (a0 - s)/2: their product -a1^2/4 is not a square, so exactly
 * one of them is. Then r1 = a1 / (2 r0).
 */
U128_NOINLINE bool fp2_sqrt_var(fp2 *r, const fp2 *a)
{
    fp s, d, x;

    if (fp_is_zero(&a->c1)) {
        fp2 t;
        fp2_set_zero(&t);
        if (!fp_sqrt(&t.c0, &a->c0)) {
            fp_neg(&d, &a->c0);
            if (!fp_sqrt(&t.c1, &d)) return false;
        }
        *r = t;
        return true;
    }
    fp2_norm(&d, a);
    if (!fp_sqrt(&s, &d)) return false;
    fp_add(&d, &a->c0, &s);
    fp_mul(&d, &d, &fp_half_one);
    if (!fp_sqrt(&x, &d)) {
        fp_sub(&d, &a->c0, &s);
        fp_mul(&d, &d, &fp_half_one);
        if (!fp_sqrt(&x, &d)) return false;
    }
    fp_dbl(&d, &x);
    fp_inv_var(&d, &d);
    fp_mul(&r->c1, &a->c1, &d);
    r->c0 = x;
    return true;
}

/** a is the larger of a and -a: compare c1, then c0. */
static inline bool fp2_is_larger_half(const fp2 *a)
{
    return fp_is_zero(&a->c1) ? fp_is_larger_half(&a->c0) : fp_is_larger_half(&a->c1);
}

#endif
