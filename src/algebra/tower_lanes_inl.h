/*
 * algebra/tower_lanes_inl.h - eight elements of Fp2, Fp6 and Fp12 of BLS12-381 side by side, as a Miller loop needs them
 *
 * Every value between functions is settled (lanes_tmpl.h) and below 64m. Limbs of 52 bits leave 35 bits above m, so a product
 * of sums of such values, and sums of products before their reduction, need no other bound: what comes out of a reduction is
 *
 *     fp    _mul _sqr          below 2m
 *     fp2   _mul _sqr, fp6     below 3m: differences of products may be negative, and get m
 *
 * Sums and differences say the bound of what they subtract.
 *
 * Sources: as tower_inl.h
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ALGEBRA_TOWER_LANES_INL_H
#define ALGEBRA_TOWER_LANES_INL_H

#include "algebra/fp2_lanes_inl.h"

#if defined(LANES)

#    include "algebra/tower_inl.h"

#    if CURVE_XI_A != 1 || !CURVE_TWIST_M
#        error "only BLS12-381's tower is written for lanes"
#    endif

#    define LANES_BOUND 64 /* every settled value is below this many m */

/* ---- Fp ---- */

FIELD_KERNEL void fp_x8_mul_call(fp_x8 *r, const fp_x8 *a, const fp_x8 *b)
{
    fp_x8_mul(r, a, b);
}

FIELD_KERNEL void fp_x8_sqr_call(fp_x8 *r, const fp_x8 *a)
{
    fp_x8_sqr(r, a);
}

FIELD_KERNEL void fp_x8_mul_wide_call(fp_x8_wide *r, const fp_x8 *a, const fp_x8 *b)
{
    fp_x8_mul_wide(r, a, b);
}

/** r = w / R + m, settled: |w| is far below m R. */
FIELD_KERNEL void fp_x8_redc_call(fp_x8 *r, const fp_x8_wide *w)
{
    fp_x8_redc_raw(r, w);
    fp_x8_add_m(r, 1);
    fp_x8_carry(r);
}

/** r = a + b */
U128_INLINE void fp_x8_sum(fp_x8 *r, const fp_x8 *a, const fp_x8 *b)
{
    fp_x8_add(r, a, b);
    fp_x8_carry(r);
}

/** r = a - b + k m, b below k m */
U128_INLINE void fp_x8_diff(fp_x8 *r, const fp_x8 *a, const fp_x8 *b, uint64_t k)
{
    fp_x8_sub(r, a, b);
    fp_x8_add_m(r, k);
    fp_x8_carry(r);
}

/** Lanes where a = b (mod m), both below LANES_BOUND m. */
static inline __mmask8 fp_x8_eq_mask(const fp_x8 *a, const fp_x8 *b)
{
    fp_x8 t;
    fp_x8_sub(&t, a, b);
    fp_x8_add_m(&t, LANES_BOUND + 1);
    fp_x8_reduce(&t);
    return fp_x8_is_zero_mask(&t, 2);
}

/* ---- wide forms ---- */

typedef struct fp2_x8_wide {
    fp_x8_wide c0, c1;
} fp2_x8_wide;

typedef struct fp6_x8_wide {
    fp2_x8_wide c0, c1, c2;
} fp6_x8_wide;

U128_INLINE void fp_x8_wide_add(fp_x8_wide *r, const fp_x8_wide *a, const fp_x8_wide *b)
{
    for (int j = 0; j < 2 * FP_LIMBS52; j++) r->l[j] = _mm512_add_epi64(a->l[j], b->l[j]);
}

U128_INLINE void fp_x8_wide_sub(fp_x8_wide *r, const fp_x8_wide *a, const fp_x8_wide *b)
{
    for (int j = 0; j < 2 * FP_LIMBS52; j++) r->l[j] = _mm512_sub_epi64(a->l[j], b->l[j]);
}

U128_INLINE void fp2_x8_wide_add(fp2_x8_wide *r, const fp2_x8_wide *a, const fp2_x8_wide *b)
{
    fp_x8_wide_add(&r->c0, &a->c0, &b->c0);
    fp_x8_wide_add(&r->c1, &a->c1, &b->c1);
}

U128_INLINE void fp2_x8_wide_sub(fp2_x8_wide *r, const fp2_x8_wide *a, const fp2_x8_wide *b)
{
    fp_x8_wide_sub(&r->c0, &a->c0, &b->c0);
    fp_x8_wide_sub(&r->c1, &a->c1, &b->c1);
}

/** r += (1 + u) a */
U128_NOINLINE void fp2_x8_wide_add_nonres(fp2_x8_wide *r, const fp2_x8_wide *a)
{
    fp_x8_wide_add(&r->c0, &r->c0, &a->c0);
    fp_x8_wide_sub(&r->c0, &r->c0, &a->c1);
    fp_x8_wide_add(&r->c1, &r->c1, &a->c0);
    fp_x8_wide_add(&r->c1, &r->c1, &a->c1);
}

/* ---- Fp2 ---- */

static inline void fp2_x8_set1(fp2_x8 *r, const fp2 *a)
{
    fp_x8_set1(&r->c0, &a->c0);
    fp_x8_set1(&r->c1, &a->c1);
}

U128_INLINE void fp2_x8_sum(fp2_x8 *r, const fp2_x8 *a, const fp2_x8 *b)
{
    fp_x8_sum(&r->c0, &a->c0, &b->c0);
    fp_x8_sum(&r->c1, &a->c1, &b->c1);
}

/** r = a - b + k m in each coefficient, b below k m */
U128_INLINE void fp2_x8_diff(fp2_x8 *r, const fp2_x8 *a, const fp2_x8 *b, uint64_t k)
{
    fp_x8_diff(&r->c0, &a->c0, &b->c0, k);
    fp_x8_diff(&r->c1, &a->c1, &b->c1, k);
}

/** r = (1 + u) a, c1 of a below k m */
U128_INLINE void fp2_x8_mul_nonres(fp2_x8 *r, const fp2_x8 *a, uint64_t k)
{
    fp_x8 t;
    fp_x8_diff(&t, &a->c0, &a->c1, k);
    fp_x8_sum(&r->c1, &a->c0, &a->c1);
    r->c0 = t;
}

U128_NOINLINE void fp2_x8_mul_wide(fp2_x8_wide *r, const fp2_x8 *a, const fp2_x8 *b)
{
    fp_x8_wide v;
    fp_x8 s, t;

    fp_x8_sum(&s, &a->c0, &a->c1);
    fp_x8_sum(&t, &b->c0, &b->c1);
    fp_x8_mul_wide_call(&v, &a->c1, &b->c1);
    fp_x8_mul_wide_call(&r->c1, &s, &t);
    fp_x8_mul_wide_call(&r->c0, &a->c0, &b->c0);
    for (int j = 0; j < 2 * FP_LIMBS52; j++) {
        r->c1.l[j] = _mm512_sub_epi64(r->c1.l[j], _mm512_add_epi64(r->c0.l[j], v.l[j]));
        r->c0.l[j] = _mm512_sub_epi64(r->c0.l[j], v.l[j]);
    }
}

U128_INLINE void fp2_x8_redc(fp2_x8 *r, const fp2_x8_wide *w)
{
    fp_x8_redc_call(&r->c0, &w->c0);
    fp_x8_redc_call(&r->c1, &w->c1);
}

U128_NOINLINE void fp2_x8_mul_call(fp2_x8 *r, const fp2_x8 *a, const fp2_x8 *b)
{
    fp2_x8_mul_raw(r, a, b);
    fp2_x8_carry(r);
}

U128_NOINLINE void fp2_x8_sqr_call(fp2_x8 *r, const fp2_x8 *a)
{
    fp_x8 s, d, t;

    fp_x8_sum(&s, &a->c0, &a->c1);
    fp_x8_diff(&d, &a->c0, &a->c1, LANES_BOUND);
    fp_x8_sum(&t, &a->c1, &a->c1);
    fp_x8_mul_call(&r->c1, &a->c0, &t);
    fp_x8_mul_call(&r->c0, &s, &d);
}

U128_INLINE void fp2_x8_mul_fp(fp2_x8 *r, const fp2_x8 *a, const fp_x8 *b)
{
    fp_x8_mul_call(&r->c0, &a->c0, b);
    fp_x8_mul_call(&r->c1, &a->c1, b);
}

static inline __mmask8 fp2_x8_eq_mask(const fp2_x8 *a, const fp2_x8 *b)
{
    __mmask8 k = fp_x8_eq_mask(&a->c0, &b->c0);
    return k == 0 ? k : k & fp_x8_eq_mask(&a->c1, &b->c1);
}

/* ---- Fp6 ---- */

typedef struct fp6_x8 {
    fp2_x8 c0, c1, c2;
} fp6_x8;

U128_INLINE void fp6_x8_sum(fp6_x8 *r, const fp6_x8 *a, const fp6_x8 *b)
{
    fp2_x8_sum(&r->c0, &a->c0, &b->c0);
    fp2_x8_sum(&r->c1, &a->c1, &b->c1);
    fp2_x8_sum(&r->c2, &a->c2, &b->c2);
}

/** *r = (a0 + a1)(b0 + b1) - v0 - v1 */
U128_NOINLINE void fp2_x8_cross_wide(fp2_x8_wide *r, const fp2_x8 *a0, const fp2_x8 *a1,
                                     const fp2_x8 *b0, const fp2_x8 *b1, const fp2_x8_wide *v0,
                                     const fp2_x8_wide *v1)
{
    fp2_x8 s, t;

    fp2_x8_sum(&s, a0, a1);
    fp2_x8_sum(&t, b0, b1);
    fp2_x8_mul_wide(r, &s, &t);
    fp2_x8_wide_sub(r, r, v0);
    fp2_x8_wide_sub(r, r, v1);
}

/** r = a b */
U128_NOINLINE void fp6_x8_mul(fp6_x8 *r, const fp6_x8 *a, const fp6_x8 *b)
{
    fp2_x8_wide v0, v1, v2, t, w;
    fp2_x8 s, u;

    fp2_x8_mul_wide(&v0, &a->c0, &b->c0);
    fp2_x8_mul_wide(&v1, &a->c1, &b->c1);
    fp2_x8_mul_wide(&v2, &a->c2, &b->c2);
    fp2_x8_cross_wide(&t, &a->c0, &a->c1, &b->c0, &b->c1, &v0, &v1);
    fp2_x8_wide_add_nonres(&t, &v2);
    fp2_x8_cross_wide(&w, &a->c1, &a->c2, &b->c1, &b->c2, &v1, &v2);
    fp2_x8_wide_sub(&v2, &v1, &v2); /* what of c2 is left, less v0 and the cross product */
    fp2_x8_wide_sub(&v2, &v2, &v0);
    fp2_x8_wide_add_nonres(&v0, &w);
    fp2_x8_sum(&s, &a->c0, &a->c2);
    fp2_x8_sum(&u, &b->c0, &b->c2);
    fp2_x8_mul_wide(&w, &s, &u);
    fp2_x8_wide_add(&w, &w, &v2);
    fp2_x8_redc(&r->c0, &v0);
    fp2_x8_redc(&r->c1, &t);
    fp2_x8_redc(&r->c2, &w);
}

/** r = a (b0 + b1 v) */
U128_NOINLINE void fp6_x8_mul_01_wide(fp6_x8_wide *r, const fp6_x8 *a, const fp2_x8 *b0,
                                      const fp2_x8 *b1)
{
    fp2_x8_wide v1;

    fp2_x8_mul_wide(&r->c0, &a->c0, b0);
    fp2_x8_mul_wide(&v1, &a->c1, b1);
    fp2_x8_cross_wide(&r->c1, &a->c0, &a->c1, b0, b1, &r->c0, &v1);
    fp2_x8_mul_wide(&r->c2, &a->c2, b0);
    fp2_x8_wide_add(&r->c2, &r->c2, &v1);
    fp2_x8_mul_wide(&v1, &a->c2, b1);
    fp2_x8_wide_add_nonres(&r->c0, &v1);
}

/* ---- Fp12 ---- */

typedef struct fp12_x8 {
    fp6_x8 c0, c1;
} fp12_x8;

/** r = v a, c2.c1 of a below k m */
static inline void fp6_x8_mul_nonres(fp6_x8 *r, const fp6_x8 *a, uint64_t k)
{
    fp2_x8 t;
    fp2_x8_mul_nonres(&t, &a->c2, k);
    r->c2 = a->c1;
    r->c1 = a->c0;
    r->c0 = t;
}

static inline void fp6_x8_diff(fp6_x8 *r, const fp6_x8 *a, const fp6_x8 *b, uint64_t k)
{
    fp2_x8_diff(&r->c0, &a->c0, &b->c0, k);
    fp2_x8_diff(&r->c1, &a->c1, &b->c1, k);
    fp2_x8_diff(&r->c2, &a->c2, &b->c2, k);
}

/** r = a^2, as fp12_sqr. Coefficients of a and r are below 13m. */
U128_NOINLINE void fp12_x8_sqr(fp12_x8 *r, const fp12_x8 *a)
{
    fp6_x8 s, t, m;

    fp6_x8_sum(&s, &a->c0, &a->c1);    /* 26 */
    fp6_x8_mul_nonres(&t, &a->c1, 13); /* 26 */
    fp6_x8_sum(&t, &t, &a->c0);        /* 39 */
    fp6_x8_mul(&m, &a->c0, &a->c1);    /* 3 */
    fp6_x8_mul(&s, &s, &t);            /* 3 */
    fp6_x8_diff(&s, &s, &m, 3);        /* 6 */
    fp6_x8_sum(&r->c1, &m, &m);        /* 6 */
    fp6_x8_mul_nonres(&m, &m, 3);      /* 6 */
    fp6_x8_diff(&r->c0, &s, &m, 6);    /* 12 */
}

/** c0 of a product by a line, and *v = v0 + v1: what is to be taken from the product of sums for c1 */
U128_NOINLINE void fp12_x8_line_first(fp6_x8 *c0, fp6_x8_wide *v, const fp12_x8 *a,
                                      const fp2_x8 *l0, const fp2_x8 *l1, const fp2_x8 *l4)
{
    fp6_x8_wide w; /* v1 / v: v1's coefficients are (1 + u) w2, w0, w1 */
    fp2_x8_wide t;

    fp6_x8_mul_01_wide(v, &a->c0, l0, l1); /* v0 */
    fp2_x8_mul_wide(&w.c0, &a->c1.c0, l4);
    fp2_x8_mul_wide(&w.c1, &a->c1.c1, l4);
    fp2_x8_mul_wide(&w.c2, &a->c1.c2, l4);
    t = v->c0; /* v0 + v v1 */
    fp2_x8_wide_add_nonres(&t, &w.c1);
    fp2_x8_redc(&c0->c0, &t);
    t = v->c1;
    fp2_x8_wide_add_nonres(&t, &w.c2);
    fp2_x8_redc(&c0->c1, &t);
    fp2_x8_wide_add(&t, &v->c2, &w.c0);
    fp2_x8_redc(&c0->c2, &t);
    fp2_x8_wide_add(&v->c1, &v->c1, &w.c0);
    fp2_x8_wide_add(&v->c2, &v->c2, &w.c1);
    fp2_x8_wide_add_nonres(&v->c0, &w.c2);
}

/** c1 = s (l0 + l v) - v */
U128_NOINLINE void fp12_x8_line_second(fp6_x8 *c1, const fp6_x8 *s, const fp2_x8 *l0,
                                       const fp2_x8 *l, const fp6_x8_wide *v)
{
    fp6_x8_wide w;

    fp6_x8_mul_01_wide(&w, s, l0, l);
    fp2_x8_wide_sub(&w.c0, &w.c0, &v->c0);
    fp2_x8_redc(&c1->c0, &w.c0);
    fp2_x8_wide_sub(&w.c1, &w.c1, &v->c1);
    fp2_x8_redc(&c1->c1, &w.c1);
    fp2_x8_wide_sub(&w.c2, &w.c2, &v->c2);
    fp2_x8_redc(&c1->c2, &w.c2);
}

/** r = a (l0 + l1 v + l4 v w). In pieces, for what they keep on the stack. */
U128_NOINLINE void fp12_x8_mul_014(fp12_x8 *r, const fp12_x8 *a, const fp2_x8 *l0, const fp2_x8 *l1,
                                   const fp2_x8 *l4)
{
    fp6_x8_wide v;
    fp6_x8 s;
    fp2_x8 l;

    fp6_x8_sum(&s, &a->c0, &a->c1);
    fp2_x8_sum(&l, l1, l4);
    fp12_x8_line_first(&r->c0, &v, a, l0, l1, l4);
    fp12_x8_line_second(&r->c1, &s, l0, &l, &v);
}

#endif
#endif
