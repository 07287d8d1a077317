/*
 * device/cuda/digits.cu - a counting sort of digits into buckets: counts, then every entry to its place
 *
 * The count is also the rank: what atomicAdd returned is kept, so that placing needs no atomics.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <cuda_runtime.h>

#include "device/cuda/kernels.h"

#define THREADS 256
#define MAX_BLOCKS 8192

struct digit {
    uint32_t magnitude, negative;
};

/** v >>= bit: limbs are indexed by constants alone, so they stay in registers; the loop is the same for all threads. */
__device__ __forceinline__ void shift_right(uint32_t *v, uint32_t bit)
{
    for (uint32_t k = bit / 32; k > 0; k--) {
#pragma unroll
        for (int i = 0; i < 7; i++) v[i] = v[i + 1];
        v[7] = 0;
    }
#pragma unroll
    for (int i = 0; i < 7; i++) v[i] = __funnelshift_r(v[i], v[i + 1], bit % 32);
    v[7] >>= bit % 32;
}

/** The digit in the lowest bits of v, window w of a value with this sign. */
__device__ __forceinline__ digit low_digit(const uint32_t *v, uint32_t sign, const cu_digits &d,
                                           uint32_t w)
{
    uint32_t half = 1u << (d.c - 1), x = v[0] & (2 * half - 1);
    if (w + 1 == d.windows) return {v[0], sign}; /* all that is left, no bias */
    return x >= half ? digit{x - half, sign} : digit{half - x, sign ^ 1};
}

/** Limbs of value j without its sign, which is returned. */
__device__ __forceinline__ uint32_t load_value(uint32_t *v, const uint32_t *value, size_t j)
{
    const uint4 *p = (const uint4 *)value + 2 * j;
    uint4 lo = p[0], hi = p[1];
    v[0] = lo.x, v[1] = lo.y, v[2] = lo.z, v[3] = lo.w;
    v[4] = hi.x, v[5] = hi.y, v[6] = hi.z, v[7] = hi.w & 0x7fffffffu;
    return hi.w >> 31;
}

static __global__ void count_digits(cu_windows w, cu_chunk in)
{
    size_t n = in.counts[0], step = (size_t)gridDim.x * blockDim.x;

    for (size_t j = (size_t)blockIdx.x * blockDim.x + threadIdx.x; j < n; j += step) {
        uint32_t v[8], sign = load_value(v, in.value, j);
        shift_right(v, w.first * w.digits.c);
        for (uint32_t g = 0; g < w.n; g++, shift_right(v, w.digits.c)) {
            digit d = low_digit(v, sign, w.digits, w.first + g);
            if (d.magnitude == 0) continue;
            uint32_t *count = w.count + ((size_t)g << (w.digits.c - 1)) + d.magnitude - 1;
            w.rank[g * in.max_elems + j] = atomicAdd(count, 1u);
        }
    }
}

static __global__ void place_digits(cu_windows w, cu_chunk in)
{
    size_t n = in.counts[0], step = (size_t)gridDim.x * blockDim.x;

    for (size_t j = (size_t)blockIdx.x * blockDim.x + threadIdx.x; j < n; j += step) {
        uint32_t v[8], sign = load_value(v, in.value, j), base = in.base[j];
        shift_right(v, w.first * w.digits.c);
        for (uint32_t g = 0; g < w.n; g++, shift_right(v, w.digits.c)) {
            digit d = low_digit(v, sign, w.digits, w.first + g);
            if (d.magnitude == 0) continue;
            uint32_t at = w.offset[((size_t)g << (w.digits.c - 1)) + d.magnitude - 1];
            w.entries[at + w.rank[g * in.max_elems + j]] = base | d.negative << 31;
        }
    }
}

static __global__ void place_ones(cu_windows w, cu_chunk in)
{
    size_t n = in.counts[1], step = (size_t)gridDim.x * blockDim.x;
    uint32_t *to = w.entries + w.offset[(size_t)w.n << (w.digits.c - 1)];

    for (size_t j = (size_t)blockIdx.x * blockDim.x + threadIdx.x; j < n; j += step)
        to[j] = in.ones[j];
}

static unsigned blocks_for(size_t n)
{
    size_t blocks = (n + THREADS - 1) / THREADS;
    return blocks < 1 ? 1u : blocks > MAX_BLOCKS ? MAX_BLOCKS : (unsigned)blocks;
}

extern "C" int cu_count(cu_stream s, const cu_windows *w, const cu_chunk *in)
{
    count_digits<<<blocks_for(in->max_elems), THREADS, 0, (cudaStream_t)s>>>(*w, *in);
    return cudaGetLastError();
}

extern "C" int cu_place(cu_stream s, const cu_windows *w, const cu_chunk *in, bool ones)
{
    place_digits<<<blocks_for(in->max_elems), THREADS, 0, (cudaStream_t)s>>>(*w, *in);
    if (ones) place_ones<<<MAX_BLOCKS / 8, THREADS, 0, (cudaStream_t)s>>>(*w, *in);
    return cudaGetLastError();
}

extern "C" int cu_count_ones(cu_stream s, uint32_t *count, const cu_chunk *in)
{
    return cudaMemcpyAsync(count, in->counts + 1, sizeof *count, cudaMemcpyDeviceToDevice,
                           (cudaStream_t)s);
}
