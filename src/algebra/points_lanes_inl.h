/*
 * algebra/points_lanes_inl.h - BLS12-381: eight points side by side: roots, membership of the subgroups, random multiples
 *
 * Nothing here is the judge: a lane that is not plainly right is left to the scalar code, which says why.
 *
 *   root over Fp    t = a^((p-3)/4), r = a t; a is a square when r^2 = a
 *   root over Fp2   one for the norm's, s, and one of d = (a0 + s)/2, with t: r0 = d t, r1 = a1 t / 2. When r0^2 = -d instead, then
 *                   (a0 - s)/2 = -a1^2 / (4 d) is the square, and the root is -a1 t / 2, r0
 *   subgroups       subgroup_inl.h's conditions
 *   multiples       a + b lambda, lambda that of phi(P) = (beta x, y): two chains of bits share doublings; P + phi(P) = -phi^2(P)
 *
 * Source: Scott, ePrint 2020/1497 (roots over Fp2)
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ALGEBRA_POINTS_LANES_INL_H
#define ALGEBRA_POINTS_LANES_INL_H

#include "algebra/pairing_lanes_inl.h"

#if defined(LANES)

#    define EC_FIELD fp_x8
#    define EC_F(name) EC_CAT(fp_x8, name)
#    define EC_G(name) EC_CAT(g1, name)
#    include "algebra/ec_lanes_tmpl.h"
#    undef EC_FIELD
#    undef EC_F
#    undef EC_G

#    define EC_FIELD fp2_x8
#    define EC_F(name) EC_CAT(fp2_x8, name)
#    define EC_G(name) EC_CAT(g2, name)
#    include "algebra/ec_lanes_tmpl.h"
#    undef EC_FIELD
#    undef EC_F
#    undef EC_G

/** Constants in the form of lanes. */
typedef struct lanes_forms {
    fp_x8 to, from, one;
} lanes_forms;

static inline void lanes_forms_init(lanes_forms *c)
{
    fp one;

    fp_x8_form_factors(&c->to, &c->from);
    fp_set_one(&one);
    fp_x8_set1(&c->one, &one);
    fp_x8_mul_call(&c->one, &c->one, &c->to);
}

static inline void lanes_const(fp_x8 *r, const fp *a, const lanes_forms *c)
{
    fp_x8_set1(r, a);
    fp_x8_mul_call(r, r, &c->to);
}

static inline void lanes_const2(fp2_x8 *r, const fp2 *a, const lanes_forms *c)
{
    lanes_const(&r->c0, &a->c0, c);
    lanes_const(&r->c1, &a->c1, c);
}

/* ---- roots ---- */

/** r = a^((p-3)/4): windows of 4 bits */
U128_NOINLINE void fp_x8_pow_p34(fp_x8 *r, const fp_x8 *a)
{
    fp_x8 table[16], acc;
    uint64_t e[FP_LIMBS];

    for (int i = 0; i < FP_LIMBS; i++)
        e[i] = fp_modulus[i] >> 2 | (i + 1 < FP_LIMBS ? fp_modulus[i + 1] << 62 : 0);
    table[1] = *a;
    for (int i = 2; i < 16; i++) fp_x8_mul_call(&table[i], &table[i - 1], a);
    acc = table[e[FP_LIMBS - 1] >> 56 & 15]; /* the top window: 0x0680... */
    for (int k = 16 * FP_LIMBS - 2; k-- > 0;) {
        unsigned w = (unsigned)(e[k / 16] >> (k % 16 * 4)) & 15;
        for (int i = 0; i < 4; i++) fp_x8_sqr_call(&acc, &acc);
        if (w != 0) fp_x8_mul_call(&acc, &acc, &table[w]);
    }
    *r = acc;
}

/** Lanes where a is a square of Fp; there r is a root. */
static inline __mmask8 fp_x8_root(fp_x8 *r, const fp_x8 *a)
{
    fp_x8 t;

    fp_x8_pow_p34(&t, a);
    fp_x8_mul_call(r, a, &t);
    fp_x8_sqr_call(&t, r);
    return fp_x8_eq_mask(&t, a);
}

/** Lanes where r^2 = a was found (never where c1 of a is 0, among others). */
static inline __mmask8 fp2_x8_root(fp2_x8 *r, const fp2_x8 *a, const lanes_forms *c)
{
    fp_x8 s, t, d, half, m;
    fp2_x8 sq;
    __mmask8 k;

    lanes_const(&half, &fp_half_one, c);
    fp_x8_sqr_call(&s, &a->c0);
    fp_x8_sqr_call(&t, &a->c1);
    fp_x8_sum(&s, &s, &t);
    (void)fp_x8_root(&s, &s);
    fp_x8_sum(&d, &a->c0, &s);
    fp_x8_mul_call(&d, &d, &half);
    fp_x8_pow_p34(&t, &d);
    fp_x8_mul_call(&r->c0, &d, &t);
    fp_x8_mul_call(&r->c1, &a->c1, &half);
    fp_x8_mul_call(&r->c1, &r->c1, &t);
    fp_x8_sqr_call(&s, &r->c0);
    k = fp_x8_eq_mask(&s, &d);
    fp_x8_neg(&m, &r->c1, 2); /* the other root: (-r1, r0) */
    fp_x8_carry(&m);
    t = r->c0;
    fp_x8_blend(&r->c0, (__mmask8)~k, &m);
    fp_x8_blend(&r->c1, (__mmask8)~k, &t);
    fp2_x8_sqr_call(&sq, r);
    return fp2_x8_eq_mask(&sq, a);
}

/* ---- subgroups ---- */

/** Lanes where (x, y), on the curve, is in G1: x^2 P = -phi(P). */
static inline __mmask8 g1_x8_in_subgroup(const fp_x8 *x, const fp_x8 *y, const lanes_forms *c)
{
    g1_x8 t, u;
    fp_x8 bx, ny;

    t.z = c->one;
    g1_x8_mul_x_abs(&t, x, y);
    u.z = c->one;
    g1_x8_mul_x_abs(&u, &t.x, &t.y); /* on the curve where t's Z is 1 */
    fp_x8_mul_call(&u.z, &u.z, &t.z);
    lanes_const(&bx, &g1_beta, c);
    fp_x8_mul_call(&bx, &bx, x);
    fp_x8_neg(&ny, y, 3);
    fp_x8_carry(&ny);
    return g1_x8_is_affine(&u, &bx, &ny);
}

/** Lanes where (x, y), on the twist, is in G2: |x| P = -psi(P), x being below 0. */
static inline __mmask8 g2_x8_in_subgroup(const fp2_x8 *x, const fp2_x8 *y, const lanes_forms *c)
{
    g2_x8 t;
    fp2_x8 px = *x, py, k;

    fp_x8_set1(&t.z.c1, &(const fp){{0}});
    t.z.c0 = c->one;
    g2_x8_mul_x_abs(&t, x, y);
    fp_x8_neg(&px.c1, &x->c1, 3);
    fp_x8_carry(&px.c1);
    lanes_const2(&k, &g2_psi_x, c);
    fp2_x8_mul_call(&px, &px, &k);
    fp_x8_neg(&py.c0, &y->c0, 3); /* -conj(y) */
    fp_x8_carry(&py.c0);
    py.c1 = y->c1;
    lanes_const2(&k, &g2_psi_y, c);
    fp2_x8_mul_call(&py, &py, &k);
    return g2_x8_is_affine(&t, &px, &py);
}

/* ---- multiples ---- */

/** t = (2^64 + a + b lambda)(x, y), each lane with its a and b; (x, y) in G1 and not infinity, so no two points meet. */
U128_NOINLINE void g1_x8_mul_pair(g1_x8 *t, const fp_x8 *x, const fp_x8 *y, __m512i a, __m512i b,
                                  const lanes_forms *c)
{
    fp_x8 x1, x2, y2, ax, ay;
    g1_x8 sum;

    lanes_const(&x1, &g1_beta, c);
    fp_x8_mul_call(&x2, &x1, &x1);
    fp_x8_mul_call(&x1, &x1, x);
    fp_x8_mul_call(&x2, &x2, x);
    fp_x8_neg(&y2, y, 3);
    fp_x8_carry(&y2);
    *t = (g1_x8){*x, *y, c->one};
    for (unsigned i = 64; i-- > 0;) {
        const __m512i bit = lanes_set1((uint64_t)1 << i);
        __mmask8 ka = _mm512_test_epi64_mask(a, bit), kb = _mm512_test_epi64_mask(b, bit), any;
        ax = *x;
        ay = *y;
        fp_x8_blend(&ax, (__mmask8)(kb & ~ka), &x1);
        fp_x8_blend(&ax, kb & ka, &x2); /* P + phi(P) = -phi^2(P) */
        fp_x8_blend(&ay, kb & ka, &y2);
        g1_x8_dbl(t);
        sum = *t;
        g1_x8_add_affine(&sum, &ax, &ay);
        any = ka | kb;
        fp_x8_blend(&t->x, any, &sum.x);
        fp_x8_blend(&t->y, any, &sum.y);
        fp_x8_blend(&t->z, any, &sum.z);
    }
}

#endif
#endif
