/*
 * circuit/poseidon_adx.c - the permutation with ADX and BMI2 field arithmetic
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#if defined(__x86_64__)
#    define CURVE_BLS12_381
#    define FIELD_ADX 1
#    include "algebra/field_inl.h"

#    define POSEIDON_KERNEL poseidon_kernel_adx
#    include "circuit/poseidon_tmpl.h"
#endif
