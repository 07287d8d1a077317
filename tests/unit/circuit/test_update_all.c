/*
 * unit/circuit/test_update_all.c - sector updates of 16 KiB to 16 MiB: circuits, and all partitions' assignments
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit_rows.h"
#include "update_support.h"

static const circuit_row rows[] = {
    {{"Update 16KiB", 5, 6293944, 6300021, 6284882, 1613422,
      "95a1d46c7000ac6634072da5fa76d2c6faf4f399e8e2b25bd2c2266913c1ddaa"},
     "update-16k",
     6300026,
     23,
     {0, 0, 0}},
    {{"Update 32KiB", 5, 6753564, 6760091, 6742922, 1733082,
      "6a4de18617ff15850d2f183cfd81a8ff7b06a84855cd425e1f85ff838ac6a215"},
     "update-32k",
     6760096,
     23,
     {0, 0, 0}},
    {{"Update 8MiB", 5, 9998039, 10007503, 9981015, 2567921,
      "ee2b98435ff8e35305acee8e08f1428bf5d19dd1164174a356e150c11df28ae4"},
     "update-8m",
     10007508,
     24,
     {0, 0, 0}},
    {{"Update 16MiB", 5, 10457659, 10467573, 10439055, 2687581,
      "ab5a6323b917d1d7d733b642b8489517cf22136a4c7b74f1730a61d768aad0bf"},
     "update-16m",
     10467578,
     24,
     {0, 0, 0}},
};

static const size_t partitions[] = {0, 1, 2, 3};

static void test_circuits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) circuit_row_check(&rows[i]);
}

static void test_assignments(void **state)
{
    pool *p = NULL;

    (void)state;
    assert_status_ok(pool_open(&p, 2, NULL));
    update_check_case("16kib/update", partitions, 2, p);
    update_check_case("32kib/update", partitions, 2, p);
    update_check_case("8mib/update", partitions, 4, p);
    pool_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_circuits),
        cmocka_unit_test(test_assignments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
