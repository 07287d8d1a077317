/*
 * device/cuda/g2_bls.cu - the kernels over G2 of BLS12-381
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "device/cuda/group.cuh"

#define COORD fp2<bls_fp>
#define GROUP_OPS cu_g2_bls
#define GROUP_PAIR_BLOCKS 2

/* y^2 = x^3 + 4 (1 + u) */
static __device__ __forceinline__ bool on_curve(const COORD &x, const COORD &y)
{
    COORD::base four = dbl(dbl(COORD::base::one()));
    COORD b = {four, four};
    return sqr(y) == sqr(x) * x + b;
}

#include "device/cuda/group_tmpl.cuh"
