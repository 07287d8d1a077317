/*
 * algebra/batch.h - BLS12-381: arrays of points combined, products of pairings, the pairing's values as bytes
 *
 * For protocols that work on vectors of points and values of the pairing (groth16/aggregate.h). Like curve.h a table, on the
 * same opaque types, whose arrays are packed for this curve. Nothing here knows threads: the caller cuts the work. All for
 * public values: variable time.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ALGEBRA_BATCH_H
#define ALGEBRA_BATCH_H

#include "algebra/curve.h"

/** Vectors of G1 that one call of `miller` takes. */
#define BATCH_MILLER 3u

#define GT_PLAIN_BYTES 576u /* twelve coefficients, each 48 bytes little-endian */
#define GT_BYTES 288u       /* six: (c0 + 1) / c1, for elements of the torus but 1 and -1 */

/** Result of reading a value of the pairing. */
typedef enum gt_err {
    GT_OK,
    GT_NOT_CANONICAL,   /* a coefficient >= p */
    GT_NOT_IN_SUBGROUP, /* its order is not r */
} gt_err;
const char *gt_err_text(gt_err e);

typedef struct batch_ops {
    /** r[i] = a[i] + k b[i] for i < n; points in their subgroups. r may be a or b. */
    void (*g1_fold)(g1_any *r, const g1_any *a, const g1_any *b, const fr *k, size_t n);
    void (*g2_fold)(g2_any *r, const g2_any *a, const g2_any *b, const fr *k, size_t n);
    /** r[i] = k[i] a[i] for i < n; points in their subgroups. r may be a. */
    void (*g1_scale)(g1_any *r, const g1_any *a, const fr *k, size_t n);
    void (*g2_scale)(g2_any *r, const g2_any *a, const fr *k, size_t n);
    /** a[i], b[i] = a[i] + k[i] b[i], a[i] - k[i] b[i] for i < n; points in their subgroups, other arrays. */
    void (*g1_butterfly)(g1_any *a, g1_any *b, const fr *k, size_t n);

    /** f[j] = product over i < n of the Miller values of (p[j][i], q[i]), j < n_p <= BATCH_MILLER: the lines through q[i] are made
     *  once. Products of such values go through the curve's final_exp together. n = 0 gives 1. */
    void (*miller)(gt_any *f, const g1_any *const *p, size_t n_p, const g2_any *q, size_t n);
    /** r = product over i < n of a[i]^k[i], a[i] of order r. n = 0 gives 1. */
    void (*gt_pow_product)(gt_any *r, const gt_any *a, const fr *k, size_t n);

    void (*gt_write_plain)(uint8_t out[GT_PLAIN_BYTES], const gt_any *a);
    /** False, nothing written: a is 1 (or -1), which has no such form. */
    bool (*gt_write)(uint8_t out[GT_BYTES], const gt_any *a);
    /** r untouched unless GT_OK. */
    gt_err (*gt_read)(gt_any *r, const uint8_t in[GT_BYTES]);
} batch_ops;

/** The table for a CPU table that this machine runs. Never NULL for those. */
const batch_ops *batch_get(cpu_table t);

#endif
