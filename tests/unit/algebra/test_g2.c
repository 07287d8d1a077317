/*
 * unit/algebra/test_g2.c - G2's templates: additions, conversions, multiplications, subgroup
 *
 * One program for each curve and CPU table (CMakeLists.txt).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define T_CAT_(a, b) a##_##b
#define T_CAT(a, b) T_CAT_(a, b)
#define T_G(name) T_CAT(g2, name)
#define T_F(name) T_CAT(fp2, name)
#define T_IS_G2 1

#include "group_tests.h"

int main(void)
{
    return run_tests_of_group();
}
