/*
 * algebra/curve_bls_adx.c - the curve table of BLS12-381 in ADX and BMI2, and the one that hands what is many to eight lanes
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#if defined(__x86_64__)
#    define CURVE_BLS12_381
#    define FIELD_ADX 1
#    define CURVE_TABLE curve_bls_adx
#    include "algebra/curve_tmpl.h"

#    define CURVE_TABLE curve_bls_ifma
#    define CURVE_TABLE_CPU CPU_TABLE_IFMA
#    define CURVE_MILLER curve_lanes_bls_miller
#    include "algebra/curve_table_tmpl.h"
#endif
