/*
 * device/cpu/msm_bn_generic.c - MSM kernels of BN254, portable C
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define CURVE_BN254
#define FIELD_ADX 0
#include "algebra/curve_inl.h"

#include "device/cpu/msm_groups_tmpl.h"

const msm_kernels msm_bn_generic[2] = {MSM_TABLE(g1), MSM_TABLE(g2)};
