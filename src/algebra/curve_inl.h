/*
 * algebra/curve_inl.h - fields, Fp2, both groups, subgroup tests and point encodings of one curve, as static functions
 *
 * A translation unit defines the curve and FIELD_ADX first (README.md). What it gets: field_inl.h, fp2_inl.h,
 * ec_tmpl.h for g1 and g2, subgroup_inl.h, encoding_inl.h. The rest of the tower and the pairing, which only the
 * curve table needs, are in pairing_inl.h.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ALGEBRA_CURVE_INL_H
#define ALGEBRA_CURVE_INL_H

#include "algebra/ec_inl.h"
#include "algebra/encoding_inl.h"
#include "algebra/field_inl.h"
#include "algebra/fp2_inl.h"
#include "algebra/subgroup_inl.h"

#endif
