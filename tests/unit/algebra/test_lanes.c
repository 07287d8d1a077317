/*
 * unit/algebra/test_lanes.c - eight elements at a time, against the portable fields one by one
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "algebra/cpu_table.h"
#include "harness/harness.h"
#include "lanes_tests.h"

static const lanes_tests *const curves[] = {&lanes_tests_bls, &lanes_tests_bn};
#define CURVES (sizeof curves / sizeof *curves)

static void need_ifma(void)
{
    if (!cpu_table_supported(CPU_TABLE_IFMA))
        harness_skip("no CPU feature %s", cpu_table_feature(CPU_TABLE_IFMA));
}

static void test_base_field(void **state)
{
    (void)state;
    need_ifma();
    for (size_t k = 0; k < CURVES; k++) curves[k]->fp();
}

static void test_scalar_field(void **state)
{
    (void)state;
    need_ifma();
    for (size_t k = 0; k < CURVES; k++) curves[k]->fr();
}

static void test_extension(void **state)
{
    (void)state;
    need_ifma();
    for (size_t k = 0; k < CURVES; k++) curves[k]->fp2();
}

static void test_transpose(void **state)
{
    (void)state;
    need_ifma();
    for (size_t k = 0; k < CURVES; k++) curves[k]->transpose();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base_field),
        cmocka_unit_test(test_scalar_field),
        cmocka_unit_test(test_extension),
        cmocka_unit_test(test_transpose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
