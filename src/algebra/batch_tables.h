/*
 * algebra/batch_tables.h - the tables that batch.c chooses from
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ALGEBRA_BATCH_TABLES_H
#define ALGEBRA_BATCH_TABLES_H

#include "algebra/batch.h"

extern const batch_ops batch_generic;
#if defined(__x86_64__)
extern const batch_ops batch_adx;
/** batch_adx with products of pairings in eight lanes */
extern const batch_ops batch_ifma;
void batch_lanes_miller(gt_any *f, const g1_any *const *p, size_t n_p, const g2_any *q, size_t n);
#endif

#endif
