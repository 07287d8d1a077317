/*
 * fault/test_engine.c - whole jobs with every allocation failing in turn: a clean status, no output, nothing left behind
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/engine.h"
#include "engine/filecoin.h"
#include "harness/harness.h"

typedef cuzk_status (*job_fn)(cuzk_engine *e, bool *has_output);

static const char *case_path(const char *file)
{
    char rel[96];
    (void)snprintf(rel, sizeof rel, "circom/bls12381/mult3/%s", file);
    return harness_fixture(rel);
}

static cuzk_status run_prove(cuzk_engine *e, bool *has_output)
{
    cuzk_circom_prove_args args = {.zkey = case_path("circuit.zkey"),
                                   .wtns = case_path("witness.wtns"),
                                   .r1cs = case_path("circuit.r1cs")};
    cuzk_buffer proof = {0}, pub = {0};
    cuzk_status st = cuzk_circom_prove(e, &args, &proof, &pub);

    *has_output = proof.data != NULL || pub.data != NULL;
    if (st == CUZK_OK) {
        cuzk_buffer_clear(&proof);
        cuzk_buffer_clear(&pub);
    }
    return st;
}

static cuzk_status run_verify(cuzk_engine *e, bool *has_output)
{
    bool valid = false;
    cuzk_status st = cuzk_circom_verify(e, case_path("verification_key.json"),
                                        case_path("public.json"), case_path("proof.json"), &valid);
    *has_output = valid;
    return st;
}

static cuzk_status run_setup(cuzk_engine *e, bool *has_output)
{
    const char *zkey = harness_temp_path("k.zkey");
    (void)remove(zkey);
    cuzk_status st = cuzk_circom_setup(e, case_path("circuit.r1cs"), zkey, NULL);
    FILE *f = fopen(zkey, "rb");
    *has_output = f != NULL;
    if (f != NULL) (void)fclose(f);
    return st;
}

static cuzk_status run_inspect(cuzk_engine *e, bool *has_output)
{
    cuzk_buffer json = {0};
    cuzk_status st = cuzk_inspect(e, case_path("circuit.zkey"), &json);

    *has_output = json.data != NULL;
    if (*has_output) cuzk_buffer_clear(&json);
    return st;
}

/* From the beginning each time, so that each allocation comes to its turn. */
static cuzk_status run_window_setup(cuzk_engine *e, bool *has_output)
{
    char part[FIL_PATH_MAX];

    *has_output = false;
    assert_status_ok(fil_key_path(part, harness_temp_dir(), FIL_WINDOW, fil_size_by_bytes(2048),
                                  ".params.part"));
    (void)remove(part);
    return cuzk_filecoin_setup(e, "window-2k", harness_temp_dir(),
                               harness_fixture("filecoin/trapdoors.json"));
}

static cuzk_status run_window(cuzk_engine *e, bool *has_output)
{
    const char *inputs[] = {harness_fixture("filecoin/2kib/window-v1_1-short/vanilla-0.bin")};
    cuzk_filecoin_args args = {
        .kind = "window",
        .statement = harness_fixture("filecoin/2kib/window-v1_1-short/statement.json"),
        .inputs = inputs,
        .n_inputs = 1,
        .params_dir = harness_temp_dir(),
        .partition = -1,
        .check_only = false};
    cuzk_buffer proof = {0};
    cuzk_status st = cuzk_filecoin_prove(e, &args, &proof);

    *has_output = proof.data != NULL;
    if (st == CUZK_OK) cuzk_buffer_clear(&proof);
    return st;
}

/* The native check alone, of a wrapped C1 output, with a field of the statement given beside it. */
static cuzk_status run_porep_check(cuzk_engine *e, bool *has_output)
{
    const char *inputs[] = {harness_fixture("filecoin/2kib/porep-v1_1/c1-wrapped.json")};
    const cuzk_field field = {"sector-number", "544162"};
    cuzk_filecoin_args args = {.kind = "porep",
                               .statement =
                                   harness_fixture("filecoin/2kib/porep-v1_1/statement.json"),
                               .fields = &field,
                               .n_fields = 1,
                               .inputs = inputs,
                               .n_inputs = 1,
                               .partition = -1,
                               .strict = true,
                               .check_only = true};
    cuzk_buffer proof = {0};
    cuzk_status st = cuzk_filecoin_prove(e, &args, &proof);

    *has_output = st != CUZK_OK && proof.data != NULL;
    if (st == CUZK_OK) cuzk_buffer_clear(&proof);
    return st;
}

static cuzk_status run_params_check(cuzk_engine *e, bool *has_output)
{
    cuzk_buffer json = {0};
    cuzk_status st = cuzk_params_check(e, harness_temp_dir(), false, &json);

    *has_output = json.data != NULL;
    if (*has_output) cuzk_buffer_clear(&json);
    return st;
}

/** Every k-th allocation from `first` on, in steps: quick jobs are swept in full, long ones in samples. */
static void sweep(job_fn run, unsigned long step)
{
    unsigned long k = 1;
    for (bool hit = true; hit; k += step) {
        cuzk_config config = {.threads = 2};
        cuzk_engine *e;
        bool has_output;

        assert_status_ok(cuzk_engine_open(&e, &config));
        size_t used = mem_used(e->m);
        mem_inject_fault(e->m, k);
        cuzk_status st = run(e, &has_output);
        hit = mem_fault_hit(e->m);
        mem_inject_fault(e->m, 0);
        if (hit) {
            assert_true(st == CUZK_ENOMEM || st == CUZK_EBUDGET);
            assert_int_equal(cuzk_last_error()->klass, CUZK_CLASS_RESOURCE);
            assert_false(has_output);
            assert_int_equal(mem_used(e->m), used);
            assert_status_ok(run(e, &has_output)); /* the engine goes on */
        } else {
            assert_status_ok(st);
        }
        cuzk_engine_close(e); /* VERIFY builds abort on a leak */
    }
    assert_true(k > 5 * step);
}

static void test_porep_check(void **state)
{
    (void)state;
    sweep(run_porep_check, 1);
}

static void test_prove(void **state)
{
    (void)state;
    sweep(run_prove, 1);
}
static void test_verify(void **state)
{
    (void)state;
    sweep(run_verify, 1);
}
static void test_setup(void **state)
{
    (void)state;
    sweep(run_setup, 1);
}
static void test_inspect(void **state)
{
    (void)state;
    sweep(run_inspect, 1);
}
static void test_window(void **state)
{
    cuzk_config config = {.threads = 2};
    cuzk_engine *e;
    bool has_output;
    (void)state;

    assert_status_ok(cuzk_engine_open(&e, &config));
    assert_status_ok(run_window_setup(e, &has_output));
    cuzk_engine_close(e);
    sweep(run_window, harness_level() == HARNESS_LONG ? 3 : 13);
    sweep(run_params_check, harness_level() == HARNESS_LONG ? 1 : 7);
    sweep(run_window_setup, harness_level() == HARNESS_LONG ? 5 : 41);
}

/** A file that is not there, cannot be read, or is a folder: CUZK_EIO, named. */
static void test_files(void **state)
{
    cuzk_config config = {.threads = 1};
    cuzk_engine *e;
    cuzk_buffer a, b;
    (void)state;

    assert_status_ok(cuzk_engine_open(&e, &config));
    const char *bad[] = {"/nonexistent/x.zkey", harness_temp_dir()};
    for (size_t i = 0; i < 2; i++) {
        cuzk_circom_prove_args args = {.zkey = bad[i], .wtns = case_path("witness.wtns")};
        assert_status_is(cuzk_circom_prove(e, &args, &a, &b), CUZK_EIO);
        assert_error_mentions(bad[i]);
        args = (cuzk_circom_prove_args){.zkey = case_path("circuit.zkey"), .wtns = bad[i]};
        assert_status_is(cuzk_circom_prove(e, &args, &a, &b), CUZK_EIO);
        assert_error_mentions(bad[i]);
    }
    cuzk_engine_close(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prove),       cmocka_unit_test(test_verify),
        cmocka_unit_test(test_setup),       cmocka_unit_test(test_inspect),
        cmocka_unit_test(test_window),      cmocka_unit_test(test_files),
        cmocka_unit_test(test_porep_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
