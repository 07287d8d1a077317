/*
 * device/cuda/fr_ntt.cuh - transforms: passes of up to 9 stages over tiles in shared memory, no bit reversal where none is due
 *
 * With T[b] = w^rev(b), rev over log_n - 1 bits, stage s of a transform from natural to reversed order splits each of 2^s
 * blocks: (x, y) -> (x + T[b] y, x - T[b] y), b the block. One table serves all stages, and within a pass all columns of a
 * block share their twiddles. From reversed to natural order the stages run backwards: (x, y) -> (x + y, (x - y) T[b]).
 * For the inverse root, 1/T[b] = -T[3 2^k - 1 - b], 2^k the highest bit of b: the two results change places.
 *
 * A pass takes stages s0 .. s0 + q - 1: an index is (block, s0 bits)(k, q bits)(low, r bits). A tile has all k for some
 * columns, neighbours in low, or in block when r = 0. Between passes elements are in the lazy form of fr_lazy.cuh; on the
 * way back they are below twice the order.
 *
 * Registers: 64, so that 4 blocks of 256 threads fit a multiprocessor; shared memory: 32 KiB, 48 at most in the pass over
 * blocks.
 *
 * Source: twiddles in reversed order as in P. Longa, M. Naehrig, CANS 2016; lazy butterflies as in D. Harvey, "Faster
 * arithmetic for number-theoretic transforms", 2014
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_CUDA_FR_NTT_CUH
#define DEVICE_CUDA_FR_NTT_CUH

#include "device/cuda/fr_lazy.cuh"

#define NTT_TILE_LOG 10
#define NTT_MAX_PASS 9

struct ntt_pass {
    uint32_t *a;
    const uint32_t *table, *powers;
    uint32_t log_n, s0, q, cols_log, powers_log;
    bool last; /* of the transform: elements become canonical */
};

/* INVERSE: minus the twiddle of the inverse root, but at 0 */
template <bool INVERSE> __device__ __forceinline__ fr_t twiddle(const uint32_t *table, uint32_t b)
{
    if (!INVERSE || b == 0) return load_fr(table, b);
    uint32_t top = 1u << (31 - __clz((int)b));
    return load_fr(table, 3 * top - 1 - b);
}

/* Powers of g in two tables: g^(e low bits), then g^(e high bits) and whatever factor goes with them. */
__device__ __forceinline__ fr_t power_at(const uint32_t *powers, uint32_t low_log, uint32_t e)
{
    return load_fr(powers, e & ((1u << low_log) - 1)) *
           load_fr(powers, ((size_t)1 << low_log) + (e >> low_log));
}

/** (x + t y, x - t y); INVERSE: t is minus the twiddle. one: the twiddle is 1. */
template <bool INVERSE> CU_FN void split(fr_t &x, fr_t &y, const fr_t &t, bool one)
{
    fr_t m = one ? below<1>(y) : mul_lazy(t, y);
    if (INVERSE && one) m = sub_lazy(fr_t::zero(), m);
    fr_t sum = add_lazy(x, m), difference = sub_lazy(x, m);
    x = INVERSE ? difference : sum;
    y = INVERSE ? sum : difference;
}

/** (x + y, t (x - y)), all below twice the order. */
CU_FN void join(fr_t &x, fr_t &y, const fr_t &t, bool one)
{
    fr_t d = sub_lazy(x, y);
    x = add_below(x, y);
    y = d;
    if (!one) y = mul_lazy(t, d);
}

struct ntt_place {
    uint32_t row;  /* words of shared memory from one k to the next, in elements */
    uint32_t tile; /* in shared memory: planes of 16 bytes, this far apart */
    size_t block0, low0;
    uint32_t r;
    bool by_block; /* columns are blocks */
};

__device__ __forceinline__ size_t global_index(const ntt_pass &p, const ntt_place &at, uint32_t k,
                                               uint32_t col)
{
    size_t block = at.block0 + (at.by_block ? col : 0), low = at.low0 + (at.by_block ? 0 : col);
    return (block << (p.q + at.r)) | ((size_t)k << at.r) | low;
}

__device__ __forceinline__ fr_t tile_load(const uint4 *sh, const ntt_place &at, uint32_t i)
{
    uint4 lo = sh[i], hi = sh[at.tile + i];
    return {{lo.x, lo.y, lo.z, lo.w, hi.x, hi.y, hi.z, hi.w}};
}

__device__ __forceinline__ void tile_store(uint4 *sh, const ntt_place &at, uint32_t i,
                                           const fr_t &x)
{
    sh[i] = make_uint4(x.l[0], x.l[1], x.l[2], x.l[3]);
    sh[at.tile + i] = make_uint4(x.l[4], x.l[5], x.l[6], x.l[7]);
}

/** Stage j of the pass. in, out: from and to device memory instead of the tile. */
template <bool BACK, bool INVERSE>
__device__ __forceinline__ void tile_stage(uint4 *sh, const ntt_pass &p, const ntt_place &at,
                                           uint32_t j, bool in, bool out)
{
    uint32_t shift = p.q - j - 1, cols = 1u << p.cols_log;
    uint32_t pairs = 1u << (p.q + p.cols_log - 1);

#pragma unroll 1
    for (uint32_t v = threadIdx.x; v < pairs; v += THREADS) {
        uint32_t col = v & (cols - 1), g = v >> p.cols_log, up = g >> shift;
        uint32_t b = (uint32_t)((at.block0 + (at.by_block ? col : 0)) << j) | up;
        fr_t x[2];
#pragma unroll
        for (int i = 0; i < 2; i++) {
            uint32_t k = (2 * up + i) << shift | (g & ((1u << shift) - 1));
            x[i] = in ? load_fr(p.a, global_index(p, at, k, col))
                      : tile_load(sh, at, k * at.row + col);
        }
        if (BACK) {
            join(x[0], x[1], twiddle<INVERSE>(p.table, b), b == 0);
        } else {
            split<INVERSE>(x[0], x[1], twiddle<INVERSE>(p.table, b), b == 0);
        }
#pragma unroll
        for (int i = 0; i < 2; i++) {
            uint32_t k = (2 * up + i) << shift | (g & ((1u << shift) - 1));
            if (out) {
                store_fr(p.a, global_index(p, at, k, col), p.last ? below<0>(x[i]) : x[i]);
            } else {
                tile_store(sh, at, k * at.row + col, x[i]);
            }
        }
    }
}

/* The tile of this block. */
__device__ __forceinline__ ntt_place place_of(const ntt_pass &p)
{
    uint32_t cols = 1u << p.cols_log;
    ntt_place at;

    at.r = p.log_n - p.s0 - p.q;
    at.by_block = at.r == 0;
    at.row = at.by_block && cols > 1 ? cols + 1 : cols;
    at.tile = at.row << p.q;
    at.block0 = at.low0 = 0;
    if (at.by_block) {
        at.block0 = (size_t)blockIdx.x << p.cols_log;
    } else {
        uint32_t tiles_log = at.r - p.cols_log;
        at.block0 = blockIdx.x >> tiles_log;
        at.low0 = (size_t)(blockIdx.x & ((1u << tiles_log) - 1)) << p.cols_log;
    }
    return at;
}

/* Neighbours in memory are read and written together. Where columns are blocks, the stages between neighbours in a block
   come last, or first when going back: that end is staged through the tile. */
template <bool BACK, bool INVERSE>
static __global__ void __launch_bounds__(THREADS, 4) ntt_kernel(ntt_pass p)
{
    extern __shared__ uint4 sh[];
    uint32_t size = 1u << (p.q + p.cols_log);
    ntt_place at = place_of(p);
    bool stage_in = BACK && at.by_block, stage_out = !BACK && at.by_block;

    for (uint32_t u = threadIdx.x; stage_in && u < size; u += THREADS) {
        uint32_t k = u & ((1u << p.q) - 1), col = u >> p.q;
        tile_store(sh, at, k * at.row + col, load_fr(p.a, global_index(p, at, k, col)));
    }
    if (stage_in) __syncthreads();
#pragma unroll 1
    for (uint32_t i = 0; i < p.q; i++) {
        bool in = i == 0 && !stage_in, out = i + 1 == p.q && !stage_out;
        tile_stage<BACK, INVERSE>(sh, p, at, BACK ? p.q - 1 - i : i, in, out);
        if (!out) __syncthreads();
    }
    if (!stage_out) return;
    for (uint32_t u = threadIdx.x; u < size; u += THREADS) {
        uint32_t k = u & ((1u << p.q) - 1), col = u >> p.q;
        size_t i = global_index(p, at, k, col);
        fr_t x = tile_load(sh, at, k * at.row + col);
        if (p.powers != NULL) {
            fr_t f = power_at(p.powers, p.powers_log, __brev((uint32_t)i) >> (32 - p.log_n));
            x = f * x; /* x may be any 256 bits */
        } else {
            x = below<0>(x);
        }
        store_fr(p.a, i, x);
    }
}

/* powers (may be NULL): not to_natural alone; element i is multiplied by the power at the reverse of i */
static int ntt(cu_stream s, uint32_t *a, const uint32_t *table, const uint32_t *powers,
               unsigned log_n, bool to_natural, bool inverse_root)
{
    unsigned passes = (log_n + NTT_MAX_PASS - 1) / NTT_MAX_PASS, begin[8] = {0};
    unsigned tile_log = log_n < NTT_TILE_LOG ? log_n : NTT_TILE_LOG;

    if (to_natural && inverse_root) return cudaErrorInvalidValue;
    for (unsigned i = 0; i < passes; i++)
        begin[i + 1] = begin[i] + log_n / passes + (i < log_n % passes ? 1 : 0);
    for (unsigned i = 0; i < passes; i++) {
        unsigned k = to_natural ? passes - 1 - i : i, blocks = 1u << (log_n - tile_log);
        ntt_pass p = {a, table, NULL, log_n, begin[k], begin[k + 1] - begin[k], 0, 0, false};
        p.cols_log = tile_log - p.q;
        p.powers_log = (log_n + 1) / 2;
        p.last = i + 1 == passes;
        if (!to_natural && p.last) p.powers = powers;
        size_t row = ((size_t)1 << p.cols_log) + (k + 1 == passes && p.cols_log != 0 ? 1 : 0);
        size_t size = row << p.q << 5;
        if (to_natural) {
            ntt_kernel<true, false><<<blocks, THREADS, size, (cudaStream_t)s>>>(p);
        } else if (inverse_root) {
            ntt_kernel<false, true><<<blocks, THREADS, size, (cudaStream_t)s>>>(p);
        } else {
            ntt_kernel<false, false><<<blocks, THREADS, size, (cudaStream_t)s>>>(p);
        }
        int err = cudaGetLastError();
        if (err != 0) return err;
    }
    return 0;
}

/* ---- the table ---- */

static __global__ void twiddle_kernel(uint32_t *table, const uint32_t *powers, uint32_t k)
{
    size_t n = (size_t)1 << k, step = (size_t)gridDim.x * blockDim.x;
    fr_t f = load_fr(powers, k);
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        store_fr(table, n + i, i == 0 ? f : load_fr(table, i) * f);
}

static __global__ void one_kernel(uint32_t *table)
{
    store_fr(table, 0, fr_t::one());
}

/* powers[k] = w^(n / 2^(k + 2)), k < log_n - 1: T[2^k] */
static int twiddles(cu_stream s, uint32_t *table, const uint32_t *powers, unsigned log_n)
{
    one_kernel<<<1, 1, 0, (cudaStream_t)s>>>(table);
    for (unsigned k = 0; k + 1 < log_n; k++)
        twiddle_kernel<<<blocks_for((size_t)1 << k), THREADS, 0, (cudaStream_t)s>>>(table, powers,
                                                                                    k);
    return cudaGetLastError();
}

/* ---- factors and order ---- */

static __global__ void scale_kernel(uint32_t *a, const uint32_t *powers, uint32_t log_n)
{
    size_t n = (size_t)1 << log_n, step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        store_fr(a, i, load_fr(a, i) * power_at(powers, (log_n + 1) / 2, (uint32_t)i));
}

static int scale(cu_stream s, uint32_t *a, const uint32_t *powers, unsigned log_n)
{
    scale_kernel<<<blocks_for((size_t)1 << log_n), THREADS, 0, (cudaStream_t)s>>>(a, powers, log_n);
    return cudaGetLastError();
}

#define REV_LOG 4
#define REV_SIDE (1 << REV_LOG)

__device__ __forceinline__ uint32_t reversed(uint32_t i, uint32_t bits)
{
    return bits == 0 ? 0 : __brev(i) >> (32 - bits);
}

/* An index is (high, 4 bits)(mid)(low, 4 bits): the tile of mid changes places with that of mid reversed, transposed. */
static __global__ void __launch_bounds__(REV_SIDE *REV_SIDE)
    reverse_kernel(uint32_t *a, const uint32_t *powers, uint32_t log_n)
{
    __shared__ uint4 sh[2][2][REV_SIDE][REV_SIDE + 1];
    uint32_t mid_bits = log_n - 2 * REV_LOG, mid = blockIdx.x, other = reversed(mid, mid_bits);
    uint32_t hi = threadIdx.x >> REV_LOG, lo = threadIdx.x & (REV_SIDE - 1);
    uint32_t rh = reversed(hi, REV_LOG), rl = reversed(lo, REV_LOG);

    if (other < mid) return;
    for (int t = 0; t < 2; t++) {
        uint32_t m = t == 0 ? mid : other;
        size_t i = ((size_t)hi << (log_n - REV_LOG)) | (m << REV_LOG) | lo;
        fr_t x = load_fr(a, i);
        sh[t][0][rl][rh] = make_uint4(x.l[0], x.l[1], x.l[2], x.l[3]);
        sh[t][1][rl][rh] = make_uint4(x.l[4], x.l[5], x.l[6], x.l[7]);
    }
    __syncthreads();
    for (int t = 0; t < (other == mid ? 1 : 2); t++) {
        uint32_t m = t == 0 ? other : mid;
        size_t i = ((size_t)hi << (log_n - REV_LOG)) | (m << REV_LOG) | lo;
        uint4 l = sh[t][0][hi][lo], h = sh[t][1][hi][lo];
        fr_t x = {{l.x, l.y, l.z, l.w, h.x, h.y, h.z, h.w}};
        if (powers != NULL) x = x * power_at(powers, (log_n + 1) / 2, (uint32_t)i);
        store_fr(a, i, x);
    }
}

static __global__ void reverse_small(uint32_t *a, const uint32_t *powers, uint32_t log_n)
{
    uint32_t n = 1u << log_n, i = threadIdx.x; /* one block of n threads */
    fr_t x = i < n ? load_fr(a, reversed(i, log_n)) : fr_t::zero();
    if (i < n && powers != NULL) x = x * power_at(powers, (log_n + 1) / 2, i);
    __syncthreads();
    if (i < n) store_fr(a, i, x);
}

/* powers (may be NULL): the element that comes to i is multiplied by the power at i */
static int reverse(cu_stream s, uint32_t *a, const uint32_t *powers, unsigned log_n)
{
    if (log_n < 2 * REV_LOG)
        reverse_small<<<1, 1u << 2 * REV_LOG, 0, (cudaStream_t)s>>>(a, powers, log_n);
    else
        reverse_kernel<<<1u << (log_n - 2 * REV_LOG), REV_SIDE * REV_SIDE, 0, (cudaStream_t)s>>>(
            a, powers, log_n);
    return cudaGetLastError();
}

#endif
