/*
 * bench/bench_field_bn_generic.c - field cases of bn254, table generic
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define CURVE_BN254
#define FIELD_ADX 0
#define FIELD_BENCH field_bench_bn_generic
#define FIELD_BENCH_CURVE "bn254"
#include "bench/bench_field_tmpl.h"
