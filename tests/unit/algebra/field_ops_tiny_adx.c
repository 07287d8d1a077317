/*
 * unit/algebra/field_ops_tiny_adx.c - the fields of tiny, table adx
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define CURVE_TINY
#define FIELD_ADX 1
#define FIELD_OPS field_ops_tiny_adx
#define FIELD_OPS_CURVE "tiny"
#include "field_ops_tmpl.h"
