/*
 * algebra/self_test.h - whether a CPU table computes rightly on this machine, by a few products of each field
 *
 * For machines and emulators that claim a feature and get it wrong. Takes some ten microseconds.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ALGEBRA_SELF_TEST_H
#define ALGEBRA_SELF_TEST_H

#include "algebra/curve.h"

/** Whether cv gives judge's products, of the base field and of the scalar field. */
bool self_test_curve(const curve *judge, const curve *cv);
/** Of curves' tables, against portable C. True where there is no such table. */
bool self_test_adx(void);

/** Of eight lanes, against portable C in the same file: one for each curve. To be called only where cpuid has the features. */
bool self_test_lanes_bls(void);
bool self_test_lanes_bn(void);

#endif
