/*
 * engine/bench.h - what the benchmarks share: a case's times, and the report of all cases
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ENGINE_BENCH_H
#define ENGINE_BENCH_H

#include "engine/engine.h"

#define BENCH_MAX_REPS 1000
#define BENCH_MAX_FACTS 16

/** What a case tells beside its times: "rows", 130169893. */
typedef struct bench_fact {
    const char *name;
    uint64_t value;
} bench_fact;

typedef struct bench_row {
    char name[96];
    uint64_t n; /* elements of the case */
    unsigned reps;
    uint64_t ns[BENCH_MAX_REPS];
    size_t peak; /* bytes that the operation took while it ran */
    bench_fact facts[BENCH_MAX_FACTS];
    unsigned n_facts;
    const char *detail; /* a JSON object about its slowest run, one line; NULL: none */
} bench_row;

/** A CSV text (facts are comment lines), or a JSON object (facts are members of their case). */
typedef struct bench_report {
    bytes_out *o;
    bool json;
    unsigned n_rows;
} bench_report;

/** Sorts the row's times. */
void bench_report_order(bench_row *row);
void bench_report_begin(bench_report *r, const cuzk_engine *e);
/** Sorts the row's times. */
void bench_report_row(bench_report *r, bench_row *row);
void bench_report_end(bench_report *r);

/** An empty row named "WHAT CIRCUIT". */
void bench_row_begin(bench_row *row, const char *what, const char *circuit, uint64_t n);
/** The time since `from` (clock_ns). Those beyond what a row holds are not told: the first ones are. */
void bench_row_time(bench_row *row, uint64_t from);
void bench_row_fact(bench_row *row, const char *name, uint64_t value);

/** The clock while it runs: a chain of dependent adds takes one cycle each. */
double bench_clock_ghz(void);

/** Uniform elements, the same for the same seed. */
void bench_random(const curve *cv, fr *out, size_t n, uint64_t seed);

/** `bench aggregate`: proofs aggregated, and the aggregate verified. */
CUZK_STATUS bench_aggregate(job *j, const cuzk_bench_args *a, bench_report *r);
/** `bench synth`: shape, inputs, witness and native check of a Filecoin circuit. */
CUZK_STATUS bench_synth(job *j, const cuzk_bench_args *a, bench_report *r);
/** `bench prove --circuit`: a key and inputs made for the run, whole proofs, verified. */
CUZK_STATUS bench_prove(job *j, const cuzk_bench_args *a, bench_report *r);
/** `bench prove --circuit A --beside B`: jobs of B that come while A is proved without end, through the service. */
CUZK_STATUS bench_beside(job *j, const cuzk_bench_args *a, bench_report *r);
/** `bench prove --circuit synthetic-22`: 2^22 constraints over full-width values. */
CUZK_STATUS bench_synthetic(job *j, const cuzk_bench_args *a, bench_report *r);
bool bench_is_synthetic(const char *circuit);

/** `bench verify`: proofs of production's shapes under simulated keys, from bytes to a verdict. */
CUZK_STATUS bench_verify(job *j, const cuzk_bench_args *a, bench_report *r);

#endif
