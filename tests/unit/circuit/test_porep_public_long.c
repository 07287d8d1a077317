/*
 * unit/circuit/test_porep_public_long.c - production size: public inputs of a 32 GiB PoRep are the reference's
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "porep_public.h"

static void test_32_gib(void **state)
{
    porep_statement st = read_statement("32gib/porep");
    porep_derived d;

    (void)state;
    porep_derive(&d, &st);
    assert_int_equal(d.n_partitions, 10);
    check_entry("32gib/porep", &d, 0, 0);
    check_entry("32gib/porep", &d, 1, 9);
    assert_status_is(porep_public_inputs(&d, 10, support_curve(), NULL), CUZK_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_32_gib),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
