/*
 * bench/bench_cuda.c - the CUDA backend: products, transforms, multiples, sums over points that stay there
 *
 * Times are of calls from the host, with what they wait for. Points are distinct multiples of the generator by known logarithms, made on
 * the device and never anywhere else; every sum is checked by one product. Scalars are uniform unless the case says otherwise. Points and
 * scalars of a sum are on the device, unless it says "from the host", which is of scalars.
 *
 * "limit" is what the work would take if the multiplier did nothing but its products (issue 7), on an H200.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <cuda_runtime_api.h>
#include <time.h>

#include "bench/runner.h"
#include "device/cuda/cuda_int.h"

#define MAKE ((size_t)1 << 22) /* points made in one call */
#define TASK ((size_t)1 << 16)

typedef struct subject {
    mem *m;
    pool *p;
    device *cpu, *gpu;
    dev_stream *cpu_s, *s;
    const curve *cv;
    bool g2;
    size_t n;
    uint8_t *points; /* of the host */
    dev_points b;
    fr *logs, *k, *partial;
    uint64_t *bits;
    dev_buf *buf;
    dev_scalars sc;
    ntt_domain *dom;
    ntt_kind kind;
    g2_any sum;
    void *x;
} subject;

static void *array(size_t n, size_t size)
{
    void *p = malloc(n == 0 ? 1 : n * size);

    bench_need(p != NULL, "memory");
    return p;
}

/* ---- what it takes at least ---- */

/* Milliseconds on an H200: what issue 7 names. */
static double limit_ms(const char *name)
{
    static const struct {
        const char *name;
        double ms;
    } all[] = {
        {"bls12-381 g1 sum 2^24", 52},         {"bls12-381 g1 sum 2^26", 180},
        {"bls12-381 g1 sum 2^27", 358},        {"bls12-381 g2 sum 2^22", 32},
        {"bls12-381 g1 sum of bits 2^27", 14}, {"bls12-381 ntt forward 2^24", 3.3},
        {"bls12-381 ntt forward 2^27", 29.5},
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, name) == 0) return all[i].ms;
    return 0;
}

/* What a person reads of a case; ns <= 0: it was left out. */
static void tell(const char *name, double ns, size_t n)
{
    double limit = limit_ms(name);

    if (ns <= 0) return;
    printf("#   %s: %.3f ms", name, ns / 1e6);
    if (n != 0) printf(", %.2f ns a point", ns / (double)n);
    if (limit > 0) printf("; limit %.1f ms, measured/limit %.2f", limit, ns / 1e6 / limit);
    printf("\n");
    (void)fflush(stdout);
}

static void need(cuzk_status st)
{
    if (st != CUZK_OK) fprintf(stderr, "%s\n", cuzk_last_error()->message);
    bench_need(st == CUZK_OK, "an operation failed");
}

/* ---- inputs ---- */

static cuzk_status random_task(void *ctx, size_t i, unsigned worker)
{
    const subject *t = ctx;
    uint64_t seed = 0x1234567 + i * 977, top = 0;

    (void)worker;
    for (int k = 31; k >= 24; k--) top = top << 8 | t->cv->r_le[k];
    for (size_t k = i * TASK; k < (i + 1) * TASK && k < t->n; k++) {
        for (int l = 0; l < 4; l++) t->k[k].l[l] = bench_random(&seed);
        t->k[k].l[3] %= top;
    }
    return CUZK_OK;
}

static void random_scalars(subject *t)
{
    bench_need(pool_run(t->p, NULL, (t->n + TASK - 1) / TASK, random_task, t) == CUZK_OK,
               "scalars");
}

static cuzk_status dot_task(void *ctx, size_t i, unsigned worker)
{
    const subject *t = ctx;
    fr x, sum = t->cv->fr_zero;

    (void)worker;
    for (size_t k = i * TASK; k < (i + 1) * TASK && k < t->n; k++) {
        const fr *log = &t->logs[k];
        if (t->sc.bits != NULL) {
            if ((t->bits[k / 64] >> k % 64 & 1) != 0) t->cv->fr_add(&sum, &sum, log);
            continue;
        }
        t->cv->fr_mul(&x, &t->k[k], log);
        t->cv->fr_add(&sum, &sum, &x);
    }
    t->partial[i] = sum;
    return CUZK_OK;
}

/* The last sum is the sum of scalars times logarithms, times the generator. */
static void check_sum(subject *t)
{
    size_t tasks = (t->n + TASK - 1) / TASK;
    fr log = t->cv->fr_zero;
    g1_any a, b;
    g2_any c;

    t->partial = array(tasks, sizeof *t->partial);
    bench_need(pool_run(t->p, NULL, tasks, dot_task, t) == CUZK_OK, "logarithms");
    for (size_t i = 0; i < tasks; i++) t->cv->fr_add(&log, &log, &t->partial[i]);
    free(t->partial);
    if (t->g2) {
        t->cv->g2_mul(&c, &t->cv->g2_gen, &log);
        bench_need(t->cv->g2_eq(&c, &t->sum), "a sum in G2 is wrong");
    } else {
        t->cv->g1_mul(&a, &t->cv->g1_gen, &log);
        memcpy(&b, &t->sum, sizeof b);
        bench_need(t->cv->g1_eq(&a, &b), "a sum in G1 is wrong");
    }
}

/* 2^log_n points at home on the device. */
static void make_points(subject *t, unsigned log_n)
{
    size_t n = (size_t)1 << log_n;
    dev_fixed *f;

    t->logs = array(n, sizeof *t->logs);
    t->n = n;
    t->k = t->logs;
    random_scalars(t);
    need(dev_points_new(&t->b, t->gpu, t->cv->id, t->g2, n));
    need(dev_fixed_new(&f, t->s, t->cv->id, t->g2,
                       t->g2 ? (const void *)&t->cv->g2_gen : (const void *)&t->cv->g1_gen, n));
    for (size_t at = 0; at < n; at += MAKE)
        need(dev_fixed_keep(t->s, &t->b, at, f, t->logs + at, n - at < MAKE ? n - at : MAKE, NULL));
    dev_fixed_free(f);
}

/* ---- cases ---- */

static void run_sum(void *ctx)
{
    subject *t = ctx;
    g1_any r;

    if (t->g2) {
        need(dev_msm_g2(t->s, &t->sum, t->cv->id, &t->b, 0, &t->sc));
        return;
    }
    if (t->buf != NULL) {
        need(dev_msm_g1_buf(t->s, &r, t->cv->id, &t->b, 0, t->buf, t->n));
    } else {
        need(dev_msm_g1(t->s, &r, t->cv->id, &t->b, 0, &t->sc));
    }
    memcpy(&t->sum, &r, sizeof r);
}

static void measure_sum(const bench_options *o, subject *t, unsigned log_n, const char *what)
{
    char name[80];
    double ns;

    (void)snprintf(name, sizeof name, "%s %s %s 2^%u", t->cv->name, t->g2 ? "g2" : "g1", what,
                   log_n);
    ns = bench_case(o, name, t->n, run_sum, t, 0);
    if (ns <= 0) return;
    tell(name, ns, t->n);
    check_sum(t);
}

/* Uniform scalars: of G1 in a buffer, as those of H; of G2 as a proof's witness, which is there from the first sum on. */
static void measure_full(const bench_options *o, subject *t, unsigned log_n)
{
    t->n = (size_t)1 << log_n;
    t->sc = (dev_scalars){.n = t->n, .elems = t->k, .id = t->g2 ? dev_points_id() : 0};
    if (!t->g2) {
        need(dev_buf_new(&t->buf, t->gpu, t->n));
        need(dev_upload(t->s, t->buf, 0, t->k, t->n));
    }
    measure_sum(o, t, log_n, "sum");
    dev_forget(t->gpu, t->sc.id);
    dev_buf_free(t->buf);
    t->buf = NULL;
}

/* Half of them ones: there, and brought from the host for each sum. */
static void measure_bits(const bench_options *o, subject *t, unsigned log_n)
{
    uint64_t *no_elem = calloc(t->n / 64, 8);
    uint32_t *rank = calloc(t->n / 64, 4);

    bench_need(no_elem != NULL && rank != NULL, "memory");
    t->bits = (uint64_t *)(void *)t->k; /* as random as any */
    t->sc = (dev_scalars){.n = t->n,
                          .bits = t->bits,
                          .is_elem = no_elem,
                          .rank64 = rank,
                          .id = dev_points_id(),
                          .layout_id = dev_points_id()};
    measure_sum(o, t, log_n, "sum of bits");
    dev_forget(t->gpu, t->sc.id);
    t->sc.id = t->sc.layout_id = 0;
    measure_sum(o, t, log_n, "sum of bits from the host");
    free(rank);
    free(no_elem);
}

/* Every other size up to the largest, and that. */
static void bench_sums(const bench_options *o, subject *t, curve_id id, bool g2, unsigned max_log)
{
    t->cv = device_curve(t->gpu, id);
    t->g2 = g2;
    make_points(t, max_log);
    t->k = array(t->n, sizeof *t->k);
    random_scalars(t);
    for (unsigned log_n = g2 ? 18 : 16; log_n < max_log; log_n += 2) measure_full(o, t, log_n);
    measure_full(o, t, max_log);
    measure_bits(o, t, max_log);
    dev_points_free(&t->b);
    free(t->k);
    free(t->logs);
    t->sc = (dev_scalars){0};
}

static void run_ntt(void *ctx)
{
    subject *t = ctx;

    need(dev_ntt(t->s, t->buf, t->dom, t->kind));
    need(dev_sync(t->s));
}

static void bench_ntt(const bench_options *o, subject *t, curve_id id, unsigned max_log)
{
    static const char *const names[] = {"forward", "inverse", "coset forward", "coset inverse",
                                        "to coset"};
    fr shift;

    t->cv = device_curve(t->gpu, id);
    t->cv->fr_from_u64(&shift, 5);
    for (unsigned log_n = 20; log_n <= max_log; log_n++) {
        if (log_n % 2 != 0 && log_n != 27) continue;
        t->n = (size_t)1 << log_n;
        t->k = array(t->n, sizeof *t->k);
        random_scalars(t);
        need(dev_buf_new(&t->buf, t->gpu, t->n));
        need(dev_upload(t->s, t->buf, 0, t->k, t->n));
        need(ntt_domain_new(&t->dom, t->gpu, id, 5, log_n, &shift));
        for (unsigned kind = 0; kind <= NTT_TO_COSET; kind++) {
            char name[80];
            double ns;
            t->kind = (ntt_kind)kind;
            (void)snprintf(name, sizeof name, "%s ntt %s 2^%u", t->cv->name, names[kind], log_n);
            ns = bench_case(o, name, t->n, run_ntt, t, 0);
            tell(name, ns, 0);
        }
        ntt_domain_free(t->dom);
        dev_buf_free(t->buf);
        t->buf = NULL;
        free(t->k);
    }
}

/* ---- multiples of one point ---- */

typedef struct fixed_case {
    subject *t;
    dev_fixed *f;
    dev_points home; /* n != 0: the points stay there */
} fixed_case;

static void run_fixed(void *ctx)
{
    const fixed_case *x = ctx;
    subject *t = x->t;

    need(x->home.n != 0 ? dev_fixed_keep(t->s, &x->home, 0, x->f, t->k, t->n, NULL)
                        : dev_fixed_mul(t->s, t->points, POINT_ZCASH, x->f, t->k, t->n, NULL));
}

/* As many as a setup makes in some chunks; as a key's bytes on the host, and kept. Results: the cross tests. */
static void bench_fixed(const bench_options *o, subject *t, bool g2, unsigned log_n)
{
    fixed_case x = {.t = t};

    t->cv = device_curve(t->gpu, CURVE_ID_BLS12_381);
    t->g2 = g2;
    t->n = (size_t)1 << log_n;
    t->k = array(t->n, sizeof *t->k);
    t->points = array(t->n, g2 ? t->cv->g2_size : t->cv->g1_size);
    random_scalars(t);
    need(dev_fixed_new(&x.f, t->s, t->cv->id, g2,
                       g2 ? (const void *)&t->cv->g2_gen : (const void *)&t->cv->g1_gen,
                       (size_t)1 << 27));
    for (int kept = 0; kept < 2; kept++) {
        char name[80];
        double ns;
        if (kept == 1) need(dev_points_new(&x.home, t->gpu, t->cv->id, g2, t->n));
        (void)snprintf(name, sizeof name, "%s %s multiples %s 2^%u", t->cv->name, g2 ? "g2" : "g1",
                       kept == 1 ? "kept" : "to the host", log_n);
        ns = bench_case(o, name, t->n, run_fixed, &x, 0);
        tell(name, ns, t->n);
    }
    dev_points_free(&x.home);
    dev_fixed_free(x.f);
    free(t->points);
    free(t->k);
}

#define PRODUCTS 2000u

static void run_products(void *ctx)
{
    subject *t = ctx;
    const cu_group_ops *g = cu_group_of(t->cv->id, t->g2);

    bench_need(g->products(cu_queue_of(t->s)->s, t->x, cu_of(t->gpu)->sms * 8, PRODUCTS) == 0,
               "products");
    need(dev_sync(t->s));
}

static void bench_products(const bench_options *o, subject *t)
{
    for (unsigned id = 0; id < CURVE_IDS; id++)
        for (int g2 = 0; g2 < 2; g2++) {
            size_t threads = (size_t)cu_of(t->gpu)->sms * 8 * 128, n = threads * 2 * PRODUCTS;
            char name[80];
            double ns;
            t->cv = device_curve(t->gpu, (curve_id)id);
            t->g2 = g2 == 1;
            need(cu_alloc(cu_of(t->gpu), &t->x, threads * 2 * sizeof(g2_any)));
            bench_need(cudaMemset(t->x, 0x11, threads * 2 * sizeof(g2_any)) == 0, "memset");
            (void)snprintf(name, sizeof name, "%s %s product", t->cv->name, t->g2 ? "fp2" : "fp");
            ns = bench_case(o, name, n, run_products, t, 0);
            if (ns > 0) printf("#   %s: %.2f G/s\n", name, (double)n / ns);
            cu_release(cu_of(t->gpu), t->x);
        }
}

static void open_all(subject *t, unsigned threads)
{
    device_config config = {.table = cpu_table_best()};
    struct timespec a, b;

    need(mem_open(&t->m, "bench", 0, NULL));
    need(pool_open(&t->p, threads, NULL));
    config.m = t->m;
    config.pool = t->p;
    config.name = "cpu";
    need(device_open(&t->cpu, &config));
    need(dev_stream_open(&t->cpu_s, t->cpu, NULL));
    config.name = "cuda";
    (void)clock_gettime(CLOCK_MONOTONIC, &a);
    need(device_open(&t->gpu, &config));
    (void)clock_gettime(CLOCK_MONOTONIC, &b);
    need(dev_stream_open(&t->s, t->gpu, NULL));
    printf("# %s, %u multiprocessors, %zu MiB; opened and checked in %.0f ms\n",
           cu_of(t->gpu)->name, cu_of(t->gpu)->sms, cu_of(t->gpu)->limit >> 20,
           (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6);
}

int main(int argc, char **argv)
{
    bench_options o = bench_start(argc, argv, "the CUDA backend");
    unsigned max_log = o.max_log != 0 ? o.max_log : 22;
    subject t = {0};

    open_all(&t, o.threads == 0 ? 2 : o.threads);
    bench_products(&o, &t);
    bench_ntt(&o, &t, CURVE_ID_BLS12_381, max_log);
    bench_fixed(&o, &t, false, max_log < 22 ? max_log : 22);
    bench_fixed(&o, &t, true, max_log < 21 ? max_log : 21);
    bench_sums(&o, &t, CURVE_ID_BLS12_381, false, max_log);
    bench_sums(&o, &t, CURVE_ID_BLS12_381, true, max_log < 22 ? max_log : 22);
    bench_sums(&o, &t, CURVE_ID_BN254, false, max_log < 22 ? max_log : 22);
    dev_stream_close(t.s);
    device_close(t.gpu);
    dev_stream_close(t.cpu_s);
    device_close(t.cpu);
    pool_close(t.p);
    mem_close(t.m);
    return 0;
}
