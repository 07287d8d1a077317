/*
 * device/cpu/msm_bls_generic.c - MSM kernels of BLS12-381, portable C
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define CURVE_BLS12_381
#define FIELD_ADX 0
#include "algebra/curve_inl.h"

#include "device/cpu/msm_groups_tmpl.h"

const msm_kernels msm_bls_generic[2] = {MSM_TABLE(g1), MSM_TABLE(g2)};
