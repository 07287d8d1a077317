/*
 * device/cpu/msm_bls_ifma.c - MSM kernels of BLS12-381, AVX-512 IFMA in eight lanes
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define CURVE_BLS12_381
#define FIELD_ADX 1
#define MSM_LANES 1
#include "algebra/curve_inl.h"
#include "device/cpu/msm_lanes_inl.h"

#include "device/cpu/msm_groups_tmpl.h"

const msm_kernels msm_bls_ifma[2] = {MSM_TABLE(g1), MSM_TABLE(g2)};
