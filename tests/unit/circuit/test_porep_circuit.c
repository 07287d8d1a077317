/*
 * unit/circuit/test_porep_circuit.c - PoRep circuits of the smallest sectors, and of upstream's test shapes
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "porep_rows.h"

#include "circuit/filecoin/porep_places.h"

static const porep_row row_2k = {
    {"PoRep 2KiB", 40, 2685673, 2687921, 2674908, 685521,
     "2c120b1125bd531d5a62b11932b2ae0e0cb47f455cea582994f97534e296bb42"},
    2048,
    2,
    2,
    2687961,
    22,
    {0, 0, 0}};

static void test_2_kib(void **state)
{
    (void)state;
    porep_row_check(&row_2k);
}

/* trees that no network size has */
typedef struct shape {
    uint32_t levels[3];
    unsigned n_levels, d_levels;
    expected_system want;
} shape;

static const shape shapes[] = {
    {{2, 2, 2},
     3,
     3,
     {"stacked test 2", 22, 1205053, 1206212, 1200052, 307340,
      "e933e8bea2e68a3569205187f61c428770f083c7e7d2113babedb204b9429bc3"}},
    {{8},
     1,
     3,
     {"stacked test 8", 22, 1198525, 1199620, 1195188, 302284,
      "b9e22ee377bc73c4e08f679252c4f87948f5812be8c95358a6bf87a7279a785f"}},
    {{8, 4},
     2,
     5,
     {"stacked test 8-4", 22, 1295435, 1296576, 1290574, 329874,
      "2bb32fe1d16325b1afe3f67f42148047406233e23eae86605f53247273706615"}},
    {{8, 4, 2},
     3,
     6,
     {"stacked test 8-4-2", 22, 1345810, 1346982, 1339699, 345133,
      "c9b69c85139ae04bac789fecb881052900c660c6337ab4b520eaa0c9f7293f75"}},
};

static void test_upstream_test_shapes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const shape *s = &shapes[i];
        porep_layout l = {.layers = 2, .n_levels = s->n_levels, .d_levels = s->d_levels};
        mem *m = support_mem();
        r1cs_system *sys = NULL;

        memcpy(l.levels, s->levels, sizeof s->levels);
        assert_status_ok(porep_system_of(&sys, support_poseidon(), "test", &l, 1, m));
        support_check_system(sys, &s->want);
        r1cs_free(sys);
        support_close(m);
    }
}

static void test_refuses_other_sizes_and_layers(void **state)
{
    mem *m = support_mem();
    r1cs_system *sys = NULL;

    (void)state;
    assert_status_is(
        porep_system_new(&sys, support_poseidon(), "x", fil_size_by_bytes(2048), 3, 2, m),
        CUZK_EINVAL);
    assert_error_mentions("3 layers");
    assert_status_is(
        porep_system_new(&sys, support_poseidon(), "x", fil_size_by_bytes(1024), 2, 2, m),
        CUZK_EINVAL);
    assert_null(sys);
    support_close(m);
}

static void test_failing_allocations(void **state)
{
    unsigned long step = 1;

    (void)state;
    (void)support_poseidon();
    for (unsigned long k = 1;; k += step, step += k / 8) { /* every one costs minutes */
        mem *m = support_mem();
        r1cs_system *sys = NULL;
        cuzk_status st;

        mem_inject_fault(m, k);
        st = porep_system_new(&sys, support_poseidon(), "x", fil_size_by_bytes(2048), 2, 1, m);
        if (!mem_fault_hit(m)) {
            assert_status_ok(st);
            r1cs_free(sys);
            support_close(m);
            assert_true(k > 100);
            return;
        }
        assert_status_is(st, CUZK_ENOMEM);
        assert_null(sys);
        support_close(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_2_kib),
        cmocka_unit_test(test_upstream_test_shapes),
        cmocka_unit_test(test_refuses_other_sizes_and_layers),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
