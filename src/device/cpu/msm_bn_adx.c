/*
 * device/cpu/msm_bn_adx.c - MSM kernels of BN254, ADX and BMI2
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define CURVE_BN254
#define FIELD_ADX 1
#include "algebra/curve_inl.h"

#include "device/cpu/msm_groups_tmpl.h"

const msm_kernels msm_bn_adx[2] = {MSM_TABLE(g1), MSM_TABLE(g2)};
