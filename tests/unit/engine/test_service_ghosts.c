/*
 * unit/engine/test_service_ghosts.c - a stall anywhere is named, and holds up nobody who need not wait for it
 *
 * Each place stalls once, for STALL_MS. The gap report must name that step and nothing else that long; what is behind the
 * device (finisher, free, store, another thread with the lock) must not delay the next partition. A machine that stalls by
 * itself beside the ghost is told too, so each ghost may be tried ATTEMPTS times; what is wrong is wrong each time.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "service_support.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/span.h"

#define STALL_MS 700
#define LONG_MS 600 /* what counts as long: not the machine's own noise */
#define ATTEMPTS 5

typedef struct ghost {
    const char *place, *named;
    bool evict;        /* the key is loaded anew */
    bool second;       /* two jobs: the device must not wait */
    bool device_waits; /* only then may it be idle that long */
} ghost;

static const ghost ghosts[] = {
    {"decode", "device idle while work waited: decode", false, false, true},
    {"key load", "device idle while work waited: key load", true, false, true},
    {"synthesis", "synthesis\"", false, false, true},
    {"device", "\"track\":\"device\"", false, false, true},
    {"finish", "\"track\":\"finish\"", false, true, false},
    {"free", "free", false, true, false},
    {"store sync", "wait for store", false, true, false},
    {"store result", "wait for store", false, true, false},
    {"payload", "write payload", false, false, false},
};

/* Rows of gaps[] that are long: how many name `named`, how many do not, and how many say that the device was idle. */
static void count_gaps(const char *status, const char *named, unsigned *ours, unsigned *others,
                       unsigned *idle)
{
    const char *at = strstr(status, "\"gaps\":["), *end = strstr(status, "\"coverage\"");

    *ours = *others = *idle = 0;
    assert_non_null(at);
    assert_non_null(end);
    while ((at = strstr(at, "\"at_ms\"")) != NULL && at < end) {
        char row[512];
        const char *stop = strchr(at, '}');

        (void)snprintf(row, sizeof row, "%.*s", (int)(stop - at), at);
        at = stop;
        if (json_number(row, "ms") < LONG_MS) continue;
        if (strstr(row, "device idle") != NULL) ++*idle;
        if (strstr(row, named) != NULL) {
            ++*ours;
            continue;
        }
        (void)printf("  not %s: %s\n", named, row);
        ++*others;
    }
}

/* False: the machine made a noise of its own beside the ghost. */
static bool run_ghost(const ghost *g, unsigned attempt)
{
    test_service t;
    test_request q;
    cuzk_ticket k[2];
    told r;
    char *status, spec[64], name[64];
    unsigned ours, others, idle;
    bool loaded, accounted = true;
    uint64_t freed;

    (void)printf("%s\n", g->place);
    (void)snprintf(name, sizeof name, "%s %u", g->place, attempt);
    service_start(&t, 2, harness_temp_path(name), NULL);
    assert_status_ok(span_attach(cuzk_engine_spans(t.e), "client"));
    request_window(&q, "first", 2);
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k[0]));
    wait_for_job(t.s, k[0].job_id, 0, &r);
    if (g->evict) assert_status_ok(cuzk_key_evict(t.s, "wpost-2k", &loaded, &freed));
    (void)snprintf(spec, sizeof spec, "%s:%u", g->place, STALL_MS);
    fault_arm(spec);
    for (unsigned i = 0; i <= g->second; i++) {
        q.r.request_id = i == 0 ? "second" : "third";
        assert_status_ok(cuzk_job_submit(t.s, &q.r, &k[i]));
    }
    for (unsigned i = 0; i <= g->second; i++) {
        wait_for_job(t.s, k[i].job_id, 0, &r);
        assert_int_equal(r.state, CUZK_JOB_COMPLETED);
        accounted = accounted && r.times.rest_ms <= 20 + r.times.total_ms / 100;
    }
    /* a stall behind the job's end is written down when it is over, after the waiters were told */
    for (unsigned tries = 0; tries < 200; tries++) {
        service_pause(50);
        status = document(t.s, "/status");
        count_gaps(status, g->named, &ours, &others, &idle);
        free(status);
        if (ours != 0) break;
    }
    fault_arm(NULL);
    span_detach();
    request_clear(&q);
    service_stop(&t);
    if (ours == 0) (void)printf("  not named: %s\n", g->named);
    return ours != 0 && accounted && others == 0 && (g->device_waits || idle == 0);
}

/* Asks for the lock all the time, so that a stall of who holds it is met from its begin. */
typedef struct asker {
    cuzk_service *s;
    _Atomic bool quit; /* relaxed: nothing goes with it */
} asker;

static void *ask(void *ctx)
{
    asker *a = ctx;

    while (!atomic_load_explicit(&a->quit, memory_order_relaxed)) {
        cuzk_status_rows rows;

        if (cuzk_service_rows(a->s, &rows) == CUZK_OK) cuzk_status_rows_clear(&rows);
        service_pause(1);
    }
    return NULL;
}

/* The clock's thread is put aside with the lock held while small jobs come and go. False: the machine was too. */
static bool run_lock(void)
{
    test_service t;
    test_request q;
    cuzk_ticket k;
    told r;
    asker a;
    pthread_t thread;
    unsigned ours = 0, others = 0, idle;
    uint64_t until;

    service_start(&t, 2, NULL, NULL);
    request_circom(&q, "");
    a = (asker){.s = t.s};
    assert_int_equal(pthread_create(&thread, NULL, ask, &a), 0);
    fault_arm("lock:700");
    until = clock_ns() + 10 * (uint64_t)1000000000; /* the clock looks once a second */
    do {
        char *status;

        assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
        wait_for_job(t.s, k.job_id, 0, &r);
        assert_int_equal(r.state, CUZK_JOB_COMPLETED);
        status = document(t.s, "/status");
        count_gaps(status, "wait for lock", &ours, &others, &idle);
        free(status);
    } while (ours == 0 && clock_ns() < until);
    fault_arm(NULL);
    atomic_store_explicit(&a.quit, true, memory_order_relaxed);
    assert_int_equal(pthread_join(thread, NULL), 0);
    request_clear(&q);
    service_stop(&t);
    return ours != 0 && others == 0;
}

static void test_lock(void **state)
{
    unsigned attempt = 0;

    (void)state;
    while (!run_lock())
        if (++attempt == ATTEMPTS) fail_msg("wait for lock: %u times not alone", ATTEMPTS);
}

/* A proof that does not verify, a device that fails: proved again on the portable table; given up after three times. */
static void run_retries(const char *place, unsigned times, cuzk_class klass)
{
    test_service t;
    test_request q;
    cuzk_ticket k;
    told r;
    char *status, spec[64];
    cuzk_service_tunables tune = {.retries = 2};

    (void)printf("%s, %u times\n", place, times);
    service_start(&t, 2, NULL, &tune);
    request_window(&q, "retried", 2);
    (void)snprintf(spec, sizeof spec, "%s:1:%u", place, times);
    fault_arm(spec);
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    wait_for_job(t.s, k.job_id, 0, &r);
    fault_arm(NULL);
    status = document(t.s, "/metrics");
    (void)snprintf(spec, sizeof spec, "\ncuzk_partition_retries_total %u\n", times < 2 ? times : 2);
    assert_non_null(strstr(status, spec));
    free(status);
    if (klass == CUZK_CLASS_NONE) {
        assert_int_equal(r.state, CUZK_JOB_COMPLETED);
        assert_int_equal(r.proof_size, 192);
    } else {
        assert_int_equal(r.state, CUZK_JOB_FAILED);
        assert_int_equal(r.error.klass, klass);
        assert_int_equal(r.proof_size, 0);
    }
    request_clear(&q);
    service_stop(&t);
}

static void test_retries(void **state)
{
    (void)state;
    run_retries("self check", 1, CUZK_CLASS_NONE);
    run_retries("device fault", 2, CUZK_CLASS_NONE);
    run_retries("self check", 3, CUZK_CLASS_BUG);
    run_retries("device fault", 3, CUZK_CLASS_DEVICE);
}

static unsigned count(const char *text, const char *what)
{
    unsigned n = 0;

    for (const char *p = text; (p = strstr(p, what)) != NULL; p++) n++;
    return n;
}

/* A device that is lost takes nothing any more; its partition is proved elsewhere; when none is left, on the CPU that stands
   in. */
static void test_retired(void **state)
{
    test_service t;
    char *text;
    cuzk_status_rows rows;

    (void)state;
    service_devices = "cpu,cpu";
    service_start(&t, 2, NULL, &(cuzk_service_tunables){.retries = 2});
    service_devices = NULL;
    for (unsigned lost = 1; lost <= 3; lost++) {
        test_request q;
        cuzk_ticket k;
        told r;
        char id[32];

        (void)snprintf(id, sizeof id, "lost-%u", lost);
        request_window(&q, id, 2);
        if (lost <= 2) fault_arm("device lost:1:1");
        assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
        wait_for_job(t.s, k.job_id, 0, &r);
        fault_arm(NULL);
        assert_int_equal(r.state, CUZK_JOB_COMPLETED);
        assert_int_equal(r.proof_size, 192);
        text = document(t.s, "/status");
        assert_int_equal(count(text, "\"retired\":true"), lost < 2 ? lost : 2);
        assert_int_equal(count(text, "\"state\":\"retired\""), lost < 2 ? lost : 2);
        free(text);
        request_clear(&q);
    }
    text = document(t.s, "/metrics");
    assert_non_null(strstr(text, "\ncuzk_device_up{device=\"cpu\"} 0\n"));
    assert_non_null(strstr(text, "\ncuzk_device_up{device=\"cpu:1\"} 0\n"));
    assert_non_null(strstr(text, "\ncuzk_partition_retries_total 2\n"));
    assert_non_null(strstr(text, "\ncuzk_gpu_workers 0\n"));
    free(text);
    assert_status_ok(cuzk_service_rows(t.s, &rows));
    assert_int_equal(rows.n_devices, 2);
    cuzk_status_rows_clear(&rows);
    service_stop(&t);
}

static void test_ghosts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ghosts / sizeof ghosts[0]; i++) {
        unsigned attempt = 0;

        while (!run_ghost(&ghosts[i], attempt))
            if (++attempt == ATTEMPTS)
                fail_msg("%s: not named, or not alone, %u times", ghosts[i].place, ATTEMPTS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ghosts), cmocka_unit_test(test_lock),
                                       cmocka_unit_test(test_retries),
                                       cmocka_unit_test(test_retired)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
