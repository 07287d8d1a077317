/*
 * device/cuda/g2_bn.cu - the kernels over G2 of BN254
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "device/cuda/group.cuh"

#define COORD fp2<bn_fp>
#define GROUP_OPS cu_g2_bn
#define GROUP_PAIR_BLOCKS 2

/* y^2 = x^3 + 3/(9 + u), so (9 + u)(y^2 - x^3) = 3 */
static __device__ __forceinline__ bool on_curve(const COORD &x, const COORD &y)
{
    COORD::base one = COORD::base::one(), zero = COORD::base::zero();
    COORD d = sqr(y) - sqr(x) * x, xi = {dbl(dbl(dbl(one))) + one, one};
    COORD three = {dbl(one) + one, zero};
    return d * xi == three;
}

#include "device/cuda/group_tmpl.cuh"
