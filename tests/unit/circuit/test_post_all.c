/*
 * unit/circuit/test_post_all.c - PoSt circuits of the large sectors, and the WinningPoSt assignment of a 32 GiB one
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit_rows.h"

static const circuit_row rows[] = {
    {{"Winning 512MiB", 133, 304326, 300630, 230472, 220836,
      "1edcd1f497a9d12871d3f692ec90c670d9f837b3e37c31958dbf2ea239c021df"},
     "winning-512m",
     300763,
     19,
     {0, 0, 0}},
    {{"Winning 32GiB", 133, 375210, 370590, 284196, 272184,
      "f65cddbca7106bac1a8b92148badb4d96f488d56c233bd59b0d0a6919445cf4f"},
     "winning-32g",
     370723,
     19,
     {2549052, 376662, 465300}},
    {{"Winning 64GiB", 133, 396000, 391314, 299838, 287694,
      "280879cc466ac3a629e7369617c7f774b28b9e39d39bcf56b896ff72d2481107"},
     "winning-64g",
     391447,
     19,
     {2689368, 397518, 491040}},
    {{"Window 512MiB", 23, 86568, 85466, 65610, 62708,
      "24ea17320d86130abde49b4eff2f6df38d8806b99018c5c2ac68930d951325c6"},
     "window-512m",
     85489,
     17,
     {0, 0, 0}},
};

static void test_production_circuits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) circuit_row_check(&rows[i]);
}

static void test_winning_assignment_of_32_gib(void **state)
{
    pool *p = NULL;

    (void)state;
    assert_status_ok(pool_open(&p, 2, NULL));
    support_check_case("32gib/winning", FIL_WINNING, p);
    pool_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_production_circuits),
        cmocka_unit_test(test_winning_assignment_of_32_gib),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
