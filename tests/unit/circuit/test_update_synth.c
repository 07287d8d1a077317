/*
 * unit/circuit/test_update_synth.c - assignments of the reference's update proofs: digests, public inputs, satisfied rows
 *
 * Judge: fixtures/filecoin statement.json, "assignment" (rust-fil-proofs 87348a7 with bellperson 0.27.0).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "update_support.h"

static const size_t first[] = {0};

static void test_assignments(void **state)
{
    (void)state;
    update_check_case("2kib/update", first, 1, NULL);
    update_check_case("4kib/update", first, 1, NULL);
}

static void test_any_number_of_threads(void **state)
{
    static const unsigned threads[] = {1, 2, 5};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        pool *p = NULL;

        assert_status_ok(pool_open(&p, threads[i], NULL));
        update_check_case("2kib/update", first, 1, p);
        pool_close(p);
    }
}

/* What the tests below share: a decoded proof and its circuit. */
typedef struct bench {
    mem *m;
    update_statement st;
    r1cs_system *sys;
    uint8_t *file;
    update_vanilla *v;
} bench;

static void bench_open(bench *b, const char *statement, const char *file)
{
    uint8_t *json;
    size_t size;

    *b = (bench){.m = support_mem()};
    json = harness_read_file(harness_fixture(statement), &size);
    assert_status_ok(update_statement_read(&b->st, json, size, FIL_UPDATE));
    free(json);
    assert_status_ok(
        update_system_of(&b->sys, support_poseidon(), FIL_UPDATE, b->st.shape.size, b->m));
    b->file = harness_read_file(harness_fixture(file), &size);
    assert_status_ok(
        update_vanilla_read(&b->v, &b->st, 0, b->file, size, support_poseidon(), b->m));
}

static void bench_close(bench *b)
{
    update_vanilla_free(b->v);
    free(b->file);
    r1cs_free(b->sys);
    support_close(b->m);
}

/* Made by our Python model of the specification (tools/make_fixtures.py), not by the reference. */
static void test_the_models_proof(void **state)
{
    const fil_redundant strict = {.strict = true};
    r1cs_assignment *w = NULL;
    bench b;

    (void)state;
    bench_open(&b, "filecoin/model/update-2kib.pub.json", "filecoin/model/update-2kib.bin");
    assert_status_ok(update_vanilla_check(b.v, &strict, NULL, NULL));
    assert_status_ok(update_synthesize(&w, b.sys, b.v, &strict, NULL, NULL, b.m));
    support_holds(b.sys, w);
    support_bits_matter(b.sys, w);
    r1cs_assignment_free(w);
    bench_close(&b);
}

static void test_refuses_another_circuit(void **state)
{
    static const struct {
        fil_kind kind;
        uint64_t bytes;
    } others[] = {{FIL_UPDATE, 1024}, {FIL_UPDATE, 4096}, {FIL_UPDATE_POSEIDON, 2048}};
    bench b;

    (void)state;
    bench_open(&b, "filecoin/2kib/update/statement.json", "filecoin/2kib/update/partition-0.bin");
    for (size_t i = 0; i < 3; i++) {
        r1cs_system *sys = NULL;
        r1cs_assignment *w = NULL;

        assert_status_ok(update_system_of(&sys, support_poseidon(), others[i].kind,
                                          fil_size_by_bytes(others[i].bytes), b.m));
        assert_status_is(update_synthesize(&w, sys, b.v, NULL, NULL, NULL, b.m), CUZK_EINVAL);
        assert_error_mentions(sys->name);
        assert_null(w);
        r1cs_free(sys);
    }
    bench_close(&b);
}

static void test_stops_when_asked(void **state)
{
    cancel *stop = NULL;
    r1cs_assignment *w = NULL;
    bench b;

    (void)state;
    assert_status_ok(cancel_new(&stop));
    bench_open(&b, "filecoin/2kib/update/statement.json", "filecoin/2kib/update/partition-0.bin");
    cancel_request(stop);
    assert_status_is(update_synthesize(&w, b.sys, b.v, NULL, NULL, stop, b.m), CUZK_ECANCELLED);
    assert_null(w);
    assert_status_is(update_vanilla_check(b.v, NULL, NULL, stop), CUZK_ECANCELLED);
    cancel_reset(stop);
    assert_status_ok(update_vanilla_check(b.v, NULL, NULL, stop));
    bench_close(&b);
    cancel_free(stop);
}

/* Reading, checking and synthesising, with the k-th allocation failing. */
static cuzk_status read_and_synthesize(const bench *b, size_t size, mem *m)
{
    update_vanilla *v = NULL;
    r1cs_assignment *w = NULL;
    cuzk_status st = update_vanilla_read(&v, &b->st, 0, b->file, size, support_poseidon(), m);

    if (st == CUZK_OK) st = update_vanilla_check(v, NULL, NULL, NULL);
    if (st == CUZK_OK) st = update_synthesize(&w, b->sys, v, NULL, NULL, NULL, m);
    assert_true((st == CUZK_OK) == (w != NULL));
    r1cs_assignment_free(w);
    update_vanilla_free(v);
    return st;
}

static void test_every_failing_allocation(void **state)
{
    bench b;

    (void)state;
    bench_open(&b, "filecoin/2kib/update/statement.json", "filecoin/2kib/update/partition-0.bin");
    for (unsigned long k = 1;; k++) {
        mem *own = support_mem();
        cuzk_status st;
        bool hit;

        mem_inject_fault(own, k);
        st = read_and_synthesize(&b, 15064, own);
        hit = mem_fault_hit(own);
        assert_int_equal(st, hit ? CUZK_ENOMEM : CUZK_OK);
        support_close(own);
        if (hit) continue;
        assert_true(k > 6);
        break;
    }
    bench_close(&b);
}

/* What the estimates say is what is taken at most. */
static void test_memory_is_as_estimated(void **state)
{
    mem *own = support_mem();
    r1cs_assignment *w = NULL;
    size_t before;
    bench b;

    (void)state;
    bench_open(&b, "filecoin/2kib/update/statement.json", "filecoin/2kib/update/partition-0.bin");
    assert_status_ok(update_synthesize(&w, b.sys, b.v, NULL, NULL, NULL, own));
    assert_int_equal(mem_used(own), r1cs_assignment_size(b.sys));
    assert_int_equal(mem_peak(own), r1cs_assignment_size(b.sys) + update_check_size(b.v));
    r1cs_assignment_free(w);
    before = mem_used(b.m);
    mem_reset_peak(b.m);
    assert_status_ok(update_vanilla_check(b.v, NULL, NULL, NULL));
    assert_int_equal(mem_peak(b.m), before + update_check_size(b.v));
    bench_close(&b);
    support_close(own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_assignments),
        cmocka_unit_test(test_any_number_of_threads),
        cmocka_unit_test(test_the_models_proof),
        cmocka_unit_test(test_refuses_another_circuit),
        cmocka_unit_test(test_stops_when_asked),
        cmocka_unit_test(test_every_failing_allocation),
        cmocka_unit_test(test_memory_is_as_estimated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
