/*
 * algebra/self_test_lanes_bls.c - the self-test of eight lanes of BLS12-381
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define CURVE_BLS12_381
#define SELF_TEST self_test_lanes_bls
#include "algebra/self_test_lanes_tmpl.h"
