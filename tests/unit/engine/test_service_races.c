/*
 * unit/engine/test_service_races.c - a job that is stopped, raised or drained while a part of it is between two places
 *
 * A stall holds the part there; what was done to its job meanwhile must reach it all the same.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "service_support.h"

#include <pthread.h>
#include <unistd.h>

#include "base/fault.h"
#include "engine/service.h"

#define STALL_MS 600000 /* until it is let go */
#define PATIENCE_S 120

static void ends_cancelled(cuzk_service *s, const char *job_id, uint64_t timeout_ms)
{
    told r;

    wait_for_job(s, job_id, timeout_ms, &r);
    assert_int_equal(r.end, CUZK_WAIT_ENDED);
    assert_int_equal(r.state, CUZK_JOB_CANCELLED);
}

/* Cancelled on its way into a stage that starts nothing any more, and closed then. */
static void run_stopped(const char *place)
{
    test_service t;
    test_request q;
    cuzk_ticket k;
    char spec[64];
    bool yes;

    (void)printf("%s\n", place);
    service_start(&t, 2, NULL, NULL);
    request_window(&q, "stopped", 2);
    (void)snprintf(spec, sizeof spec, "%s:%u", place, STALL_MS);
    fault_arm(spec);
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    wait_until_held(place);
    cuzk_service_drain(t.s, 0, &yes);
    assert_status_ok(cuzk_job_cancel(t.s, k.job_id, &yes));
    fault_arm(NULL);
    ends_cancelled(t.s, k.job_id, (uint64_t)PATIENCE_S * 1000);
    request_clear(&q);
    service_stop(&t);
}

static void test_stopped(void **state)
{
    (void)state;
    run_stopped("to synthesis");
    run_stopped("to device");
}

static void test_closed(void **state)
{
    test_service t;
    test_request q;
    cuzk_ticket k;
    bool drained;

    (void)state;
    service_start(&t, 2, NULL, NULL);
    request_window(&q, "closed", 2);
    fault_arm("to device:600"); /* it goes on while the service closes */
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    wait_until_held("to device");
    cuzk_service_drain(t.s, 0, &drained);
    (void)alarm(PATIENCE_S); /* it may never come back */
    request_clear(&q);
    service_stop(&t);
    (void)alarm(0);
    fault_arm(NULL);
}

/* A cancel that comes just before the job asks for its key does not wait for the key. */
static void test_stopped_before_its_key(void **state)
{
    test_service t;
    test_request q;
    cuzk_ticket k;
    bool yes;

    (void)state;
    service_start(&t, 2, NULL, NULL);
    request_window(&q, "keyless", 2);
    fault_arm("ask for key:600000,key load:600000");
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    wait_until_held("ask for key");
    assert_status_ok(cuzk_job_cancel(t.s, k.job_id, &yes));
    fault_release("ask for key"); /* the key stays where it is */
    ends_cancelled(t.s, k.job_id, (uint64_t)PATIENCE_S * 1000);
    fault_arm(NULL);
    request_clear(&q);
    service_stop(&t);
}

static void wait_for_text(cuzk_service *s, const char *path, const char *tells)
{
    for (bool there = false; !there; service_pause(5)) {
        char *text = document(s, path);

        there = strstr(text, tells) != NULL;
        free(text);
    }
}

/* Raised on its way to the device, a job passes the one that is there. */
static void test_raised(void **state)
{
    test_service t;
    test_request q;
    cuzk_ticket slow, k;
    told r;

    (void)state;
    service_start(&t, 2, NULL, NULL);
    request_window(&q, "slow", 2);
    q.r.priority = CUZK_NORMAL;
    fault_arm("device:600000");
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &slow));
    wait_until_held("device");
    fault_arm("to device:600000");
    q.r.request_id = "raised";
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    wait_until_held("to device");
    q.r.priority = CUZK_HIGH;
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    assert_true(k.known);
    fault_release("to device");
    wait_for_job(t.s, k.job_id, 0, &r);
    assert_int_equal(r.state, CUZK_JOB_COMPLETED);
    wait_for_job(t.s, slow.job_id, 1, &r);
    assert_int_equal(r.end, CUZK_WAIT_TIMEOUT);
    fault_arm(NULL);
    wait_for_job(t.s, slow.job_id, 0, &r);
    assert_int_equal(r.state, CUZK_JOB_COMPLETED);
    request_clear(&q);
    service_stop(&t);
}

/* Urgent work for which the device has no memory beside work that stands aside waits for it, and is proved there. */
static void test_no_room_beside(void **state)
{
    cuzk_service_tunables tune = {.retries = 2};
    test_service t;
    test_request q;
    cuzk_ticket low, k;
    char *text;
    told r;

    (void)state;
    service_start(&t, 2, NULL, &tune);
    request_window(&q, "low", 2);
    q.r.priority = CUZK_LOW;
    fault_arm("device:hold");
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &low));
    wait_for_text(t.s, "/jobs/low", "\"gpu\"");
    fault_arm("device:hold:0,device memory:1"); /* the one that is held stays so */
    q.r.request_id = "urgent";
    q.r.priority = CUZK_CRITICAL;
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    for (bool done = false; !done; service_pause(5)) {
        text = document(
            t.s,
            "/jobs/urgent"); /* on the device once, and waits for it again; or it went elsewhere */
        done = strstr(text, "\"completed\"") != NULL ||
               (strstr(text, "\"synth_done\"") != NULL && json_number(text, "prove_ms") > 0);
        free(text);
    }
    wait_for_job(t.s, k.job_id, 1, &r);
    assert_int_equal(r.end, CUZK_WAIT_TIMEOUT);
    fault_arm(NULL);
    wait_for_job(t.s, k.job_id, 0, &r);
    assert_int_equal(r.state, CUZK_JOB_COMPLETED);
    wait_for_job(t.s, low.job_id, 0, &r);
    assert_int_equal(r.state, CUZK_JOB_COMPLETED);
    text = document(t.s, "/metrics");
    assert_non_null(strstr(text, "cuzk_partition_retries_total 0\n"));
    free(text);
    request_clear(&q);
    service_stop(&t);
}

typedef struct caller {
    pthread_t thread;
    cuzk_service *s;
    const cuzk_request *r;
    cuzk_status st;
    bool loaded;
    uint64_t ms;
} caller;

static void *submit(void *arg)
{
    caller *c = arg;
    cuzk_ticket k;

    c->st = cuzk_job_submit(c->s, c->r, &k);
    return NULL;
}

static void *preload(void *arg)
{
    caller *c = arg;

    c->st = cuzk_key_preload(c->s, "wpost-2k", &c->loaded, &c->ms);
    return NULL;
}

static void hear(void *ctx, const cuzk_job_result *r)
{
    (void)ctx;
    (void)r;
}

/* The only one who waits for a further attempt goes while the attempt is made durable: it is cancelled. */
static void test_left_while_admitted(void **state)
{
    cuzk_service_tunables tune = {.cancel_orphans = true};
    test_service t;
    test_request q;
    cuzk_ticket k;
    caller c;
    uint64_t wait;
    bool running;

    (void)state;
    service_start(&t, 2, harness_temp_path("left"), &tune);
    request_window(&q, "left", 2);
    fault_arm("decode:hold");
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    assert_status_ok(cuzk_job_cancel(t.s, k.job_id, &running));
    fault_arm("payload:hold");
    ends_cancelled(t.s, k.job_id, 0);
    c = (caller){.s = t.s, .r = &q.r};
    assert_int_equal(pthread_create(&c.thread, NULL, submit, &c), 0);
    wait_for_text(t.s, "/jobs/left", "\"queued\"");
    assert_status_ok(cuzk_job_wait(t.s, k.job_id, 0, hear, NULL, &wait));
    cuzk_job_unwait(t.s, wait, true);
    fault_arm(NULL);
    (void)pthread_join(c.thread, NULL);
    assert_status_ok(c.st);
    ends_cancelled(t.s, k.job_id, 0);
    request_clear(&q);
    service_stop(&t);
}

/* Who waits for a key by hand does not hold up a service that drains: the load ends when it is closed. */
static void test_preload_drained(void **state)
{
    test_service t;
    caller c;
    bool drained;

    (void)state;
    service_start(&t, 2, NULL, NULL);
    fault_arm("key load:hold");
    c = (caller){.s = t.s};
    assert_int_equal(pthread_create(&c.thread, NULL, preload, &c), 0);
    wait_for_text(t.s, "/status", "\"loading\"");
    (void)alarm(PATIENCE_S); /* it may never come back */
    cuzk_service_drain(t.s, 0, &drained);
    (void)pthread_join(c.thread, NULL);
    (void)alarm(0);
    assert_int_equal(c.st, CUZK_ECANCELLED);
    fault_arm(NULL);
    service_stop(&t);
}

/* A key that is there, with a job that is not told of it yet: it is not given up under it. */
static void test_evict_before_told(void **state)
{
    test_service t;
    test_request q;
    cuzk_ticket k;
    told r;
    bool loaded;
    uint64_t freed;

    (void)state;
    service_start(&t, 2, NULL, NULL);
    fault_arm("key loaded:hold");
    request_window(&q, "waits", 2);
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    wait_until_held("key loaded");
    assert_status_is(cuzk_key_evict(t.s, "wpost-2k", &loaded, &freed), CUZK_EBUDGET);
    assert_error_mentions("in use by 1");
    assert_int_equal(keys_reclaim(service_of(t.s)->keys, UINT64_MAX, true), 0);
    fault_arm(NULL);
    wait_for_job(t.s, k.job_id, 0, &r);
    assert_int_equal(r.state, CUZK_JOB_COMPLETED);
    assert_int_equal(r.proof_size, 192);
    request_clear(&q);
    service_stop(&t);
}

static unsigned count_in_phase(cuzk_service *s, const char *phase)
{
    char text[64], *doc = document(s, "/status");
    unsigned n = 0;

    (void)snprintf(text, sizeof text, "\"phase\":\"%s\"", phase);
    for (const char *at = doc; (at = strstr(at, text)) != NULL; at++) n++;
    free(doc);
    return n;
}

/* A job that is cancelled between a device that it found lost and the finisher: the device is retired all the same. */
static void test_lost_and_cancelled(void **state)
{
    test_service t;
    test_request a[2], b;
    cuzk_ticket ka[2], kb;
    const char *text;
    char *doc;
    bool yes;
    told r;

    (void)state;
    service_devices = "cpu,cpu";
    service_start(&t, 2, NULL, NULL);
    service_devices = NULL;
    fault_arm("finish:hold:2"); /* all finishers */
    for (unsigned i = 0; i < 2; i++) {
        request_window(&a[i], i == 0 ? "first" : "second", 2);
        assert_status_ok(cuzk_job_submit(t.s, &a[i].r, &ka[i]));
    }
    while (count_in_phase(t.s, "finishing") != 2) service_pause(5);
    fault_arm("finish:hold:2,device lost:1:1"); /* who is held stays so */
    request_window(&b, "lost", 2);
    assert_status_ok(cuzk_job_submit(t.s, &b.r, &kb));
    svc_device *v = service_of(t.s)->devices;
    while (atomic_load(&v[0].width) != 0 && atomic_load(&v[1].width) != 0) service_pause(5);
    assert_status_ok(cuzk_job_cancel(t.s, kb.job_id, &yes));
    fault_arm(NULL);
    ends_cancelled(t.s, kb.job_id, 0);
    doc = document(t.s, "/status");
    text = strstr(doc, "\"retired\":true");
    assert_non_null(text);
    assert_null(strstr(text + 1, "\"retired\":true"));
    free(doc);
    for (unsigned i = 0; i < 2; i++) {
        wait_for_job(t.s, ka[i].job_id, 0, &r);
        assert_int_equal(r.state, CUZK_JOB_COMPLETED);
        request_clear(&a[i]);
    }
    request_clear(&b);
    service_stop(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_closed),
        cmocka_unit_test(test_stopped_before_its_key),
        cmocka_unit_test(test_raised),
        cmocka_unit_test(test_no_room_beside),
        cmocka_unit_test(test_left_while_admitted),
        cmocka_unit_test(test_preload_drained),
        cmocka_unit_test(test_evict_before_told),
        cmocka_unit_test(test_lost_and_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
