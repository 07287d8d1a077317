/*
 * unit/device/cuda/test_service.c - the service's jobs while the GPU fails: each is completed all the same, and what is lost is retired
 *
 * A GPU fails at some call of the runtime, once or from then on, on a thread of its own; the partition is proved again, on it or on
 * the CPU, and verified before it is let out. Where there is no GPU the runtime is played (play.h): whatever it proves is wrong, so that
 * the CPU stands in for all of it.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <cuda_runtime_api.h>

#include "unit/device/cuda/play.h"
#include "unit/engine/service_support.h"

/* The service's work: one job of 32 levels of hashes, completed and verified. */
static void job_is_done(test_service *t, const char *id)
{
    test_request q;
    cuzk_ticket k;
    told r;

    request_circom(&q, id);
    assert_status_ok(cuzk_job_submit(t->s, &q.r, &k));
    wait_for_job(t->s, k.job_id, 0, &r);
    if (r.state != CUZK_JOB_COMPLETED)
        harness_fail("after %s failed: %s", play_hit_name(), r.error.message);
    assert_true(strlen(r.proof_json) > 100);
    request_clear(&q);
}

static void start(test_service *t)
{
    const cuzk_service_tunables tune = {.retries = 2};

    play_heal();
    play_start_up_check(play_is_real());
    service_devices = "cuda";
    service_start(t, 2, NULL, &tune);
}

/* All that it took is given back, whatever its state. */
static void stop(test_service *t)
{
    service_stop(t);
    play_counts c = play_count();
    assert_int_equal(c.blocks + c.pinned + c.streams + c.events + c.bad_frees, 0);
    play_heal();
}

static bool is_retired(const test_service *t)
{
    char *text = document(t->s, "/status");
    bool is = strstr(text, "\"retired\":true") != NULL;

    free(text);
    return is;
}

/* Failures that do not stick, one a job: the GPU stays in use. */
static void test_once(void **state)
{
    test_service t;

    (void)state;
    start(&t);
    job_is_done(&t, "before");
    for (unsigned i = 0; i < 20; i++) {
        char id[32];

        (void)snprintf(id, sizeof id, "job %u", i);
        play_fail(1 + 13 * i,
                  i % 2 == 0 ? cudaErrorLaunchOutOfResources : cudaErrorMemoryAllocation, false);
        job_is_done(&t, id);
        assert_true(play_hit());
        assert_false(is_retired(&t));
    }
    play_heal();
    job_is_done(&t, "after");
    stop(&t);
}

/* One that sticks: the job that met it is proved elsewhere, the GPU is retired, and the next job does not wait for it. */
static void goes_away(unsigned long n, int err)
{
    test_service t;

    start(&t);
    job_is_done(&t, "before");
    assert_false(is_retired(&t));
    play_fail(n, err, true);
    job_is_done(&t, "during");
    assert_true(play_hit());
    assert_true(is_retired(&t));
    play_heal();
    job_is_done(&t, "after");
    assert_int_equal(play_count().launches, 0); /* nobody asked it, though it would work again */
    stop(&t);
}

static void test_sticks(void **state)
{
    (void)state;
    goes_away(5, cudaErrorDevicesUnavailable);
    goes_away(60, cudaErrorIllegalAddress);
    goes_away(211, cudaErrorECCUncorrectable);
}

/* Others have all of its memory: the CPU does it meanwhile. */
static void test_no_memory(void **state)
{
    play_machine m = {.driver = 13000, .gpus = 1, .major = 9, .total = (size_t)4 << 30};
    test_service t;

    (void)state;
    play_fake(true, NULL); /* also where there is one, of which nobody takes the memory */
    start(&t);
    m.others = m.total;
    play_fake(true, &m);
    job_is_done(&t, "during");
    assert_false(is_retired(&t));
    play_fake(true, NULL);
    job_is_done(&t, "after");
    stop(&t);
    play_fake(false, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_once),
        cmocka_unit_test(test_sticks),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
