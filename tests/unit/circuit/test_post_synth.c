/*
 * unit/circuit/test_post_synth.c - assignments of the reference's vanilla proofs: digests, public inputs, satisfied rows
 *
 * Judge: fixtures/filecoin statement.json, "assignment" (rust-fil-proofs 87348a7 with bellperson 0.27.0).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "support.h"

typedef struct synth_case {
    const char *folder;
    fil_kind kind;
} synth_case;

static const synth_case small_cases[] = {
    {"2kib/window-v1", FIL_WINDOW},
    {"2kib/window-v1_1", FIL_WINDOW},
    {"2kib/window-v1_1-short", FIL_WINDOW},
    {"2kib/winning", FIL_WINNING},
};

/* of the shared fixtures alone: a plain clone has them not */
static const synth_case cases[] = {
    {"4kib/window", FIL_WINDOW},    {"4kib/winning", FIL_WINNING}, {"16kib/window", FIL_WINDOW},
    {"16kib/winning", FIL_WINNING}, {"32kib/window", FIL_WINDOW},  {"32kib/winning", FIL_WINNING},
    {"8mib/window", FIL_WINDOW},    {"8mib/winning", FIL_WINNING},
};

static void test_assignments_of_2_kib(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof small_cases / sizeof small_cases[0]; i++)
        support_check_case(small_cases[i].folder, small_cases[i].kind, NULL);
}

static void test_assignments_of_other_sizes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        support_check_case(cases[i].folder, cases[i].kind, NULL);
}

static void test_any_number_of_threads(void **state)
{
    static const unsigned threads[] = {1, 2, 5};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        pool *p = NULL;

        assert_status_ok(pool_open(&p, threads[i], NULL));
        support_check_case("2kib/window-v1", FIL_WINDOW, p);
        support_check_case("2kib/winning", FIL_WINNING, p);
        pool_close(p);
    }
}

/* A system of another size or kind is refused, also one with as many instances. */
static void test_refuses_another_circuit(void **state)
{
    static const char *const others[] = {"window-4k", "window-32k", "winning-16k"};
    mem *m = support_mem();
    post_case c;
    post_vanilla *v;

    (void)state;
    post_case_open(&c, "16kib/window", FIL_WINDOW, m);
    v = post_case_read(&c, 0, m);
    for (size_t i = 0; i < 3; i++) {
        r1cs_system *sys = NULL;
        r1cs_assignment *w = NULL;
        fil_kind kind;
        const fil_size *size;

        assert_status_ok(fil_circuit_parse(&kind, &size, others[i]));
        assert_status_ok(post_system_of(&sys, support_poseidon(), kind, size, m));
        assert_status_is(post_synthesize(&w, sys, v, NULL, NULL, m), CUZK_EINVAL);
        assert_error_mentions(others[i]);
        assert_null(w);
        r1cs_free(sys);
    }
    post_vanilla_free(v);
    post_case_close(&c);
    support_close(m);
}

static void test_stops_when_asked(void **state)
{
    mem *m = support_mem();
    cancel *stop = NULL;
    r1cs_system *sys = NULL;
    r1cs_assignment *w = NULL;
    post_case c;
    post_vanilla *v;

    (void)state;
    assert_status_ok(cancel_new(&stop));
    post_case_open(&c, "2kib/winning", FIL_WINNING, m);
    assert_status_ok(post_system_of(&sys, support_poseidon(), c.kind, c.st->size, m));
    v = post_case_read(&c, 0, m);
    cancel_request(stop);
    assert_status_is(post_synthesize(&w, sys, v, NULL, stop, m), CUZK_ECANCELLED);
    assert_null(w);
    assert_status_is(post_vanilla_check(v, NULL, stop), CUZK_ECANCELLED);
    cancel_reset(stop);
    assert_status_ok(post_vanilla_check(v, NULL, stop));
    post_vanilla_free(v);
    r1cs_free(sys);
    post_case_close(&c);
    cancel_free(stop);
    support_close(m);
}

/* Reading and synthesising, with the k-th allocation failing. */
static cuzk_status read_and_synthesize(const post_case *c, size_t partition, const r1cs_system *sys,
                                       mem *m)
{
    post_vanilla *v = NULL;
    r1cs_assignment *w = NULL;
    size_t first, n;
    cuzk_status st;

    post_partition_sectors(c->st, partition, &first, &n);
    st = post_vanilla_read(&v, c->st, partition, c->inputs + first, n, support_poseidon(), m);
    if (st == CUZK_OK) st = post_vanilla_check(v, NULL, NULL);
    if (st == CUZK_OK) st = post_synthesize(&w, sys, v, NULL, NULL, m);
    assert_true((st == CUZK_OK) == (w != NULL));
    r1cs_assignment_free(w);
    post_vanilla_free(v);
    return st;
}

static void test_every_failing_allocation(void **state)
{
    mem *m = support_mem();
    r1cs_system *sys = NULL;
    post_case c;

    (void)state;
    post_case_open(&c, "2kib/window-v1_1", FIL_WINDOW, m);
    assert_status_ok(post_system_of(&sys, support_poseidon(), c.kind, c.st->size, m));
    for (unsigned long k = 1;; k++) {
        mem *own = support_mem();
        cuzk_status st;
        bool hit;

        mem_inject_fault(own, k);
        st = read_and_synthesize(&c, 1, sys, own);
        hit = mem_fault_hit(own);
        assert_int_equal(st, hit ? CUZK_ENOMEM : CUZK_OK);
        support_close(own);
        if (hit) continue;
        assert_true(k > 8);
        break;
    }
    r1cs_free(sys);
    post_case_close(&c);
    support_close(m);
}

/* What the estimates say is what is taken at most. */
static void test_memory_is_as_estimated(void **state)
{
    mem *m = support_mem(), *own = support_mem();
    r1cs_system *sys = NULL;
    r1cs_assignment *w = NULL;
    pool *p = NULL;
    post_case c;
    post_vanilla *v;

    (void)state;
    assert_status_ok(pool_open(&p, 3, NULL));
    post_case_open(&c, "4kib/winning", FIL_WINNING, m);
    assert_status_ok(post_system_of(&sys, support_poseidon(), c.kind, c.st->size, m));
    v = post_case_read(&c, 0, m);
    assert_status_ok(post_synthesize(&w, sys, v, p, NULL, own));
    assert_int_equal(mem_used(own), r1cs_assignment_size(sys));
    assert_int_equal(mem_peak(own), r1cs_assignment_size(sys) + post_check_size(v, p));
    r1cs_assignment_free(w);
    post_vanilla_free(v);
    r1cs_free(sys);
    post_case_close(&c);
    pool_close(p);
    support_close(own);
    support_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_assignments_of_2_kib),
        cmocka_unit_test(test_assignments_of_other_sizes),
        cmocka_unit_test(test_any_number_of_threads),
        cmocka_unit_test(test_refuses_another_circuit),
        cmocka_unit_test(test_stops_when_asked),
        cmocka_unit_test(test_every_failing_allocation),
        cmocka_unit_test(test_memory_is_as_estimated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
