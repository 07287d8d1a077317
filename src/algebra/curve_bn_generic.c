/*
 * algebra/curve_bn_generic.c - the curve table of BN254 in portable C
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define CURVE_BN254
#define FIELD_ADX 0
#define CURVE_TABLE curve_bn_generic
#include "algebra/curve_tmpl.h"
