/*
 * engine/bench_report.c - the clock, and results of benchmarks as CSV or JSON
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/bench.h"

#include <stdio.h>

#include "base/clock.h"

#define CHAIN 2000000u
#define CHAINS 25u

/* The fastest of some short chains, so that a busy machine does not count. */
double bench_clock_ghz(void)
{
    span sp = span_open(SPAN_BENCH);
    uint64_t x = 1, best = UINT64_MAX;

    for (unsigned k = 0; k < CHAINS; k++) {
        uint64_t from = clock_ns(), ns;
        for (unsigned i = 0; i < CHAIN; i++) __asm__ volatile("add $1, %0" : "+r"(x));
        ns = clock_ns() - from;
        if (ns < best) best = ns;
    }
    span_close(&sp);
    return (double)CHAIN / (double)best;
}

void bench_row_begin(bench_row *row, const char *what, const char *circuit, uint64_t n)
{
    (void)snprintf(row->name, sizeof row->name, "%s %s", what, circuit);
    row->n = n;
    row->reps = 0;
    row->peak = 0;
    row->n_facts = 0;
    row->detail = NULL;
}

void bench_row_time(bench_row *row, uint64_t from)
{
    if (row->reps < BENCH_MAX_REPS) row->ns[row->reps++] = clock_ns() - from;
}

void bench_row_fact(bench_row *row, const char *name, uint64_t value)
{
    VERIFY(row->n_facts < BENCH_MAX_FACTS);
    row->facts[row->n_facts++] = (bench_fact){name, value};
}

static void sort_ns(uint64_t *v, unsigned n)
{
    for (unsigned i = 1; i < n; i++)
        for (unsigned k = i; k > 0 && v[k] < v[k - 1]; k--) {
            uint64_t t = v[k];
            v[k] = v[k - 1];
            v[k - 1] = t;
        }
}

void bench_report_order(bench_row *row)
{
    sort_ns(row->ns, row->reps);
}

void bench_report_begin(bench_report *r, const cuzk_engine *e)
{
    double ghz = bench_clock_ghz();

    bytes_printf(r->o,
                 r->json
                     ? "{\"version\":\"%s\",\"cpu_table\":\"%s\",\"threads\":%u,\"clock_ghz\":%.3f,"
                       "\"results\":["
                     : "# cuzk %s, cpu table %s, threads %u, clock %.3f GHz (chain of dependent "
                       "adds)\ncase,n,reps,min_ns,median_ns,p95_ns,peak_bytes\n",
                 cuzk_version(), cpu_table_name(e->table), pool_threads(e->pool), ghz);
}

void bench_report_row(bench_report *r, bench_row *row)
{
    unsigned long long n = row->n, min, median, p95;

    sort_ns(row->ns, row->reps);
    min = row->ns[0];
    median = row->ns[row->reps / 2];
    p95 = row->ns[(row->reps - 1) * 95 / 100];
    if (r->json)
        bytes_printf(r->o,
                     "%s{\"case\":\"%s\",\"n\":%llu,\"reps\":%u,\"min_ns\":%llu,\"median_ns\":%llu,"
                     "\"p95_ns\":%llu,\"peak_bytes\":%zu",
                     r->n_rows == 0 ? "" : ",", row->name, n, row->reps, min, median, p95,
                     row->peak);
    else
        bytes_printf(r->o, "%s,%llu,%u,%llu,%llu,%llu,%zu\n", row->name, n, row->reps, min, median,
                     p95, row->peak);
    if (!r->json && row->n_facts > 0) bytes_printf(r->o, "# %s:", row->name);
    for (unsigned i = 0; i < row->n_facts; i++)
        bytes_printf(r->o,
                     r->json  ? ",\"%s\":%llu"
                     : i == 0 ? " %s %llu"
                              : ", %s %llu",
                     row->facts[i].name, (unsigned long long)row->facts[i].value);
    if (row->detail != NULL)
        bytes_printf(r->o, r->json ? ",\"slowest\":%s" : "\n# slowest: %s", row->detail);
    bytes_printf(r->o, r->json ? "}" : row->n_facts > 0 ? "\n" : "");
    r->n_rows++;
}

void bench_report_end(bench_report *r)
{
    if (r->json) bytes_printf(r->o, "]}");
}
