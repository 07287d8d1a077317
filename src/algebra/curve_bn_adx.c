/*
 * algebra/curve_bn_adx.c - the curve table of BN254 in ADX and BMI2
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#if defined(__x86_64__)
#    define CURVE_BN254
#    define FIELD_ADX 1
#    define CURVE_TABLE curve_bn_adx
#    include "algebra/curve_tmpl.h"
#endif
