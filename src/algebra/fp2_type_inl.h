/*
 * algebra/fp2_type_inl.h - the type of the quadratic extension, for the generated constants
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ALGEBRA_FP2_TYPE_INL_H
#define ALGEBRA_FP2_TYPE_INL_H

#include "algebra/field_inl.h"

/** c0 + c1 u, u^2 = -1 */
typedef struct fp2 {
    fp c0, c1;
} fp2;

/** Before reduction. */
typedef struct fp2_wide {
    fp_wide c0, c1;
} fp2_wide;

#endif
