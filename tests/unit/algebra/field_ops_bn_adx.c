/*
 * unit/algebra/field_ops_bn_adx.c - the fields of bn254, table adx
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define CURVE_BN254
#define FIELD_ADX 1
#define FIELD_OPS field_ops_bn_adx
#define FIELD_OPS_CURVE "bn254"
#include "field_ops_tmpl.h"
