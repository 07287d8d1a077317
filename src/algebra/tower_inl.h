/*
 * algebra/tower_inl.h - Fp6 = Fp2[v] / (v^3 - xi) and Fp12 = Fp6[w] / (w^2 - v), as the pairing needs them
 *
 *     cost in Fp2      mul   sqr
 *     Fp6              6     -        one reduction for each coefficient
 *     Fp12             18    12       cyclotomic square: 9 squares; compressed: 6 squares
 *     Fp12 by a line   13             10 by one whose coefficient of y is 1
 *
 * A line of the pairing has three coefficients; where they stand depends on the kind of the twist:
 *     M (BLS12-381)  l0 + l1 v + l4 v w        D (BN254)  l0 + l3 w + l4 v w
 *
 * Bounds of wide forms: fp2_inl.h; every coefficient is kept below p R.
 *
 * Sources: Devegili, O hEigeartaigh, Scott, Dahab, ePrint 2006/471; Aranha et al., EUROCRYPT 2011 (lazy
 * reduction)
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ALGEBRA_TOWER_INL_H
#define ALGEBRA_TOWER_INL_H

#include "algebra/fp2_inl.h"

/** c0 + c1 v + c2 v^2 */
typedef struct fp6 {
    fp2 c0, c1, c2;
} fp6;

/** c0 + c1 w */
typedef struct fp12 {
    fp6 c0, c1;
} fp12;

typedef struct fp6_wide {
    fp2_wide c0, c1, c2;
} fp6_wide;

/* ---- wide Fp2 ---- */

static inline void fp2_wide_add(fp2_wide *r, const fp2_wide *a, const fp2_wide *b)
{
    fp_wide_add(&r->c0, &a->c0, &b->c0);
    fp_wide_add(&r->c1, &a->c1, &b->c1);
}

static inline void fp2_wide_sub(fp2_wide *r, const fp2_wide *a, const fp2_wide *b)
{
    fp_wide_sub(&r->c0, &a->c0, &b->c0);
    fp_wide_sub(&r->c1, &a->c1, &b->c1);
}

/** r = a - b where c1 is known not to go below 0 (and may come from above p R). */
static inline void fp2_wide_sub_exact(fp2_wide *r, const fp2_wide *a, const fp2_wide *b)
{
    fp_wide_sub(&r->c0, &a->c0, &b->c0);
    fp_wide_sub_lazy(&r->c1, &a->c1, &b->c1);
}

/* ---- Fp6 ---- */

static inline void fp6_set_zero(fp6 *r)
{
    fp2_set_zero(&r->c0);
    fp2_set_zero(&r->c1);
    fp2_set_zero(&r->c2);
}

static inline void fp6_set_one(fp6 *r)
{
    fp6_set_zero(r);
    fp2_set_one(&r->c0);
}

static inline bool fp6_is_zero(const fp6 *a)
{
    return fp2_is_zero(&a->c0) && fp2_is_zero(&a->c1) && fp2_is_zero(&a->c2);
}

static inline bool fp6_eq(const fp6 *a, const fp6 *b)
{
    return fp2_eq(&a->c0, &b->c0) && fp2_eq(&a->c1, &b->c1) && fp2_eq(&a->c2, &b->c2);
}

static inline void fp6_add(fp6 *r, const fp6 *a, const fp6 *b)
{
    fp2_add(&r->c0, &a->c0, &b->c0);
    fp2_add(&r->c1, &a->c1, &b->c1);
    fp2_add(&r->c2, &a->c2, &b->c2);
}

static inline void fp6_sub(fp6 *r, const fp6 *a, const fp6 *b)
{
    fp2_sub(&r->c0, &a->c0, &b->c0);
    fp2_sub(&r->c1, &a->c1, &b->c1);
    fp2_sub(&r->c2, &a->c2, &b->c2);
}

static inline void fp6_dbl(fp6 *r, const fp6 *a)
{
    fp6_add(r, a, a);
}

static inline void fp6_neg(fp6 *r, const fp6 *a)
{
    fp2_neg(&r->c0, &a->c0);
    fp2_neg(&r->c1, &a->c1);
    fp2_neg(&r->c2, &a->c2);
}

/** r = v a */
static inline void fp6_mul_nonres(fp6 *r, const fp6 *a)
{
    fp2 t;
    fp2_mul_nonres(&t, &a->c2);
    r->c2 = a->c1;
    r->c1 = a->c0;
    r->c0 = t;
}

static inline void fp6_redc_wide(fp6 *r, const fp6_wide *w)
{
    fp2_redc_wide(&r->c0, &w->c0);
    fp2_redc_wide(&r->c1, &w->c1);
    fp2_redc_wide(&r->c2, &w->c2);
}

static inline void fp6_wide_add(fp6_wide *r, const fp6_wide *a, const fp6_wide *b)
{
    fp2_wide_add(&r->c0, &a->c0, &b->c0);
    fp2_wide_add(&r->c1, &a->c1, &b->c1);
    fp2_wide_add(&r->c2, &a->c2, &b->c2);
}

static inline void fp6_wide_sub(fp6_wide *r, const fp6_wide *a, const fp6_wide *b)
{
    fp2_wide_sub(&r->c0, &a->c0, &b->c0);
    fp2_wide_sub(&r->c1, &a->c1, &b->c1);
    fp2_wide_sub(&r->c2, &a->c2, &b->c2);
}

/** r = a + v b */
static inline void fp6_wide_add_nonres(fp6_wide *r, const fp6_wide *a, const fp6_wide *b)
{
    fp2_wide t;
    fp2_wide_mul_nonres(&t, &b->c2);
    fp2_wide_add(&r->c2, &a->c2, &b->c1);
    fp2_wide_add(&r->c1, &a->c1, &b->c0);
    fp2_wide_add(&r->c0, &a->c0, &t);
}

/** *r = (a0 + a1)(b0 + b1) - v0 - v1 = a0 b1 + a1 b0 with v0 = a0 b0, v1 = a1 b1 */
static inline void fp2_cross_wide(fp2_wide *r, const fp2 *a0, const fp2 *a1, const fp2 *b0,
                                  const fp2 *b1, const fp2_wide *v0, const fp2_wide *v1)
{
    fp2 s, t;
    fp2_add_lazy(&s, a0, a1);
    fp2_add_lazy(&t, b0, b1);
    fp2_mul_wide(r, &s, &t);
    fp2_wide_sub_exact(r, r, v0);
    fp2_wide_sub_exact(r, r, v1);
}

U128_NOINLINE void fp6_mul_wide(fp6_wide *r, const fp6 *a, const fp6 *b)
{
    fp2_wide v0, v1, v2, t;

    fp2_mul_wide(&v0, &a->c0, &b->c0);
    fp2_mul_wide(&v1, &a->c1, &b->c1);
    fp2_mul_wide(&v2, &a->c2, &b->c2);

    fp2_cross_wide(&t, &a->c1, &a->c2, &b->c1, &b->c2, &v1, &v2);
    fp2_wide_mul_nonres(&t, &t);
    fp2_wide_add(&r->c0, &t, &v0);

    fp2_cross_wide(&r->c1, &a->c0, &a->c1, &b->c0, &b->c1, &v0, &v1);
    fp2_cross_wide(&r->c2, &a->c0, &a->c2, &b->c0, &b->c2, &v0, &v2);
    fp2_wide_mul_nonres(&t, &v2);
    fp2_wide_add(&r->c1, &r->c1, &t);
    fp2_wide_add(&r->c2, &r->c2, &v1);
}

U128_NOINLINE void fp6_mul(fp6 *r, const fp6 *a, const fp6 *b)
{
    fp6_wide t;
    fp6_mul_wide(&t, a, b);
    fp6_redc_wide(r, &t);
}

static inline void fp6_mul_fp2_wide(fp6_wide *r, const fp6 *a, const fp2 *b)
{
    fp2_mul_wide(&r->c0, &a->c0, b);
    fp2_mul_wide(&r->c1, &a->c1, b);
    fp2_mul_wide(&r->c2, &a->c2, b);
}

/** r = a (b0 + b1 v): 5 products */
U128_NOINLINE void fp6_mul_01_wide(fp6_wide *r, const fp6 *a, const fp2 *b0, const fp2 *b1)
{
    fp2_wide v0, v1, t;

    fp2_mul_wide(&v0, &a->c0, b0);
    fp2_mul_wide(&v1, &a->c1, b1);
    fp2_cross_wide(&r->c1, &a->c0, &a->c1, b0, b1, &v0, &v1);
    fp2_mul_wide(&t, &a->c2, b1);
    fp2_wide_mul_nonres(&t, &t);
    fp2_wide_add(&r->c0, &t, &v0);
    fp2_mul_wide(&t, &a->c2, b0);
    fp2_wide_add(&r->c2, &t, &v1);
}

U128_NOINLINE void fp6_inv_var(fp6 *r, const fp6 *a)
{
    fp2 t0, t1, t2, s, n;

    fp2_sqr(&t0, &a->c0);
    fp2_mul(&s, &a->c1, &a->c2);
    fp2_mul_nonres(&s, &s);
    fp2_sub(&t0, &t0, &s); /* a0^2 - xi a1 a2 */
    fp2_sqr(&t1, &a->c2);
    fp2_mul_nonres(&t1, &t1);
    fp2_mul(&s, &a->c0, &a->c1);
    fp2_sub(&t1, &t1, &s); /* xi a2^2 - a0 a1 */
    fp2_sqr(&t2, &a->c1);
    fp2_mul(&s, &a->c0, &a->c2);
    fp2_sub(&t2, &t2, &s); /* a1^2 - a0 a2 */

    fp2_mul(&n, &a->c2, &t1);
    fp2_mul(&s, &a->c1, &t2);
    fp2_add(&n, &n, &s);
    fp2_mul_nonres(&n, &n);
    fp2_mul(&s, &a->c0, &t0);
    fp2_add(&n, &n, &s);
    fp2_inv_var(&n, &n);
    fp2_mul(&r->c0, &t0, &n);
    fp2_mul(&r->c1, &t1, &n);
    fp2_mul(&r->c2, &t2, &n);
}

/* ---- Fp12 ---- */

static inline void fp12_set_one(fp12 *r)
{
    fp6_set_one(&r->c0);
    fp6_set_zero(&r->c1);
}

static inline bool fp12_eq(const fp12 *a, const fp12 *b)
{
    return fp6_eq(&a->c0, &b->c0) && fp6_eq(&a->c1, &b->c1);
}

static inline bool fp12_is_one(const fp12 *a)
{
    fp12 one;
    fp12_set_one(&one);
    return fp12_eq(a, &one);
}

/** r = a^(p^6); the inverse in the cyclotomic subgroup */
static inline void fp12_conj(fp12 *r, const fp12 *a)
{
    r->c0 = a->c0;
    fp6_neg(&r->c1, &a->c1);
}

/** r = (v0 + v v1) + (m - v0 - v1) w, m = (a0 + a1)(b0 + b1): the end of a product by Karatsuba */
static inline void fp12_redc_karatsuba(fp12 *r, fp6_wide *m, const fp6_wide *v0, const fp6_wide *v1)
{
    fp6_wide_sub(m, m, v0);
    fp6_wide_sub(m, m, v1);
    fp6_redc_wide(&r->c1, m);
    fp6_wide_add_nonres(m, v0, v1);
    fp6_redc_wide(&r->c0, m);
}

U128_NOINLINE void fp12_mul(fp12 *r, const fp12 *a, const fp12 *b)
{
    fp6_wide v0, v1, m;
    fp6 s, t;

    fp6_add(&s, &a->c0, &a->c1);
    fp6_add(&t, &b->c0, &b->c1);
    fp6_mul_wide(&v0, &a->c0, &b->c0);
    fp6_mul_wide(&v1, &a->c1, &b->c1);
    fp6_mul_wide(&m, &s, &t);
    fp12_redc_karatsuba(r, &m, &v0, &v1);
}

/** (a0 + a1)(a0 + v a1) - a0 a1 - v a0 a1 + 2 a0 a1 w */
U128_NOINLINE void fp12_sqr(fp12 *r, const fp12 *a)
{
    fp6 s, t, m;

    fp6_add(&s, &a->c0, &a->c1);
    fp6_mul_nonres(&t, &a->c1);
    fp6_add(&t, &t, &a->c0);
    fp6_mul(&m, &a->c0, &a->c1);
    fp6_mul(&s, &s, &t);
    fp6_sub(&s, &s, &m);
    fp6_dbl(&r->c1, &m);
    fp6_mul_nonres(&m, &m);
    fp6_sub(&r->c0, &s, &m);
}

U128_NOINLINE void fp12_inv_var(fp12 *r, const fp12 *a)
{
    fp6 t, s;

    fp6_mul(&t, &a->c0, &a->c0);
    fp6_mul(&s, &a->c1, &a->c1);
    fp6_mul_nonres(&s, &s);
    fp6_sub(&t, &t, &s);
    fp6_inv_var(&t, &t);
    fp6_mul(&r->c0, &a->c0, &t);
    fp6_mul(&s, &a->c1, &t);
    fp6_neg(&r->c1, &s);
}

/** r = a^p */
U128_NOINLINE void fp12_frob(fp12 *r, const fp12 *a)
{
    /* coefficient of w^i is conjugated and gets xi^(i (p - 1) / 6) */
    fp2_conj(&r->c0.c0, &a->c0.c0);
    fp2_conj(&r->c1.c0, &a->c1.c0);
    fp2_conj(&r->c0.c1, &a->c0.c1);
    fp2_conj(&r->c1.c1, &a->c1.c1);
    fp2_conj(&r->c0.c2, &a->c0.c2);
    fp2_conj(&r->c1.c2, &a->c1.c2);
    fp2_mul(&r->c1.c0, &r->c1.c0, &tower_frob1[1]);
    fp2_mul(&r->c0.c1, &r->c0.c1, &tower_frob1[2]);
    fp2_mul(&r->c1.c1, &r->c1.c1, &tower_frob1[3]);
    fp2_mul(&r->c0.c2, &r->c0.c2, &tower_frob1[4]);
    fp2_mul(&r->c1.c2, &r->c1.c2, &tower_frob1[5]);
}

/** r = a^(p^2) */
U128_NOINLINE void fp12_frob2(fp12 *r, const fp12 *a)
{
    r->c0.c0 = a->c0.c0;
    fp2_mul_fp(&r->c1.c0, &a->c1.c0, &tower_frob2[1]);
    fp2_mul_fp(&r->c0.c1, &a->c0.c1, &tower_frob2[2]);
    fp2_mul_fp(&r->c1.c1, &a->c1.c1, &tower_frob2[3]);
    fp2_mul_fp(&r->c0.c2, &a->c0.c2, &tower_frob2[4]);
    fp2_mul_fp(&r->c1.c2, &a->c1.c2, &tower_frob2[5]);
}

#if CURVE_TWIST_M

/** r = a (l0 + l1 v + v w): a0 b + v^2 a1, v a0 + a1 b with b = l0 + l1 v */
U128_NOINLINE void fp12_mul_line1(fp12 *r, const fp12 *a, const fp2 *l1, const fp2 *l0)
{
    fp6_wide w;
    fp6 s, t;

    fp6_mul_01_wide(&w, &a->c0, l0, l1);
    fp6_redc_wide(&s, &w);
    fp6_mul_01_wide(&w, &a->c1, l0, l1);
    fp6_mul_nonres(&t, &a->c0);
    fp6_mul_nonres(&r->c0, &a->c1);
    fp6_mul_nonres(&r->c0, &r->c0);
    fp6_redc_wide(&r->c1, &w);
    fp6_add(&r->c0, &r->c0, &s);
    fp6_add(&r->c1, &r->c1, &t);
}

/** r = a (l0 + l1 v + l4 v w) */
U128_NOINLINE void fp12_mul_014(fp12 *r, const fp12 *a, const fp2 *l0, const fp2 *l1, const fp2 *l4)
{
    fp6_wide v0, v1, m;
    fp6 s;
    fp2 l;

    fp6_mul_01_wide(&v0, &a->c0, l0, l1);
    fp6_mul_fp2_wide(&m, &a->c1, l4); /* v1 = v m */
    fp2_wide_mul_nonres(&v1.c0, &m.c2);
    v1.c1 = m.c0;
    v1.c2 = m.c1;
    fp6_add(&s, &a->c0, &a->c1);
    fp2_add(&l, l1, l4);
    fp6_mul_01_wide(&m, &s, l0, &l);
    fp12_redc_karatsuba(r, &m, &v0, &v1);
}

#else

/** r = a (1 + l3 w + l4 v w): a0 + v a1 b, a1 + a0 b with b = l3 + l4 v */
U128_NOINLINE void fp12_mul_line1(fp12 *r, const fp12 *a, const fp2 *l3, const fp2 *l4)
{
    fp6_wide w;
    fp6 s, t;

    fp6_mul_01_wide(&w, &a->c1, l3, l4);
    fp6_redc_wide(&s, &w);
    fp6_mul_nonres(&s, &s);
    fp6_mul_01_wide(&w, &a->c0, l3, l4);
    fp6_redc_wide(&t, &w);
    fp6_add(&r->c0, &a->c0, &s);
    fp6_add(&r->c1, &a->c1, &t);
}

/** r = a (l0 + l3 w + l4 v w) */
U128_NOINLINE void fp12_mul_034(fp12 *r, const fp12 *a, const fp2 *l0, const fp2 *l3, const fp2 *l4)
{
    fp6_wide v0, v1, m;
    fp6 s;
    fp2 l;

    fp6_mul_fp2_wide(&v0, &a->c0, l0);
    fp6_mul_01_wide(&v1, &a->c1, l3, l4);
    fp6_add(&s, &a->c0, &a->c1);
    fp2_add(&l, l0, l3);
    fp6_mul_01_wide(&m, &s, &l, l4);
    fp12_redc_karatsuba(r, &m, &v0, &v1);
}

#endif

#endif
