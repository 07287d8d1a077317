/*
 * algebra/pairing_lanes_inl.h - BLS12-381: eight Miller loops side by side, each of several pairs
 *
 * The walk and the lines are pairing_inl.h's, with P kept as (3 xP, -yP). Bounds: tower_lanes_inl.h.
 *
 * A lane without a pair walks the generator with P = (0, 0): its lines are elements of Fp2 other than 0, which the final
 * exponentiation removes.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ALGEBRA_PAIRING_LANES_INL_H
#define ALGEBRA_PAIRING_LANES_INL_H

#include "algebra/tower_lanes_inl.h"

#if defined(LANES)

#    include "algebra/pairing_inl.h"

/* Groups of eight pairs in one loop: they share its squarings; more only costs stack. */
#    define MILLER_GROUPS 3

/** Eight points P. */
typedef struct miller_p_x8 {
    fp_x8 x3, ny; /* 3 xP, -yP */
} miller_p_x8;

/** Eight points on their walks. */
typedef struct miller_x8 {
    fp2_x8 x, y, z;
    const g2_affine *q[LANES]; /* borrowed; q and to are read where q is added */
} miller_x8;

/** Coefficients of the lines; y and x times P by line_x8_dbl_at, line_x8_add_at. */
typedef struct line_x8 {
    fp2_x8 y, x, c;
} line_x8;

/** Elements in memory, each where p[i] + at points, in lanes: below 2m. */
static inline void fp_x8_gather(fp_x8 *r, const void *const p[LANES], size_t at, const fp_x8 *to)
{
    fp t[LANES];

    for (int i = 0; i < LANES; i++) memcpy(&t[i], (const uint8_t *)p[i] + at, sizeof t[i]);
    fp_x8_load(r, t, sizeof t[0]);
    fp_x8_mul_call(r, r, to);
}

static inline void fp2_x8_gather(fp2_x8 *r, const void *const p[LANES], size_t at, const fp_x8 *to)
{
    fp_x8_gather(&r->c0, p, at, to);
    fp_x8_gather(&r->c1, p, at + sizeof(fp), to);
}

/** The lanes in memory, canonical, `stride` bytes apart. */
static inline void fp_x8_scatter(void *out, size_t stride, const fp_x8 *a, const fp_x8 *from)
{
    fp_x8 t;

    fp_x8_mul_call(&t, a, from);
    fp_x8_canonical(&t);
    fp_x8_store(out, &t, stride);
}

static inline void miller_p_x8_init(miller_p_x8 *r, const g1_affine *const p[LANES],
                                    const fp_x8 *to)
{
    const void *a[LANES];
    fp_x8 t;

    for (int i = 0; i < LANES; i++) a[i] = p[i];
    fp_x8_gather(&t, a, 0, to);
    fp_x8_add(&r->x3, &t, &t);
    fp_x8_sum(&r->x3, &r->x3, &t);
    fp_x8_gather(&t, a, sizeof(fp), to);
    fp_x8_neg(&r->ny, &t, 2);
    fp_x8_carry(&r->ny);
}

static inline void miller_x8_init(miller_x8 *m, const g2_affine *const q[LANES], const fp_x8 *to)
{
    const void *a[LANES];
    fp2 one;

    for (int i = 0; i < LANES; i++) a[i] = m->q[i] = q[i];
    fp2_x8_gather(&m->x, a, 0, to);
    fp2_x8_gather(&m->y, a, sizeof(fp2), to);
    fp2_set_one(&one);
    fp2_x8_set1(&m->z, &one); /* 1 in memory's form */
    fp2_x8_mul_fp(&m->z, &m->z, to);
}

/** As miller_dbl. T's coordinates are below 52m before and after. */
U128_NOINLINE void miller_x8_dbl(line_x8 *l, miller_x8 *m)
{
    fp2_x8 yy, zz, xy2, e, f, g;

    fp2_x8_sqr_call(&l->x, &m->x);
    fp2_x8_sqr_call(&yy, &m->y);
    fp2_x8_sqr_call(&zz, &m->z);
    fp2_x8_mul_call(&xy2, &m->x, &m->y);
    fp2_x8_sum(&xy2, &xy2, &xy2); /* 6 */
    fp2_x8_mul_call(&l->y, &m->y, &m->z);
    fp2_x8_sum(&l->y, &l->y, &l->y); /* 6 */
    fp2_x8_mul_nonres(&e, &zz, 2);   /* 4 */
    fp2_x8_add(&f, &e, &e);          /* 3 b = 12 */
    fp2_x8_add(&f, &f, &e);
    fp2_x8_add(&f, &f, &f);
    fp2_x8_sum(&e, &f, &f); /* 3 b' Z^2: 48 */

    fp2_x8_diff(&l->c, &e, &yy, 2); /* 50 */

    fp2_x8_add(&f, &e, &e);
    fp2_x8_add(&f, &f, &e); /* 144, raw */
    fp2_x8_sub(&g, &yy, &f);
    fp2_x8_add_m(&g, 144);
    fp2_x8_carry(&g);
    fp2_x8_mul_call(&m->x, &xy2, &g);
    fp2_x8_add(&g, &yy, &f);
    fp2_x8_carry(&g); /* 146 */
    fp2_x8_mul_call(&g, &g, &g);
    fp2_x8_sqr_call(&e, &e); /* 2 */
    fp2_x8_add(&f, &e, &e);
    fp2_x8_add(&f, &f, &e);
    fp2_x8_add(&f, &f, &f);
    fp2_x8_add(&f, &f, &f);         /* 24 */
    fp2_x8_diff(&m->y, &g, &f, 24); /* 27 */
    fp2_x8_mul_call(&m->z, &yy, &l->y);
    fp2_x8_add(&m->z, &m->z, &m->z);
    fp2_x8_sum(&m->z, &m->z, &m->z); /* 12 */
}

/** y and x of a line of miller_x8_dbl at P. */
U128_INLINE void line_x8_dbl_at(fp2_x8 *y, fp2_x8 *x, const line_x8 *l, const miller_p_x8 *p)
{
    fp2_x8_mul_fp(y, &l->y, &p->ny);
    fp2_x8_mul_fp(x, &l->x, &p->x3);
}

/** As miller_add; of the line y and x are lambda and theta. */
U128_NOINLINE void miller_x8_add(line_x8 *l, miller_x8 *m, const fp_x8 *to)
{
    fp2_x8 qx, qy, d, e, f, g, h;
    fp2_x8 *const theta = &l->x, *const lambda = &l->y;
    const void *a[LANES];

    for (int i = 0; i < LANES; i++) a[i] = m->q[i];
    fp2_x8_gather(&qx, a, 0, to);
    fp2_x8_gather(&qy, a, sizeof(fp2), to);
    fp2_x8_mul_call(theta, &qy, &m->z);
    fp2_x8_diff(theta, &m->y, theta, 3); /* 55 */
    fp2_x8_mul_call(lambda, &qx, &m->z);
    fp2_x8_diff(lambda, &m->x, lambda, 3); /* 55 */

    fp2_x8_mul_call(&l->c, theta, &qx);
    fp2_x8_mul_call(&d, lambda, &qy);
    fp2_x8_diff(&l->c, &l->c, &d, 3);
    /* -theta xP = -theta x3 / 3: all of the line times 3, a constant of Fp, instead */
    fp2_x8_add(&d, &l->c, &l->c);
    fp2_x8_sum(&l->c, &d, &l->c); /* 18 */

    fp2_x8_sqr_call(&d, lambda);
    fp2_x8_mul_call(&e, &d, lambda);
    fp2_x8_sqr_call(&f, theta);
    fp2_x8_mul_call(&f, &f, &m->z);
    fp2_x8_mul_call(&g, &m->x, &d);
    fp2_x8_add(&h, &e, &f);
    fp2_x8_sub(&h, &h, &g);
    fp2_x8_diff(&h, &h, &g, 6); /* 12 */
    fp2_x8_mul_call(&m->x, lambda, &h);
    fp2_x8_diff(&g, &g, &h, 12); /* 15 */
    fp2_x8_mul_call(&g, &g, theta);
    fp2_x8_mul_call(&h, &e, &m->y);
    fp2_x8_diff(&m->y, &g, &h, 3); /* 6 */
    fp2_x8_mul_call(&m->z, &m->z, &e);
}

/** y and x of a line of miller_x8_add at P. */
U128_INLINE void line_x8_add_at(fp2_x8 *y, fp2_x8 *x, const line_x8 *l, const miller_p_x8 *p)
{
    fp2_x8 d;
    fp_x8 t;

    fp_x8_neg(&t, &p->ny, 2); /* yP: below 2m, or 2m */
    fp_x8_carry(&t);
    fp2_x8_mul_fp(y, &l->y, &t);
    fp2_x8_add(&d, y, y);
    fp2_x8_sum(y, &d, y); /* 6 */
    fp2_x8_mul_fp(x, &l->x, &p->x3);
    fp_x8_neg(&x->c0, &x->c0, 2);
    fp_x8_neg(&x->c1, &x->c1, 2);
    fp2_x8_carry(x);
}

/** f[j] = products of Miller loops, one in each lane, of n groups of walks, group i with the points p[i n_p + j]. */
U128_NOINLINE void miller_x8_loop(fp12_x8 *f, miller_x8 *m, const miller_p_x8 *p, size_t n,
                                  size_t n_p, const fp_x8 *to)
{
    fp2_x8 y, x;
    line_x8 l;

    for (unsigned k = 0; k < MILLER_STEPS; k++) {
        for (size_t j = 0; j < n_p && k != 0; j++) fp12_x8_sqr(&f[j], &f[j]);
        for (size_t i = 0; i < n; i++) {
            miller_x8_dbl(&l, &m[i]);
            for (size_t j = 0; j < n_p; j++) {
                line_x8_dbl_at(&y, &x, &l, &p[i * n_p + j]);
                fp12_x8_mul_014(&f[j], &f[j], &l.c, &x, &y);
            }
        }
        if (miller_digit(k) == 0) continue;
        for (size_t i = 0; i < n; i++) {
            miller_x8_add(&l, &m[i], to);
            for (size_t j = 0; j < n_p; j++) {
                line_x8_add_at(&y, &x, &l, &p[i * n_p + j]);
                fp12_x8_mul_014(&f[j], &f[j], &l.c, &x, &y);
            }
        }
    }
}

/** 1 in every lane. */
static inline void fp12_x8_set_one(fp12_x8 *f, const fp_x8 *to)
{
    fp one;

    memset(f, 0, sizeof *f);
    fp_set_one(&one);
    fp_x8_set1(&f->c0.c0.c0, &one);
    fp_x8_mul_call(&f->c0.c0.c0, &f->c0.c0.c0, to);
}

/** The eight elements in memory. */
U128_NOINLINE void fp12_x8_scatter(fp12 out[LANES], const fp12_x8 *f, const fp_x8 *from)
{
    const fp_x8 *c = &f->c0.c0.c0;
    uint8_t *p = (uint8_t *)out;

    for (size_t i = 0; i < sizeof(fp12) / sizeof(fp); i++)
        fp_x8_scatter(p + i * sizeof(fp), sizeof(fp12), &c[i], from);
}

#endif
#endif
