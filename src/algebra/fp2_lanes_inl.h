/*
 * algebra/fp2_lanes_inl.h - eight elements of the quadratic extension, c0 + c1 u with u^2 = -1, in the forms of lanes_tmpl.h
 *
 * Source: Karatsuba's three products with one reduction for each coefficient (Aranha et al., EUROCRYPT 2011)
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ALGEBRA_FP2_LANES_INL_H
#define ALGEBRA_FP2_LANES_INL_H

#include "algebra/lanes_inl.h"

#if defined(LANES)

#    include "algebra/fp2_inl.h"

typedef struct fp2_x8 {
    fp_x8 c0, c1;
} fp2_x8;

U128_INLINE void fp2_x8_carry(fp2_x8 *r)
{
    fp_x8_carry(&r->c0);
    fp_x8_carry(&r->c1);
}
U128_INLINE void fp2_x8_add(fp2_x8 *r, const fp2_x8 *a, const fp2_x8 *b)
{
    fp_x8_add(&r->c0, &a->c0, &b->c0);
    fp_x8_add(&r->c1, &a->c1, &b->c1);
}
U128_INLINE void fp2_x8_sub(fp2_x8 *r, const fp2_x8 *a, const fp2_x8 *b)
{
    fp_x8_sub(&r->c0, &a->c0, &b->c0);
    fp_x8_sub(&r->c1, &a->c1, &b->c1);
}
U128_INLINE void fp2_x8_add_m(fp2_x8 *r, uint64_t k)
{
    fp_x8_add_m(&r->c0, k);
    fp_x8_add_m(&r->c1, k);
}
U128_INLINE void fp2_x8_reduce(fp2_x8 *r)
{
    fp_x8_reduce(&r->c0);
    fp_x8_reduce(&r->c1);
}
U128_INLINE void fp2_x8_blend(fp2_x8 *r, __mmask8 k, const fp2_x8 *a)
{
    fp_x8_blend(&r->c0, k, &a->c0);
    fp_x8_blend(&r->c1, k, &a->c1);
}
U128_INLINE void fp2_x8_canonical(fp2_x8 *r)
{
    fp_x8_canonical(&r->c0);
    fp_x8_canonical(&r->c1);
}
static inline __mmask8 fp2_x8_is_zero_mask(const fp2_x8 *a, uint64_t k)
{
    __mmask8 z = fp_x8_is_zero_mask(&a->c0, k);
    return U128_LIKELY(z == 0) ? z : z & fp_x8_is_zero_mask(&a->c1, k);
}

/**
 * r = a b, raw. For coefficients below A m and B m, with A B <= S / 2: c0 is above 0 and below 3m, c1 below 2m.
 */
FIELD_KERNEL void fp2_x8_mul_raw(fp2_x8 *r, const fp2_x8 *a, const fp2_x8 *b)
{
    fp_x8_wide v0, v1, v2;
    fp_x8 s, t;

    fp_x8_add(&s, &a->c0, &a->c1);
    fp_x8_add(&t, &b->c0, &b->c1);
    fp_x8_carry(&s);
    fp_x8_carry(&t);
    fp_x8_mul_wide(&v0, &a->c0, &b->c0);
    fp_x8_mul_wide(&v1, &a->c1, &b->c1);
    fp_x8_mul_wide(&v2, &s, &t);
    for (int j = 0; j < 2 * FP_LIMBS52; j++) {
        v2.l[j] = _mm512_sub_epi64(v2.l[j], _mm512_add_epi64(v0.l[j], v1.l[j]));
        v0.l[j] = _mm512_sub_epi64(v0.l[j], v1.l[j]);
    }
    fp_x8_redc_raw(&r->c0, &v0);
    fp_x8_redc_raw(&r->c1, &v2);
    fp_x8_add_m(&r->c0, 1); /* above - A B m / S before */
}

/** r = a^2, raw, as mul_raw: (c0 + c1)(c0 - c1), 2 c0 c1. For coefficients below A m, A an integer with 2 A^2 < S. */
U128_INLINE void fp2_x8_sqr_raw(fp2_x8 *r, const fp2_x8 *a, uint64_t A)
{
    fp_x8 s, d, t;

    fp_x8_add(&s, &a->c0, &a->c1);
    fp_x8_sub(&d, &a->c0, &a->c1);
    fp_x8_add_m(&d, A);
    fp_x8_add(&t, &a->c1, &a->c1);
    fp_x8_carry(&s);
    fp_x8_carry(&d);
    fp_x8_carry(&t);
    fp_x8_mul_raw(&r->c1, &a->c0, &t);
    fp_x8_mul_raw(&r->c0, &s, &d);
}

#endif
#endif
