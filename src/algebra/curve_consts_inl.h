/*
 * algebra/curve_consts_inl.h - the generated curve constants of the curve chosen by CURVE_*
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ALGEBRA_CURVE_CONSTS_INL_H
#define ALGEBRA_CURVE_CONSTS_INL_H

#if defined(CURVE_BLS12_381)
#    include "algebra/curve_consts_bls12_381.h"
#elif defined(CURVE_BN254)
#    include "algebra/curve_consts_bn254.h"
#else
#    include "algebra/curve_consts_tiny.h"
#endif

#endif
