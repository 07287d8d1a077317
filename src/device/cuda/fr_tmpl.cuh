/*
 * device/cuda/fr_tmpl.cuh - kernels over one scalar field; included once for each by fr_bls.cu and fr_bn.cu
 *
 * Before inclusion: FR_PARAMS (bls_fr) and FR_OPS (the table's name).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <cuda_runtime.h>

#include "device/cuda/field.cuh"
#include "device/cuda/kernels.h"

typedef field<FR_PARAMS> fr_t;

#define THREADS 256
#define MAX_BLOCKS 16384

static unsigned blocks_for(size_t n)
{
    size_t blocks = (n + THREADS - 1) / THREADS;
    return blocks < 1 ? 1u : blocks > MAX_BLOCKS ? MAX_BLOCKS : (unsigned)blocks;
}

__device__ __forceinline__ fr_t load_fr(const uint32_t *p, size_t i)
{
    const uint4 *q = (const uint4 *)p + 2 * i;
    uint4 lo = q[0], hi = q[1];
    return {{lo.x, lo.y, lo.z, lo.w, hi.x, hi.y, hi.z, hi.w}};
}

__device__ __forceinline__ void store_fr(uint32_t *p, size_t i, const fr_t &a)
{
    uint4 *q = (uint4 *)p + 2 * i;
    q[0] = make_uint4(a.l[0], a.l[1], a.l[2], a.l[3]);
    q[1] = make_uint4(a.l[4], a.l[5], a.l[6], a.l[7]);
}

#include "device/cuda/fr_abc.cuh"
#include "device/cuda/fr_ntt.cuh"
#include "device/cuda/fr_scalars.cuh"
#include "device/cuda/fr_vec.cuh"

static void host_mul(uint32_t *r, const uint32_t *a, const uint32_t *b)
{
    fr_t x, y;
    for (int i = 0; i < fr_t::N; i++) {
        x.l[i] = a[i];
        y.l[i] = b[i];
    }
    x = x * y;
    for (int i = 0; i < fr_t::N; i++) r[i] = x.l[i];
}

static void host_split(uint32_t *x, uint32_t *y, const uint32_t *t, bool back)
{
    fr_t v[3];

    for (int i = 0; i < fr_t::N; i++) {
        v[0].l[i] = x[i];
        v[1].l[i] = y[i];
        v[2].l[i] = t[i];
    }
    bool one = v[2] == fr_t::one();
    if (back)
        join(v[0], v[1], v[2], one);
    else
        split<false>(v[0], v[1], v[2], one);
    for (int i = 0; i < fr_t::N; i++) {
        x[i] = v[0].l[i];
        y[i] = v[1].l[i];
    }
}

extern "C" const cu_fr_ops FR_OPS = {prepare,  twiddles,  ntt,    scale,    reverse,    quotient,
                                     multiply, eval_rows, values, host_mul, host_value, host_split};
