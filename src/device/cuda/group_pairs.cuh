/*
 * device/cuda/group_pairs.cuh - one level of a sum by buckets: every bucket's points added in pairs, affine
 *
 * The points of bucket b are off_in[b] .. off_in[b+1] - 1; their sums, half as many, go to off_out[b] on. A thread makes k
 * consecutive sums with one inversion: forwards it multiplies the denominators up, keeping what came before each, then it
 * inverts the product and goes back. Work is cut by outputs, not by buckets: one full bucket is as good as many small
 * ones. A level over bases reads them by entries: index, bit 31 turns the sign.
 *
 * Equal points, opposite points and infinity are seen before the product, and take another way (kinds).
 *
 * Cost of a sum: 5 M + 1 S, 3 M of which share the inversion; and 1/k of that, about 40 M.
 *
 * Source: Montgomery's trick; affine addition with batched inversion as in P. Montgomery, Math. Comp. 48, 1987
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_CUDA_GROUP_PAIRS_CUH
#define DEVICE_CUDA_GROUP_PAIRS_CUH

enum { KIND_ADD, KIND_DOUBLE, KIND_FIRST, KIND_SECOND, KIND_NONE };
#define KIND_SHIFT 29
#define INDEX_MASK ((1u << KIND_SHIFT) - 1)

/** Where a point lies, and whether its y is to be negated. */
struct place {
    size_t at;
    bool minus;
};

static __device__ __forceinline__ place place_of(const cu_pairs &p, uint32_t i)
{
    if (p.entries == NULL) return {i, false};
    uint32_t e = p.entries[i];
    return {e & 0x7fffffffu, e >> 31 != 0};
}

static __device__ __forceinline__ fe load_x(const void *points, place a)
{
    return load_fe(points, 2 * a.at);
}

static __device__ __forceinline__ fe load_y(const void *points, place a)
{
    fe y = load_fe(points, 2 * a.at + 1);
    return a.minus ? neg(y) : y;
}

/** The last bucket in [lo, n) that begins at or before i: where output i lies, empty ones skipped. */
static __device__ __forceinline__ uint32_t bucket_of(const uint32_t *off, uint32_t lo, uint32_t n,
                                                     uint32_t i)
{
    uint32_t step = 1, hi = lo + 1;
    while (hi < n && off[hi] <= i) { /* off[lo] <= i; hi is above or is the next candidate */
        lo = hi;
        hi = lo + step;
        step *= 2;
    }
    if (hi > n) hi = n;
    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (off[mid] <= i) {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    return lo;
}

/** When a coordinate x is zero or both are equal: what is to be done. Rare, so it may read again. */
static __device__ __noinline__ uint32_t special_kind(const void *points, place a, place b)
{
    fe x1 = load_x(points, a), x2 = load_x(points, b), y1 = load_y(points, a),
       y2 = load_y(points, b);

    if (x1.is_zero() && y1.is_zero()) return KIND_SECOND;
    if (x2.is_zero() && y2.is_zero()) return KIND_FIRST;
    if (!(x1 == x2)) return KIND_ADD;
    return y1 == y2 && !y1.is_zero() ? KIND_DOUBLE : KIND_NONE;
}

static __device__ __forceinline__ void store_point(const cu_pairs &p, size_t i, const fe &x,
                                                   const fe &y)
{
    store_fe(p.out, 2 * i, x);
    store_fe(p.out, 2 * i + 1, y);
}

static __device__ __forceinline__ fe load_prefix(const cu_pairs &p, size_t slot, size_t lanes)
{
    union {
        fe x;
        uint4 q[sizeof(fe) / 16];
    } u;
#pragma unroll
    for (unsigned w = 0; w < sizeof(fe) / 16; w++)
        u.q[w] = ((const uint4 *)p.prefix)[slot + w * (size_t)p.k * lanes];
    return u.x;
}

static __device__ __forceinline__ void store_prefix(const cu_pairs &p, size_t slot, size_t lanes,
                                                    const fe &x)
{
    union {
        fe x;
        uint4 q[sizeof(fe) / 16];
    } u;
    u.x = x;
#pragma unroll
    for (unsigned w = 0; w < sizeof(fe) / 16; w++)
        ((uint4 *)p.prefix)[slot + w * (size_t)p.k * lanes] = u.q[w];
}

/** Forwards: the denominators' product; of each sum, its place and kind, and the product before it. */
static __device__ __forceinline__ fe multiply_up(const cu_pairs &p, uint32_t from, uint32_t to,
                                                 size_t lane, size_t lanes)
{
    uint32_t b = bucket_of(p.off_out, 0, p.n_buckets, from), begin = 0, next = 0;
    uint32_t src0 = 0, src_end = 0;
    fe acc = fe::one();

    for (uint32_t i = from; i < to; i++) {
        if (i >= next) {
            b = bucket_of(p.off_out, b, p.n_buckets, i);
            begin = p.off_out[b];
            next = p.off_out[b + 1];
            src0 = p.off_in[b];
            src_end = p.off_in[b + 1];
        }
        uint32_t src = src0 + 2 * (i - begin), kind = KIND_FIRST;
        size_t slot = (size_t)(i - from) * lanes + lane;
        if (src + 1 < src_end) {
            place a1 = place_of(p, src), a2 = place_of(p, src + 1);
            fe x1 = load_x(p.points, a1), d = load_x(p.points, a2);
            bool zero = x1.is_zero() || d.is_zero();
            d = d - x1;
            kind = KIND_ADD;
            if (zero || d.is_zero()) {
                kind = special_kind(p.points, a1, a2);
                if (kind == KIND_DOUBLE) d = dbl(load_y(p.points, a1));
            }
            if (kind <= KIND_DOUBLE) {
                store_prefix(p, slot, lanes, acc);
                acc = acc * d;
            }
        }
        p.desc[slot] = src | kind << KIND_SHIFT;
    }
    return acc;
}

/** A load that the compiler may not replace by what it has. */
static __device__ __forceinline__ fe reload_fe(const void *points, size_t i)
{
    asm volatile("" : "+l"(points));
    return load_fe(points, i);
}

/** Backwards: inv is the inverse of the product of all denominators up to this one. */
static __device__ __forceinline__ void add_down(const cu_pairs &p, uint32_t from, uint32_t to,
                                                size_t lane, size_t lanes, fe inv)
{
    for (uint32_t i = to; i-- > from;) {
        size_t slot = (size_t)(i - from) * lanes + lane;
        uint32_t desc = p.desc[slot], kind = desc >> KIND_SHIFT, src = desc & INDEX_MASK;

        if (kind == KIND_NONE) {
            store_point(p, i, fe::zero(), fe::zero());
            continue;
        }
        place a1 = place_of(p, kind == KIND_SECOND ? src + 1 : src);
        fe x1 = load_x(p.points, a1), y1 = load_y(p.points, a1);
        if (kind >= KIND_FIRST) {
            store_point(p, i, x1, y1);
            continue;
        }
        place a2 = place_of(p, src + 1);
        fe x2 = load_x(p.points, a2), num = load_y(p.points, a2) - y1, d = x2 - x1;
        if (kind == KIND_DOUBLE) {
            d = dbl(y1);
            num = sqr(x1);
            num = dbl(num) + num;
        }
        num = num * (inv * load_prefix(p, slot, lanes)); /* the slope */
        inv = inv * d;
        /* read again, from a cache: held, they would be spilled */
        x1 = reload_fe(p.points, 2 * a1.at);
        fe x = sqr(num) - x1 - reload_fe(p.points, 2 * a2.at);
        x1 = num * (x1 - x);
        y1 = reload_fe(p.points, 2 * a1.at + 1);
        store_point(p, i, x, x1 - (a1.minus ? neg(y1) : y1));
    }
}

static __global__ void __launch_bounds__(CU_PAIR_THREADS, GROUP_PAIR_BLOCKS)
    pairs_kernel(cu_pairs p)
{
    uint32_t total = p.off_out[p.n_buckets];
    size_t lanes = (size_t)gridDim.x * CU_PAIR_THREADS;
    size_t lane = (size_t)blockIdx.x * CU_PAIR_THREADS + threadIdx.x;

    for (size_t from = lane * p.k; from < total; from += lanes * p.k) {
        uint32_t to = from + p.k < total ? (uint32_t)(from + p.k) : total;
        fe acc = multiply_up(p, (uint32_t)from, to, lane, lanes);
        add_down(p, (uint32_t)from, to, lane, lanes, inverse(acc));
    }
}

static int pairs(cu_stream s, const cu_pairs *p)
{
    pairs_kernel<<<p->blocks, CU_PAIR_THREADS, 0, (cudaStream_t)s>>>(*p);
    return cudaGetLastError();
}

#endif
