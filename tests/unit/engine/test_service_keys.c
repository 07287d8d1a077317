/*
 * unit/engine/test_service_keys.c - key files that change under a service, folders of keys that do not answer, failures that may be a key's
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "service_support.h"

#include <stdio.h>

#include "base/fault.h"
#include "engine/key_store.h"

static void copy_key(const char *name, const char *to)
{
    size_t n;
    uint8_t *data = harness_read_file(harness_vector(name), &n);

    harness_write_file(to, data, n);
    free(data);
}

static void request(test_request *q, const char *witness)
{
    memset(q, 0, sizeof *q);
    q->r = (cuzk_request){.request_id = "", .kind = CUZK_GROTH16, .circuit = "changing"};
    q->files[0] = harness_read_file(harness_vector(witness), &q->r.witness.size);
    q->r.witness.data = q->files[0];
}

static void proves(cuzk_service *s, test_request *q)
{
    cuzk_ticket k;
    told r;

    assert_status_ok(cuzk_job_submit(s, &q->r, &k));
    wait_for_job(s, k.job_id, 0, &r);
    if (r.state != CUZK_JOB_COMPLETED) fail_msg("%s: %s", r.error.where, r.error.message);
}

/* The file of a circuit that is loaded becomes another one, by a rename and in place: the next job is proved with that. */
static void test_changed_key(void **state)
{
    char path[512], other[512];
    cuzk_circuit c = {.name = "changing", .zkey = path};
    cuzk_service_tunables tune = {.circuits = &c, .n_circuits = 1};
    test_service t;
    test_request merkle, eddsa;
    bool loaded;
    uint64_t ms;

    (void)state;
    (void)snprintf(path, sizeof path, "%s", harness_temp_path("changing.zkey"));
    (void)snprintf(other, sizeof other, "%s", harness_temp_path("other.zkey"));
    copy_key("circom/bn128/merkle5/circuit.zkey", path);
    request(&merkle, "circom/bn128/merkle5/witness.wtns");
    request(&eddsa, "circom/bn128/eddsa/witness.wtns");
    service_start(&t, 2, NULL, &tune);
    proves(t.s, &merkle);
    copy_key("circom/bn128/eddsa/circuit.zkey", other);
    assert_int_equal(rename(other, path), 0);
    proves(t.s, &eddsa);
    copy_key("circom/bn128/merkle5/circuit.zkey", path);
    proves(t.s, &merkle);
    /* taken over by a reload, before any job asks */
    copy_key("circom/bn128/eddsa/circuit.zkey", other);
    assert_int_equal(rename(other, path), 0);
    assert_status_ok(cuzk_key_preload(t.s, "changing", &loaded, &ms));
    assert_false(loaded);
    assert_status_ok(cuzk_key_preload(t.s, "changing", &loaded, &ms));
    assert_true(loaded);
    copy_key("circom/bn128/merkle5/circuit.zkey", other);
    assert_int_equal(rename(other, path), 0);
    assert_status_ok(cuzk_service_tune(t.s, &tune));
    proves(t.s, &merkle);
    request_clear(&merkle);
    request_clear(&eddsa);
    service_stop(&t);
}

static char warned[512];

static void keep_warning(void *ctx, int level, const char *event, const cuzk_log_field *f, size_t n)
{
    (void)ctx;
    (void)level;
    for (size_t i = 0; i < n && strcmp(event, "warning") == 0; i++)
        if (strcmp(f[i].key, "message") == 0)
            (void)snprintf(warned, sizeof warned, "%s", f[i].text);
}

/* Derived points that are none are told of and done without: they only save time. */
static void test_rubbish_derived(void **state)
{
    cuzk_config ec = {.threads = 2, .device = "cpu", .derived = true};
    cuzk_service_config c = {.memory_total = (uint64_t)4 << 30,
                             .memory_critical = (uint64_t)1 << 30,
                             .log = keep_warning,
                             .params_dir = service_params()};
    char path[FIL_PATH_MAX];
    test_service t;
    test_request q;
    (void)state;

    assert_status_ok(
        fil_key_path(path, service_params(), FIL_WINDOW, fil_size_by_bytes(2048), ".derived"));
    harness_write_file(path, (const uint8_t *)"rubbish", 7);
    assert_status_ok(cuzk_engine_open(&t.e, &ec));
    assert_status_ok(cuzk_service_open(&t.s, t.e, &c));
    request_window(&q, "", 2);
    proves(t.s, &q);
    assert_non_null(strstr(warned, ".derived"));
    assert_int_equal(remove(path), 0);
    request_clear(&q);
    service_stop(&t);
}

#ifdef CUZK_VERIFY
/* A folder of keys that hangs: waits still time out. */
static void test_hanging_folder(void **state)
{
    test_service t;
    test_request q;
    cuzk_ticket k;
    told r;

    (void)state;
    fault_arm("key scan:600000,device:600000");
    service_start(&t, 2, NULL, NULL);
    wait_until_held("key scan");
    request_window(&q, "waited for", 2);
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    wait_for_job(t.s, k.job_id, 300, &r);
    assert_int_equal(r.end, CUZK_WAIT_TIMEOUT);
    assert_true(fault_held("key scan")); /* as when it was asked */
    fault_arm(NULL);
    request_clear(&q);
    service_stop(&t);
}

/* Without its rows nobody can tell a bad witness from a bad machine: the same request is tried again. */
static void test_fault_is_not_final(void **state)
{
    cuzk_circuit c = *service_test_circuit();
    cuzk_service_tunables tune = {.retries = 2, .circuits = &c, .n_circuits = 1};
    test_service t;
    test_request q;
    cuzk_ticket k;
    told r;

    (void)state;
    c.r1cs = NULL;
    service_start(&t, 2, NULL, &tune);
    request_circom(&q, "faulty");
    fault_arm("self check:1:3");
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    wait_for_job(t.s, k.job_id, 0, &r);
    fault_arm(NULL);
    assert_int_equal(r.state, CUZK_JOB_FAILED);
    assert_int_equal(r.error.klass, CUZK_CLASS_UNSATISFIED);
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    assert_false(k.known);
    wait_for_job(t.s, k.job_id, 0, &r);
    assert_int_equal(r.state, CUZK_JOB_COMPLETED);
    request_clear(&q);
    service_stop(&t);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changed_key),
        cmocka_unit_test(test_rubbish_derived),
#ifdef CUZK_VERIFY
        cmocka_unit_test(test_hanging_folder),
        cmocka_unit_test(test_fault_is_not_final),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
