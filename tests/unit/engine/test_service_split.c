/*
 * unit/engine/test_service_split.c - the service on several devices: a partition that is alone is split, and nothing else changes
 *
 * The devices are CPUs that are taken as machines of their own, or what CUZK_TEST_DEVICE names.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "service_support.h"

#include "base/fault.h"
#include "engine/service.h"

static void start_on(test_service *t, const char *devices)
{
    service_devices = getenv("CUZK_TEST_DEVICE") != NULL ? NULL : devices;
    service_start(t, 2, NULL, &(cuzk_service_tunables){.retries = 2});
    service_devices = NULL;
    t->e->spread_cpus = true;
    t->e->split_log = 0;
}

static uint64_t count_split(test_service *t)
{
    service *s = service_of(t->s);
    uint64_t n;

    svc_lock(s);
    n = s->counts.split;
    svc_unlock(s);
    return n;
}

static void submit(test_service *t, test_request *q, cuzk_ticket *k, const char *id,
                   unsigned n_sectors)
{
    if (n_sectors == 0)
        request_circom(q, id);
    else
        request_window(q, id, n_sectors);
    assert_status_ok(cuzk_job_submit(t->s, &q->r, k));
}

/* It was proved and verified. */
static void expect_done(test_service *t, const cuzk_ticket *k, size_t proof_size)
{
    told r;

    wait_for_job(t->s, k->job_id, 0, &r);
    assert_int_equal(r.state, CUZK_JOB_COMPLETED);
    if (proof_size != 0) assert_int_equal(r.proof_size, proof_size);
}

static void run_job(test_service *t, const char *id, unsigned n_sectors, size_t proof_size)
{
    test_request q;
    cuzk_ticket k;

    submit(t, &q, &k, id, n_sectors);
    expect_done(t, &k, proof_size);
    request_clear(&q);
}

static void test_split(void **state)
{
    test_service t;

    (void)state;
    start_on(&t, "cpu,cpu");
    run_job(&t, "window", 2, 192);
    assert_int_equal(count_split(&t), 1);
    run_job(&t, "circom", 0, 0);
    assert_int_equal(count_split(&t), 2);
    run_job(&t, "two partitions", 3, 384);
    service_stop(&t);

    start_on(&t, "cpu,cpu,cpu");
    run_job(&t, "window", 2, 192);
    run_job(&t, "circom", 0, 0);
    assert_int_equal(count_split(&t), 2);
    service_stop(&t);
}

/* One device; CPUs that share their cores; a circuit that is too small. */
static void test_not_split(void **state)
{
    test_service t;

    (void)state;
    if (getenv("CUZK_TEST_DEVICE") == NULL) {
        start_on(&t, "cpu");
        run_job(&t, "circom", 0, 0);
        assert_int_equal(count_split(&t), 0);
        service_stop(&t);
        start_on(&t, "cpu,cpu");
        t.e->spread_cpus = false;
        run_job(&t, "circom", 0, 0);
        assert_int_equal(count_split(&t), 0);
        service_stop(&t);
    }
    start_on(&t, "cpu,cpu");
    t.e->split_log = 20;
    run_job(&t, "circom", 0, 0);
    assert_int_equal(count_split(&t), 0);
    service_stop(&t);
}

#ifdef CUZK_VERIFY
static unsigned retired(test_service *t)
{
    char *text = document(t->s, "/status");
    unsigned n = 0;

    for (const char *p = text; (p = strstr(p, "\"retired\":true")) != NULL; p++) n++;
    free(text);
    return n;
}

/* A device that fails at helping: the partition is not tried again, and the device helps no more. One that is lost is retired. */
static void test_helper_faults(void **state)
{
    test_service t;
    char *text;

    (void)state;
    start_on(&t, "cpu,cpu");
    fault_arm("helper fault:1:1");
    run_job(&t, "fault", 0, 0);
    fault_arm(NULL);
    assert_int_equal(count_split(&t), 1);
    assert_int_equal(retired(&t), 0);
    run_job(&t, "after", 2, 192);
    assert_int_equal(count_split(&t), 1);
    service_stop(&t);

    start_on(&t, "cpu,cpu");
    fault_arm("helper fault:1:9,helper lost:1:1");
    run_job(&t, "lost", 2, 192);
    fault_arm(NULL);
    assert_int_equal(retired(&t), 1);
    run_job(&t, "after", 0, 0);
    assert_int_equal(count_split(&t), 1);
    text = document(t.s, "/metrics");
    assert_non_null(strstr(text, "\ncuzk_partition_retries_total 0\n"));
    assert_non_null(strstr(text, "\ncuzk_partitions_split_total 1\n"));
    free(text);
    service_stop(&t);
}

/* While a helper is at work its device takes others' partitions, and a job that is cancelled ends. */
static void test_beside_a_helper(void **state)
{
    test_request a, b;
    cuzk_ticket ka, kb;
    test_service t;
    bool running;
    told r;

    (void)state;
    start_on(&t, "cpu,cpu");
    fault_arm("helper:hold");
    submit(&t, &a, &ka, "split", 0);
    wait_until_held("helper");
    submit(&t, &b, &kb, "beside", 2); /* more urgent: the other one stands aside */
    expect_done(&t, &kb, 192);
    assert_int_equal(count_split(&t), 1);
    assert_status_ok(cuzk_job_cancel(t.s, ka.job_id, &running));
    assert_true(running);
    fault_arm(NULL);
    wait_for_job(t.s, ka.job_id, 0, &r);
    assert_int_equal(r.state, CUZK_JOB_CANCELLED);
    request_clear(&a);
    request_clear(&b);
    run_job(&t, "after", 0, 0);
    assert_int_equal(count_split(&t), 2); /* nobody was at fault */
    service_stop(&t);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_not_split),
#ifdef CUZK_VERIFY
        cmocka_unit_test(test_helper_faults),
        cmocka_unit_test(test_beside_a_helper),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
