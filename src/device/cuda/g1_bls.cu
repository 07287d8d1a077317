/*
 * device/cuda/g1_bls.cu - the kernels over G1 of BLS12-381
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "device/cuda/group.cuh"

#define COORD field<bls_fp>
#define GROUP_OPS cu_g1_bls
#define GROUP_PAIR_BLOCKS 4

/* y^2 = x^3 + 4 */
static __device__ __forceinline__ bool on_curve(const COORD &x, const COORD &y)
{
    COORD two = dbl(COORD::one());
    return sqr(y) == sqr(x) * x + dbl(two);
}

#include "device/cuda/group_tmpl.cuh"
