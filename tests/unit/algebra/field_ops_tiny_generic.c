/*
 * unit/algebra/field_ops_tiny_generic.c - the fields of tiny, table generic
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define CURVE_TINY
#define FIELD_ADX 0
#define FIELD_OPS field_ops_tiny_generic
#define FIELD_OPS_CURVE "tiny"
#include "field_ops_tmpl.h"
