/*
 * device/cpu/kernels_bn_adx.c - the kernels over the scalar field of BN254, ADX and BMI2
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define CURVE_BN254
#define FIELD_ADX 1
#define KERNELS_NAME cpu_kernels_bn_adx
#include "device/cpu/kernels_tmpl.h"
