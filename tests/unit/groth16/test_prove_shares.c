/*
 * unit/groth16/test_prove_shares.c - proofs on several devices: the plan, the same bytes, and helpers that fail
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "groth16/split.h"
#include "r1cs/circom.h"
#include "support.h"

#include <pthread.h>

/* ---- the plan ---- */

static void check_plan(unsigned n, const split_costs *c)
{
    split_part part[SPLIT_MAX], again[SPLIT_MAX];
    size_t at = 0;

    split_plan(part, n, c);
    split_plan(again, n, c);
    for (unsigned k = SUM_L; k < SUMS; k++) {
        unsigned takers = 0;

        for (unsigned d = 0; d < n; d++) takers += part[d].takes[k];
        assert_int_equal(takers, 1);
    }
    for (unsigned d = 0; d < n; d++) {
        assert_int_equal(part[d].h_from, at);
        assert_int_equal(part[d].takes[SUM_H], part[d].h_n != 0);
        if (d > 0) assert_true(part[d].h_n % 64 == 0);
        at += part[d].h_n;
        assert_int_equal(part[d].h_n, again[d].h_n);
        assert_memory_equal(part[d].takes, again[d].takes, sizeof part[d].takes);
    }
    assert_int_equal(at, c->h_n);
}

static uint64_t time_of(const split_part *p, const split_costs *c, bool first)
{
    uint64_t t = first ? c->before_h : 0;

    for (unsigned k = SUM_L; k < SUMS; k++)
        if (p->takes[k]) t += c->sum[k];
    if (p->h_n != 0 && t < c->before_h) t = c->before_h;
    return t +
           (uint64_t)((double)c->sum[SUM_H] * (double)p->h_n / (double)(c->h_n + (c->h_n == 0)));
}

static void test_plan_covers(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2000; i++) {
        split_costs c = {.before_h = harness_random_below(1000000),
                         .h_n = harness_random_below(2) ? harness_random_below(1u << 20)
                                                        : harness_random_below(200)};

        c.sum[SUM_H] = c.h_n * 64;
        for (unsigned k = SUM_L; k < SUMS; k++)
            c.sum[k] = harness_random_below(3) == 0 ? 0 : harness_random_below(1u << 26);
        for (unsigned n = 1; n <= SPLIT_MAX; n++) check_plan(n, &c);
    }
}

/* A PoRep's partition and one of WindowPoSt, in the numbers of docs/gpu.md. */
static void test_plan_is_even(void **state)
{
    static const split_costs real[2] = {{296, {831, 45, 43, 25, 62}, 1 << 27},
                                        {430, {830, 750, 620, 600, 1440}, 1 << 27}};
    split_part part[SPLIT_MAX];

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        const split_costs *c = &real[i];
        uint64_t all = c->before_h, longest = 0;

        for (unsigned k = 0; k < SUMS; k++) all += c->sum[k];
        split_plan(part, 2, c);
        for (unsigned d = 0; d < 2; d++) {
            uint64_t t = time_of(&part[d], c, d == 0);

            if (t > longest) longest = t;
        }
        assert_true(longest * 100 < all * 60);
        split_plan(part, 1, c);
        assert_int_equal(time_of(&part[0], c, true), all);
    }
    assert_int_equal(split_cost((split_scalars){10, 1}, true),
                     3 * split_cost((split_scalars){10, 1}, false));
    assert_true(split_cost((split_scalars){1, 0}, false) <
                split_cost((split_scalars){0, 1}, false));
    assert_int_equal(split_cost_before_h(11), 2 * split_cost_before_h(10));
}

/* ---- helpers: threads of the test ---- */

typedef enum manner { AT_ONCE, AT_JOIN, NEVER, CANCELS } manner;

typedef struct call {
    struct help *of;
    cuzk_status (*fn)(void *share, dev_stream *s);
    void *share;
    struct call *before; /* to be waited for */
    pthread_t thread;
    bool joined;
} call;

typedef struct help {
    rig r;
    dev_stream *s;
    cancel *c;
    manner how;
    call calls[2];
    unsigned n, started;
    cuzk_status st; /* the first failure */
} help;

static void run_call(call *c)
{
    cuzk_status st = c->fn(c->share, c->of->s);

    if (st != CUZK_OK && c->of->st == CUZK_OK) c->of->st = st;
}

static void *call_main(void *arg)
{
    call *c = arg;

    if (c->before != NULL) {
        (void)pthread_join(c->before->thread, NULL);
        c->before->joined = true;
    }
    run_call(c);
    return NULL;
}

static void help_start(void *ctx, cuzk_status (*fn)(void *, dev_stream *), void *share)
{
    help *h = ctx;
    call *c = &h->calls[h->n];

    h->started++;
    if (h->how == NEVER) return;
    if (h->how == CANCELS) cancel_request(h->c);
    assert_true(h->n < 2);
    *c = (call){.of = h, .fn = fn, .share = share, .before = h->n > 0 ? &h->calls[h->n - 1] : NULL};
    h->n++;
    if (h->how != AT_JOIN && pthread_create(&c->thread, NULL, call_main, c) != 0)
        harness_fail("no thread");
}

static void help_join(void *ctx)
{
    help *h = ctx;

    if (h->how == AT_JOIN)
        for (unsigned i = 0; i < h->n; i++) run_call(&h->calls[i]);
    else if (h->n > 0)
        (void)pthread_join(h->calls[h->n - 1].thread, NULL);
    h->n = 0;
}

/* ---- proofs ---- */

typedef struct bench {
    rig r; /* the proof's own device */
    dev_stream *s;
    cancel *c;
    help help[SPLIT_MAX - 1];
    groth16_helper helpers[SPLIT_MAX - 1];
    size_t n_helpers;
    groth16_pk *pk;
    r1cs_assignment *w;
    file_map wtns;
    golden g[GOLDEN_MAX];
} bench;

static void bench_open(bench *b, const char *curve_name, const char *name, unsigned n_helpers)
{
    memset(b, 0, sizeof *b);
    rig_open(&b->r, cpu_table_best(), 2);
    assert_status_ok(cancel_new(&b->c));
    assert_status_ok(dev_stream_open(&b->s, b->r.dev, b->c));
    b->n_helpers = n_helpers;
    for (unsigned i = 0; i < n_helpers; i++) {
        help *h = &b->help[i];

        rig_open_other(&h->r, cpu_table_best(), 1, i);
        h->c = b->c;
        assert_status_ok(dev_stream_open(&h->s, h->r.dev, b->c));
        b->helpers[i] =
            (groth16_helper){.dev = h->r.dev, .start = help_start, .join = help_join, .ctx = h};
    }
    assert_status_ok(groth16_zkey_open(&b->pk, circom_case(curve_name, name, "circuit.zkey"),
                                       b->r.table, b->r.pool, b->r.m));
    assert_status_ok(file_map_open(&b->wtns, circom_case(curve_name, name, "witness.wtns")));
    assert_status_ok(circom_wtns_read(&b->w, b->wtns.data, b->wtns.size, b->pk->cv,
                                      b->pk->n_inputs + b->pk->n_aux, b->pk->n_inputs - 1,
                                      b->r.pool, b->r.m));
    assert_true(golden_read(b->g, circom_case(curve_name, name, "golden.json"), b->pk->cv) > 0);
}

static void bench_close(bench *b)
{
    r1cs_assignment_free(b->w);
    groth16_pk_free(b->pk);
    file_map_close(&b->wtns);
    for (unsigned i = 0; i < b->n_helpers; i++) {
        dev_stream_close(b->help[i].s);
        rig_close(&b->help[i].r); /* nothing of it is left */
    }
    dev_stream_close(b->s);
    cancel_free(b->c);
    rig_close(&b->r);
}

static cuzk_status start(bench *b, groth16_job **job)
{
    groth16_prove_args args = {.pk = b->pk,
                               .w = b->w,
                               .fixed = &b->g[0].rs,
                               .m = b->r.m,
                               .helpers = b->helpers,
                               .n_helpers = b->n_helpers};

    return groth16_prove_start(job, b->s, &args);
}

static void expect_golden(bench *b)
{
    groth16_job *job;
    groth16_proof p;

    assert_status_ok(start(b, &job));
    for (unsigned i = 0; i < b->n_helpers; i++) assert_int_equal(b->help[i].n, 0); /* joined */
    assert_status_ok(groth16_prove_finish(&p, job));
    assert_proof_equal(b->pk->cv, &p, &b->g[0].proof);
}

static void test_same_bytes(void **state)
{
    static const unsigned helpers[] = {1, 2, 3, SPLIT_MAX - 1};

    (void)state;
    for (size_t i = 0; i < sizeof helpers / sizeof *helpers; i++) {
        bench b;

        bench_open(&b, "bn128", i == 0 ? "eddsa" : "merkle5", helpers[i]);
        expect_golden(&b);
        assert_true(b.help[0].started > 0);
        for (unsigned k = 0; k < helpers[i]; k++) {
            assert_int_equal(b.help[k].st, CUZK_OK);
            b.help[k].how = AT_JOIN;
        }
        expect_golden(&b);
        bench_close(&b);
        bench_open(&b, "bls12381", i == 0 ? "merkle5" : "mult3", helpers[i]);
        expect_golden(&b);
        bench_close(&b);
    }
}

/* Helpers that are further streams of the proof's own device. */
static void test_own_device(void **state)
{
    bench b;

    (void)state;
    bench_open(&b, "bn128", "merkle5", 3);
    for (unsigned i = 0; i < b.n_helpers; i++) {
        dev_stream_close(b.help[i].s);
        assert_status_ok(dev_stream_open_at(&b.help[i].s, b.r.dev, b.c, i));
        b.helpers[i].dev = b.r.dev;
    }
    expect_golden(&b);
    b.help[1].how = AT_JOIN;
    b.help[2].how = NEVER;
    expect_golden(&b);
    for (unsigned i = 0; i < b.n_helpers; i++) {
        assert_true(b.help[i].started > 0);
        assert_int_equal(b.help[i].st, CUZK_OK);
    }
    bench_close(&b);
}

/* Its part is done by the proof's device. */
static void test_helpers_that_do_nothing(void **state)
{
    bench b;

    (void)state;
    bench_open(&b, "bn128", "merkle5", 2);
    b.help[0].how = NEVER;
    expect_golden(&b);
    b.help[0].how = AT_ONCE;
    b.help[1].how = NEVER;
    expect_golden(&b);
    b.help[0].how = NEVER;
    expect_golden(&b);
    bench_close(&b);
}

/* Every allocation of a helper fails once. */
static void test_helper_without_memory(void **state)
{
    bool hit = true;
    bench b;

    (void)state;
    bench_open(&b, "bn128", "eddsa", 1);
    for (unsigned long k = 1; hit; k++) {
        b.help[0].st = CUZK_OK;
        mem_inject_fault(b.help[0].r.m, k);
        expect_golden(&b);
        hit = mem_fault_hit(b.help[0].r.m);
        mem_inject_fault(b.help[0].r.m, 0);
        assert_int_equal(b.help[0].st != CUZK_OK, hit);
        assert_true(hit || k > 1);
    }
    bench_close(&b);
}

/* Every allocation of the proof's own side fails once while helpers are at work: they are joined, and nothing is left behind: a clean
   failure, or the proof where the device did without. */
static void test_proof_without_memory(void **state)
{
    bool hit = true;

    (void)state;
    for (unsigned long k = 1; hit; k++) {
        groth16_job *job = NULL;
        groth16_proof p;
        bench b;

        bench_open(&b, "bn128", "mult3", 2);
        mem_inject_fault(b.r.m, k);
        cuzk_status st = start(&b, &job);
        hit = mem_fault_hit(b.r.m);
        mem_inject_fault(b.r.m, 0);
        for (unsigned i = 0; i < 2; i++) assert_int_equal(b.help[i].n, 0);
        if (st == CUZK_OK) {
            assert_status_ok(groth16_prove_finish(&p, job));
            assert_proof_equal(b.pk->cv, &p, &b.g[0].proof);
        } else {
            assert_true(hit && (st == CUZK_ENOMEM || st == CUZK_EBUDGET));
        }
        bench_close(&b);
        assert_true(hit || k > 3);
    }
}

static void test_cancelled(void **state)
{
    groth16_job *job;
    bench b;

    (void)state;
    bench_open(&b, "bn128", "merkle5", 2);
    b.help[0].how = CANCELS;
    assert_status_is(start(&b, &job), CUZK_ECANCELLED);
    b.help[0].how = AT_ONCE;
    assert_status_is(start(&b, &job), CUZK_ECANCELLED);
    cancel_reset(b.c);
    expect_golden(&b);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan_covers),
        cmocka_unit_test(test_plan_is_even),
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_own_device),
        cmocka_unit_test(test_helpers_that_do_nothing),
        cmocka_unit_test(test_helper_without_memory),
        cmocka_unit_test(test_proof_without_memory),
        cmocka_unit_test(test_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
