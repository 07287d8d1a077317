/*
 * bench/bench_msm.c - sums of multiples of points, and multiples of one point
 *
 * Cases: <curve> <group> <scalars> <threads>t, at 2^14, 2^16 and 2^18 points:
 *     uniform      full-width scalars
 *     witness      a circom-like witness: half bits (packed), a quarter below 2^16, a quarter full
 *     bits         packed bits, half of them set
 *     fixed base   full-width multiples of the generator
 * Points are as in a zkey and checked as they are read; each sum is compared with the one that their logarithms give.
 * peak_bytes is what the call takes beside its arguments. Remarks give microseconds and cycles a point.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "bench/runner.h"

#include "base/pool.h"
#include "device/device.h"

typedef enum form { UNIFORM, WITNESS, BITS, FORMS } form;

static const char *const form_names[FORMS] = {"uniform", "witness", "bits"};

typedef struct subject {
    mem *m;
    device *d;
    dev_stream *s;
    const curve *cv;
    curve_id id;
    bool g2;
    size_t n;
    uint8_t *points;
    fr *logs;
    /* scalars */
    fr *elems;
    uint64_t *bits, *is_elem;
    uint32_t *rank64;
    dev_scalars k;
    g2_any result;
} subject;

static size_t point_size(const subject *t)
{
    return t->g2 ? t->cv->g2_size : t->cv->g1_size;
}

static void random_fr(const curve *cv, fr *out, uint64_t *seed)
{
    uint64_t top = 0;

    for (int i = 31; i >= 24; i--) top = top << 8 | cv->r_le[i];
    for (int i = 0; i < 3; i++) out->l[i] = bench_random(seed);
    do out->l[3] = bench_random(seed) >> 1;
    while (out->l[3] >= top); /* below the modulus, uniform but for its last 2^-64 */
}

static void *array(size_t n, size_t size)
{
    void *p = calloc(n, size);
    bench_need(p != NULL, "memory");
    return p;
}

/* ---- what is timed ---- */

static void run_sum(void *ctx)
{
    subject *t = ctx;
    dev_points b = {.data = t->points, .n = t->n, .enc = POINT_LEM, .g2 = t->g2};

    if (t->g2) {
        bench_need(dev_msm_g2(t->s, &t->result, t->id, &b, 0, &t->k) == CUZK_OK, "sum");
    } else {
        g1_any r;
        bench_need(dev_msm_g1(t->s, &r, t->id, &b, 0, &t->k) == CUZK_OK, "sum");
        memcpy(&t->result, &r, sizeof r);
    }
}

static void run_multiples(void *ctx)
{
    const subject *t = ctx;
    cuzk_status st = t->g2 ? dev_fixed_base_g2(t->s, t->points, POINT_LEM, t->id, &t->cv->g2_gen,
                                               t->logs, t->n, NULL)
                           : dev_fixed_base_g1(t->s, t->points, POINT_LEM, t->id, &t->cv->g1_gen,
                                               t->logs, t->n, NULL);
    bench_need(st == CUZK_OK, "multiples");
}

/* ---- inputs, and the right answer ---- */

static void make_scalars(subject *t, form f)
{
    uint64_t seed = 7;
    size_t elems = 0, bits = 0;

    memset(t->is_elem, 0, (t->n + 63) / 64 * sizeof *t->is_elem);
    memset(t->bits, 0, (t->n + 63) / 64 * sizeof *t->bits);
    for (size_t i = 0; i < t->n; i++) {
        uint64_t x = bench_random(&seed);
        if (i % 64 == 0) t->rank64[i / 64] = (uint32_t)elems;
        if (f == BITS || (f == WITNESS && (x & 2) != 0)) {
            t->bits[bits / 64] |= (x & 1) << (bits % 64);
            bits++;
            continue;
        }
        t->is_elem[i / 64] |= (uint64_t)1 << (i % 64);
        random_fr(t->cv, &t->elems[elems], &seed);
        if (f == WITNESS && (x & 4) != 0) t->cv->fr_from_u64(&t->elems[elems], x >> 48);
        elems++;
    }
    t->k = (dev_scalars){.n = t->n, .elems = t->elems};
    if (f == UNIFORM) return;
    t->k.bits = t->bits;
    t->k.is_elem = t->is_elem;
    t->k.rank64 = t->rank64;
}

static void check_sum(const subject *t)
{
    fr sum = t->cv->fr_zero, term;
    size_t elem = 0, bit = 0;
    g2_any want = {{0}};

    for (size_t i = 0; i < t->n; i++) {
        bool is_elem = t->k.is_elem == NULL || (t->is_elem[i / 64] >> (i % 64) & 1) != 0;
        if (is_elem) {
            t->cv->fr_mul(&term, &t->elems[elem++], &t->logs[i]);
            t->cv->fr_add(&sum, &sum, &term);
        } else {
            if ((t->bits[bit / 64] >> (bit % 64) & 1) != 0) t->cv->fr_add(&sum, &sum, &t->logs[i]);
            bit++;
        }
    }
    if (t->g2) {
        t->cv->g2_mul(&want, &t->cv->g2_gen, &sum);
    } else {
        g1_any r;
        t->cv->g1_mul(&r, &t->cv->g1_gen, &sum);
        memcpy(&want, &r, sizeof r);
    }
    bench_need(memcmp(&want, &t->result, point_size(t)) == 0, "the sum is wrong");
}

/* ---- cases ---- */

static void measure(const bench_options *o, subject *t, const char *what, unsigned threads,
                    void (*fn)(void *))
{
    char name[96];
    size_t before = mem_used(t->m);
    double ns;

    mem_reset_peak(t->m);
    fn(t);
    (void)snprintf(name, sizeof name, "%s %s %s %ut", t->cv->name, t->g2 ? "g2" : "g1", what,
                   threads);
    ns = bench_case(o, name, t->n, fn, t, mem_peak(t->m) - before);
    if (ns > 0)
        printf("#   %.3f us a point, %.0f cycles\n", ns / 1e3 / (double)t->n,
               ns / (double)t->n * bench_clock());
}

static void bench_group(const bench_options *o, subject *t, unsigned threads)
{
    static const unsigned logs[] = {14, 16, 18, 20};
    unsigned max_log = o->max_log != 0 ? o->max_log : 18;

    for (size_t i = 0; i < sizeof logs / sizeof *logs && logs[i] <= max_log; i++) {
        uint64_t seed = 1;
        size_t words;
        t->n = (size_t)1 << logs[i];
        words = (t->n + 63) / 64;
        t->points = array(t->n, point_size(t));
        t->logs = array(t->n, sizeof *t->logs);
        t->elems = array(t->n, sizeof *t->elems);
        t->bits = array(words, sizeof *t->bits);
        t->is_elem = array(words, sizeof *t->is_elem);
        t->rank64 = array(words, sizeof *t->rank64);
        for (size_t k = 0; k < t->n; k++) random_fr(t->cv, &t->logs[k], &seed);
        measure(o, t, "fixed base", threads, run_multiples);
        for (unsigned f = 0; f < FORMS; f++) {
            make_scalars(t, (form)f);
            measure(o, t, form_names[f], threads, run_sum);
            check_sum(t);
        }
        free(t->rank64);
        free(t->is_elem);
        free(t->bits);
        free(t->elems);
        free(t->logs);
        free(t->points);
    }
}

static void bench_threads(const bench_options *o, unsigned threads)
{
    device_config config = {.name = "cpu", .table = cpu_table_best()};
    subject t = {0};

    printf("# table %s\n", cpu_table_name(config.table));
    bench_need(mem_open(&config.m, "bench", 0, NULL) == CUZK_OK, "budget");
    bench_need(pool_open(&config.pool, threads, NULL) == CUZK_OK, "pool");
    bench_need(device_open(&t.d, &config) == CUZK_OK, "device");
    bench_need(dev_stream_open(&t.s, t.d, NULL) == CUZK_OK, "stream");
    t.m = config.m;
    for (unsigned id = CURVE_IDS; id-- > 0;) {
        t.id = (curve_id)id;
        t.cv = device_curve(t.d, t.id);
        for (int g2 = 0; g2 < 2; g2++) {
            t.g2 = g2 == 1;
            bench_group(o, &t, threads);
        }
    }
    dev_stream_close(t.s);
    device_close(t.d);
    pool_close(config.pool);
    mem_close(config.m);
}

int main(int argc, char **argv)
{
    bench_options o = bench_start(argc, argv, "sums of multiples of points");

    if (o.threads == 0) bench_threads(&o, 1);
    bench_threads(&o, o.threads == 0 ? 2 : o.threads);
    return 0;
}
