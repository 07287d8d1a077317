/*
 * device/cpu/kernels_bls_adx.c - the kernels over the scalar field of BLS12-381, ADX and BMI2
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define CURVE_BLS12_381
#define FIELD_ADX 1
#define KERNELS_NAME cpu_kernels_bls_adx
#include "device/cpu/kernels_tmpl.h"
