/*
 * unit/circuit/test_update_circuit.c - the circuits of sector updates, small sizes
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit_rows.h"

static const circuit_row rows[] = {
    {{"Update 1KiB", 5, 1247309, 1248389, 1241649, 327403,
      "9aa72227dad454f80a1ccbe181a4cae6d74c61eefde0323939b9df51d1f800b4"},
     "update-1k",
     1248394,
     21,
     {0, 0, 0}},
    {{"Update 2KiB", 5, 1703569, 1705039, 1697189, 444403,
      "c787aea9329f4525b3bcde14533b9b775654f6a9afe0a7c671783c8bd4f1f7a5"},
     "update-2k",
     1705044,
     21,
     {0, 0, 0}},
    {{"Update 4KiB", 5, 2163189, 2165109, 2155229, 564063,
      "ec26a8b7d5c248e9f958fdf76a30fed2c27802e1786e6e9bc8fe02796e6a98f3"},
     "update-4k",
     2165114,
     22,
     {0, 0, 0}},
    {{"Update 8KiB", 5, 2618009, 2620359, 2609689, 680063,
      "eec9a4e731edafe069668d6a2041d1c8b4a3164d5465f1af2f5bd2867eac3fcb"},
     "update-8k",
     2620364,
     22,
     {0, 0, 0}},
    {{"Update-poseidon 1KiB", 5, 32454, 32164, 24600, 23667,
      "84063d3af825ccb94887245f8d1da1b5133b68634fdf0b42dc2950b51cd9af3c"},
     "update-poseidon-1k",
     32169,
     15,
     {0, 0, 0}},
    {{"Update-poseidon 8KiB", 5, 48474, 47974, 36720, 35247,
      "2ed9b3361c3638e78ea9c1fad01709462eb6ed87e543cdf98304d2a042a09777"},
     "update-poseidon-8k",
     47979,
     16,
     {0, 0, 0}},
    {{"Update-poseidon 8MiB", 5, 400248, 395250, 303016, 289453,
      "77b5881b23fe9914434d69fe45e1fec959915b73634f07e1738c5ff9cd1a06d5"},
     "update-poseidon-8m",
     395255,
     19,
     {0, 0, 0}},
};

static void test_circuits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) circuit_row_check(&rows[i]);
}

static void test_refuses_other_kinds_and_sizes(void **state)
{
    mem *m = support_mem();
    r1cs_system *sys = NULL;

    (void)state;
    assert_status_is(
        update_system_of(&sys, support_poseidon(), FIL_WINDOW, fil_size_by_bytes(2048), m),
        CUZK_EINVAL);
    assert_status_is(
        update_system_of(&sys, support_poseidon(), FIL_UPDATE, fil_size_by_bytes(1 << 30), m),
        CUZK_EINVAL);
    assert_error_mentions("no update circuit of size 1g");
    assert_null(sys);
    support_close(m);
}

static void test_every_failing_allocation(void **state)
{
    (void)state;
    (void)support_poseidon();
    for (unsigned long k = 1;; k++) {
        mem *m = support_mem();
        r1cs_system *sys = NULL;
        cuzk_status st;

        mem_inject_fault(m, k);
        st = update_system_of(&sys, support_poseidon(), FIL_UPDATE_POSEIDON,
                              fil_size_by_bytes(1024), m);
        if (!mem_fault_hit(m)) {
            assert_status_ok(st);
            r1cs_free(sys);
            support_close(m);
            assert_true(k > 20);
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
        cmocka_unit_test(test_circuits),
        cmocka_unit_test(test_refuses_other_kinds_and_sizes),
        cmocka_unit_test(test_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
