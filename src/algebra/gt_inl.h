/*
 * algebra/gt_inl.h - GT, the subgroup of order r of Fp12: powers, membership
 *
 * In GT raising to the p-th power (fp12_frob) is raising to p mod r, which is x for BLS12 and 6x^2 for BN.
 *
 *   power, BLS12   k in base |x|: four digits of 64 bits, four bases a^(|x|^i) by conjugated Frobenius, one chain of squares
 *   power, BN      k itself
 *   membership     a^(p^4 - p^2 + 1) = 1 and a^p = a^(p mod r). BLS12: then p - x kills a, and p^4 - p^2 + 1 = r (mod p - x) with
 *                  p - x = r (x - 1)^2/3, so their gcd r kills it. BN: p - 6x^2 is r
 *
 * Variable time.
 *
 * Sources: Galbraith, Scott, PAIRING 2008 (powers); Scott, ePrint 2021/1130 (membership)
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ALGEBRA_GT_INL_H
#define ALGEBRA_GT_INL_H

#include "algebra/pairing_inl.h"

#if CURVE_IS_BN
#    define GT_BASES 1
#    define GT_LIMBS FR_LIMBS /* of a base's exponent */
#else
#    define GT_BASES 4
#    define GT_LIMBS 1
#endif
#define GT_DIGITS (64 * GT_LIMBS + 1)
#define GT_ODD 4 /* a, a^3, a^5, a^7 */

/** e in digits that are 0 or odd, -7 to 7, lowest first; returns how many. */
static inline size_t gt_digits(int8_t out[GT_DIGITS], const uint64_t e[GT_LIMBS])
{
    uint64_t carry = 0, v;
    size_t n = 0;

    memset(out, 0, GT_DIGITS);
    for (size_t i = 0; i < 64 * GT_LIMBS;) {
        size_t at = i / 64, shift = i % 64;
        v = e[at] >> shift;
        if (shift > 60 && at + 1 < GT_LIMBS) v |= e[at + 1] << (64 - shift);
        if (((v + carry) & 1) ==
            0) { /* an even number and no carry, or an odd one that the carry made even */
            i++;
            continue;
        }
        v = (v & 15) + carry;
        carry = v > 8;
        out[i] = (int8_t)((int)v - (carry ? 16 : 0));
        n = i + 1;
        i += 4;
    }
    if (carry) {
        out[GT_DIGITS - 1] = 1;
        n = GT_DIGITS;
    }
    return n;
}

#if !CURVE_IS_BN

/** The digits of k in base |x|: r < x^4, so there are four. */
static inline void gt_split(uint64_t e[GT_BASES][GT_LIMBS], const uint64_t k[FR_LIMBS])
{
    uint64_t q[FR_LIMBS];

    memcpy(q, k, sizeof q);
    for (int j = 0; j < GT_BASES; j++) {
        uint64_t rest = 0;
        for (int i = FR_LIMBS; i-- > 0;) {
            u128 t = (u128)rest << 64 | q[i];
            q[i] = (uint64_t)(t / CURVE_X_ABS);
            rest = (uint64_t)(t % CURVE_X_ABS);
        }
        e[j][0] = rest;
    }
}

#endif

/** r = a^k for a in GT and a plain k below the group order. */
U128_NOINLINE void gt_pow_limbs_var(fp12 *r, const fp12 *a, const uint64_t k[FR_LIMBS])
{
    fp12 odd[GT_BASES][GT_ODD], acc, t;
    uint64_t e[GT_BASES][GT_LIMBS];
    int8_t digits[GT_BASES][GT_DIGITS];
    size_t top = 0;

#if CURVE_IS_BN
    memcpy(e[0], k, sizeof e[0]);
#else
    gt_split(e, k);
#endif
    for (int j = 0; j < GT_BASES; j++) {
        size_t n = gt_digits(digits[j], e[j]);
        if (n > top) top = n;
    }
    fp12_cyclotomic_sqr(&t, a);
    odd[0][0] = *a;
    for (int i = 1; i < GT_ODD; i++) fp12_mul(&odd[0][i], &odd[0][i - 1], &t);
    for (int j = 1; j < GT_BASES; j++) {
        for (int i = 0; i < GT_ODD; i++) {
            fp12_frob(&odd[j][i], &odd[j - 1][i]);
            if (CURVE_X_NEG) fp12_conj(&odd[j][i], &odd[j][i]);
        }
    }
    fp12_set_one(&acc);
    for (size_t i = top; i-- > 0;) {
        if (i + 1 < top) fp12_cyclotomic_sqr(&acc, &acc);
        for (int j = 0; j < GT_BASES; j++) {
            int d = digits[j][i];
            if (d == 0) continue;
            t = odd[j][(d < 0 ? -d : d) / 2];
            if (d < 0) fp12_conj(&t, &t);
            fp12_mul(&acc, &acc, &t);
        }
    }
    *r = acc;
}

/** a^r = 1: for any element of Fp12. */
U128_NOINLINE bool gt_in_subgroup(const fp12 *a)
{
    fp12 s, t;

    if (fp6_is_zero(&a->c0) && fp6_is_zero(&a->c1)) return false;
    fp12_frob2(&s, a);
    fp12_frob2(&t, &s);
    fp12_mul(&t, &t, a);
    if (!fp12_eq(&s, &t)) return false; /* in the cyclotomic subgroup from here on */
    fp12_frob(&s, a);
    fp12_pow_x(&t, a);
#if CURVE_IS_BN
    fp12 u;
    fp12_pow_x(&t, &t);
    fp12_cyclotomic_sqr(&t, &t);
    fp12_cyclotomic_sqr(&u, &t);
    fp12_mul(&t, &t, &u); /* 6 x^2 */
#endif
    return fp12_eq(&s, &t);
}

#endif
