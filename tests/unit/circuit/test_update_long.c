/*
 * unit/circuit/test_update_long.c - sector updates of production size: 81 million rows
 *
 * Some minutes. Terms of A are one fewer than spec/filecoin-expected.md 3.2 has: the reference stores the zero by which the number
 * of digest 0 takes ONE.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit_rows.h"
#include "update_support.h"

static const circuit_row rows[] = {
    {{"Update 512MiB", 5, 57401314, 57450479, 57212317, 14916879,
      "d9f9e8c5646d12ad5a07ce7967df4e19fd998a0439a3eb1585baf51559b24751"},
     "update-512m",
     57450484,
     26,
     {0, 0, 0}},
    {{"Update 32GiB", 5, 80978488, 81049499, 80743581, 20983607,
      "ed11b3af5ba3ae6e1e9e56122c31c51507edb6516c97baf1893a97da69517634"},
     "update-32g",
     81049504,
     27,
     {190374907, 81118127, 172187492}},
    {{"Update 64GiB", 5, 84931220, 85006101, 84682725, 22012683,
      "8854cef703f930ed25d91a7e818524f3e4c67bb2393ba3c70fbfb0b1572c96af"},
     "update-64g",
     85006106,
     27,
     {199699027, 85077653, 180585650}},
    {{"Update-poseidon 512MiB", 5, 18165337, 17935682, 13752376, 13137301,
      "eef3791ffffd8a8ac492c163a15e448fe787df303ed4e327042a5d0cdbea80da"},
     "update-poseidon-512m",
     17935687,
     25,
     {0, 0, 0}},
    {{"Update-poseidon 32GiB", 5, 22593319, 22305906, 17104392, 16340709,
      "2f19365f3f926e9920e11bfb4e989ca7dbf97c5cded50984811afc5c6a3002a5"},
     "update-poseidon-32g",
     22305911,
     25,
     {153822196, 22680528, 28116285}},
    {{"Update-poseidon 64GiB", 5, 23889511, 23597970, 18078600, 17306661,
      "7a41d9642d88d105e184801900a55286114c5bfef5fccc2346bc242a7f4577fd"},
     "update-poseidon-64g",
     23597975,
     25,
     {162585940, 23980848, 29726205}},
};

static void test_circuits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) circuit_row_check(&rows[i]);
}

static void test_assignments_of_32_gib(void **state)
{
    static const size_t partitions[] = {0, 15};
    pool *p = NULL;

    (void)state;
    assert_status_ok(pool_open(&p, 2, NULL));
    update_check_case("32gib/update", partitions, 2, p);
    pool_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_circuits),
        cmocka_unit_test(test_assignments_of_32_gib),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
