/*
 * device/cuda/g1_bn.cu - the kernels over G1 of BN254
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "device/cuda/group.cuh"

#define COORD field<bn_fp>
#define GROUP_OPS cu_g1_bn
#define GROUP_PAIR_BLOCKS 4

/* y^2 = x^3 + 3 */
static __device__ __forceinline__ bool on_curve(const COORD &x, const COORD &y)
{
    COORD one = COORD::one();
    return sqr(y) == sqr(x) * x + dbl(one) + one;
}

#include "device/cuda/group_tmpl.cuh"
