/*
 * bench/bench_field_bls_adx.c - field cases of bls12-381, table adx
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define CURVE_BLS12_381
#define FIELD_ADX 1
#define FIELD_BENCH field_bench_bls_adx
#define FIELD_BENCH_CURVE "bls12-381"
#include "bench/bench_field_tmpl.h"
