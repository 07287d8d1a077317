/*
 * device/cuda/digits.cu - a counting sort of digits into buckets: counts, then every entry to its place
 *
 * The count is also the rank: what atomicAdd returned is kept, so that placing needs no atomics.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <cuda_runtime.h>

#include "device/cuda/digits.cuh"

#define THREADS 256
#define MAX_BLOCKS 8192

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
