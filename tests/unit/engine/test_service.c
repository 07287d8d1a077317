/*
 * unit/engine/test_service.c - jobs through the service: proved and verified, the same asked twice, cancelled, refused,
 * taken up after a restart
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "service_support.h"

#include <unistd.h>

#define ATTEMPTS 5 /* of what a thread that is put aside may miss */

/* The proof verifies against the fixture's statement: 3 sectors, 2 partitions. */
static void check_window_proof(const told *t)
{
    const char *path = harness_temp_path("window.proof");
    cuzk_config c = {.threads = 1};
    cuzk_filecoin_args args = {.kind = "window", .params_dir = service_params(), .partition = -1};
    cuzk_engine *e;
    bool valid = false;

    assert_int_equal(t->proof_size, 2 * 192);
    harness_write_file(path, t->proof, t->proof_size);
    args.statement = harness_vector("filecoin/2kib/window-v1_1/statement.json");
    assert_status_ok(cuzk_engine_open(&e, &c));
    assert_status_ok(cuzk_filecoin_verify(e, &args, path, &valid));
    cuzk_engine_close(e);
    assert_true(valid);
}

/* False: the machine stalled between two steps. */
static bool check_times(const cuzk_job_times *t)
{
    assert_int_equal(t->queue_ms + t->key_ms + t->synthesis_ms + t->device_ms + t->decode_ms +
                         t->verify_ms + t->store_ms + t->rest_ms,
                     t->total_ms);
    assert_true(t->device_ms > 0);
    return t->rest_ms <= 20 + t->total_ms / 100;
}

/* Workers count an item off after its job was told: a moment later all is at rest, and stays. */
static void check_at_rest(cuzk_service *s)
{
    static const char *const gauges[] = {"queue_depth", "synth_in_flight", "provers_in_flight",
                                         "waiting"};
    char *text = NULL;
    bool rest = false;

    for (unsigned tries = 0; tries < 12000 && !rest; tries++) {
        if (text != NULL) (void)usleep(10000);
        free(text);
        text = document(s, "/status");
        rest = true;
        for (size_t i = 0; i < sizeof gauges / sizeof gauges[0]; i++)
            rest = rest && (int)json_number(text, gauges[i]) == 0;
    }
    if (!rest) harness_fail("not at rest: %s", text);
    free(text);
}

/* Every part of the time has its name; of some jobs one will do, as the machine may stall. */
static void check_accounted(cuzk_service *s, const cuzk_job_times *first)
{
    bool good = check_times(first);

    for (unsigned i = 0; i < ATTEMPTS && !good; i++) {
        test_request q;
        cuzk_ticket k;
        told r;

        request_circom(&q, "");
        assert_status_ok(cuzk_job_submit(s, &q.r, &k));
        wait_for_job(s, k.job_id, 0, &r);
        assert_int_equal(r.state, CUZK_JOB_COMPLETED);
        good = check_times(&r.times);
        request_clear(&q);
    }
    assert_true(good);
}

static void prove_window(const char *store)
{
    test_service t;
    test_request q;
    cuzk_ticket k;
    told r;
    char *text;

    service_start(&t, 2, store, NULL);
    request_window(&q, "wdpost-1000-0-[1 2 3]", 3);
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    assert_string_equal(k.job_id, "wdpost-1000-0-[1 2 3]");
    assert_false(k.known);
    assert_int_equal(k.queue_position, 0);
    wait_for_job(t.s, k.job_id, 0, &r);
    assert_int_equal(r.end, CUZK_WAIT_ENDED);
    if (r.state != CUZK_JOB_COMPLETED) fail_msg("%s: %s", r.error.where, r.error.message);
    check_window_proof(&r);
    check_accounted(t.s, &r.times);
    check_at_rest(t.s);
    text = document(t.s, "/jobs/wdpost-1000-0-%5B1%202%203%5D");
    (void)printf("%s", text);
    assert_non_null(strstr(text, "\"state\":\"completed\""));
    free(text);
    text = document(t.s, "/status");
    (void)printf("%s", text);
    free(text);
    text = document(t.s, "/metrics");
    assert_non_null(strstr(text, "cuzk_proofs_completed{proof_kind=\"window_post\"} 1\n"));
    free(text);
    text = document(t.s, "/timeline");
    assert_non_null(strstr(text, "\"device 0\""));
    free(text);

    /* the same again: the stored result, at once */
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    assert_true(k.known);
    wait_for_job(t.s, k.job_id, 0, &r);
    check_window_proof(&r);
    request_clear(&q);
    service_stop(&t);
}

/* Partitions go to whichever device is free; each has its row. */
static void test_two_devices(void **state)
{
    test_service t;
    test_request q;
    cuzk_ticket k;
    cuzk_status_rows rows;
    told r;
    char *text;
    double done = 0;

    (void)state;
    service_devices = "cpu,cpu";
    service_start(&t, 2, NULL, NULL);
    service_devices = NULL;
    request_window(&q, "two", 3);
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    assert_string_equal(k.device, "cpu");
    wait_for_job(t.s, k.job_id, 0, &r);
    if (r.state != CUZK_JOB_COMPLETED) fail_msg("%s: %s", r.error.where, r.error.message);
    check_window_proof(&r);
    check_at_rest(t.s);
    assert_status_ok(cuzk_service_rows(t.s, &rows));
    assert_int_equal(rows.n_devices, 2);
    assert_string_equal(rows.devices[0].name, "cpu");
    assert_string_equal(rows.devices[1].name, "cpu:1");
    assert_null(rows.devices[0].kind);
    cuzk_status_rows_clear(&rows);
    text = document(t.s, "/status");
    for (const char *p = text; (p = strstr(p, "\"at_a_time\":1,")) != NULL; p++)
        done += json_number(p, "partitions");
    assert_int_equal((int)done, 2);
    assert_non_null(strstr(text, "\"worker_id\":1,\"gpu_ordinal\":1,\"state\":\"idle\""));
    free(text);
    text = document(t.s, "/metrics");
    assert_non_null(strstr(text, "\ncuzk_device_up{device=\"cpu:1\"} 1\n"));
    assert_non_null(strstr(text, "\ncuzk_gpu_workers 2\n"));
    free(text);
    request_clear(&q);
    service_stop(&t);
}

static void test_window_in_memory(void **state)
{
    (void)state;
    prove_window(NULL);
}

static void test_window_stored(void **state)
{
    test_service t;
    test_request q;
    cuzk_ticket k;
    told r;
    const char *store = harness_temp_path("window.db");

    (void)state;
    prove_window(store);
    /* another process's answer, from the store */
    service_start(&t, 2, store, NULL);
    request_window(&q, "wdpost-1000-0-[1 2 3]", 3);
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    assert_true(k.known);
    wait_for_job(t.s, k.job_id, 0, &r);
    check_window_proof(&r);
    request_clear(&q);
    service_stop(&t);
}

static void test_circom(void **state)
{
    test_service t;
    test_request q;
    cuzk_ticket k;
    told r;

    (void)state;
    service_start(&t, 2, NULL, NULL);
    request_circom(&q, "");
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    assert_int_equal(strlen(k.job_id), 36);
    wait_for_job(t.s, k.job_id, 0, &r);
    if (r.state != CUZK_JOB_COMPLETED) fail_msg("%s: %s", r.error.where, r.error.message);
    assert_int_equal(r.proof_size, 256);
    assert_non_null(strstr(r.proof_json, "\"protocol\": \"groth16\""));
    assert_true(strlen(r.public_json) > 10);
    check_at_rest(t.s);
    request_clear(&q);
    service_stop(&t);
}

static void test_same_id_other_payload(void **state)
{
    test_service t;
    test_request a, b;
    cuzk_ticket ka, kb;
    told r;

    (void)state;
    service_start(&t, 2, NULL, NULL);
    request_window(&a, "same", 3);
    request_window(&b, "same", 2);
    assert_status_ok(cuzk_job_submit(t.s, &a.r, &ka));
    assert_status_ok(cuzk_job_submit(t.s, &b.r, &kb));
    assert_string_equal(ka.job_id, "same");
    assert_string_equal(kb.job_id, "same~2");
    wait_for_job(t.s, ka.job_id, 0, &r);
    assert_int_equal(r.proof_size, 384);
    wait_for_job(t.s, kb.job_id, 0, &r);
    assert_int_equal(r.proof_size, 192);
    request_clear(&a);
    request_clear(&b);
    service_stop(&t);
}

static void refused(cuzk_service *s, const cuzk_request *r, cuzk_status want, const char *tells)
{
    cuzk_ticket k;

    assert_status_is(cuzk_job_submit(s, r, &k), want);
    (void)printf("%s: %s\n", cuzk_last_error()->where, cuzk_last_error()->message);
    assert_error_mentions(tells);
}

static void test_bad_requests(void **state)
{
    test_service t;
    test_request q;
    cuzk_request r;
    cuzk_bytes none = {0};

    (void)state;
    service_start(&t, 1, NULL, NULL);
    request_window(&q, "bad", 1);
    r = q.r;
    r.kind = 7;
    refused(t.s, &r, CUZK_EINVAL, "proof kind 7");
    r = q.r;
    r.kind = 0;
    refused(t.s, &r, CUZK_EINVAL, "proof kind 0");
    r = q.r;
    r.priority = 9;
    refused(t.s, &r, CUZK_EINVAL, "priority 9");
    r = q.r;
    r.sector_size = 2047;
    refused(t.s, &r, CUZK_EINVAL, "sector_size 2047");
    r = q.r;
    r.sector_size = 4096;
    refused(t.s, &r, CUZK_EINVAL, "none of the network's");
    r = q.r;
    r.registered_proof = 13;
    refused(t.s, &r, CUZK_EINVAL, "is not of sectors of 2048 bytes");
    r = q.r;
    r.registered_proof = 99;
    refused(t.s, &r, CUZK_EINVAL, "registered PoSt proof 99");
    r = q.r;
    r.randomness = none;
    refused(t.s, &r, CUZK_EINVAL, "randomness of 0 bytes");
    r = q.r;
    r.n_vanilla_proofs = 0;
    refused(t.s, &r, CUZK_EINVAL, "no vanilla proofs");
    r = q.r;
    r.kind = CUZK_POREP;
    r.registered_proof = 15;
    r.vanilla_proof = q.pieces[0];
    r.n_vanilla_proofs = 0;
    refused(t.s, &r, CUZK_EINVAL, "aggregation not supported");
    r = q.r;
    r.kind = CUZK_GROTH16;
    r.circuit = "nothing";
    r.witness = q.pieces[0];
    refused(t.s, &r, CUZK_EINVAL, "unknown circuit nothing");
    r = q.r;
    r.request_id = "\xff";
    refused(t.s, &r, CUZK_EINVAL, "not UTF-8");
    check_at_rest(t.s);
    request_clear(&q);
    service_stop(&t);
}

static void fails(cuzk_service *s, const cuzk_request *r, cuzk_class klass, const char *tells)
{
    cuzk_ticket k;
    told t;

    assert_status_ok(cuzk_job_submit(s, r, &k));
    wait_for_job(s, k.job_id, 0, &t);
    assert_int_equal(t.state, CUZK_JOB_FAILED);
    (void)printf("%s: %s\n", t.error.where, t.error.message);
    assert_int_equal(t.error.klass, klass);
    assert_non_null(strstr(t.error.message, tells));
}

static void test_failing_jobs(void **state)
{
    test_service t;
    test_request q;
    cuzk_request r;
    char *text;

    (void)state;
    service_start(&t, 2, NULL, NULL);
    request_window(&q, "damaged", 1);
    q.files[0][3000] ^= 1;
    fails(t.s, &q.r, CUZK_CLASS_INCONSISTENT, "");
    q.pieces[0].size = 20;
    fails(t.s, &q.r, CUZK_CLASS_MALFORMED, "20 bytes");
    request_clear(&q);
    request_window(&q, "no key", 1);
    r = q.r;
    r.kind = CUZK_WINNING;
    r.registered_proof = 0;
    fails(t.s, &r, CUZK_CLASS_IO, "no key for winning-2k");
    request_clear(&q);
    request_circom(&q, "unsatisfied");
    q.files[0][q.r.witness.size - 5] ^= 1;
    fails(t.s, &q.r, CUZK_CLASS_UNSATISFIED, "constraint");
    text = document(t.s, "/status");
    assert_int_equal((int)json_number(text, "total_failed"), 4);
    free(text);
    check_at_rest(t.s);
    request_clear(&q);
    service_stop(&t);
}

static void test_cancel_and_try_again(void **state)
{
    test_service t;
    test_request q;
    cuzk_ticket k;
    told r;
    bool running;

    (void)state;
    service_start(&t, 1, NULL, NULL);
    hold_device(t.s, true); /* it does not end by itself */
    request_window(&q, "cancelled", 3);
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    assert_status_ok(cuzk_job_cancel(t.s, k.job_id, &running));
    assert_true(running);
    wait_for_job(t.s, k.job_id, 0, &r);
    assert_int_equal(r.state, CUZK_JOB_CANCELLED);
    assert_status_ok(cuzk_job_cancel(t.s, k.job_id, &running));
    assert_false(running);
    check_at_rest(t.s);
    /* the same request: a new attempt under its id */
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    assert_string_equal(k.job_id, "cancelled");
    assert_false(k.known);
    wait_for_job(t.s, k.job_id, 1, &r);
    assert_int_equal(r.end, CUZK_WAIT_TIMEOUT);
    hold_device(t.s, false);
    wait_for_job(t.s, k.job_id, 0, &r);
    assert_int_equal(r.state, CUZK_JOB_COMPLETED);
    assert_status_is(cuzk_job_cancel(t.s, "nobody", &running), CUZK_EINVAL);
    request_clear(&q);
    service_stop(&t);
}

static void test_closed_in_the_middle(void **state)
{
    test_service t;
    test_request q;
    cuzk_ticket k;
    told r;
    const char *store = harness_temp_path("middle.db");

    (void)state;
    service_start(&t, 1, store, NULL);
    request_window(&q, "middle", 3);
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    service_stop(&t); /* nothing of it is done */
    service_start(&t, 2, store, NULL);
    wait_for_job(t.s, "middle", 0, &r);
    assert_int_equal(r.state, CUZK_JOB_COMPLETED);
    check_window_proof(&r);
    request_clear(&q);
    service_stop(&t);
}

static bool is_state(cuzk_service *s, const char *path, const char *state)
{
    char text[64], *doc = document(s, path);
    bool yes;

    (void)snprintf(text, sizeof text, "\"state\":\"%s\",\"created_at\"", state);
    yes = strstr(doc, text) != NULL;
    free(doc);
    return yes;
}

/* False: what was to be passed had ended before anybody came. */
static bool urgent_work_passes(void)
{
    test_service t;
    test_request low, urgent;
    cuzk_ticket k;
    told r;
    char id[4][16];
    bool there, passed;

    service_start(&t, 2, NULL, NULL);
    request_window(&low, "", 3);
    low.r.priority = CUZK_LOW;
    for (unsigned i = 0; i < 4; i++) {
        (void)snprintf(id[i], sizeof id[i], "low-%u", i);
        low.r.request_id = id[i];
        assert_status_ok(cuzk_job_submit(t.s, &low.r, &k));
    }
    while (is_state(t.s, "/jobs/low-0", "queued")) service_pause(1);
    service_pause(100); /* it is on the device */
    request_circom(&urgent, "urgent");
    urgent.r.priority = CUZK_CRITICAL;
    assert_status_ok(cuzk_job_submit(t.s, &urgent.r, &k));
    assert_int_equal(k.queue_position, 0);
    wait_for_job(t.s, "urgent", 0, &r);
    assert_int_equal(r.state, CUZK_JOB_COMPLETED);
    there = is_state(t.s, "/jobs/low-0", "running");
    /* raised, the last one passes those before it */
    low.r.request_id = id[3];
    low.r.priority = CUZK_HIGH;
    assert_status_ok(cuzk_job_submit(t.s, &low.r, &k));
    assert_true(k.known);
    wait_for_job(t.s, "low-3", 0, &r);
    assert_int_equal(r.state, CUZK_JOB_COMPLETED);
    passed = !is_state(t.s, "/jobs/low-2", "completed");
    for (unsigned i = 0; i < 3; i++) {
        wait_for_job(t.s, id[i], 0, &r);
        assert_int_equal(r.state, CUZK_JOB_COMPLETED);
        check_window_proof(&r);
    }
    request_clear(&low);
    request_clear(&urgent);
    service_stop(&t);
    return there && passed;
}

/* Urgent work passes what waits and what is on the device, which goes on afterwards. */
static void test_urgent_work_passes(void **state)
{
    unsigned attempt = 0;

    (void)state;
    while (!urgent_work_passes())
        if (++attempt == ATTEMPTS) fail_msg("not passed, %u times", ATTEMPTS);
}

static void test_deadline(void **state)
{
    test_service t;
    test_request q;
    cuzk_ticket k;
    told r;

    (void)state;
    service_start(&t, 1, NULL, NULL);
    request_window(&q, "late", 3);
    q.r.deadline_ms = 20;
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    wait_for_job(t.s, k.job_id, 0, &r);
    assert_int_equal(r.state, CUZK_JOB_FAILED);
    assert_int_equal(r.error.status, CUZK_ETIMEOUT);
    request_clear(&q);
    service_stop(&t);
}

static void test_never_fits(void **state)
{
    test_service t;
    test_request q;
    cuzk_service_config c = {.memory_total = 4 << 20};

    (void)state;
    service_start_config(&t, 1, &c);
    request_window(&q, "huge", 1);
    fails(t.s, &q.r, CUZK_CLASS_RESOURCE, "the budget is");
    request_clear(&q);
    service_stop(&t);
}

static void test_keys(void **state)
{
    test_service t;
    bool loaded;
    uint64_t ms, freed;

    (void)state;
    service_start(&t, 1, NULL, NULL);
    assert_status_ok(cuzk_key_preload(t.s, "wpost-2k", &loaded, &ms));
    assert_false(loaded);
    assert_status_ok(cuzk_key_preload(t.s, "window-2k", &loaded, &ms));
    assert_true(loaded);
    assert_status_ok(cuzk_key_evict(t.s, "wpost-2k", &loaded, &freed));
    assert_true(loaded);
    assert_true(freed > 1000000);
    assert_status_ok(cuzk_key_evict(t.s, "wpost-2k", &loaded, &freed));
    assert_false(loaded);
    assert_status_is(cuzk_key_preload(t.s, "porep-2k", &loaded, &ms), CUZK_EIO);
    assert_error_mentions("no key for porep-2k");
    assert_status_is(cuzk_key_preload(t.s, "porep-3k", &loaded, &ms), CUZK_EINVAL);
    assert_status_ok(cuzk_key_preload(t.s, "merkle5", &loaded, &ms));
    service_stop(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_window_in_memory),
        cmocka_unit_test(test_two_devices),
        cmocka_unit_test(test_circom),
        cmocka_unit_test(test_same_id_other_payload),
        cmocka_unit_test(test_bad_requests),
        cmocka_unit_test(test_failing_jobs),
        cmocka_unit_test(test_cancel_and_try_again),
        cmocka_unit_test(test_urgent_work_passes),
        cmocka_unit_test(test_deadline),
        cmocka_unit_test(test_never_fits),
        cmocka_unit_test(test_keys),
#ifdef CUZK_HAS_SERVICE
        cmocka_unit_test(test_window_stored),
        cmocka_unit_test(test_closed_in_the_middle),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
