/*
 * bench/bench_field_bn_ifma.c - field cases of bn254, table ifma
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define CURVE_BN254
#define FIELD_BENCH field_bench_bn_ifma
#define FIELD_BENCH_CURVE "bn254"
#include "bench/bench_field_lanes_tmpl.h"
