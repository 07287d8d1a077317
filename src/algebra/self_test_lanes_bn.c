/*
 * algebra/self_test_lanes_bn.c - the self-test of eight lanes of BN254
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define CURVE_BN254
#define SELF_TEST self_test_lanes_bn
#include "algebra/self_test_lanes_tmpl.h"
