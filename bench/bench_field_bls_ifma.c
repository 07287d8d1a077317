/*
 * bench/bench_field_bls_ifma.c - field cases of bls12-381, table ifma
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define CURVE_BLS12_381
#define FIELD_BENCH field_bench_bls_ifma
#define FIELD_BENCH_CURVE "bls12-381"
#include "bench/bench_field_lanes_tmpl.h"
