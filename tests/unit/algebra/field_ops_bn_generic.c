/*
 * unit/algebra/field_ops_bn_generic.c - the fields of bn254, table generic
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define CURVE_BN254
#define FIELD_ADX 0
#define FIELD_OPS field_ops_bn_generic
#define FIELD_OPS_CURVE "bn254"
#include "field_ops_tmpl.h"
