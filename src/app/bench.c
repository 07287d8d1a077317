/*
 * app/bench.c - `cuzk bench`: operations (by the engine) and whole proofs, from files to verified proof
 *
 * Nothing is cached between repetitions but what the system's page cache holds.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "app/commands.h"
#include "base/clock.h"

#define MAX_REPS 1000

static int by_value(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

static cuzk_status prove_once(const options *o, cuzk_engine *e)
{
    cuzk_buffer a = {0}, b = {0};
    cuzk_status st;

    if (o->kind == NULL) {
        cuzk_circom_prove_args args = {.zkey = o->args[1], .wtns = o->args[2], .r1cs = o->r1cs};
        st = cuzk_circom_prove(e, &args, &a, &b);
    } else {
        cuzk_filecoin_args args = {.kind = o->kind,
                                   .statement = o->statement,
                                   .fields = o->fields,
                                   .n_fields = o->n_fields,
                                   .inputs = o->inputs,
                                   .n_inputs = o->n_inputs,
                                   .params_dir = o->params,
                                   .partition = o->partition};
        st = cuzk_filecoin_prove(e, &args, &a);
    }
    if (st != CUZK_OK) return st;
    cuzk_buffer_clear(&a);
    if (b.data != NULL) cuzk_buffer_clear(&b);
    return CUZK_OK;
}

static int bench_prove(report *r, cuzk_engine *e)
{
    static uint64_t ns[MAX_REPS];
    const options *o = r->o;
    unsigned reps = o->reps == 0 ? 5 : o->reps;
    uint64_t peak = 0;
    cuzk_attribution a;

    if (o->kind == NULL ? o->n_args != 3 : o->n_args != 1)
        return command_usage(r, "prove takes KEY.zkey WITNESS.wtns, or --kind and its options");
    if (reps > MAX_REPS) return command_usage(r, "--reps: at most 1000");
    for (unsigned i = 0; i <= reps; i++) { /* the first is warm-up */
        uint64_t from = clock_ns();
        cuzk_status st = prove_once(o, e);
        if (st != CUZK_OK) return report_failure(r, st);
        if (i > 0) ns[i - 1] = clock_ns() - from;
        cuzk_last_attribution(e, &a);
        if (a.peak_memory > peak) peak = a.peak_memory;
    }
    qsort(ns, reps, sizeof ns[0], by_value);
    const char *name = o->kind == NULL ? "prove circom" : o->kind;
    unsigned long long min = ns[0], median = ns[reps / 2], p95 = ns[(reps - 1) * 95 / 100];
    if (o->json) {
        printf(
            "{\"version\":\"%s\",\"results\":[{\"case\":\"%s\",\"n\":1,\"reps\":%u,\"min_ns\":%llu,"
            "\"median_ns\":%llu,\"p95_ns\":%llu,\"peak_bytes\":%llu}]}\n",
            cuzk_version(), name, reps, min, median, p95, (unsigned long long)peak);
    } else {
        printf("case,n,reps,min_ns,median_ns,p95_ns,peak_bytes\n%s,1,%u,%llu,%llu,%llu,%llu\n",
               name, reps, min, median, p95, (unsigned long long)peak);
        report_time(e);
    }
    return fflush(stdout) == 0 ? 0 : 4;
}

int command_bench(report *r, cuzk_engine *e)
{
    const options *o = r->o;
    cuzk_buffer out;
    cuzk_bench_args args = {.curve = o->curve,
                            .group = o->group,
                            .circuit = o->circuit,
                            .log_n = o->log_n,
                            .reps = o->reps,
                            .json = o->json};

    if (o->clients != 0 || o->priority != NULL || o->address != NULL || o->tls_ca != NULL ||
        o->config != NULL)
        return command_usage(r, "--clients, --priority, --address, --tls-ca and --config are for "
                                "bench --daemon");
    if (o->n_args > 0 && strcmp(o->args[0], "prove") == 0) {
        if (o->circuit == NULL) return bench_prove(r, e);
        if (o->kind != NULL || o->n_inputs != 0 || o->statement != NULL)
            return command_usage(r, "prove takes --circuit, or --kind and its options");
        args.params_dir = o->params;
    }
    if (o->n_args > 1) return command_usage(r, "one benchmark at a time");
    if (o->kind != NULL || o->r1cs != NULL)
        return command_usage(r, "--kind and --r1cs are for bench prove");
    args.name = o->n_args == 1 ? o->args[0] : NULL;
    cuzk_status st = cuzk_bench(e, &args, &out);
    if (st != CUZK_OK) return report_failure(r, st);
    printf("%s", (const char *)out.data);
    if (o->json) printf("\n");
    cuzk_buffer_clear(&out);
    if (!o->json) report_time(e);
    return fflush(stdout) == 0 ? 0 : 4;
}
