/*
 * algebra/curve_tables.h - the tables that curve.c chooses from, one for each curve and CPU table
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ALGEBRA_CURVE_TABLES_H
#define ALGEBRA_CURVE_TABLES_H

#include "algebra/curve.h"

extern const curve curve_bls_generic, curve_bn_generic;
#if defined(__x86_64__)
extern const curve curve_bls_adx, curve_bn_adx;
#endif

#endif
