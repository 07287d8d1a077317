/*
 * device/cuda/fr_bn.cu - the kernels over the scalar field of BN254
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define FR_PARAMS bn_fr
#define FR_OPS cu_fr_bn
#include "device/cuda/fr_tmpl.cuh"
