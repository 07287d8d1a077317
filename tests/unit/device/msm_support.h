/*
 * unit/device/msm_support.h - points whose discrete logarithm is known, scalars in every form, what a sum must be
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef TESTS_UNIT_DEVICE_MSM_SUPPORT_H
#define TESTS_UNIT_DEVICE_MSM_SUPPORT_H

#include "unit/device/support.h"

typedef union any_point {
    g1_any g1;
    g2_any g2;
} any_point;

/** A group of a curve, by the curve's table: the judge's operations. */
typedef struct group {
    const curve *cv;
    bool g2;
    size_t size; /* bytes of an affine point */
} group;

group group_of(curve_id id, bool g2);
any_point point_gen(const group *g);
any_point point_add(const group *g, const any_point *a, const any_point *b);
any_point point_neg(const group *g, const any_point *a);
any_point point_mul(const group *g, const any_point *a, const fr *k);

/** bases[i] = log[i] * generator, as POINT_LEM. */
typedef struct bases {
    const group *g;
    size_t n;
    uint8_t *lem;
    fr *log;
} bases;

/** Distinct points: log[i] = s + i t for random s, t; the cycle repeats after `period` points (0: never). */
void bases_init(bases *b, const group *g, size_t n, size_t period);
void bases_clear(bases *b);
void bases_set(bases *b, size_t i, const bases *from, size_t j, bool negated);
void bases_set_inf(bases *b, size_t i);
/** All points in another encoding; the caller frees it. */
uint8_t *bases_encode(const bases *b, point_enc enc);

/** n scalars: values, which of them are bits (then 0 or 1), which take part. */
typedef struct values {
    const curve *cv;
    size_t n;
    fr *v;
    bool *is_bit, *selected;
    /* what values_pack makes */
    dev_scalars packed;
    fr *elems;
    uint64_t *bits, *is_elem, *select;
    uint32_t *rank64;
} values;

/** Random elements that all take part. */
void values_init(values *v, const curve *cv, size_t n);
void values_clear(values *v);
/** In the forms that have no bits or no select the arrays are left out. */
void values_pack(values *v);

/** sum of v[i] * bases[first + ...], by logarithms: one multiplication of the generator. */
any_point expected_sum(const bases *b, size_t first, const values *v);
/** The sum as the device gives it, POINT_LEM. */
any_point device_sum(const rig *r, curve_id id, const bases *b, size_t first, const values *v);
void assert_points_equal(const group *g, const any_point *got, const any_point *want);

#endif
