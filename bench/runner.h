/*
 * bench/runner.h - the one runner of all benchmarks: repeats, sorts, prints CSV
 *
 * Output: remark lines that start with #, then case,n,reps,min_ns,median_ns,p95_ns,peak_bytes (tools/bench_compare reads
 * it). Arguments of every program: --reps N (at most), --seconds S (at least, a case), --threads N, --only TEXT (cases whose
 * name contains it), --max-log N (largest size, for programs that have sizes).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef BENCH_RUNNER_H
#define BENCH_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct bench_options {
    size_t max_reps;
    double min_seconds;
    unsigned threads; /* 0: the program's own choice */
    unsigned max_log; /* 0: the program's own choice */
    const char *only;
} bench_options;

/** Reads arguments, prints the header; exits on a wrong argument. */
bench_options bench_start(int argc, char **argv, const char *what);
/** One CSV line: fn(ctx) once to warm up, then until enough repeats or seconds. Returns the median in ns; 0 when
 *  --only leaves the case out. */
double bench_case(const bench_options *o, const char *name, size_t n, void (*fn)(void *), void *ctx,
                  size_t peak_bytes);
/** The processor's clock now, in cycles a nanosecond: a chain of dependent additions. */
double bench_clock(void);
/** Ends the program with a message when a result is wrong or something fails. */
void bench_need(bool ok, const char *what);
/** A seeded stream of random words. */
uint64_t bench_random(uint64_t *state);

#endif
