/*
 * unit/engine/test_service_known.c - which jobs are known: ended ones that memory forgot and the store recalls, ones that are
 * looked at while they are refused, ones that are tried again while somebody is still being told
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "service_support.h"

#include <pthread.h>
#include <stdatomic.h>

#define N_JOBS 5

static void start(test_service *t, const char *store, uint64_t max_size)
{
    cuzk_service_config c = {.store = store,
                             .memory_total = (uint64_t)4 << 30,
                             .memory_critical = (uint64_t)1 << 30,
                             .ended_in_memory = 2,
                             .tunables = {.store_max_size = max_size}};

    service_start_config(t, 2, &c);
}

static const char *const ids[N_JOBS] = {"job-0", "job-1", "job-2", "job-3", "job-4"};

static void prove_all(cuzk_service *s)
{
    for (unsigned k = 0; k < N_JOBS; k++) {
        test_request q;
        cuzk_ticket t;
        told r;

        request_circom(&q, ids[k]);
        assert_status_ok(cuzk_job_submit(s, &q.r, &t));
        wait_for_job(s, t.job_id, 0, &r);
        assert_int_equal(r.state, CUZK_JOB_COMPLETED);
        request_clear(&q);
    }
}

static unsigned in_memory(cuzk_service *s)
{
    char *text = document(s, "/jobs");
    unsigned n = 0;

    for (const char *at = text; (at = strstr(at, "\"job_id\":\"job-")) != NULL; at++) n++;
    free(text);
    return n;
}

static void wait_until_trimmed(cuzk_service *s)
{
    for (unsigned tries = 0; in_memory(s) > 2; tries++) {
        if (tries == 6000) fail_msg("%u ended jobs are still in memory", in_memory(s));
        service_pause(20);
    }
}

/* Those that are not in memory answer as if they were. */
static void check_recalled(cuzk_service *s)
{
    test_request q;
    cuzk_ticket k;
    bool running = true;
    char *text;
    told r;

    request_circom(&q, ids[0]);
    assert_status_ok(cuzk_job_submit(s, &q.r, &k));
    assert_true(k.known);
    assert_string_equal(k.job_id, "job-0");
    request_clear(&q);
    wait_for_job(s, ids[1], 0, &r);
    assert_int_equal(r.state, CUZK_JOB_COMPLETED);
    assert_int_equal(r.proof_size, 256);
    assert_true(strlen(r.public_json) > 10);
    text = document(s, "/jobs/job-2");
    assert_non_null(strstr(text, "\"state\":\"completed\""));
    free(text);
    assert_status_ok(cuzk_job_cancel(s, ids[3], &running));
    assert_false(running);
}

static void test_recalled(void **state)
{
    const char *store = harness_temp_path("recalled.db");
    test_service t;
    test_request q;
    cuzk_ticket k;
    bool running;
    told r;

    (void)state;
    start(&t, store, 0);
    prove_all(t.s);
    wait_until_trimmed(t.s);
    check_recalled(t.s);
    assert_status_is(cuzk_job_cancel(t.s, "job-9", &running), CUZK_EINVAL);
    wait_until_trimmed(t.s);
    request_window(&q, ids[0], 3); /* another request under a known id */
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    assert_false(k.known);
    assert_string_equal(k.job_id, "job-0~2");
    wait_for_job(t.s, k.job_id, 0, &r);
    assert_int_equal(r.state, CUZK_JOB_COMPLETED);
    service_stop(&t);

    start(&t, store, 0);
    assert_true(in_memory(t.s) <= 2);
    check_recalled(t.s);
    wait_until_trimmed(t.s);
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    assert_true(k.known);
    assert_string_equal(k.job_id, "job-0~2");
    request_clear(&q);
    service_stop(&t);
}

static void test_without_store(void **state)
{
    test_service t;
    bool running;

    (void)state;
    start(&t, NULL, 0);
    prove_all(t.s);
    wait_until_trimmed(t.s);
    assert_status_is(cuzk_job_cancel(t.s, ids[0], &running), CUZK_EINVAL);
    assert_error_mentions("no job job-0 is known");
    assert_status_ok(cuzk_job_cancel(t.s, ids[N_JOBS - 1], &running));
    service_stop(&t);
}

/* ---- looked at while it is admitted ---- */

typedef struct watcher {
    cuzk_service *s;
    const char *id;
    _Atomic bool quit;
    _Atomic unsigned waits, told, looks;
} watcher;

static void count_told(void *ctx, const cuzk_job_result *r)
{
    watcher *w = ctx;

    (void)r;
    atomic_fetch_add(&w->told, 1);
}

static void *watch(void *arg)
{
    watcher *w = arg;
    char path[64];

    (void)snprintf(path, sizeof path, "/jobs/%s", w->id);
    while (!atomic_load(&w->quit)) {
        cuzk_buffer b = {0};
        const char *type;
        uint64_t wait;

        if (cuzk_job_wait(w->s, w->id, 0, count_told, w, &wait) == CUZK_OK)
            atomic_fetch_add(&w->waits, 1);
        (void)(cuzk_service_document(w->s, path, &b, &type) == CUZK_OK); /* there or not */
        cuzk_buffer_clear(&b);
        (void)(cuzk_service_document(w->s, "/jobs", &b, &type) == CUZK_OK);
        cuzk_buffer_clear(&b);
        atomic_fetch_add(&w->looks, 1);
    }
    return NULL;
}

static void watch_while(cuzk_service *s, const cuzk_request *r, unsigned times, cuzk_status want)
{
    watcher w = {.s = s, .id = r->request_id};
    pthread_t thread;
    cuzk_ticket k;

    assert_int_equal(pthread_create(&thread, NULL, watch, &w), 0);
    while (atomic_load(&w.looks) == 0) service_pause(1);
    for (unsigned i = 0; i < times; i++) {
        cuzk_status st = cuzk_job_submit(s, r, &k);

        if (want == CUZK_OK)
            assert_status_ok(st);
        else
            assert_status_is(st, want);
    }
    atomic_store(&w.quit, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    for (unsigned tries = 0; atomic_load(&w.told) < atomic_load(&w.waits); tries++) {
        if (tries == 12000) fail_msg("%u waits, %u told", w.waits, w.told);
        service_pause(10);
    }
}

static void test_refused_while_looked_at(void **state)
{
    test_service t;
    test_request q;

    (void)state;
    start(&t, harness_temp_path("refused.db"), 1); /* a full store */
    request_circom(&q, "refused");
    watch_while(t.s, &q.r, 200, CUZK_EBUDGET);
    request_clear(&q);
    service_stop(&t);
}

static void test_bad_input_while_looked_at(void **state)
{
    static const uint8_t rubbish[] = "{\"not\":\"a C1\"}";
    test_service t;
    cuzk_request r = {.kind = CUZK_POREP,
                      .request_id = "bad",
                      .sector_size = 2048,
                      .vanilla_proof = {rubbish, sizeof rubbish - 1}};

    (void)state;
    start(&t, harness_temp_path("bad.db"), 0);
    watch_while(t.s, &r, 20, CUZK_OK); /* jobs that have failed: the first, and the same again */
    service_stop(&t);
}

/* ---- tried again while somebody is told ---- */

typedef struct slow {
    cuzk_service *s;
    const char *id;
    _Atomic bool begun;
} slow;

static void tell_slowly(void *ctx, const cuzk_job_result *r)
{
    slow *w = ctx;

    assert_int_equal(r->state, CUZK_JOB_CANCELLED);
    atomic_store(&w->begun, true);
    service_pause(300);
}

static void *wait_slowly(void *arg)
{
    slow *w = arg;
    uint64_t wait;

    return cuzk_job_wait(w->s, w->id, 0, tell_slowly, w, &wait) == CUZK_OK ? w : NULL;
}

static void test_again_while_told(void **state)
{
    test_service t;
    test_request q;
    cuzk_ticket k;
    pthread_t thread;
    void *waited;
    slow w = {.id = "again"};
    bool running;
    told r;

    (void)state;
    start(&t, NULL, 0);
    w.s = t.s;
    hold_device(t.s, true); /* it does not end by itself */
    request_window(&q, "again", 3);
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    assert_status_ok(cuzk_job_cancel(t.s, k.job_id, &running));
    wait_for_job(t.s, k.job_id, 0, &r);
    assert_int_equal(r.state, CUZK_JOB_CANCELLED);
    hold_device(t.s, false);
    assert_int_equal(pthread_create(&thread, NULL, wait_slowly, &w), 0);
    while (!atomic_load(&w.begun)) service_pause(1);
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k)); /* waits for that, and no longer */
    assert_false(k.known);
    wait_for_job(t.s, k.job_id, 0, &r);
    assert_int_equal(r.state, CUZK_JOB_COMPLETED);
    assert_int_equal(pthread_join(thread, &waited), 0);
    assert_non_null(waited);
    request_clear(&q);
    service_stop(&t);
}

static void submit_as(cuzk_service *s, const char *owner, cuzk_ticket *k)
{
    test_request q;
    told r;

    request_circom(&q, "mine");
    q.r.owner = owner;
    assert_status_ok(cuzk_job_submit(s, &q.r, k));
    wait_for_job(s, k->job_id, 0, &r);
    assert_int_equal(r.state, CUZK_JOB_COMPLETED);
    request_clear(&q);
}

static void check_owners(cuzk_service *s, char ids_of[3][16])
{
    static const char *const owners[] = {"", "one", "two"};

    for (unsigned k = 0; k < 3; k++)
        for (unsigned o = 0; o < 3; o++) {
            cuzk_status st = cuzk_job_owned(s, ids_of[k], owners[o]);

            if (k == o) {
                assert_status_ok(st);
            } else {
                assert_status_is(st, CUZK_EINVAL);
                assert_error_mentions("no job mine");
            }
        }
    assert_status_is(cuzk_job_owned(s, "other", "one"), CUZK_EINVAL);
    assert_error_mentions("no job other");
}

/* The same request of two owners is two jobs, each known as its owner's, also after a restart. */
static void test_owners(void **state)
{
    static const char *const owners[] = {NULL, "one", "two"};
    const char *store = harness_temp_path("owners.db");
    char ids_of[3][16], long_name[CUZK_OWNER_MAX + 1];
    test_service t;
    cuzk_ticket k;
    test_request q;

    (void)state;
    start(&t, store, 0);
    for (unsigned i = 0; i < 3; i++) {
        submit_as(t.s, owners[i], &k);
        assert_false(k.known);
        (void)snprintf(ids_of[i], sizeof ids_of[i], "%.15s", k.job_id);
    }
    assert_string_equal(ids_of[0], "mine");
    assert_string_equal(ids_of[1], "mine~2");
    for (unsigned i = 0; i < 3; i++) {
        submit_as(t.s, owners[i], &k);
        assert_true(k.known);
        assert_string_equal(k.job_id, ids_of[i]);
    }
    check_owners(t.s, ids_of);
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = 0;
    request_circom(&q, "mine");
    q.r.owner = long_name;
    assert_status_is(cuzk_job_submit(t.s, &q.r, &k), CUZK_EINVAL);
    assert_error_mentions("owner of 80 bytes, limit 79");
    request_clear(&q);
    service_stop(&t);
    start(&t, store, 0);
    check_owners(t.s, ids_of);
    submit_as(t.s, "two", &k);
    assert_true(k.known);
    assert_string_equal(k.job_id, ids_of[2]);
    service_stop(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recalled),
        cmocka_unit_test(test_without_store),
        cmocka_unit_test(test_refused_while_looked_at),
        cmocka_unit_test(test_bad_input_while_looked_at),
        cmocka_unit_test(test_again_while_told),
        cmocka_unit_test(test_owners),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
