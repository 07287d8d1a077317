/*
 * device/cpu/kernels_bls_ifma.c - the kernels over the scalar field of BLS12-381, AVX-512 IFMA in eight lanes
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define CURVE_BLS12_381
#define FIELD_ADX 1
#define KERNELS_LANES 1
#define KERNELS_NAME cpu_kernels_bls_ifma
#define KERNELS_SMALL cpu_kernels_bls_adx
#include "device/cpu/kernels_tmpl.h"
