/*
 * algebra/curve_bls_generic.c - the curve table of BLS12-381 in portable C
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define CURVE_BLS12_381
#define FIELD_ADX 0
#define CURVE_TABLE curve_bls_generic
#include "algebra/curve_tmpl.h"
