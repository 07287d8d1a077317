/*
 * algebra/subgroup_inl.h - membership in the subgroup of order r, by endomorphisms
 *
 * A point is given on its curve; g1_in_subgroup and g2_in_subgroup tell whether r kills it. The judge is
 * X_in_subgroup_plain (ec_tmpl.h). Variable time.
 *
 *   BLS12  G1: phi(P) = -x^2 P         phi^2 + phi + 1 = 0, so x^4 - x^2 + 1 = r kills P
 *          G2: psi(P) = x P            psi^2 - t psi + p = 0, so p - x = r (x-1)^2/3 kills P; coprime to the cofactor
 *   BN     G1: nothing to test         the cofactor is 1
 *          G2: (x+1) P + psi(x P) + psi^2(x P) = psi^3(2x P)
 *
 * The conditions on x that these need are asserted in tools/gen_curve_consts.py.
 *
 * Sources: Scott, ePrint 2021/1130; El Housni, Guillevic, Piellard, AFRICACRYPT 2022
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ALGEBRA_SUBGROUP_INL_H
#define ALGEBRA_SUBGROUP_INL_H

#include "algebra/ec_inl.h"

/** r = psi(a): untwist, Frobenius, twist. On G2 multiplication by p. */
static inline void g2_jac_psi(g2_jac *r, const g2_jac *a)
{
    fp2_conj(&r->x, &a->x);
    fp2_conj(&r->y, &a->y);
    fp2_conj(&r->z, &a->z);
    fp2_mul(&r->x, &r->x, &g2_psi_x);
    fp2_mul(&r->y, &r->y, &g2_psi_y);
}

/** r = |x| a, x the curve parameter; variable time, and so little that only the public x decides. */
static inline void g2_jac_mul_x_abs(g2_jac *r, const g2_jac *a)
{
    g2_jac p = *a, acc = *a;
    for (unsigned i = u64_bits(CURVE_X_ABS) - 1; i-- > 0;) {
        g2_jac_dbl(&acc, &acc);
        if (CURVE_X_ABS >> i & 1) g2_jac_add(&acc, &acc, &p);
    }
    *r = acc;
}

static inline void g1_jac_mul_x_abs(g1_jac *r, const g1_jac *a)
{
    g1_jac p = *a, acc = *a;
    for (unsigned i = u64_bits(CURVE_X_ABS) - 1; i-- > 0;) {
        g1_jac_dbl(&acc, &acc);
        if (CURVE_X_ABS >> i & 1) g1_jac_add(&acc, &acc, &p);
    }
    *r = acc;
}

#if CURVE_H1_IS_1

static inline bool g1_in_subgroup(const g1_affine *p)
{
    (void)p;
    return true;
}

#else

static inline bool g1_in_subgroup(const g1_affine *p)
{
    g1_jac t, phi;

    g1_jac_from_affine(&t, p);
    phi = t;
    fp_mul(&phi.x, &phi.x, &g1_beta);
    g1_jac_mul_x_abs(&t, &t);
    g1_jac_mul_x_abs(&t, &t);
    g1_jac_neg(&t, &t);
    return g1_jac_eq(&t, &phi);
}

#endif

#if CURVE_IS_BN

static inline bool g2_in_subgroup(const g2_affine *p)
{
    g2_jac xp, sum, t;

    g2_jac_from_affine(&sum, p);
    g2_jac_mul_x_abs(&xp, &sum);
    g2_jac_add(&sum, &sum, &xp);
    g2_jac_psi(&t, &xp);
    g2_jac_add(&sum, &sum, &t);
    g2_jac_psi(&t, &t);
    g2_jac_add(&sum, &sum, &t);
    g2_jac_psi(&t, &t);
    g2_jac_dbl(&t, &t);
    return g2_jac_eq(&sum, &t);
}

#else

static inline bool g2_in_subgroup(const g2_affine *p)
{
    g2_jac t, psi;

    g2_jac_from_affine(&t, p);
    g2_jac_psi(&psi, &t);
    g2_jac_mul_x_abs(&t, &t);
    if (CURVE_X_NEG) g2_jac_neg(&t, &t);
    return g2_jac_eq(&t, &psi);
}

#endif

#endif
