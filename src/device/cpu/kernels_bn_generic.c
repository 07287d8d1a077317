/*
 * device/cpu/kernels_bn_generic.c - the kernels over the scalar field of BN254, portable C
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define CURVE_BN254
#define FIELD_ADX 0
#define KERNELS_NAME cpu_kernels_bn_generic
#include "device/cpu/kernels_tmpl.h"
