/*
 * bench/bench_field.c - one operation of the prime fields, for each curve and CPU table that this machine runs
 *
 * Cases: <curve> <operation> <table>, n operations each: over eight independent values, or "chain": each waits for the one
 * before. Remarks give cycles for one operation, from the fastest repeat and from the median, with the clock measured by
 * dependent additions just before and after the case.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "bench/bench_field.h"

#include "base/clock.h"

/* the fastest call, which bench_case prints but does not return */
typedef struct timed {
    const field_case *c;
    uint64_t best;
} timed;

static void run_timed(void *ctx)
{
    timed *t = ctx;
    uint64_t start = clock_ns(), took;

    t->c->run(NULL);
    took = clock_ns() - start;
    if (took < t->best) t->best = took;
}

int main(int argc, char **argv)
{
    static const field_bench *const all[] = {&field_bench_bls_generic, &field_bench_bls_adx,
                                             &field_bench_bn_generic,  &field_bench_bn_adx,
                                             &field_bench_bls_ifma,    &field_bench_bn_ifma,
                                             &field_bench_madd};
    bench_options o = bench_start(argc, argv, "prime fields: one operation");

    if (o.min_seconds > 0.2) o.min_seconds = 0.2;
    o.max_reps = 1000;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        if (!cpu_table_supported(all[k]->table)) {
            printf("# %s: this machine does not run it\n", cpu_table_name(all[k]->table));
            continue;
        }
        for (const field_case *c = all[k]->cases; c->name != NULL; c++) {
            char name[80];
            timed t = {c, UINT64_MAX};
            double before = bench_clock(), median, after;

            (void)snprintf(name, sizeof name, "%s %s %s", all[k]->curve, c->name,
                           cpu_table_name(all[k]->table));
            median = bench_case(&o, name, c->n, run_timed, &t, 0);
            if (median == 0) continue; /* left out by --only */
            after = bench_clock();
            if (after > before) before = after;
            printf("# %s: %.2f cycles, median %.2f, at %.3f GHz\n", name,
                   (double)t.best / (double)c->n * before, median / (double)c->n * before, before);
        }
        bench_need(all[k]->check(), "a field's values");
    }
    return 0;
}
