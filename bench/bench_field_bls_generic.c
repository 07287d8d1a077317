/*
 * bench/bench_field_bls_generic.c - field cases of bls12-381, table generic
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define CURVE_BLS12_381
#define FIELD_ADX 0
#define FIELD_BENCH field_bench_bls_generic
#define FIELD_BENCH_CURVE "bls12-381"
#include "bench/bench_field_tmpl.h"
