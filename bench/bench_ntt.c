/*
 * bench/bench_ntt.c - transforms, and the product they are made of
 *
 * Cases: <curve> mul <table>: one product, throughput over independent ones; <curve> <kind> <table> <threads>t. Remarks give
 * nanoseconds and cycles for each butterfly, n/2 log2 n of them for a transform (twice that for "to coset").
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "bench/runner.h"

#include "base/pool.h"
#include "device/cpu/cpu.h"
#include "device/device.h"

typedef struct subject {
    device *d;
    dev_stream *s;
    dev_buf *a;
    ntt_domain *dom;
    ntt_kind kind;
    curve_id id;
    unsigned gen, log_n;
    size_t n;
} subject;

static void run_ntt(void *ctx)
{
    const subject *t = ctx;
    bench_need(dev_ntt(t->s, t->a, t->dom, t->kind) == CUZK_OK, "ntt");
}

static void run_domain(void *ctx)
{
    const subject *t = ctx;
    ntt_domain *dom;
    fr shift;

    device_curve(t->d, t->id)->fr_from_u64(&shift, 7);
    bench_need(ntt_domain_new(&dom, t->d, t->id, t->gen, t->log_n, &shift) == CUZK_OK, "domain");
    ntt_domain_free(dom);
}

static void run_mul(void *ctx)
{
    const subject *t = ctx;
    fr *x = dev_buf_host(t->a);
    const cpu_kernels *k = cpu_kernels_of(t->d, t->id);

    for (size_t i = 0; i < t->n; i += 512) k->mul(x, x, x + 512, 512);
}

static void fill(const subject *t)
{
    uint64_t seed = 1;
    fr *x = dev_buf_host(t->a);

    for (size_t i = 0; i < t->n; i++)
        for (int k = 0; k < 4; k++) x[i].l[k] = bench_random(&seed) >> (k == 3 ? 3 : 0);
}

static void remark(const char *what, double ns, double count)
{
    if (ns > 0)
        printf("#   %s %.2f ns, %.1f cycles each\n", what, ns / count, ns / count * bench_clock());
}

/* The transform is right: there and back again. */
static void check(const subject *t)
{
    subject u = *t;
    fr *x = dev_buf_host(t->a), first = x[0], last = x[t->n - 1];

    u.kind = NTT_TO_COSET;
    run_ntt(&u);
    u.kind = NTT_COSET_INVERSE;
    run_ntt(&u);
    u.kind = NTT_FORWARD;
    run_ntt(&u);
    bench_need(memcmp(&x[0], &first, sizeof first) == 0 &&
                   memcmp(&x[t->n - 1], &last, sizeof last) == 0,
               "transforms do not undo each other");
}

static void bench_size(const bench_options *o, subject *t, const char *tag, unsigned threads,
                       mem *m)
{
    static const struct {
        ntt_kind kind;
        const char *name;
        double transforms;
    } kinds[] = {{NTT_FORWARD, "forward", 1}, {NTT_TO_COSET, "to coset", 2}};
    char name[96];
    fr shift;
    size_t base = mem_used(m);

    device_curve(t->d, t->id)->fr_from_u64(&shift, 7);
    bench_need(dev_buf_new(&t->a, t->d, t->n) == CUZK_OK, "buffer");
    bench_need(ntt_domain_new(&t->dom, t->d, t->id, t->gen, t->log_n, &shift) == CUZK_OK, "domain");
    fill(t);
    check(t);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        double ns;
        t->kind = kinds[i].kind;
        (void)snprintf(name, sizeof name, "%.48s %s %ut", tag, kinds[i].name, threads);
        ns = bench_case(o, name, t->n, run_ntt, t, mem_peak(m) - base);
        remark("butterfly", ns, kinds[i].transforms * (double)t->n / 2 * t->log_n);
    }
    (void)snprintf(name, sizeof name, "%.48s domain %ut", tag, threads);
    (void)bench_case(o, name, t->n, run_domain, t, 0);
    ntt_domain_free(t->dom);
    dev_buf_free(t->a);
}

static void bench_table(const bench_options *o, cpu_table table, unsigned threads)
{
    static const unsigned logs[] = {10, 13, 16, 18, 20, 22, 24};
    device_config config = {.name = "cpu", .table = table};
    unsigned max_log = o->max_log != 0 ? o->max_log : 22;
    subject t = {0};
    char name[96], tag[48];

    bench_need(mem_open(&config.m, "bench", 0, NULL) == CUZK_OK, "budget");
    bench_need(pool_open(&config.pool, threads, NULL) == CUZK_OK, "pool");
    bench_need(device_open(&t.d, &config) == CUZK_OK, "device");
    bench_need(dev_stream_open(&t.s, t.d, NULL) == CUZK_OK, "stream");
    for (unsigned id = 0; id < CURVE_IDS; id++) {
        t.id = (curve_id)id;
        t.gen = t.id == CURVE_ID_BLS12_381 ? 7 : 5;
        if (threads == 1) {
            t.n = (size_t)1 << 20;
            bench_need(dev_buf_new(&t.a, t.d, 1024) == CUZK_OK, "buffer");
            (void)snprintf(name, sizeof name, "%.20s mul %.20s", device_curve(t.d, t.id)->name,
                           cpu_table_name(table));
            remark("product", bench_case(o, name, t.n, run_mul, &t, 0), (double)t.n);
            dev_buf_free(t.a);
        }
        for (size_t i = 0; i < sizeof logs / sizeof *logs && logs[i] <= max_log; i++) {
            t.log_n = logs[i];
            t.n = (size_t)1 << t.log_n;
            (void)snprintf(tag, sizeof tag, "%.20s %.20s", device_curve(t.d, t.id)->name,
                           cpu_table_name(table));
            bench_size(o, &t, tag, threads, config.m);
        }
    }
    dev_stream_close(t.s);
    device_close(t.d);
    pool_close(config.pool);
    mem_close(config.m);
}

int main(int argc, char **argv)
{
    bench_options o = bench_start(argc, argv, "number-theoretic transforms");

    for (unsigned t = 0; t < CPU_TABLES; t++) {
        if (!cpu_table_supported((cpu_table)t)) continue;
        if (o.threads == 0) bench_table(&o, (cpu_table)t, 1);
        bench_table(&o, (cpu_table)t, o.threads == 0 ? 2 : o.threads);
    }
    return 0;
}
