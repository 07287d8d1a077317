/*
 * unit/algebra/field_ops_bls_adx.c - the fields of bls12-381, table adx
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define CURVE_BLS12_381
#define FIELD_ADX 1
#define FIELD_OPS field_ops_bls_adx
#define FIELD_OPS_CURVE "bls12-381"
#include "field_ops_tmpl.h"
