/*
 * unit/algebra/lanes_tests.h - the tests of eight lanes that each curve exports, run by test_lanes.c
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ALGEBRA_LANES_TESTS_H
#define ALGEBRA_LANES_TESTS_H

typedef struct lanes_tests {
    void (*fp)(void), (*fr)(void), (*fp2)(void), (*transpose)(void);
} lanes_tests;

extern const lanes_tests lanes_tests_bls, lanes_tests_bn;

#endif
