/*
 * bench/bench_field_bn_adx.c - field cases of bn254, table adx
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define CURVE_BN254
#define FIELD_ADX 1
#define FIELD_BENCH field_bench_bn_adx
#define FIELD_BENCH_CURVE "bn254"
#include "bench/bench_field_tmpl.h"
