/*
 * unit/circuit/test_porep_long.c - PoRep partitions of 32 and 64 GiB sectors: 130 million rows
 *
 * Needs 200 MB of memory and some minutes.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "porep_rows.h"

static const porep_row rows[] = {
    {{"PoRep 32GiB", 328, 130169893, 130278541, 129753292, 33112281,
      "a790207ea0435359e7d5f286563586e3f9a3a286c97af2440f65a4a18063d9cb"},
     UINT64_C(34359738368),
     11,
     18,
     130278869,
     27,
     {309404723, 130327340, 282656500}},
    {{"PoRep 64GiB", 328, 131076643, 131185849, 130637542, 33386943,
      "7686117961498d7849ede7429233254b20e3b149011eca8674ca8e9ab0655af6"},
     UINT64_C(68719476736),
     11,
     18,
     131186177,
     27,
     {311892197, 131235764, 284512534}},
};

static void test_circuits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) porep_row_check(&rows[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_circuits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
