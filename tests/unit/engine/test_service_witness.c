/*
 * unit/engine/test_service_witness.c - a witness command that does not end holds up nothing but itself
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "service_support.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "engine/service.h"

#define S ((uint64_t)1000000000)
#define PATIENCE (300 * S)

static cuzk_status run(const char *script, const cancel *c, uint8_t **out, size_t *size)
{
    static char sh[] = "sh", flag[] = "-c";
    static char text[512];
    char *argv[] = {sh, flag, text, NULL};

    (void)snprintf(text, sizeof text, "%s", script);
    return svc_run_witness_command(argv, (const uint8_t *)"{}", 2, 4096, c, out, size);
}

static void *cancel_soon(void *c)
{
    service_pause(300);
    cancel_request(c);
    return NULL;
}

static void test_ends(void **state)
{
    cancel *c;
    uint8_t *out;
    size_t size;

    (void)state;
    assert_status_ok(cancel_new(&c));
    assert_status_ok(run("cat; exec >&- 2>&-; sleep 0.3", c, &out, &size));
    assert_int_equal(size, 2);
    assert_memory_equal(out, "{}", 2);
    free(out);
    assert_status_is(
        run("echo no such signal >&2; exec >&- 2>&-; sleep 0.1; exit 3", c, &out, &size),
        CUZK_EDATA);
    assert_error_mentions("status 3: no such signal");
    cancel_free(c);
}

static void test_cancelled(void **state)
{
    pthread_t t;
    cancel *c;
    uint8_t *out;
    size_t size;
    uint64_t from = clock_ns();

    (void)state;
    assert_status_ok(cancel_new(&c));
    assert_int_equal(pthread_create(&t, NULL, cancel_soon, c), 0);
    assert_status_is(run("cat; exec >&- 2>&-; sleep 600", c, &out, &size), CUZK_ECANCELLED);
    assert_true(clock_ns() - from < PATIENCE);
    (void)pthread_join(t, NULL);
    cancel_free(c);
}

/* Until one runs. */
static void wait_for_command(cuzk_service *s)
{
    for (bool there = false; !there; service_pause(5)) {
        char *text = document(s, "/status");

        there = strstr(text, "\"phase\":\"witness\"") != NULL;
        free(text);
    }
}

/* Commands that never end, more than all other places and claims of their level: nobody else waits for them. */
static void test_commands_hold_up_nobody(void **state)
{
    static const char *const sleeper[] = {"sleep", "600"};
    cuzk_circuit circuits[2] = {*service_test_circuit(), *service_test_circuit()};
    cuzk_service_tunables tune = {.circuits = circuits, .n_circuits = 2};
    test_service t;
    test_request q, slow = {.r = {.kind = CUZK_GROTH16,
                                  .circuit = "slow",
                                  .input_json = {(const uint8_t *)"{}", 2}}};
    cuzk_ticket k, ks[16];
    bool running;
    told r;

    (void)state;
    circuits[1].name = "slow";
    circuits[1].witness_command = sleeper;
    circuits[1].n_witness_command = 2;
    service_start(&t, 2, NULL, &tune);
    for (unsigned i = 0; i < 16; i++) assert_status_ok(cuzk_job_submit(t.s, &slow.r, &ks[i]));
    wait_for_command(t.s);
    request_circom(&q, "normal");
    (void)alarm(300); /* it may never come to it */
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    wait_for_job(t.s, k.job_id, 0, &r);
    (void)alarm(0);
    assert_int_equal(r.state, CUZK_JOB_COMPLETED);
    for (unsigned i = 0; i < 16; i++) {
        assert_status_ok(cuzk_job_cancel(t.s, ks[i].job_id, &running));
        assert_true(running);
        wait_for_job(t.s, ks[i].job_id, 0, &r);
        assert_int_equal(r.state, CUZK_JOB_CANCELLED);
    }
    request_clear(&q);
    service_stop(&t);
}

/* What a command wrote is proved with, and is given back. */
static void test_made(void **state)
{
    char path[600];
    const char *cat[2] = {"cat", path};
    cuzk_circuit c = *service_test_circuit();
    cuzk_service_tunables tune = {.circuits = &c, .n_circuits = 1};
    test_service t;
    test_request made = {.r = {.kind = CUZK_GROTH16,
                               .circuit = "merkle5",
                               .input_json = {(const uint8_t *)"{}", 2}}};
    cuzk_ticket k;
    char *text;
    told r;

    (void)state;
    (void)snprintf(path, sizeof path, "%s", harness_vector("circom/bn128/merkle5/witness.wtns"));
    c.witness_command = cat;
    c.n_witness_command = 2;
    service_start(&t, 2, harness_temp_path("made"), &tune);
    assert_status_ok(cuzk_job_submit(t.s, &made.r, &k));
    wait_for_job(t.s, k.job_id, 0, &r);
    assert_int_equal(r.state, CUZK_JOB_COMPLETED);
    text = document(t.s, "/metrics");
    assert_non_null(strstr(text, "cuzk_memory_owner_bytes{owner=\"requests\"} 0\n"));
    free(text);
    service_stop(&t);
}

/* While the command of an urgent job sleeps, work of a lower level goes on. */
static void test_nobody_stands_aside(void **state)
{
    static const char *const sleeper[] = {"sh", "-c", "sleep 600"};
    cuzk_circuit circuits[2] = {*service_test_circuit(), *service_test_circuit()};
    cuzk_service_tunables tune = {.circuits = circuits, .n_circuits = 2};
    test_service t;
    test_request q, slow;
    cuzk_ticket k, ks;
    uint64_t from = clock_ns();
    bool running;
    told r;

    (void)state;
    circuits[1].name = "slow";
    circuits[1].witness_command = sleeper;
    circuits[1].n_witness_command = 3;
    service_start(&t, 2, NULL, &tune);
    memset(&slow, 0, sizeof slow);
    slow.r = (cuzk_request){.request_id = "slow",
                            .kind = CUZK_GROTH16,
                            .circuit = "slow",
                            .priority = CUZK_HIGH,
                            .input_json = {(const uint8_t *)"{}", 2}};
    assert_status_ok(cuzk_job_submit(t.s, &slow.r, &ks));
    wait_for_command(t.s);
    request_circom(&q, "normal");
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    wait_for_job(t.s, k.job_id, 200000, &r);
    assert_int_equal(r.end, CUZK_WAIT_ENDED);
    assert_int_equal(r.state, CUZK_JOB_COMPLETED);
    assert_status_ok(cuzk_job_cancel(t.s, ks.job_id, &running));
    wait_for_job(t.s, ks.job_id, 0, &r);
    assert_int_equal(r.state, CUZK_JOB_CANCELLED);
    assert_true(clock_ns() - from < PATIENCE);
    request_clear(&q);
    service_stop(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends), cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_commands_hold_up_nobody), cmocka_unit_test(test_made),
        cmocka_unit_test(test_nobody_stands_aside)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
