/*
 * unit/base/test_pool.c - every task once, failures and cancels, several callers, nesting, spans of workers
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "harness/harness.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/pool.h"
#include "base/span_store.h"

enum { MAX_N = 5000, MAX_WORKERS = 8 };

static pool *open_pool(unsigned threads, span_rec *r)
{
    pool *p = NULL;

    assert_status_ok(pool_open(&p, threads, r));
    assert_int_equal(pool_threads(p), threads);
    return p;
}

typedef struct tally {
    unsigned workers; /* allowed indices */
    _Atomic unsigned runs[MAX_N];
    _Atomic bool busy[MAX_WORKERS];
    _Atomic unsigned wrong; /* worker index out of range, or two at once */
    _Atomic size_t total;
    size_t fail_from; /* tasks from here on fail ... */
    size_t fail_step; /* ... each so many */
    size_t cancel_at;
    cancel *c;
} tally;

static tally *new_tally(unsigned workers)
{
    tally *t = calloc(1, sizeof *t);

    assert_non_null(t);
    t->workers = workers;
    t->fail_from = t->cancel_at = SIZE_MAX;
    t->fail_step = 1;
    return t;
}

static cuzk_status count_task(void *ctx, size_t i, unsigned worker)
{
    tally *t = ctx;
    cuzk_status st = CUZK_OK;

    if (worker >= t->workers || atomic_exchange(&t->busy[worker], true)) {
        atomic_fetch_add(&t->wrong, 1);
        return CUZK_OK;
    }
    atomic_fetch_add(&t->runs[i], 1);
    atomic_fetch_add(&t->total, 1);
    if (i == t->cancel_at) cancel_request(t->c);
    if (i >= t->fail_from && (i - t->fail_from) % t->fail_step == 0)
        st = FAIL_DATA(SHAPE, "place", "task %zu fails", i);
    atomic_store(&t->busy[worker], false);
    return st;
}

static void test_every_task_once(void **state)
{
    static const size_t ns[] = {0, 1, 2, 3, 7, 64, 1000, MAX_N};

    (void)state;
    for (unsigned threads = 1; threads <= 5; threads++) {
        pool *p = open_pool(threads, NULL);

        for (size_t k = 0; k < 3 * sizeof ns / sizeof ns[0]; k++) {
            size_t n = ns[k % (sizeof ns / sizeof ns[0])];
            tally *t = new_tally(threads);

            assert_status_ok(pool_run(p, NULL, n, count_task, t));
            assert_int_equal(t->wrong, 0);
            for (size_t i = 0; i < MAX_N; i++) assert_int_equal(t->runs[i], i < n);
            free(t);
        }
        pool_close(p);
    }
}

static void test_no_pool(void **state)
{
    tally *t = new_tally(1);

    (void)state;
    assert_int_equal(pool_threads(NULL), 1);
    assert_status_ok(pool_run(NULL, NULL, 100, count_task, t));
    assert_int_equal(t->total, 100);
    assert_int_equal(t->wrong, 0);
    t->fail_from = 5;
    t->total = 0;
    assert_status_is(pool_run(NULL, NULL, 100, count_task, t), CUZK_EDATA);
    assert_error_mentions("task 5 fails");
    assert_int_equal(t->total, 6);
    pool_close(NULL);
    free(t);
}

static void test_bad_sizes(void **state)
{
    pool *p = NULL;

    (void)state;
    assert_status_is(pool_open(&p, 0, NULL), CUZK_EINVAL);
    assert_status_is(pool_open(&p, POOL_MAX_THREADS + 1, NULL), CUZK_EINVAL);
    assert_null(p);
}

/* Of many failures the lowest index is reported, whoever came first, and the pool goes on afterwards. */
static void test_failure(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 4; threads++) {
        pool *p = open_pool(threads, NULL);

        for (size_t round = 0; round < 200; round++) {
            tally *t = new_tally(threads);
            char want[64];

            t->fail_from = round;
            t->fail_step = 1 + round % 3;
            assert_status_is(pool_run(p, NULL, MAX_N, count_task, t), CUZK_EDATA);
            assert_error_class(CUZK_CLASS_SHAPE);
            (void)snprintf(want, sizeof want, "task %zu fails", round);
            assert_string_equal(cuzk_last_error()->message, want);
            assert_string_equal(cuzk_last_error()->where, "place");
            for (size_t i = 0; i <= round; i++) assert_int_equal(t->runs[i], 1);
            assert_true(threads > 1 || t->total == round + 1);
            assert_int_equal(t->wrong, 0);
            free(t);
        }
        pool_close(p);
    }
}

static cuzk_status silent_task(void *ctx, size_t i, unsigned worker)
{
    (void)ctx;
    (void)worker;
    return i == 3 ? CUZK_EDEVICE : CUZK_OK;
}

/* A task that records nothing still ends in a record that fits its status. */
static void test_silent_failure(void **state)
{
    pool *p = open_pool(3, NULL);

    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_status_is(FAIL(CUZK_EIO, "older"), CUZK_EIO);
        assert_status_is(pool_run(i == 0 ? p : NULL, NULL, 10, silent_task, NULL), CUZK_EDEVICE);
        assert_error_class(CUZK_CLASS_DEVICE);
        assert_error_mentions("task 3");
    }
    pool_close(p);
}

static void test_cancel(void **state)
{
    cancel *c = NULL;

    (void)state;
    assert_false(cancel_requested(NULL));
    assert_status_ok(cancel_check(NULL));
    assert_status_ok(cancel_new(&c));
    assert_status_ok(cancel_check(c));
    for (unsigned threads = 1; threads <= 3; threads++) {
        pool *p = open_pool(threads, NULL);
        tally *t = new_tally(threads);

        cancel_request(c);
        assert_true(cancel_requested(c));
        assert_status_is(cancel_check(c), CUZK_ECANCELLED);
        assert_status_is(pool_run(p, c, 10, count_task, t), CUZK_ECANCELLED);
        assert_error_mentions("cancelled");
        assert_int_equal(t->total, 0);
        assert_status_ok(pool_run(p, c, 0, count_task, t));

        /* in the middle: what was started ends, the rest does not start */
        cancel_reset(c);
        t->c = c;
        t->cancel_at = 20;
        assert_status_is(pool_run(p, c, MAX_N, count_task, t), CUZK_ECANCELLED);
        for (size_t i = 0; i <= 20; i++) assert_int_equal(t->runs[i], 1);
        assert_true(threads > 1 || t->total == 21);

        /* in the last task: nothing was kept from running */
        cancel_reset(c);
        t->cancel_at = 49;
        assert_status_ok(pool_run(p, c, 50, count_task, t));
        assert_status_is(cancel_check(c), CUZK_ECANCELLED);
        cancel_reset(c);
        assert_int_equal(t->wrong, 0);
        free(t);
        pool_close(p);
    }
    cancel_free(c);
    cancel_free(NULL);
}

/* Lets other threads get on with what they would do; a test that relies on it fails to fail, no more. */
static void linger(void)
{
    uint64_t until = clock_ns() + 5000000;

    while (clock_ns() < until) {
    }
}

static cuzk_status late_task(void *ctx, size_t i, unsigned worker)
{
    _Atomic bool *second_failed = ctx;

    (void)worker;
    if (i == 1) {
        atomic_store(second_failed, true);
        return FAIL(CUZK_EIO, "second");
    }
    while (!atomic_load(second_failed)) {
    }
    linger();
    return FAIL(CUZK_EDATA, "first");
}

/* Task 0 fails well after task 1 has, and is what is reported. */
static void test_lowest_failure_wins_though_late(void **state)
{
    pool *p = open_pool(2, NULL);
    _Atomic bool second_failed = false;

    (void)state;
    assert_status_is(pool_run(p, NULL, 2, late_task, &second_failed), CUZK_EDATA);
    assert_error_mentions("first");
    pool_close(p);
}

/* ---- several callers ---- */

typedef struct caller {
    pool *p;
    size_t index, bad;
} caller;

static void *caller_main(void *arg)
{
    caller *c = arg;

    for (size_t round = 0; round < 60; round++) {
        tally *t = calloc(1, sizeof *t);
        size_t n = 1 + (round * 7 + c->index) % 100,
               fails = round % 4 == c->index % 4 ? n / 2 : SIZE_MAX;
        char want[64];
        cuzk_status st;

        if (t == NULL) {
            c->bad++;
            break;
        }
        t->workers = pool_threads(c->p);
        t->fail_from = fails;
        t->cancel_at = SIZE_MAX;
        t->fail_step = 1;
        st = pool_run(c->p, NULL, n, count_task, t);
        (void)snprintf(want, sizeof want, "task %zu fails", fails);
        c->bad += t->wrong;
        c->bad += (fails == SIZE_MAX) != (st == CUZK_OK);
        if (st != CUZK_OK) c->bad += strcmp(cuzk_last_error()->message, want) != 0;
        for (size_t i = 0; st == CUZK_OK && i < n; i++) c->bad += t->runs[i] != 1;
        free(t);
    }
    return NULL;
}

static void test_several_callers(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 4; threads++) {
        pool *p = open_pool(threads, NULL);
        pthread_t t[4];
        caller c[4];

        for (size_t i = 0; i < 4; i++) {
            c[i] = (caller){p, i, 0};
            assert_int_equal(pthread_create(&t[i], NULL, caller_main, &c[i]), 0);
        }
        for (size_t i = 0; i < 4; i++) {
            assert_int_equal(pthread_join(t[i], NULL), 0);
            assert_int_equal(c[i].bad, 0);
        }
        pool_close(p);
    }
}

/* ---- nesting ---- */

typedef struct nest {
    pool *p;
    _Atomic size_t inner, wrong;
} nest;

typedef struct inner_ctx {
    nest *n;
    pthread_t thread;
} inner_ctx;

static cuzk_status inner_task(void *ctx, size_t i, unsigned worker)
{
    inner_ctx *c = ctx;

    atomic_fetch_add(&c->n->inner, 1);
    if (pthread_equal(pthread_self(), c->thread) == 0 || worker != 0)
        atomic_fetch_add(&c->n->wrong, 1);
    return i == 9 ? FAIL(CUZK_EIO, "inner") : CUZK_OK;
}

static cuzk_status outer_task(void *ctx, size_t i, unsigned worker)
{
    nest *n = ctx;
    inner_ctx c = {n, pthread_self()};
    cuzk_status st;

    (void)worker;
    st = pool_run(n->p, NULL, i == 50 ? 10 : 5, inner_task, &c);
    if (i == 50 && st != CUZK_EIO) atomic_fetch_add(&n->wrong, 1);
    return i == 50 ? CUZK_OK : st;
}

static void test_nested_runs_stay_on_their_thread(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 3; threads++) {
        nest n = {open_pool(threads, NULL), 0, 0};

        assert_status_ok(pool_run(n.p, NULL, 100, outer_task, &n));
        assert_int_equal(n.inner, 99 * 5 + 10);
        assert_int_equal(n.wrong, 0);
        pool_close(n.p);
    }
}

static cuzk_status slow_inner_task(void *ctx, size_t i, unsigned worker)
{
    if (i == 0) linger();
    return inner_task(ctx, i, worker);
}

static cuzk_status lone_task(void *ctx, size_t i, unsigned worker)
{
    nest *n = ctx;
    inner_ctx c = {n, pthread_self()};

    (void)i;
    (void)worker;
    return pool_run(n->p, NULL, 3, slow_inner_task, &c);
}

/* The same with workers that stand idle and could take the inner tasks. */
static void test_nested_runs_stay_though_others_are_idle(void **state)
{
    nest n = {open_pool(3, NULL), 0, 0};

    (void)state;
    assert_status_ok(pool_run(n.p, NULL, 1, lone_task, &n));
    assert_int_equal(n.inner, 3);
    assert_int_equal(n.wrong, 0);
    pool_close(n.p);
}

/* ---- workers: signals, spans ---- */

typedef struct meeting {
    pthread_barrier_t all;
    _Atomic unsigned unblocked;
} meeting;

/* As many tasks as threads, none of which ends before all have started: every thread takes part. */
static cuzk_status meet_task(void *ctx, size_t i, unsigned worker)
{
    meeting *m = ctx;
    sigset_t set;

    (void)i;
    (void)pthread_barrier_wait(&m->all);
    if (worker != 0 &&
        (pthread_sigmask(SIG_SETMASK, NULL, &set) != 0 || !sigismember(&set, SIGTERM)))
        atomic_fetch_add(&m->unblocked, 1);
    return CUZK_OK;
}

static const span_entry *find_entry(const span_rec *r, const char *track, span_kind kind)
{
    for (uint64_t i = r->dropped; i < r->n; i++) {
        const span_entry *e = span_at_locked(r, i);

        if (e->kind == (uint8_t)kind && strcmp(r->tracks[e->track]->name, track) == 0) return e;
    }
    return NULL;
}

static void test_workers_show_what_they_help_with(void **state)
{
    span_rec *r = NULL;
    meeting m = {.unblocked = 0};
    const span_entry *e;
    pool *p;
    span s;

    (void)state;
    assert_status_ok(span_rec_open(&r));
    assert_status_ok(span_attach(r, "main"));
    p = open_pool(3, r);
    assert_int_equal(pthread_barrier_init(&m.all, NULL, 3), 0);
    span_context(77, 5);
    s = span_open(SPAN_MSM_H);
    assert_status_ok(pool_run(p, NULL, 3, meet_task, &m));
    span_close(&s);
    assert_status_ok(pool_run(p, NULL, 3, meet_task, &m)); /* outside any leaf */
    assert_int_equal(m.unblocked, 0);
    pool_close(p);
    span_detach();

    for (unsigned k = 1; k <= 2; k++) {
        char track[16];

        (void)snprintf(track, sizeof track, "worker %u", k);
        e = find_entry(r, track, SPAN_MSM_H);
        assert_non_null(e);
        assert_true(e->job == 77 && e->partition == 5 && e->end >= e->start);
        assert_non_null(find_entry(r, track, SPAN_TASK));
    }
    assert_non_null(find_entry(r, "main", SPAN_TASK));
    assert_int_equal(pthread_barrier_destroy(&m.all), 0);
    span_rec_close(r);
}

typedef struct slow {
    _Atomic bool helper_in, caller_out;
} slow;

/* Two tasks: the caller's ends only when a helper is in the other, which ends well after. */
static cuzk_status slow_task(void *ctx, size_t i, unsigned worker)
{
    slow *s = ctx;
    uint64_t until;

    (void)i;
    if (worker == 0) {
        while (!atomic_load(&s->helper_in)) {
        }
        atomic_store(&s->caller_out, true);
        return CUZK_OK;
    }
    atomic_store(&s->helper_in, true);
    while (!atomic_load(&s->caller_out)) {
    }
    for (until = clock_ns() + 5000000; clock_ns() < until;) {
    }
    return CUZK_OK;
}

/* False: the caller was late to wait. */
static bool waiting_is_a_span(void)
{
    span_rec *r = NULL;
    slow ctx = {false, false};
    cuzk_attribution a;
    uint64_t t0, t1, wait = 0;
    pool *p;
    span s;

    assert_status_ok(span_rec_open(&r));
    assert_status_ok(span_attach(r, "main"));
    p = open_pool(2, r);
    t0 = clock_ns();
    s = span_open(SPAN_NTT);
    assert_status_ok(pool_run(p, NULL, 2, slow_task, &ctx));
    span_close(&s);
    t1 = clock_ns();
    span_attribution(r, t0, t1, &a);
    for (size_t i = 0; i < a.n_steps; i++)
        if (strcmp(a.steps[i].name, span_name(SPAN_POOL_WAIT)) == 0) wait = a.steps[i].total_ns;
    assert_true(a.n_steps <= 2);
    pool_close(p);
    span_rec_close(r);
    return wait >= 1000000; /* of 5 ms */
}

static void test_waiting_is_a_span(void **state)
{
    unsigned attempt = 0;

    (void)state;
    while (!waiting_is_a_span())
        if (++attempt == 50) fail_msg("no wait of a millisecond was told, %u times", attempt);
}

static void test_open_and_close(void **state)
{
    (void)state;
    for (size_t i = 0; i < 50; i++) {
        pool *p = open_pool(1 + (unsigned)(i % MAX_WORKERS), NULL);

        if (i % 3 == 0) {
            tally *t = new_tally(pool_threads(p));

            assert_status_ok(pool_run(p, NULL, 20, count_task, t));
            free(t);
        }
        pool_close(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_task_once),
        cmocka_unit_test(test_no_pool),
        cmocka_unit_test(test_bad_sizes),
        cmocka_unit_test(test_failure),
        cmocka_unit_test(test_lowest_failure_wins_though_late),
        cmocka_unit_test(test_silent_failure),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_several_callers),
        cmocka_unit_test(test_nested_runs_stay_on_their_thread),
        cmocka_unit_test(test_nested_runs_stay_though_others_are_idle),
        cmocka_unit_test(test_workers_show_what_they_help_with),
        cmocka_unit_test(test_waiting_is_a_span),
        cmocka_unit_test(test_open_and_close),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
