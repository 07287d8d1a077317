/*
 * device/cuda/group_segments.cuh - buckets to windows: sums of segments, plain and weighted, then segments of segments
 *
 * A window is the sum of (i + 1) B_i. A thread takes a segment of buckets from its top: a running sum, and the sum of
 * the running sums. With R_j the plain and S_j the weighted sums of segments of 2^k buckets, the window is
 * sum S_j + 2^k sum j R_j: `len` neighbours become one by as many threads, until one segment is left.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_CUDA_GROUP_SEGMENTS_CUH
#define DEVICE_CUDA_GROUP_SEGMENTS_CUH

#define COMBINE_THREADS 32 /* few and long: spread over the multiprocessors */
#define COMBINE_LANES 8    /* segments that become one, at most: cuda_msm.c */

static __device__ __forceinline__ void add_bucket(sum_t &acc, const void *points, uint32_t from,
                                                  uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        point q = {load_fe(points, 2 * (size_t)i), load_fe(points, 2 * (size_t)i + 1)};
        add_point(acc, q);
    }
}

static __global__ void __launch_bounds__(THREADS)
    segments_kernel(void *sum, void *wsum, const void *points, const uint32_t *off, uint32_t n,
                    uint32_t len)
{
    uint32_t seg = blockIdx.x * THREADS + threadIdx.x;
    sum_t r = sum_t::inf(), w = sum_t::inf();

    if (seg >= n) return;
    uint32_t to = off[(seg + 1) * len];
    for (uint32_t i = (seg + 1) * len; i-- > seg * len;) {
        uint32_t from = off[i];
        add_bucket(r, points, from, to);
        to = from;
        add_point(w, r);
    }
    store_sum(sum, seg, r);
    store_sum(wsum, seg, w);
}

static int segments(cu_stream s, void *sum, void *wsum, const void *points, const uint32_t *off,
                    uint32_t n_windows, uint32_t buckets, uint32_t len)
{
    uint32_t n = n_windows * (buckets / len);
    segments_kernel<<<(n + THREADS - 1) / THREADS, THREADS, 0, (cudaStream_t)s>>>(sum, wsum, points,
                                                                                  off, n, len);
    return cudaGetLastError();
}

static __global__ void bucket_kernel(void *out, const void *points, const uint32_t *off)
{
    sum_t r = sum_t::inf();
    add_bucket(r, points, off[0], off[1]);
    store_sum(out, 0, r);
}

static int bucket(cu_stream s, void *out, const void *points, const uint32_t *off)
{
    bucket_kernel<<<1, 1, 0, (cudaStream_t)s>>>(out, points, off);
    return cudaGetLastError();
}

/** The point of the thread d further on among COMBINE_LANES; infinity beyond the last. */
static __device__ __forceinline__ sum_t from_later(const sum_t &a, unsigned d)
{
    union {
        sum_t s;
        uint32_t w[sizeof(sum_t) / 4];
    } u;
    u.s = a;
#pragma unroll
    for (unsigned i = 0; i < sizeof(sum_t) / 4; i++)
        u.w[i] = __shfl_down_sync(0xffffffffu, u.w[i], d, COMBINE_LANES);
    return threadIdx.x % COMBINE_LANES + d < COMBINE_LANES ? u.s : sum_t::inf();
}

/* A thread a segment that goes in: few additions one after the other, where there is little work. len: a power of two. */
static __global__ void __launch_bounds__(COMBINE_THREADS)
    combine_kernel(void *sum, void *wsum, const void *sum_in, const void *wsum_in, uint32_t n,
                   uint32_t len, uint32_t log_len)
{
    uint32_t at = blockIdx.x * COMBINE_THREADS + threadIdx.x, j = at % COMBINE_LANES;
    uint32_t seg = at / COMBINE_LANES;
    bool in = seg < n && j < len;
    sum_t r = in ? load_sum(sum_in, (size_t)seg * len + j) : sum_t::inf(), w, t;

    for (uint32_t d = 1; d < len; d *= 2) { /* r: the sum of this and all later ones */
        t = from_later(r, d);
        add_apart(&r, &t);
    }
    w = j > 0 ? r : sum_t::inf(); /* which together have each j times */
    for (uint32_t k = 0; k < log_len; k++) double_apart(&w);
    t = in ? load_sum(wsum_in, (size_t)seg * len + j) : sum_t::inf();
    add_apart(&w, &t);
    for (uint32_t d = len / 2; d > 0; d /= 2) {
        t = from_later(w, d);
        add_apart(&w, &t);
    }
    if (seg >= n || j > 0) return;
    store_sum(sum, seg, r);
    store_sum(wsum, seg, w);
}

static int combine(cu_stream s, void *sum, void *wsum, const void *sum_in, const void *wsum_in,
                   uint32_t n, uint32_t len, uint32_t log_len)
{
    uint32_t blocks = (n * COMBINE_LANES + COMBINE_THREADS - 1) / COMBINE_THREADS;

    combine_kernel<<<blocks, COMBINE_THREADS, 0, (cudaStream_t)s>>>(sum, wsum, sum_in, wsum_in, n,
                                                                    len, log_len);
    return cudaGetLastError();
}

#endif
