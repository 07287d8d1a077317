/*
 * unit/engine/test_service_cancel.c - a job is cancelled in each place it can be in: its waiters are told, nothing stays held
 *
 * A stall holds the job in its place until it has been seen there and cancelled.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "service_support.h"

#include "base/fault.h"

#define STALL_MS 600000 /* until it is let go */

typedef struct stall {
    const char *place, *phase; /* what stalls, and what /status calls it */
    bool evict;                /* the key is loaded anew */
} stall;

static const stall stalls[] = {
    {"decode", "decoding", false},     {"key load", "key", true},
    {"synthesis", "synthesis", false}, {"device", "device", false},
    {"finish", "finishing", false},
};

/* The phase of the first job that has not ended; false: there is none, or it is another. */
static bool is_in(cuzk_service *s, const char *phase)
{
    char text[64], *doc = document(s, "/status");
    const char *end = strstr(doc, "\"gpu_workers\"");
    const char *at;
    bool yes;

    (void)snprintf(text, sizeof text, "\"phase\":\"%s\"", phase);
    at = strstr(doc, text);
    yes = at != NULL && at < end;
    free(doc);
    return yes;
}

/* Owners of memory but keys and spans: what a job holds. */
static double held(cuzk_service *s)
{
    static const char *const owners[] = {"witnesses", "proving", "requests"};
    char *doc = document(s, "/status"), text[64];
    double sum = 0;

    for (size_t i = 0; i < sizeof owners / sizeof owners[0]; i++) {
        const char *at;

        (void)snprintf(text, sizeof text, "{\"name\":\"%s\",", owners[i]);
        at = strstr(doc, text);
        assert_non_null(at);
        sum += json_number(at, "bytes");
    }
    free(doc);
    return sum;
}

static void run_stall(const stall *x)
{
    test_service t;
    test_request q;
    cuzk_ticket k;
    told r;
    char spec[64];
    bool running, loaded;
    uint64_t freed;

    (void)printf("%s\n", x->place);
    service_start(&t, 2, harness_temp_path(x->place), NULL);
    request_window(&q, "first", 2);
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    wait_for_job(t.s, k.job_id, 0, &r);
    if (x->evict) assert_status_ok(cuzk_key_evict(t.s, "wpost-2k", &loaded, &freed));
    (void)snprintf(spec, sizeof spec, "%s:%u", x->place, STALL_MS);
    fault_arm(spec);
    q.r.request_id = "second";
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    wait_until_held(x->place);
    if (!is_in(t.s, x->phase)) fail_msg("not seen in %s", x->phase);
    assert_status_ok(cuzk_job_cancel(t.s, k.job_id, &running));
    assert_true(running);
    fault_arm(NULL);
    wait_for_job(t.s, k.job_id, 0, &r);
    assert_int_equal(r.end, CUZK_WAIT_ENDED);
    assert_int_equal(r.state, CUZK_JOB_CANCELLED);
    assert_int_equal(r.proof_size, 0);
    for (unsigned i = 0; i < 12000 && held(t.s) > 0; i++) service_pause(10);
    assert_true(held(t.s) == 0);
    /* the same request again, and its proof */
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    assert_string_equal(k.job_id, "second");
    wait_for_job(t.s, k.job_id, 0, &r);
    assert_int_equal(r.state, CUZK_JOB_COMPLETED);
    assert_int_equal(r.proof_size, 192);
    request_clear(&q);
    service_stop(&t);
}

static void test_cancel_in_each_stage(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof stalls / sizeof stalls[0]; i++) run_stall(&stalls[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cancel_in_each_stage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
