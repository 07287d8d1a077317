/*
 * groth16/derive.h - what the files that make derived points share: a transform of points, and columns of C over points
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef GROTH16_DERIVE_H
#define GROTH16_DERIVE_H

#include "algebra/batch.h"
#include "groth16/internal.h"

/** out_k = sum over i of w^(-i k) (scale step^i h_i), k < 2^log_n, w the domain's root; h the key's, and infinity behind its end. In
 *  two passes, each in blocks that depend on none of the same pass, so that either may be stopped between two blocks. */
typedef struct point_transform {
    const groth16_pk *pk;
    const curve *cv;
    const batch_ops *ops;
    pool *p;
    const cancel *c;
    mem *m;
    unsigned log_n, low; /* levels in all, and of the first pass */
    unsigned log_block;  /* points of a block */
    fr scale, step;
    fr *near, *far; /* w^-i, and w^-(i << near_log) */
    unsigned near_log;
    g1_any *block; /* 2^log_block */
} point_transform;

/** log_block: of a block's points; no fewer than a pass needs. After a failure *t is to be closed too. */
CUZK_STATUS point_transform_open(point_transform *t, const groth16_pk *pk, unsigned log_block,
                                 pool *p, const cancel *c, mem *m);
void point_transform_close(point_transform *t);
uint64_t point_transform_blocks(const point_transform *t); /* of each pass */
/** Writes block `at` of the first pass: points in an order of the module's own, to `out` at offset `off` on. */
CUZK_STATUS point_transform_first(point_transform *t, file_part *out, uint64_t off, uint64_t at);
/** Block `at` of the second pass: from the first one's points, all there, to where they belong. */
CUZK_STATUS point_transform_second(point_transform *t, const uint8_t *in, file_part *out,
                                   uint64_t off, uint64_t at);

/** Variables (inputs, then auxiliary) that one task of point_columns does, and of one call. */
typedef struct point_columns {
    const groth16_pk *pk;
    const r1cs_system *sys;
    const batch_ops *ops;
    size_t n, task, cap; /* all variables; of a task; of a call */
} point_columns;
void point_columns_init(point_columns *x, const groth16_pk *pk, const r1cs_system *sys);
/** out[j - from] = l_j + sum over rows k of C[k, j] w_k for variables [from, from + n), n <= cap; l_j infinity for inputs. w: points
 *  of the rows as in memory. */
CUZK_STATUS point_columns_range(const point_columns *x, g1_any *out, const uint8_t *w, size_t from,
                                size_t n, pool *p, const cancel *c);

#endif
