/*
 * unit/engine/test_service_races.c - a job that is stopped, raised or drained while a part of it is between two places
 *
 * A stall holds the part there; what was done to its job meanwhile must reach it all the same.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "service_support.h"

#include <unistd.h>

#include "base/fault.h"

#define STALL_MS 600
#define SOON_MS 200 /* well inside of a stall */
#define PATIENCE_S 60

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
    service_pause(SOON_MS);
    cuzk_service_drain(t.s, 0, &yes);
    assert_status_ok(cuzk_job_cancel(t.s, k.job_id, &yes));
    ends_cancelled(t.s, k.job_id, (uint64_t)PATIENCE_S * 1000);
    fault_arm(NULL);
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
    fault_arm("to device:600");
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    service_pause(SOON_MS);
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
    fault_arm("ask for key:600,key load:4000");
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    service_pause(SOON_MS);
    assert_status_ok(cuzk_job_cancel(t.s, k.job_id, &yes));
    ends_cancelled(t.s, k.job_id, 3000);
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
    fault_arm("device:8000");
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &slow));
    wait_for_text(t.s, "/jobs/slow", "\"gpu\"");
    fault_arm("to device:600");
    q.r.request_id = "raised";
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    wait_for_text(t.s, "/jobs/raised", "\"synth_done\"");
    q.r.priority = CUZK_HIGH;
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    assert_true(k.known);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stopped), cmocka_unit_test(test_closed),
        cmocka_unit_test(test_stopped_before_its_key), cmocka_unit_test(test_raised)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
