/*
 * device/cuda/scan.cu - prefix sums of counts: block sums, their sums by one block, then each block again
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <cuda_runtime.h>

#include "device/cuda/kernels.h"

#define THREADS 256
#define ITEMS 16 /* THREADS * ITEMS = CU_SCAN_BLOCK */

__device__ __forceinline__ uint32_t value_at(const void *in, size_t i, cu_scan_of of)
{
    const uint32_t *w = (const uint32_t *)in;
    if (of == CU_SCAN_COUNTS) return w[i];
    if (of == CU_SCAN_PARTS) return (w[i] + CU_PART - 1) / CU_PART;
    if (of == CU_SCAN_HALVES) return (w[i + 1] - w[i] + 1) / 2;
    return (uint32_t)__popcll(((const unsigned long long *)in)[i]);
}

/** Sum of x over the threads before this one; *all: over all. Every thread of a block of up to 1024 calls it. */
__device__ __forceinline__ uint32_t block_scan(uint32_t x, uint32_t *all)
{
    __shared__ uint32_t warp_sum[32];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    uint32_t incl = x;

    for (unsigned d = 1; d < 32; d *= 2) {
        uint32_t y = __shfl_up_sync(0xffffffffu, incl, d);
        if (lane >= d) incl += y;
    }
    __syncthreads(); /* warp_sum of the call before is read */
    if (lane == 31) warp_sum[warp] = incl;
    __syncthreads();
    uint32_t before = 0, total = 0;
    for (unsigned w = 0; w < warps; w++) {
        if (w == warp) before = total;
        total += warp_sum[w];
    }
    *all = total;
    return before + incl - x;
}

static __global__ void scan_sums(uint32_t *blocks, uint32_t *max, const void *in, size_t n,
                                 cu_scan_of of)
{
    size_t first = blockIdx.x * CU_SCAN_BLOCK;
    uint32_t sum = 0, most = 0, all;

    for (int k = 0; k < ITEMS; k++) {
        size_t i = first + (size_t)k * THREADS + threadIdx.x;
        uint32_t x = i < n ? value_at(in, i, of) : 0;
        sum += x;
        most = x > most ? x : most;
    }
    (void)block_scan(sum, &all);
    if (threadIdx.x == 0) blocks[blockIdx.x] = all;
    if (max == NULL) return;
    most = __reduce_max_sync(0xffffffffu, most);
    if (threadIdx.x % 32 == 0 && most != 0) atomicMax(max, most);
}

static __global__ void scan_blocks(uint32_t *blocks, uint32_t *total, size_t n)
{
    uint32_t before = 0, all;

    for (size_t i = threadIdx.x; i - threadIdx.x < n; i += blockDim.x) {
        uint32_t x = i < n ? blocks[i] : 0;
        uint32_t at = block_scan(x, &all);
        if (i < n) blocks[i] = before + at;
        before += all;
    }
    if (threadIdx.x == 0) *total = before;
}

static __global__ void scan_write(uint32_t *out, const uint32_t *blocks, const void *in, size_t n,
                                  cu_scan_of of)
{
    uint32_t before = blocks[blockIdx.x], all;

    for (int k = 0; k < ITEMS; k++) {
        size_t i = blockIdx.x * CU_SCAN_BLOCK + (size_t)k * THREADS + threadIdx.x;
        uint32_t x = i < n ? value_at(in, i, of) : 0;
        uint32_t at = block_scan(x, &all);
        if (i < n) out[i] = before + at;
        before += all;
    }
}

extern "C" int cu_scan(cu_stream s, uint32_t *out, uint32_t *blocks, uint32_t *max, const void *in,
                       size_t n, cu_scan_of of)
{
    cudaStream_t st = (cudaStream_t)s;
    size_t n_blocks = (n + CU_SCAN_BLOCK - 1) / CU_SCAN_BLOCK;

    if (n == 0) return cudaMemsetAsync(out, 0, sizeof *out, st);
    scan_sums<<<(unsigned)n_blocks, THREADS, 0, st>>>(blocks, max, in, n, of);
    scan_blocks<<<1, 1024, 0, st>>>(blocks, out + n, n_blocks);
    scan_write<<<(unsigned)n_blocks, THREADS, 0, st>>>(out, blocks, in, n, of);
    return cudaGetLastError();
}
