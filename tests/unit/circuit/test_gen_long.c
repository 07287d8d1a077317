/*
 * unit/circuit/test_gen_long.c - production shapes: made-up 32 GiB inputs satisfy every row
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "gen_support.h"

static void rows_hold(fil_kind kind, const char *size)
{
    pool *p = NULL;

    assert_status_ok(pool_open(&p, 2, NULL));
    gen_holds(kind, size, -1, 1, p);
    pool_close(p);
}

static void test_porep(void **state)
{
    (void)state;
    rows_hold(FIL_POREP, "32g");
}

static void test_update(void **state)
{
    (void)state;
    rows_hold(FIL_UPDATE, "32g");
}

static void test_winning(void **state)
{
    (void)state;
    rows_hold(FIL_WINNING, "32g");
}

static void test_window(void **state)
{
    (void)state;
    rows_hold(FIL_WINDOW, "32g");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_winning),
        cmocka_unit_test(test_porep),
        cmocka_unit_test(test_update),
        cmocka_unit_test(test_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
