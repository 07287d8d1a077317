/*
 * device/cuda/fr_bls.cu - the kernels over the scalar field of BLS12-381
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define FR_PARAMS bls_fr
#define FR_OPS cu_fr_bls
#include "device/cuda/fr_tmpl.cuh"
