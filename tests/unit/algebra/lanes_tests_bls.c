/*
 * unit/algebra/lanes_tests_bls.c - eight lanes of BLS12-381
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define CURVE_BLS12_381
#define LANES_TESTS lanes_tests_bls
#include "lanes_tests_tmpl.h"
