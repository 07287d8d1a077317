/*
 * device/cuda/digits.cu - digits sorted by bucket, and who meets whom
 *
 * Writing each entry to its bucket's place at once would be a sector of memory for four bytes. So digits go to bins of
 * neighbouring buckets first, then each bin's items to their buckets. In both steps a block brings what it has into order
 * in shared memory and takes room for all that goes to one place at once, so that it is written in runs. A bin of any
 * size is cut into parts: digits may be distributed in any way. The order within a bucket is as it comes.
 *
 * Pairs are written by outputs, each finding its bucket by a binary search among those of its block: work is cut by sums,
 * not by buckets, so one full bucket is as good as many small ones.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <cuda_runtime.h>

#include "device/cuda/digits.cuh"

#define THREADS 256
#define MAX_BLOCKS 8192

/* ---- digits by bins, bins by buckets ---- */

#define SORT_THREADS 512
#define TILE 8192u     /* digits of a block at a time */
#define MAX_BINS 1024u /* of a window */
#define NO_DIGIT 0x7fffffffu

/** Digits of a window side by side: bucket, bit 31 the sign. */
static __global__ void split_values(cu_windows w, cu_chunk in)
{
    size_t n = in.counts[0], step = (size_t)gridDim.x * blockDim.x;

    for (size_t j = (size_t)blockIdx.x * blockDim.x + threadIdx.x; j < n; j += step) {
        uint32_t v[8], sign = load_value(v, in.value, j);
        shift_right(v, w.first * w.digits.c);
        for (uint32_t g = 0; g < w.n; g++, shift_right(v, w.digits.c)) {
            digit d = low_digit(v, sign, w.digits, w.first + g);
            w.digit[g * in.max_elems + j] =
                d.magnitude == 0 ? NO_DIGIT : (d.magnitude - 1) | d.negative << 31;
        }
    }
}

/**
 * Counts of a block to places: hist[b] becomes the first place of b's in the block's order, base[b] what is to be added to
 * such a place for the place outside. taken: how many were there before, for all blocks; start: where b's begin outside.
 * Returns how many there are.
 */
__device__ __forceinline__ uint32_t take_room(uint32_t *hist, uint32_t *base, uint32_t *taken,
                                              const uint32_t *start, uint32_t n)
{
    __shared__ uint32_t warp_sum[SORT_THREADS / 32];
    uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, before = 0;

    for (uint32_t first = 0; first < n; first += SORT_THREADS) {
        uint32_t b = first + threadIdx.x, h = b < n ? hist[b] : 0, incl = h, all = 0;
        for (unsigned d = 1; d < 32; d *= 2) {
            uint32_t y = __shfl_up_sync(0xffffffffu, incl, d);
            if (lane >= d) incl += y;
        }
        if (lane == 31) warp_sum[warp] = incl;
        __syncthreads();
        for (uint32_t k = 0; k < SORT_THREADS / 32; k++) {
            if (k == warp) incl += all;
            all += warp_sum[k];
        }
        if (b < n) {
            uint32_t at = before + incl - h;
            hist[b] = at;
            base[b] = (h != 0 ? start[b] + atomicAdd(taken + b, h) : 0) - at;
        }
        before += all;
        __syncthreads();
    }
    return before;
}

/** Of digits [0, n), how many fall into each bin. */
__device__ __forceinline__ void count_tile(uint32_t *hist, const uint32_t *digit, uint32_t n,
                                           uint32_t bins, uint32_t low)
{
    for (uint32_t b = threadIdx.x; b < bins; b += SORT_THREADS) hist[b] = 0;
    __syncthreads();
    for (uint32_t j = threadIdx.x; j < n; j += SORT_THREADS) {
        uint32_t bin = (digit[j] & 0x7fffffffu) >> low;
        if (bin < bins) atomicAdd(hist + bin, 1u); /* NO_DIGIT is beyond all */
    }
    __syncthreads();
}

static __global__ void __launch_bounds__(SORT_THREADS) count_bins(cu_windows w, cu_chunk in)
{
    __shared__ uint32_t hist[MAX_BINS];
    uint32_t low = CU_LOW_BITS(w.digits.c), bins = 1u << (w.digits.c - 1 - low);
    const uint32_t *digit = w.digit + blockIdx.y * in.max_elems;
    size_t n = in.counts[0];

    for (size_t first = (size_t)blockIdx.x * TILE; first < n; first += (size_t)gridDim.x * TILE) {
        count_tile(hist, digit + first, n - first < TILE ? (uint32_t)(n - first) : TILE, bins, low);
        for (uint32_t b = threadIdx.x; b < bins; b += SORT_THREADS)
            if (hist[b] != 0) atomicAdd(w.bin + blockIdx.y * bins + b, hist[b]);
        __syncthreads();
    }
}

struct bins_shared {
    cu_item item[TILE];
    uint32_t hist[MAX_BINS], base[MAX_BINS];
};

extern __shared__ uint4 sort_shared[];

static __global__ void __launch_bounds__(SORT_THREADS) place_bins(cu_windows w, cu_chunk in)
{
    bins_shared &s = *(bins_shared *)sort_shared;
    uint32_t low = CU_LOW_BITS(w.digits.c), bins = 1u << (w.digits.c - 1 - low);
    size_t n = in.counts[0], window = blockIdx.y * (size_t)bins;

    for (size_t first = (size_t)blockIdx.x * TILE; first < n; first += (size_t)gridDim.x * TILE) {
        uint32_t size = n - first < TILE ? (uint32_t)(n - first) : TILE;
        const uint32_t *digit = w.digit + blockIdx.y * in.max_elems + first;
        count_tile(s.hist, digit, size, bins, low);
        uint32_t all = take_room(s.hist, s.base, w.bin + window, w.bin_start + window, bins);
        for (uint32_t j = threadIdx.x; j < size; j += SORT_THREADS) {
            uint32_t d = digit[j], bucket = d & 0x7fffffffu, bin = bucket >> low;
            if (bin < bins)
                s.item[atomicAdd(s.hist + bin, 1u)] = {in.base[first + j] | (d & 0x80000000u),
                                                       bucket};
        }
        __syncthreads();
        for (uint32_t j = threadIdx.x; j < all; j += SORT_THREADS) {
            cu_item item = s.item[j];
            w.items[s.base[item.bucket >> low] + j] = item;
        }
        __syncthreads();
    }
}

/** The last of the ranges in [lo, hi) that begins at or before i, empty ones skipped; start[lo] <= i. */
__device__ __forceinline__ uint32_t range_of(const uint32_t *start, uint32_t lo, uint32_t hi,
                                             uint32_t i)
{
    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (start[mid] <= i) {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    return lo;
}

struct part {
    uint32_t bin, first, n; /* its items: first .. first + n - 1 */
};

/** Part i of all bins of the group; every thread of the block calls it. */
__device__ __forceinline__ part part_of(const cu_windows &w, uint32_t i, uint32_t bins)
{
    __shared__ uint32_t of;
    if (threadIdx.x == 0) of = range_of(w.part_start, 0, bins, i);
    __syncthreads();
    part p;
    p.bin = of;
    p.first = w.bin_start[p.bin] + (i - w.part_start[p.bin]) * CU_PART;
    p.n = w.bin_start[p.bin + 1] - p.first;
    if (p.n > CU_PART) p.n = CU_PART;
    return p;
}

/** Of a part's items, how many fall into each of the bin's buckets. */
__device__ __forceinline__ void count_part(uint32_t *hist, const cu_item *items, uint32_t n,
                                           uint32_t buckets)
{
    for (uint32_t b = threadIdx.x; b < buckets; b += SORT_THREADS) hist[b] = 0;
    __syncthreads();
    for (uint32_t j = threadIdx.x; j < n; j += SORT_THREADS)
        atomicAdd(hist + (items[j].bucket & (buckets - 1)), 1u);
    __syncthreads();
}

static __global__ void __launch_bounds__(SORT_THREADS) count_buckets(cu_windows w)
{
    __shared__ uint32_t hist[1u << CU_MAX_LOW_BITS];
    uint32_t buckets = 1u << CU_LOW_BITS(w.digits.c), bins = (uint32_t)CU_BINS(w.n, w.digits.c);

    for (uint32_t i = blockIdx.x; i < w.part_start[bins]; i += gridDim.x) {
        part p = part_of(w, i, bins);
        count_part(hist, w.items + p.first, p.n, buckets);
        for (uint32_t b = threadIdx.x; b < buckets; b += SORT_THREADS)
            if (hist[b] != 0) atomicAdd(w.count + (size_t)p.bin * buckets + b, hist[b]);
        __syncthreads();
    }
}

struct parts_shared {
    uint32_t entry[CU_PART];
    uint16_t bucket[CU_PART];
    uint32_t hist[1u << CU_MAX_LOW_BITS], base[1u << CU_MAX_LOW_BITS];
};

/** count is used up as buckets are filled. */
static __global__ void __launch_bounds__(SORT_THREADS) place_buckets(cu_windows w)
{
    parts_shared &s = *(parts_shared *)sort_shared;
    uint32_t buckets = 1u << CU_LOW_BITS(w.digits.c), bins = (uint32_t)CU_BINS(w.n, w.digits.c);

    for (uint32_t i = blockIdx.x; i < w.part_start[bins]; i += gridDim.x) {
        part p = part_of(w, i, bins);
        size_t of_bin = (size_t)p.bin * buckets;
        count_part(s.hist, w.items + p.first, p.n, buckets);
        (void)take_room(s.hist, s.base, w.count + of_bin, w.offset + of_bin, buckets);
        for (uint32_t j = threadIdx.x; j < p.n; j += SORT_THREADS) {
            cu_item item = w.items[p.first + j];
            uint32_t b = item.bucket & (buckets - 1), at = atomicAdd(s.hist + b, 1u);
            s.entry[at] = item.entry;
            s.bucket[at] = (uint16_t)b;
        }
        __syncthreads();
        for (uint32_t j = threadIdx.x; j < p.n; j += SORT_THREADS)
            w.entries[s.base[s.bucket[j]] + j] = s.entry[j];
        __syncthreads();
    }
}

static __global__ void place_ones(cu_windows w, cu_chunk in)
{
    size_t n = in.counts[1], step = (size_t)gridDim.x * blockDim.x;
    uint32_t *to = w.entries + w.offset[(size_t)w.n << (w.digits.c - 1)];

    for (size_t j = (size_t)blockIdx.x * blockDim.x + threadIdx.x; j < n; j += step)
        to[j] = in.ones[j];
}

/* ---- pairs ---- */

#define MATCH ((size_t)4096) /* sums of a block at a time */

static __global__ void match_kernel(cu_pairs p)
{
    __shared__ uint32_t end[2];
    size_t total = p.off_out[p.n_buckets];

    for (size_t first = blockIdx.x * MATCH; first < total; first += gridDim.x * MATCH) {
        size_t last = (first + MATCH < total ? first + MATCH : total) - 1;
        if (threadIdx.x < 2)
            end[threadIdx.x] =
                range_of(p.off_out, 0, p.n_buckets, (uint32_t)(threadIdx.x == 0 ? first : last));
        __syncthreads();
        for (size_t i = first + threadIdx.x; i <= last; i += THREADS) {
            uint32_t b = range_of(p.off_out, end[0], end[1] + 1, (uint32_t)i);
            uint32_t src = p.off_in[b] + 2 * ((uint32_t)i - p.off_out[b]);
            bool two = src + 1 < p.off_in[b + 1];
            cu_pair to = {src, two ? src + 1 : src};
            if (p.entries != NULL) {
                to.a = p.entries[to.a];
                to.b = p.entries[to.b];
            }
            if (!two) to.a |= (uint32_t)CU_PAIR_ONE << CU_PAIR_KIND;
            p.pair[i] = to;
        }
        __syncthreads(); /* end has been read */
    }
}

static unsigned blocks_for(size_t n)
{
    size_t blocks = (n + THREADS - 1) / THREADS;
    return blocks < 1 ? 1u : blocks > MAX_BLOCKS ? MAX_BLOCKS : (unsigned)blocks;
}

static unsigned parts_blocks(const cu_windows *w, const cu_chunk *in)
{
    size_t parts = CU_BINS(w->n, w->digits.c) + w->n * in->max_elems / CU_PART;
    return parts < MAX_BLOCKS ? (unsigned)parts : MAX_BLOCKS;
}

extern "C" int cu_split(cu_stream s, const cu_windows *w, const cu_chunk *in)
{
    cudaStream_t st = (cudaStream_t)s;
    size_t bins = CU_BINS(w->n, w->digits.c), tiles = (in->max_elems + TILE - 1) / TILE;
    dim3 grid(tiles < MAX_BLOCKS ? (unsigned)tiles : MAX_BLOCKS, w->n);
    int e = cudaMemsetAsync(w->bin, 0, bins * sizeof *w->bin, st);

    if (e == cudaSuccess)
        e = cudaFuncSetAttribute(place_bins, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 sizeof(bins_shared));
    if (e != cudaSuccess || tiles == 0) return e;
    /* each launch is looked at before the next: what a kernel has not written must not be taken for places */
    split_values<<<blocks_for(in->max_elems), THREADS, 0, st>>>(*w, *in);
    e = cudaGetLastError();
    if (e != cudaSuccess) return e;
    count_bins<<<grid, SORT_THREADS, 0, st>>>(*w, *in);
    e = cudaGetLastError();
    if (e == cudaSuccess)
        e = cu_scan(s, w->bin_start, w->scan_blocks, NULL, w->bin, bins, CU_SCAN_COUNTS);
    if (e == cudaSuccess)
        e = cu_scan(s, w->part_start, w->scan_blocks, NULL, w->bin, bins, CU_SCAN_PARTS);
    if (e == cudaSuccess) e = cudaMemsetAsync(w->bin, 0, bins * sizeof *w->bin, st);
    if (e != cudaSuccess) return e;
    place_bins<<<grid, SORT_THREADS, sizeof(bins_shared), st>>>(*w, *in);
    return cudaGetLastError();
}

extern "C" int cu_count(cu_stream s, const cu_windows *w, const cu_chunk *in)
{
    if (in->max_elems == 0) return cudaSuccess;
    count_buckets<<<parts_blocks(w, in), SORT_THREADS, 0, (cudaStream_t)s>>>(*w);
    return cudaGetLastError();
}

extern "C" int cu_place(cu_stream s, const cu_windows *w, const cu_chunk *in, bool ones)
{
    cudaStream_t st = (cudaStream_t)s;
    int e = cudaFuncSetAttribute(place_buckets, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 sizeof(parts_shared));

    if (e != cudaSuccess) return e;
    if (in->max_elems != 0) {
        place_buckets<<<parts_blocks(w, in), SORT_THREADS, sizeof(parts_shared), st>>>(*w);
        e = cudaGetLastError();
        if (e != cudaSuccess) return e;
    }
    if (ones) place_ones<<<MAX_BLOCKS / 8, THREADS, 0, st>>>(*w, *in);
    return cudaGetLastError();
}

extern "C" int cu_count_ones(cu_stream s, uint32_t *count, const cu_chunk *in)
{
    return cudaMemcpyAsync(count, in->counts + 1, sizeof *count, cudaMemcpyDeviceToDevice,
                           (cudaStream_t)s);
}

extern "C" int cu_match(cu_stream s, const cu_pairs *p)
{
    size_t tiles = (p->most + MATCH - 1) / MATCH;
    unsigned blocks = tiles < MAX_BLOCKS ? (unsigned)tiles : MAX_BLOCKS;

    match_kernel<<<blocks, THREADS, 0, (cudaStream_t)s>>>(*p);
    return cudaGetLastError();
}
