/*
 * unit/algebra/test_g1.c - G1's templates: additions, conversions, multiplications, subgroup
 *
 * One program for each curve and CPU table (CMakeLists.txt).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define T_CAT_(a, b) a##_##b
#define T_CAT(a, b) T_CAT_(a, b)
#define T_G(name) T_CAT(g1, name)
#define T_F(name) T_CAT(fp, name)
#define T_IS_G2 0

#include "group_tests.h"

int main(void)
{
    return run_tests_of_group();
}
