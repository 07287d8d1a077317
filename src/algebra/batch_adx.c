/*
 * algebra/batch_adx.c - batch operations in ADX and BMI2
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#if defined(__x86_64__)
#    define CURVE_BLS12_381
#    define FIELD_ADX 1
#    define BATCH_TABLE batch_adx
#    include "algebra/batch_tmpl.h"
#endif
