/*
 * unit/engine/test_service_memory.c - the k-th allocation of a job in the service fails, for every k: a refusal or a failed job, and
 * the service goes on
 *
 * The linker puts the functions below in the place of the C library's (--wrap), for every file of ours in this program; the fault
 * comes once, on whichever thread is at it. No job may hang, end with another class than `resource`, or leave anything held.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "service_support.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define PATIENCE_S 600

/* ---- the allocator ---- */

static _Atomic long
    left; /* relaxed: the fault is at the allocation that takes it to 0; below: no fault is armed */

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__real_aligned_alloc(size_t align, size_t n);
int __real_posix_memalign(void **out, size_t align, size_t n);
void *__real_mmap(void *at, size_t n, int prot, int flags, int fd, off_t from);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_aligned_alloc(size_t align, size_t n);
int __wrap_posix_memalign(void **out, size_t align, size_t n);
void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t from);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);

static bool fails(void)
{
    if (atomic_load_explicit(&left, memory_order_relaxed) <= 0) return false;
    return atomic_fetch_sub_explicit(&left, 1, memory_order_relaxed) == 1;
}

void *__wrap_malloc(size_t n)
{
    return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
    return fails() ? NULL : __real_realloc(p, n);
}

void *__wrap_aligned_alloc(size_t align, size_t n)
{
    return fails() ? NULL : __real_aligned_alloc(align, n);
}

int __wrap_posix_memalign(void **out, size_t align, size_t n)
{
    return fails() ? ENOMEM : __real_posix_memalign(out, align, n);
}

void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t from)
{
    if ((flags & MAP_ANONYMOUS) != 0 && fails()) return MAP_FAILED;
    return __real_mmap(at, n, prot, flags, fd, from);
}

char *__wrap_strdup(const char *s)
{
    return fails() ? NULL : __real_strdup(s);
}

char *__wrap_strndup(const char *s, size_t n)
{
    return fails() ? NULL : __real_strndup(s, n);
}

/* ---- a job ---- */

typedef struct waiter {
    pthread_mutex_t mu;
    pthread_cond_t cond;
    bool done;
    cuzk_wait_end end;
    cuzk_job_state state;
    size_t proof_size;
    cuzk_error error;
} waiter;

static void on_told(void *ctx, const cuzk_job_result *r)
{
    waiter *w = ctx;

    (void)pthread_mutex_lock(&w->mu);
    w->end = r->end;
    w->state = r->state;
    w->proof_size = r->proof.size;
    if (r->error != NULL) w->error = *r->error;
    w->done = true;
    (void)pthread_cond_signal(&w->cond);
    (void)pthread_mutex_unlock(&w->mu);
}

/* Waits for the job, whatever fails; the allocation of the wait itself may. */
static void wait_out(cuzk_service *s, const char *job_id, waiter *w, long k)
{
    struct timespec until;
    uint64_t id;
    cuzk_status st = cuzk_job_wait(s, job_id, 0, on_told, w, &id);
    int err = 0;

    if (st == CUZK_ENOMEM) st = cuzk_job_wait(s, job_id, 0, on_told, w, &id);
    assert_status_ok(st);
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    (void)pthread_mutex_lock(&w->mu);
    while (!w->done && err == 0) err = pthread_cond_timedwait(&w->cond, &w->mu, &until);
    (void)pthread_mutex_unlock(&w->mu);
    if (!w->done) fail_msg("allocation %ld: the job hangs", k);
    cuzk_job_unwait(s, id, false);
}

/* A fresh job; k > 0: its k-th allocation fails. False: it took fewer. */
static bool run_job(cuzk_service *s, const test_request *q, long k, unsigned *refused,
                    unsigned *failed)
{
    waiter w = {.mu = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
    cuzk_ticket ticket;
    cuzk_status st;
    bool hit;

    atomic_store_explicit(&left, k, memory_order_relaxed);
    st = cuzk_job_submit(s, &q->r, &ticket);
    if (st == CUZK_OK) wait_out(s, ticket.job_id, &w, k);
    hit = atomic_exchange_explicit(&left, 0, memory_order_relaxed) <= 0;
    if (st != CUZK_OK) {
        if (!hit || cuzk_last_error()->klass != CUZK_CLASS_RESOURCE)
            fail_msg("allocation %ld: refused: %s", k, cuzk_last_error()->message);
        ++*refused;
    } else if (w.state == CUZK_JOB_FAILED) {
        if (!hit || w.error.klass != CUZK_CLASS_RESOURCE)
            fail_msg("allocation %ld: %s: %s", k, w.error.where, w.error.message);
        ++*failed;
    } else {
        assert_int_equal(w.state, CUZK_JOB_COMPLETED);
        assert_int_equal(w.proof_size, 256);
    }
    return hit;
}

static void check_nothing_is_held(cuzk_service *s)
{
    static const char *const gauges[] = {"queue_depth", "synth_in_flight", "provers_in_flight",
                                         "aux_in_flight", "waiting"};
    double sum = 1;

    for (unsigned tries = 0; tries < 12000 && sum != 0; tries++) {
        char *doc = document(s, "/status"), *owners = strstr(doc, "\"owners\"");

        sum = 0;
        for (size_t i = 0; i < sizeof gauges / sizeof gauges[0]; i++)
            sum += json_number(doc, gauges[i]);
        for (const char *const *o = (const char *const[]){"witnesses", "proving", "requests", NULL};
             *o != NULL; o++) {
            char name[64];
            const char *at;

            (void)snprintf(name, sizeof name, "{\"name\":\"%s\",", *o);
            at = strstr(owners, name);
            assert_non_null(at);
            sum += json_number(at, "bytes");
        }
        free(doc);
        if (sum != 0) service_pause(10);
    }
    assert_true(sum == 0);
}

static void sweep(const char *store)
{
    test_service t;
    test_request q;
    unsigned refused = 0, failed = 0, none = 0;
    long step = harness_level() == HARNESS_CHECK ? 3 : 1, misses = 0;
    long k = 1 + (long)harness_random_below((uint64_t)step);

    service_start(&t, 2, store, NULL);
    request_circom(&q, "");
    assert_false(run_job(t.s, &q, 1000000, &none, &none)); /* its key is loaded from here on */
    for (; misses < 8; k += step) { /* how many there are is not the same each time */
        misses = run_job(t.s, &q, k, &refused, &failed) ? 0 : misses + 1;
        if (k % 16 >= step) continue;
        assert_false(run_job(t.s, &q, 1000000, &none, &none));
        assert_int_equal(none, 0);
    }
    check_nothing_is_held(t.s);
    assert_false(run_job(t.s, &q, 1000000, &none, &none));
    assert_int_equal(none, 0);
    (void)printf("%ld allocations: %u refusals, %u failed jobs\n", k - 1 - step * misses, refused,
                 failed);
    assert_true(refused > 0);
    assert_true(failed > 0);
    request_clear(&q);
    service_stop(&t);
}

static void test_in_memory(void **state)
{
    (void)state;
    sweep(NULL);
}

static void test_stored(void **state)
{
    (void)state;
    sweep(harness_temp_path("memory.db"));
}

/* A start that fails for want of memory says so, whatever it had read of the store. */
static void test_start(void **state)
{
    const char *store = harness_temp_path("start.db");
    cuzk_service_config c = {
        .store = store, .memory_total = (uint64_t)4 << 30, .params_dir = service_params()};
    unsigned refused = 0;
    test_service t;
    cuzk_service *s;
    bool hit = true;

    (void)state;
    c.tunables.circuits = service_test_circuit();
    c.tunables.n_circuits = 1;
    service_start_config(&t, 2, &c);
    for (unsigned i = 0; i < 4; i++) {
        static const char *const ids[] = {"a", "b", "c", "d"};
        test_request q;
        cuzk_ticket k;

        request_window(&q, ids[i], 3);
        assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
        request_clear(&q);
    }
    cuzk_service_close(t.s); /* those that were not proved are kept */
    for (long k = 1; hit;
         k += 1 + (long)harness_random_below(harness_level() == HARNESS_CHECK ? 8 : 2)) {
        cuzk_status st;

        atomic_store_explicit(&left, k, memory_order_relaxed);
        st = cuzk_service_open(&s, t.e, &c);
        hit = atomic_exchange_explicit(&left, 0, memory_order_relaxed) <= 0;
        if (st == CUZK_OK) {
            cuzk_service_close(s);
            continue;
        }
        if (!hit || cuzk_last_error()->klass != CUZK_CLASS_RESOURCE)
            fail_msg("allocation %ld: %s", k, cuzk_last_error()->message);
        refused++;
    }
    assert_true(refused > 5);
    cuzk_engine_close(t.e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_in_memory),
                                       cmocka_unit_test(test_stored), cmocka_unit_test(test_start)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
