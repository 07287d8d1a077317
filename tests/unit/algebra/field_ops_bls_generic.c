/*
 * unit/algebra/field_ops_bls_generic.c - the fields of bls12-381, table generic
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define CURVE_BLS12_381
#define FIELD_ADX 0
#define FIELD_OPS field_ops_bls_generic
#define FIELD_OPS_CURVE "bls12-381"
#include "field_ops_tmpl.h"
