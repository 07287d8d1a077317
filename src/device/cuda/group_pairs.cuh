/*
 * device/cuda/group_pairs.cuh - one level of a sum by buckets: every bucket's points added in pairs, affine
 *
 * cu_match has written which two points each sum adds. A thread makes k sums with one inversion: forwards it multiplies
 * the denominators up, keeping what came before each, then it inverts the product and goes back. The threads' sums lie
 * side by side, so that a warp's pairs, prefixes and results are consecutive.
 *
 * Points lie anywhere. What the next sums need is copied to shared memory while these are computed, by the multiprocessor's
 * copies (cp.async): they take no registers and nobody waits for them. A warp fetches for all of its threads, neighbours
 * taking neighbouring quads of one point, so that each sector is asked for once; warps share nothing.
 *
 * Equal points, opposite points and infinity are seen before the product, and take another way (cu_pair_kind).
 *
 * Cost of a sum: 5 M + 1 S, 3 M of which share the inversion; and 1/k of that, about 40 M. Traffic, in coordinates: 2 and
 * a prefix forwards, 4, a prefix and 2 written backwards.
 *
 * Source: Montgomery's trick; affine addition with batched inversion as in P. Montgomery, Math. Comp. 48, 1987
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_CUDA_GROUP_PAIRS_CUH
#define DEVICE_CUDA_GROUP_PAIRS_CUH

#define FE_QUADS (sizeof(fe) / 16)
#define POINT_SLOT \
    (2 * FE_QUADS + 1) /* quads; odd, so that the threads' slots begin in different banks */
#define SLOT_QUADS (2 * POINT_SLOT + FE_QUADS)
#define INDEX_MASK ((1u << CU_PAIR_KIND) - 1)

enum { X1 = 0, Y1 = FE_QUADS, X2 = POINT_SLOT, Y2 = POINT_SLOT + FE_QUADS }; /* quads of a slot */

/* Of each warp: its first points, its second points, its prefixes; each by threads. */
extern __shared__ uint4 slots[];

static __device__ __forceinline__ uint32_t kind_of(cu_pair p)
{
    return p.a >> CU_PAIR_KIND & 3;
}

static __device__ __forceinline__ size_t place_of(uint32_t entry)
{
    return entry & INDEX_MASK;
}

static __device__ __forceinline__ fe with_sign(const fe &y, uint32_t entry)
{
    return entry >> 31 != 0 ? neg(y) : y;
}

/* ---- the copy to shared memory ---- */

static __device__ __forceinline__ uint4 *warp_slots()
{
    return slots + threadIdx.x / 32 * (32 * SLOT_QUADS);
}

static __device__ __forceinline__ void copy_quad(uint4 *to, const uint4 *from)
{
    asm volatile(
        "cp.async.ca.shared.global [%0], [%1], 16;" ::"r"((uint32_t)__cvta_generic_to_shared(to)),
        "l"(from)
        : "memory");
}

/** Begins, for all threads of the warp: the first `quads` quads of the point that each names, to its slot. */
template <unsigned quads>
static __device__ __forceinline__ void fetch_point(uint4 *to, const void *points, uint32_t entry)
{
    const unsigned at_once = 32 / quads;
    unsigned lane = threadIdx.x % 32, owner = lane / quads, quad = lane % quads;

#pragma unroll
    for (unsigned t = 0; t < 32; t += at_once, owner += at_once) {
        size_t place = place_of(__shfl_sync(0xffffffffu, entry, owner % 32));
        if (lane < at_once * quads && owner < 32)
            copy_quad(to + owner * POINT_SLOT + quad,
                      (const uint4 *)points + place * (2 * FE_QUADS) + quad);
    }
}

/** Begins: both points of each thread's pair, or their x alone. */
template <unsigned quads>
static __device__ __forceinline__ void fetch_pair(const cu_pairs &p, cu_pair of)
{
    __syncwarp(); /* slots have been read */
    fetch_point<quads>(warp_slots(), p.points, of.a);
    fetch_point<quads>(warp_slots() + 32 * POINT_SLOT, p.points, of.b);
}

/** Begins: a prefix, its quads `stride` apart. */
static __device__ __forceinline__ void fetch_prefix(const cu_pairs &p, size_t at, size_t stride)
{
    uint4 *to = warp_slots() + 64 * POINT_SLOT + threadIdx.x % 32;
#pragma unroll
    for (unsigned w = 0; w < FE_QUADS; w++)
        copy_quad(to + 32 * w, (const uint4 *)p.prefix + at + w * stride);
}

/** Waits for all that this warp began. */
static __device__ __forceinline__ void fetched()
{
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncwarp();
}

static __device__ __forceinline__ fe read_quads(const uint4 *from, unsigned stride)
{
    union {
        fe x;
        uint4 q[FE_QUADS];
    } u;
#pragma unroll
    for (unsigned w = 0; w < FE_QUADS; w++) u.q[w] = from[w * stride];
    return u.x;
}

/** A coordinate of this thread's pair. */
static __device__ __forceinline__ fe slot(int which)
{
    unsigned lane = threadIdx.x % 32, second = which >= (int)POINT_SLOT ? 31 * POINT_SLOT : 0;
    return read_quads(warp_slots() + lane * POINT_SLOT + second + which, 1);
}

static __device__ __forceinline__ fe slot_prefix()
{
    return read_quads(warp_slots() + 64 * POINT_SLOT + threadIdx.x % 32, 32);
}

/* ---- forwards ---- */

static __device__ __forceinline__ void store_prefix(const cu_pairs &p, size_t at, size_t stride,
                                                    const fe &x)
{
    union {
        fe x;
        uint4 q[FE_QUADS];
    } u;
    u.x = x;
#pragma unroll
    for (unsigned w = 0; w < FE_QUADS; w++) ((uint4 *)p.prefix)[at + w * stride] = u.q[w];
}

/** When a coordinate x is zero or both are equal: what is to be done instead. Rare, so it reads again. */
static __device__ __noinline__ cu_pair special(const void *points, cu_pair of)
{
    size_t a = place_of(of.a), b = place_of(of.b);
    fe x1 = load_fe(points, 2 * a), x2 = load_fe(points, 2 * b);
    fe y1 = with_sign(load_fe(points, 2 * a + 1), of.a);
    fe y2 = with_sign(load_fe(points, 2 * b + 1), of.b);
    uint32_t kind = CU_PAIR_NONE;

    if (x1.is_zero() && y1.is_zero()) {
        of.a = of.b;
        kind = CU_PAIR_ONE;
    } else if (x2.is_zero() && y2.is_zero()) {
        kind = CU_PAIR_ONE;
    } else if (!(x1 == x2)) {
        kind = CU_PAIR_ADD;
    } else if (y1 == y2 && !y1.is_zero()) {
        kind = CU_PAIR_DOUBLE;
    }
    of.a |= kind << CU_PAIR_KIND;
    return of;
}

/** A warp's share: n sums of each thread, `lanes` apart; threads whose last ones lie beyond the end have fewer (mine). */
typedef struct warp_share {
    size_t first; /* this thread's first sum */
    uint32_t n, mine;
    size_t lane, lanes;
} warp_share;

static __device__ __forceinline__ cu_pair pair_at(const cu_pairs &p, const warp_share &w,
                                                  uint32_t j)
{
    cu_pair none = {(uint32_t)CU_PAIR_NONE << CU_PAIR_KIND, 0};
    return j < w.mine ? p.pair[w.first + j * w.lanes] : none;
}

/** The product of the denominators; of each sum, the product before it. */
static __device__ __forceinline__ fe multiply_up(const cu_pairs &p, const warp_share &w)
{
    size_t stride = (size_t)p.k * w.lanes;
    cu_pair now = pair_at(p, w, 0), next = pair_at(p, w, 1);
    fe acc = fe::one();

    fetch_pair<FE_QUADS>(p, now);
    for (uint32_t j = 0; j < w.n; j++) {
        cu_pair later = pair_at(p, w, j + 2);
        fetched();
        fe x1 = slot(X1), d = slot(X2);
        bool zero = x1.is_zero() || d.is_zero();
        d = d - x1;
        if (kind_of(now) == CU_PAIR_ADD && (zero || d.is_zero())) {
            now = special(p.points, now);
            p.pair[w.first + j * w.lanes] = now;
            if (kind_of(now) == CU_PAIR_DOUBLE)
                d = dbl(with_sign(load_fe(p.points, 2 * place_of(now.a) + 1), now.a));
        }
        fetch_pair<FE_QUADS>(p, next); /* after the last one: of nothing, point 0 */
        if (kind_of(now) <= CU_PAIR_DOUBLE) {
            store_prefix(p, j * w.lanes + w.lane, stride, acc);
            acc = acc * d;
        }
        now = next;
        next = later;
    }
    return acc;
}

/* ---- backwards ---- */

/** inv: the inverse of the product of all denominators. */
static __device__ __forceinline__ void add_down(const cu_pairs &p, const warp_share &w, fe inv)
{
    size_t stride = (size_t)p.k * w.lanes;
    cu_pair now = pair_at(p, w, w.n - 1);

    __threadfence_block(); /* prefixes are this thread's own */
    fetched();
    fetch_pair<2 * FE_QUADS>(p, now);
    fetch_prefix(p, (w.n - 1) * w.lanes + w.lane, stride);
    for (uint32_t j = w.n; j-- > 0;) {
        uint32_t before = j > 0 ? j - 1 : 0;
        cu_pair next = pair_at(p, w, before);
        bool add = kind_of(now) <= CU_PAIR_DOUBLE;
        fe x, y, x1, s;

        fetched();
        x = slot(X1);
        y = with_sign(slot(Y1), now.a);
        if (add) {
            fe d = slot(X2) - x;
            s = with_sign(slot(Y2), now.b) - y;
            if (kind_of(now) == CU_PAIR_DOUBLE) {
                d = dbl(y);
                s = sqr(x);
                s = dbl(s) + s;
            }
            s = s * (inv * slot_prefix()); /* the slope */
            inv = inv * d;
            asm volatile("" ::: "memory"); /* read again: held, they would be spilled */
            x1 = slot(X1);
            x = sqr(s) - x1 - slot(X2);
            y = with_sign(slot(Y1), now.a);
        } else if (kind_of(now) == CU_PAIR_NONE) {
            x = y = fe::zero();
        }
        fetch_pair<2 * FE_QUADS>(p, next);
        fetch_prefix(p, before * w.lanes + w.lane, stride);
        size_t out = 2 * (w.first + j * w.lanes);
        if (j < w.mine) store_fe(p.out, out, x);
        if (add) y = s * (x1 - x) - y;
        if (j < w.mine) store_fe(p.out, out + 1, y);
        now = next;
    }
    fetched(); /* the slots are free again */
}

static __global__ void __launch_bounds__(CU_PAIR_THREADS, GROUP_PAIR_BLOCKS)
    pairs_kernel(cu_pairs p)
{
    size_t total = p.off_out[p.n_buckets];
    warp_share w;

    w.lanes = (size_t)gridDim.x * CU_PAIR_THREADS;
    w.lane = (size_t)blockIdx.x * CU_PAIR_THREADS + threadIdx.x;
    size_t first = p.first + (w.lane & ~(size_t)31); /* of the warp's first thread */
    if (first >= total) return;
    size_t rows = (total - first + w.lanes - 1) / w.lanes;
    w.first = first + w.lane % 32;
    w.n = rows < p.k ? (uint32_t)rows : p.k;
    w.mine = w.first + (w.n - 1) * w.lanes < total ? w.n : w.n - 1;
    fe acc = multiply_up(p, w);
    add_down(p, w, inverse(acc));
}

/* A launch for as many sums as all threads make with one inversion each: between launches, urgent work gets its turn. */
static int pairs(cu_stream s, const cu_pairs *p)
{
    int bytes = (int)(SLOT_QUADS * 16 * CU_PAIR_THREADS);
    cudaError_t e =
        cudaFuncSetAttribute(pairs_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    cu_pairs part = *p;

    for (part.first = 0; e == cudaSuccess && part.first < p->most;
         part.first += (size_t)p->blocks * CU_PAIR_THREADS * p->k) {
        pairs_kernel<<<p->blocks, CU_PAIR_THREADS, bytes, (cudaStream_t)s>>>(part);
        e = cudaGetLastError();
    }
    return e;
}

#endif
