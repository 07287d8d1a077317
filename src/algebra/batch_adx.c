/*
 * algebra/batch_adx.c - batch operations in ADX and BMI2, and the table that pairs in eight lanes
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#if defined(__x86_64__)
#    define CURVE_BLS12_381
#    define FIELD_ADX 1
#    define BATCH_TABLE batch_adx
#    define BATCH_LANES_TABLE batch_ifma
#    include "algebra/batch_tmpl.h"
#endif
