/*
 * device/cpu/msm_bn_ifma.c - MSM kernels of BN254, AVX-512 IFMA in eight lanes
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define CURVE_BN254
#define FIELD_ADX 1
#define MSM_LANES 1
#include "algebra/curve_inl.h"
#include "device/cpu/msm_lanes_inl.h"

#include "device/cpu/msm_groups_tmpl.h"

const msm_kernels msm_bn_ifma[2] = {MSM_TABLE(g1), MSM_TABLE(g2)};
