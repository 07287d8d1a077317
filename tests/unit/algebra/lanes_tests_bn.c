/*
 * unit/algebra/lanes_tests_bn.c - eight lanes of BN254
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define CURVE_BN254
#define LANES_TESTS lanes_tests_bn
#include "lanes_tests_tmpl.h"
