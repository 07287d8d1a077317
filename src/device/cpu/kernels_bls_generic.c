/*
 * device/cpu/kernels_bls_generic.c - the kernels over the scalar field of BLS12-381, portable C
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define CURVE_BLS12_381
#define FIELD_ADX 0
#define KERNELS_NAME cpu_kernels_bls_generic
#include "device/cpu/kernels_tmpl.h"
