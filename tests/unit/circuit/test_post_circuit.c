/*
 * unit/circuit/test_post_circuit.c - PoSt circuits of the small sectors, and of upstream's test shapes
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit_rows.h"

static const circuit_row rows[] = {
    {{"Winning 2KiB", 133, 91674, 90750, 69300, 66792,
      "ce8079a9875ac8fafc46902e0e2368fa997e7f2ffb2065d2666ef92bc3ca2f67"},
     "winning-2k",
     90883,
     17,
     {0, 0, 0}},
    {{"Winning 4KiB", 133, 112464, 111474, 84942, 82302,
      "99c86f50417ffd8739082ed4e96d3c5d646eaa3606dbe12f62064930e7825dfc"},
     "winning-4k",
     111607,
     17,
     {0, 0, 0}},
    {{"Winning 16KiB", 133, 127116, 125730, 96162, 92466,
      "bbcd05c49637e40d00663680b64fcfd48c41c42e3f2925e5ea175006d90c2daa"},
     "winning-16k",
     125863,
     17,
     {0, 0, 0}},
    {{"Winning 32KiB", 133, 147906, 146454, 111804, 107976,
      "28a7a8c594184b93609dadbd879c8771634ee56a4683b597ec5364c910de0a6a"},
     "winning-32k",
     146587,
     18,
     {0, 0, 0}},
    {{"Winning 8MiB", 133, 233442, 230670, 176748, 169488,
      "f76fd7ab1915553c8dbffbd06ef73bc77119d7b4e2e129534256b9abd952d38e"},
     "winning-8m",
     230803,
     18,
     {0, 0, 0}},
    {{"Window 2KiB", 23, 22128, 21866, 16770, 16028,
      "14279e1c38053fa35eab6f56dbf1c5ef337b533f2c42fd3d7b4e7a116796b331"},
     "window-2k",
     21889,
     15,
     {0, 0, 0}},
    {{"Window 4KiB", 23, 28428, 28146, 21510, 20728,
      "5b7fa4aca3b7ea9abd3c67ccb313ad3a79fe423ec5eabfb2731ee671f6d4fa46"},
     "window-4k",
     28169,
     15,
     {0, 0, 0}},
    {{"Window 16KiB", 23, 32868, 32466, 24910, 23808,
      "f107e04651b668b96f7337f7867f43c94e1e795cdc5f4eb586600f6a987abbab"},
     "window-16k",
     32489,
     15,
     {0, 0, 0}},
    {{"Window 32KiB", 23, 39168, 38746, 29650, 28508,
      "a5355fd4db825440d37d7290f1c3242934a1dc30ff6035b1e2929333a17ce90b"},
     "window-32k",
     38769,
     16,
     {0, 0, 0}},
    {{"Window 8MiB", 23, 65088, 64266, 49330, 47148,
      "ee6185d4d0e58fb6f56f11ebc105ec7a08829c99bbf18b91634e40d07abaee6f"},
     "window-8m",
     64289,
     16,
     {0, 0, 0}},
};

static void test_production_circuits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) circuit_row_check(&rows[i]);
}

/* shapes that no network size has */
typedef struct shape {
    uint32_t levels[10];
    unsigned n_levels;
    uint32_t n_sectors, n_challenges;
    expected_system want;
} shape;

static const shape shapes[] = {
    {{8, 8},
     2,
     3,
     5,
     {"post test 8, 3 sectors", 19, 17067, 16869, 12930, 12372,
      "aabc663ba989f3613ad4d3f9a623ea354ad306dc951d848e57e4bdcd9096675c"}},
    {{8, 8, 4},
     3,
     3,
     5,
     {"post test 8-4, 3 sectors", 19, 22917, 22674, 17355, 16677,
      "07af760cb42b557f0a8db088081c672c6bc40d091804130de322a982d2d0ddcc"}},
    {{8, 8, 4, 2},
     4,
     3,
     5,
     {"post test 8-4-2, 3 sectors", 19, 27642, 27384, 20910, 20202,
      "1eb841edd9d456958e19edc409325f3851824527ca2153594ff6e3eda5a64800"}},
    {{8, 8},
     2,
     2,
     5,
     {"post test 8, 2 sectors", 13, 11378, 11246, 8620, 8248,
      "eb4032cb850e60a7782553d3a9431eb10f5b718c0c7450cf1eb0a1db9db97c73"}},
    {{8, 8, 8, 8, 8, 8, 8, 8, 8, 8},
     10,
     5,
     10,
     {"post bench", 56, 270120, 266665, 204725, 195670,
      "21612c68b85a21112f5d7d878f7c4ce2670c3c6f54aab0eb60d691af1c4a9032"}},
};

static void test_upstream_test_shapes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const shape *s = &shapes[i];
        mem *m = support_mem();
        r1cs_system *sys = NULL;

        assert_status_ok(post_system_new(&sys, support_poseidon(), "test", s->n_sectors,
                                         s->n_challenges, s->levels, s->n_levels, m));
        support_check_system(sys, &s->want);
        r1cs_free(sys);
        support_close(m);
    }
}

static void test_refuses_other_kinds_and_shapes(void **state)
{
    static const uint32_t levels[] = {8, 5};
    mem *m = support_mem();
    r1cs_system *sys = NULL;

    (void)state;
    assert_status_is(
        post_system_of(&sys, support_poseidon(), FIL_POREP, fil_size_by_bytes(2048), m),
        CUZK_EINVAL);
    assert_status_is(
        post_system_of(&sys, support_poseidon(), FIL_WINDOW, fil_size_by_bytes(1024), m),
        CUZK_EINVAL);
    assert_error_mentions("no window circuit of size 1k");
    assert_status_is(post_system_new(&sys, support_poseidon(), "x", 1, 1, levels, 2, m),
                     CUZK_EINVAL);
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
        st = post_system_of(&sys, support_poseidon(), FIL_WINDOW, fil_size_by_bytes(32768), m);
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
        cmocka_unit_test(test_production_circuits),
        cmocka_unit_test(test_upstream_test_shapes),
        cmocka_unit_test(test_refuses_other_kinds_and_shapes),
        cmocka_unit_test(test_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
