/*
 * bench/bench_service.h - what the files of bench_service share
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef BENCH_BENCH_SERVICE_H
#define BENCH_BENCH_SERVICE_H

#include <stddef.h>
#include <time.h>

#include "cuzk_service.h"

/** Ends the program with what went wrong. */
void bench_check(cuzk_status st, const char *what);
double bench_ms_since(uint64_t from);
/** CPU time so far, in ms: CLOCK_PROCESS_CPUTIME_ID or CLOCK_THREAD_CPUTIME_ID. */
double bench_cpu_ms(clockid_t clock);
/** One line of CSV. ms is sorted; cpu_ms: of all n together; below 0: not measured. */
void bench_report(const char *name, double *ms, size_t n, double cpu_ms);
cuzk_bytes bench_load(const char *path); /* mapped until the end */

/** A PoRep request of a large sector over gRPC on loopback: decode, store, and what the service adds. In a build with the service. */
void bench_request(cuzk_engine *e, const char *input_dir, const char *store, int n);

#endif
