/*
 * algebra/curve_tables.h - the tables that curve.c chooses from, one for each curve and CPU table
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ALGEBRA_CURVE_TABLES_H
#define ALGEBRA_CURVE_TABLES_H

#include "algebra/curve_lanes.h"

extern const curve curve_bls_generic, curve_bn_generic;
#if defined(__x86_64__)
extern const curve curve_bls_adx, curve_bn_adx;
/** curve_bls_adx with what is better done in eight lanes */
extern const curve curve_bls_ifma;
extern const curve_lanes curve_lanes_bls;
void curve_lanes_bls_miller(gt_any *r, const pairing_term *t, size_t n);
#endif

#endif
