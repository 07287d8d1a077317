/*
 * circuit/poseidon_generic.c - the permutation with the portable field arithmetic
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define CURVE_BLS12_381
#define FIELD_ADX 0
#include "algebra/field_inl.h"

#define POSEIDON_KERNEL poseidon_kernel_generic
#include "circuit/poseidon_tmpl.h"
