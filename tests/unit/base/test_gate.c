/*
 * unit/base/test_gate.c - lower work stands aside while higher work is inside, keeps its state, and can be cancelled meanwhile
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "harness/harness.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/pool.h"

enum { TASKS = 400, FIRST = 5 };

typedef struct low_work {
    pool *p;
    cancel *c;
    const _Atomic bool
        *hold; /* while it is true nothing ends but the first FIRST tasks; NULL: all do */
    _Atomic unsigned done;
    _Atomic bool ended;
    cuzk_status st;
} low_work;

static cuzk_status short_task(void *ctx, size_t i, unsigned worker)
{
    low_work *w = ctx;
    uint64_t until = clock_ns() + 200000;

    (void)worker;
    while (clock_ns() < until || (w->hold != NULL && i >= FIRST && atomic_load(w->hold)))
        (void)sched_yield();
    atomic_fetch_add(&w->done, 1);
    return CUZK_OK;
}

static void *low_main(void *ctx)
{
    low_work *w = ctx;

    w->st = pool_run(w->p, w->c, TASKS, short_task, w);
    atomic_store(&w->ended, true);
    return NULL;
}

static void wait_for(const _Atomic unsigned *v, unsigned at_least)
{
    while (atomic_load(v) < at_least) (void)sched_yield();
}

/* Waits until no task has ended for a while: longer than any task takes, unless its thread is put aside. */
static unsigned settle(low_work *w)
{
    for (;;) {
        unsigned before = atomic_load(&w->done);
        uint64_t until = clock_ns() + 30000000;

        while (clock_ns() < until) (void)sched_yield();
        if (atomic_load(&w->done) == before) return before;
    }
}

static void low_stands_aside(unsigned threads)
{
    low_work w = {0};
    gate *g;
    pthread_t t;
    _Atomic bool hold = true;
    unsigned before;
    cancel *high;
    low_work h = {0};

    assert_status_ok(gate_new(&g));
    assert_status_ok(cancel_new(&w.c));
    assert_status_ok(cancel_new(&high));
    cancel_set_gate(w.c, g, 1);
    cancel_set_gate(high, g, 3);
    assert_status_ok(pool_open(&w.p, threads, NULL));
    w.hold = &hold;
    assert_int_equal(pthread_create(&t, NULL, low_main, &w), 0);
    wait_for(&w.done, FIRST);

    gate_enter(g, 3);
    before = atomic_load(&w.done);
    atomic_store(&hold, false);
    (void)settle(&w);
    /* Work of the level that is inside runs, on the pool's workers too. */
    h.p = w.p;
    h.c = high;
    assert_status_ok(pool_run(h.p, h.c, 50, short_task, &h));
    assert_int_equal(atomic_load(&h.done), 50);
    assert_in_range(settle(&w), before, before + threads); /* what was begun, and no more */
    assert_false(atomic_load(&w.ended));
    gate_leave(g, 3);

    assert_int_equal(pthread_join(t, NULL), 0);
    assert_status_ok(w.st);
    assert_int_equal(atomic_load(&w.done), TASKS); /* every index, once */
    assert_true(gate_longest_step(g) >= 200000);
    assert_int_equal(gate_longest_step(g), 0);
    pool_close(w.p);
    cancel_free(high);
    cancel_free(w.c);
    gate_free(g);
}

static void test_alone(void **state)
{
    (void)state;
    low_stands_aside(1);
}

static void test_with_workers(void **state)
{
    (void)state;
    low_stands_aside(3);
}

static void test_equal_level_goes_on(void **state)
{
    low_work w = {0};
    gate *g;

    (void)state;
    assert_status_ok(gate_new(&g));
    assert_status_ok(cancel_new(&w.c));
    cancel_set_gate(w.c, g, 2);
    assert_status_ok(pool_open(&w.p, 2, NULL));
    gate_enter(g, 2);
    gate_enter(g, 0);
    assert_status_ok(cancel_check(w.c));
    assert_status_ok(pool_run(w.p, w.c, TASKS, short_task, &w));
    assert_int_equal(atomic_load(&w.done), TASKS);
    gate_leave(g, 0);
    gate_leave(g, 2);
    pool_close(w.p);
    cancel_free(w.c);
    gate_free(g);
}

static void test_cancelled_while_aside(void **state)
{
    low_work w = {0};
    gate *g;
    pthread_t t;

    (void)state;
    assert_status_ok(gate_new(&g));
    assert_status_ok(cancel_new(&w.c));
    cancel_set_gate(w.c, g, 0);
    assert_status_ok(pool_open(&w.p, 2, NULL));
    gate_enter(g, 1);
    assert_int_equal(pthread_create(&t, NULL, low_main, &w), 0);
    assert_int_equal(settle(&w), 0);
    cancel_request(w.c);
    assert_int_equal(pthread_join(t, NULL), 0); /* with the gate still shut */
    assert_int_equal(w.st, CUZK_ECANCELLED);
    gate_leave(g, 1);
    pool_close(w.p);
    cancel_free(w.c);
    gate_free(g);
}

static cuzk_status nested(void *ctx, size_t i, unsigned worker)
{
    low_work *w = ctx;

    (void)i;
    (void)worker;
    /* Inside a task the thread holds a worker: it does not stand aside. */
    TRY(cancel_check(w->c));
    return pool_run(w->p, w->c, 3, short_task, w);
}

static void test_tasks_do_not_wait(void **state)
{
    low_work w = {0};
    gate *g;
    cancel *free_token;

    (void)state;
    assert_status_ok(gate_new(&g));
    assert_status_ok(cancel_new(&w.c));
    assert_status_ok(cancel_new(&free_token));
    cancel_set_gate(w.c, g, 0);
    assert_status_ok(pool_open(&w.p, 2, NULL));
    gate_enter(g, 5);
    assert_status_ok(pool_run(w.p, free_token, 4, nested, &w));
    assert_int_equal(atomic_load(&w.done), 12);
    gate_leave(g, 5);
    pool_close(w.p);
    cancel_free(free_token);
    cancel_free(w.c);
    gate_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_with_workers),
        cmocka_unit_test(test_equal_level_goes_on),
        cmocka_unit_test(test_cancelled_while_aside),
        cmocka_unit_test(test_tasks_do_not_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
