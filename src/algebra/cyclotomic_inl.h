/*
 * algebra/cyclotomic_inl.h - squares and powers in the cyclotomic subgroup of Fp12, where a^(p^4 - p^2 + 1) = 1
 *
 * An element is z0 + z1 y, z2 + z3 y, z4 + z5 y over Fp4 = Fp2[y] / (y^2 - xi), y = w^3:
 *     z0 = c0.c0    z2 = c1.c0    z4 = c0.c1
 *     z1 = c1.c1    z3 = c0.c2    z5 = c1.c2
 * The inverse is fp12_conj.
 *
 * Sources: Granger, Scott, PKC 2010; Karabina, Math. Comp. 2013 (compressed squares), as in Aranha et al., EUROCRYPT 2011
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ALGEBRA_CYCLOTOMIC_INL_H
#define ALGEBRA_CYCLOTOMIC_INL_H

#include "algebra/tower_inl.h"

/** (r0 + r1 y) = (a + b y)^2 with y^2 = xi */
U128_NOINLINE void fp4_sqr(fp2 *r0, fp2 *r1, const fp2 *a, const fp2 *b)
{
    fp2_wide aa, bb, m;
    fp2 s;

    fp2_add(&s, a, b);
    fp2_sqr_wide(&aa, a);
    fp2_sqr_wide(&bb, b);
    fp2_sqr_wide(&m, &s);
    fp2_wide_sub(&m, &m, &aa);
    fp2_wide_sub(&m, &m, &bb);
    fp2_redc_wide(r1, &m);
    fp2_wide_mul_nonres(&bb, &bb);
    fp2_wide_add(&aa, &aa, &bb);
    fp2_redc_wide(r0, &aa);
}

/** r = 3 t - 2 z */
static inline void fp2_3t_minus_2z(fp2 *r, const fp2 *t, const fp2 *z)
{
    fp2 d;
    fp2_sub(&d, t, z);
    fp2_dbl(&d, &d);
    fp2_add(r, &d, t);
}

/** r = 3 t + 2 z */
static inline void fp2_3t_plus_2z(fp2 *r, const fp2 *t, const fp2 *z)
{
    fp2 d;
    fp2_add(&d, t, z);
    fp2_dbl(&d, &d);
    fp2_add(r, &d, t);
}

/** r = a^2 for a in the cyclotomic subgroup (a^(p^4 - p^2 + 1) = 1). */
U128_NOINLINE void fp12_cyclotomic_sqr(fp12 *r, const fp12 *a)
{
    fp2 t0, t1, t2, t3, t4, t5;

    fp4_sqr(&t0, &t1, &a->c0.c0, &a->c1.c1);
    fp4_sqr(&t2, &t3, &a->c1.c0, &a->c0.c2);
    fp4_sqr(&t4, &t5, &a->c0.c1, &a->c1.c2);
    fp2_mul_nonres(&t5, &t5);

    fp2_3t_minus_2z(&r->c0.c0, &t0, &a->c0.c0);
    fp2_3t_minus_2z(&r->c0.c1, &t2, &a->c0.c1);
    fp2_3t_minus_2z(&r->c0.c2, &t4, &a->c0.c2);
    fp2_3t_plus_2z(&r->c1.c0, &t5, &a->c1.c0);
    fp2_3t_plus_2z(&r->c1.c1, &t1, &a->c1.c1);
    fp2_3t_plus_2z(&r->c1.c2, &t3, &a->c1.c2);
}

/** r = a^e for a plain e of n limbs, a in the cyclotomic subgroup. */
U128_NOINLINE void fp12_pow_cyclotomic_var(fp12 *r, const fp12 *a, const uint64_t *e, size_t n)
{
    fp12 base = *a, acc;
    fp12_set_one(&acc);
    while (n > 0 && e[n - 1] == 0) n--;
    if (n > 0) {
        for (size_t i = 64 * (n - 1) + u64_bits(e[n - 1]); i-- > 0;) {
            fp12_cyclotomic_sqr(&acc, &acc);
            if (e[i / 64] >> (i % 64) & 1) fp12_mul(&acc, &acc, &base);
        }
    }
    *r = acc;
}

/* ---- compressed: squares of the last two pairs need them alone, and the first pair follows from them ---- */

typedef struct fp12_compressed {
    fp2 z2, z3, z4, z5;
} fp12_compressed;

/** Forgets two of the six coefficients of a, which is in the cyclotomic subgroup. */
static inline void fp12_compress(fp12_compressed *r, const fp12 *a)
{
    r->z2 = a->c1.c0;
    r->z3 = a->c0.c2;
    r->z4 = a->c0.c1;
    r->z5 = a->c1.c2;
}

/** r = a^2: 6 squares */
U128_NOINLINE void fp12_compressed_sqr(fp12_compressed *r, const fp12_compressed *a)
{
    fp2 t2, t3, t4, t5;

    fp4_sqr(&t2, &t3, &a->z2, &a->z3);
    fp4_sqr(&t4, &t5, &a->z4, &a->z5);
    fp2_mul_nonres(&t5, &t5);
    fp2_3t_plus_2z(&r->z2, &t5, &a->z2);
    fp2_3t_minus_2z(&r->z3, &t4, &a->z3);
    fp2_3t_minus_2z(&r->z4, &t2, &a->z4);
    fp2_3t_plus_2z(&r->z5, &t3, &a->z5);
}

/** r = a with its first pair back: z1 = (xi z5^2 + 3 z4^2 - 2 z3) inv, z0 = (2 z1^2 + z2 z5 - 3 z3 z4) xi + 1; inv = 1/(4 z2) */
static inline void fp12_expand_one(fp12 *r, const fp12_compressed *a, const fp2 *inv)
{
    fp2 z0, z1, t;

    fp2_sqr(&t, &a->z5);
    fp2_mul_nonres(&z1, &t);
    fp2_sqr(&t, &a->z4);
    fp2_sub(&z0, &t, &a->z3);
    fp2_dbl(&z0, &z0);
    fp2_add(&z0, &z0, &t); /* 3 z4^2 - 2 z3 */
    fp2_add(&z1, &z1, &z0);
    fp2_mul(&z1, &z1, inv);

    fp2_mul(&t, &a->z3, &a->z4);
    fp2_sqr(&z0, &z1);
    fp2_sub(&z0, &z0, &t);
    fp2_dbl(&z0, &z0);
    fp2_sub(&z0, &z0, &t); /* 2 z1^2 - 3 z3 z4 */
    fp2_mul(&t, &a->z2, &a->z5);
    fp2_add(&z0, &z0, &t);
    fp2_mul_nonres(&z0, &z0);
    fp2_set_one(&t);
    fp2_add(&r->c0.c0, &z0, &t);
    r->c0.c1 = a->z4;
    r->c0.c2 = a->z3;
    r->c1.c0 = a->z2;
    r->c1.c1 = z1;
    r->c1.c2 = a->z5;
}

/** r[i] = a[i] for i < n, with one inversion; false when a z2 is 0 (as for 1): then some are not known. */
U128_NOINLINE bool fp12_expand(fp12 *r, const fp12_compressed *a, size_t n)
{
    fp2 acc, inv, d;

    fp2_set_one(&acc);
    for (size_t i = 0; i < n; i++) {
        if (fp2_is_zero(&a[i].z2)) return false;
        r[i].c0.c0 = acc; /* product of the earlier 4 z2, kept where the result will be */
        fp2_dbl(&d, &a[i].z2);
        fp2_dbl(&d, &d);
        fp2_mul(&acc, &acc, &d);
    }
    fp2_inv_var(&acc, &acc);
    for (size_t i = n; i-- > 0;) {
        fp2_mul(&inv, &acc, &r[i].c0.c0);
        fp2_dbl(&d, &a[i].z2);
        fp2_dbl(&d, &d);
        fp2_mul(&acc, &acc, &d);
        fp12_expand_one(&r[i], &a[i], &inv);
    }
    return true;
}

#endif
