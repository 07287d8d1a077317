/*
 * unit/circuit/test_post_long.c - the WindowPoSt partition of 32 GiB sectors: 125 million rows, 127 million variables
 *
 * Needs 5 GB of memory and some minutes. The 64 GiB one has no published hash: its counts alone.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit_rows.h"

static const circuit_row window_32g = {
    {"Window 32GiB", 25840, 126902376, 125279217, 96179805, 91925766,
     "1036a47757014fa295aee4d8539d43c45adaf71c80a4b17c1dba6eca41b0d54f"},
    "window-32g",
    125305057,
    27,
    {862390719, 127398015, 157401792}};

static const circuit_row window_64g = {
    {"Window 64GiB", 25301, 131500200, 129887900, 99624500, 95413200, NULL},
    "window-64g",
    129913201,
    27,
    {893299300, 132008500, 163088400}};

static void test_window_32_gib(void **state)
{
    (void)state;
    circuit_row_check(&window_32g);
}

static void test_window_64_gib(void **state)
{
    (void)state;
    circuit_row_check(&window_64g);
}

static void test_window_assignment_of_32_gib(void **state)
{
    pool *p = NULL;

    (void)state;
    assert_status_ok(pool_open(&p, 2, NULL));
    support_check_case("32gib/window", FIL_WINDOW, p);
    pool_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_window_32_gib),
        cmocka_unit_test(test_window_64_gib),
        cmocka_unit_test(test_window_assignment_of_32_gib),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
