/*
 * algebra/curve_lanes.h - what a verifier does with many points and pairs, eight at a time
 *
 * A second table beside curve.h's, of the curves that have one for this machine: BLS12-381 on CPU table `ifma`. Without it callers go
 * point by point.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ALGEBRA_CURVE_LANES_H
#define ALGEBRA_CURVE_LANES_H

#include "algebra/curve.h"

#define CURVE_LANES 8
/* `miller` of such a curve has pairs beyond a multiple of eight in lanes when they are so many; fewer go one by one. */
#define CURVE_LANES_MIN 4

typedef struct curve_lanes {
    /** Eight points, POINT_ZCASH_COMPRESSED. Bit i of the result: in[i] is canonical, on the curve, in the subgroup, not infinity, and
     *  out[i] is that point. Other out[i] are untouched: g1_read and g1_in_subgroup of curve.h tell what is wrong. */
    unsigned (*g1_read)(g1_any out[CURVE_LANES], const uint8_t *const in[CURVE_LANES]);
    unsigned (*g2_read)(g2_any out[CURVE_LANES], const uint8_t *const in[CURVE_LANES]);
    /** Bit i: p[i], which is on the curve, is in G1 and not infinity. 0 may be a bit of a point that is: g1_in_subgroup tells. */
    unsigned (*g1_in_subgroup)(const g1_any p[CURVE_LANES]);
    /** r[i] = z_i p[i], z_i = g1_weight(a[i], b[i]); points in G1, not infinity. r may be p. Variable time. */
    void (*g1_weigh)(g1_any r[CURVE_LANES], const g1_any p[CURVE_LANES],
                     const uint64_t a[CURVE_LANES], const uint64_t b[CURVE_LANES]);
    /** 2^64 + a + b lambda, lambda that of G1's endomorphism: another one for each (a, b), never 0. */
    void (*g1_weight)(fr *z, uint64_t a, uint64_t b);
} curve_lanes;

/** NULL: there is none for this table. */
const curve_lanes *curve_lanes_of(const curve *cv);

#endif
