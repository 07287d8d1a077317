/*
 * app/bench.c - `cuzk bench`: operations (by the engine) and whole proofs, from files to verified proof
 *
 * Nothing is cached between repetitions but what the system's page cache holds.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "app/commands.h"
#include "app/outputs.h"
#include "app/prove.h"
#include "base/clock.h"

#define MAX_REPS 1000

static int by_value(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

static int show_runs(report *r, cuzk_engine *e, uint64_t *ns, unsigned reps, uint64_t peak)
{
    const options *o = r->o;
    const char *name = o->kind == NULL ? "prove circom" : o->kind;
    cuzk_status st = report_trace(r, e);

    if (st != CUZK_OK) return report_failure(r, st);
    qsort(ns, reps, sizeof ns[0], by_value);
    unsigned long long min = ns[0], median = ns[reps / 2], p95 = ns[(reps - 1) * 95 / 100];
    if (o->json) {
        printf(
            "{\"version\":\"%s\",\"results\":[{\"case\":\"%s\",\"n\":1,\"reps\":%u,\"min_ns\":%llu,"
            "\"median_ns\":%llu,\"p95_ns\":%llu,\"peak_bytes\":%llu}]}\n",
            cuzk_version(), name, reps, min, median, p95, (unsigned long long)peak);
    } else {
        printf("case,n,reps,min_ns,median_ns,p95_ns,peak_bytes\n%s,1,%u,%llu,%llu,%llu,%llu\n",
               name, reps, min, median, p95, (unsigned long long)peak);
    }
    if (!o->json || o->time) report_time(e);
    return 0;
}

static int bench_prove(report *r, cuzk_engine *e)
{
    static uint64_t ns[MAX_REPS];
    unsigned reps = r->o->reps == 0 ? 5 : r->o->reps;
    uint64_t peak = 0;
    cuzk_attribution a;
    cuzk_status st = CUZK_OK;
    prove_request q;
    int code;

    if (reps > MAX_REPS) return command_usage(r, "--reps: at most 1000");
    code = prove_read(&q, r, 1, true);
    for (unsigned i = 0; code == 0 && i <= reps && st == CUZK_OK; i++) { /* the first is warm-up */
        uint64_t from = clock_ns();

        st = prove_run(&q, e);
        if (i > 0) ns[i - 1] = clock_ns() - from;
        cuzk_last_attribution(e, &a);
        if (a.peak_memory > peak) peak = a.peak_memory;
    }
    if (code == 0) {
        if (st == CUZK_OK) st = prove_write(&q);
        code = st == CUZK_OK ? show_runs(r, e, ns, reps, peak) : report_failure(r, st);
    }
    prove_clear(&q);
    return code;
}

/** Of what the engine times by itself, which options each takes. */
static bool takes_options(const options *o, const char *name)
{
    static const struct {
        const char *name, *form, *options;
    } all[] = {
        {"", "bench", "COMMON --curve --group --log-n --reps"},
        {"field", "bench field", "COMMON --curve --reps"},
        {"msm", "bench msm", "COMMON --curve --group --log-n --reps"},
        {"ntt", "bench ntt", "COMMON --curve --log-n --reps"},
        {"pairing", "bench pairing", "COMMON --curve --reps"},
        {"synth", "bench synth", "COMMON --circuit --reps"},
        {"verify", "bench verify", "COMMON --reps"},
        {"aggregate", "bench aggregate", "COMMON --log-n --reps"},
        {"prove", "bench prove --circuit", "COMMON --circuit --beside --curve --params --reps"},
    };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(name, all[i].name) == 0) return options_allow(o, all[i].form, all[i].options);
    return true; /* the engine says which there are */
}

int command_bench(report *r, cuzk_engine *e)
{
    const options *o = r->o;
    const char *name = o->n_args == 0 ? "" : o->args[0];
    cuzk_buffer out;
    cuzk_bench_args args = {.name = o->n_args == 0 ? NULL : name,
                            .curve = o->curve,
                            .group = o->group,
                            .circuit = o->circuit,
                            .beside = o->beside,
                            .log_n = o->log_n,
                            .reps = o->reps,
                            .json = o->json,
                            .params_dir = o->params};

    if (strcmp(name, "prove") == 0 && o->circuit == NULL) return bench_prove(r, e);
    if (!takes_options(o, name)) return 2;
    if (o->n_args > 1) return command_usage(r, "one benchmark at a time");
    int code = outputs_check(r, 0, NULL, NULL);
    if (code != 0) return code;
    cuzk_status st = cuzk_bench(e, &args, &out);
    if (st != CUZK_OK) return report_failure(r, st);
    st = report_trace(r, e);
    if (st == CUZK_OK) printf("%s%s", (const char *)out.data, o->json ? "\n" : "");
    cuzk_buffer_clear(&out);
    if (st != CUZK_OK) return report_failure(r, st);
    if (!o->json || o->time) report_time(e);
    return 0;
}
