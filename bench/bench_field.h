/*
 * bench/bench_field.h - the cases that each curve and CPU table exports to bench_field.c
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef BENCH_BENCH_FIELD_H
#define BENCH_BENCH_FIELD_H

#include "algebra/cpu_table.h"
#include "bench/runner.h"

typedef struct field_case {
    const char *name;
    size_t n; /* operations a call */
    void (*run)(void *ctx);
} field_case;

typedef struct field_bench {
    const char *curve;
    cpu_table table;
    const field_case *cases; /* ends with a NULL name */
    bool (*check)(void);     /* what the cases computed is right; after all of them */
} field_bench;

extern const field_bench field_bench_bls_generic, field_bench_bls_adx, field_bench_bn_generic,
    field_bench_bn_adx, field_bench_bls_ifma, field_bench_bn_ifma, field_bench_madd;

#endif
