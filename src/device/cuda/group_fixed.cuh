/*
 * device/cuda/group_fixed.cuh - many multiples of one point: a table's entries added up, then written as affine points
 *
 * A thread takes one scalar: from each row of the table the entry of its digit, added to an XYZZ sum, 8 M + 2 S each. The
 * sums of a lane become affine with one inversion: forwards it multiplies their zzz up, keeping what came before each, then
 * it inverts the product and goes back; infinity has no part in it. Then they are written as keys hold them
 * (algebra/encoding_inl.h). Everything here runs on the host too, which is how it is tested without a GPU.
 *
 * Source: Montgomery's trick, as in group_pairs.cuh
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_CUDA_GROUP_FIXED_CUH
#define DEVICE_CUDA_GROUP_FIXED_CUH

#include "device/cuda/digits.cuh"

/* ---- sums ---- */

/** k * base, k > 0. */
CU_FN sum_t multiple_of(const point &base, uint32_t k)
{
    sum_t a = from_affine(base), b = a;
    uint32_t bit = 1;

    while (k >> 1 >= bit) bit *= 2;
    for (bit /= 2; bit != 0; bit /= 2) {
        double_apart(&a);
        if ((k & bit) != 0) add_apart(&a, &b);
    }
    return a;
}

static __global__ void __launch_bounds__(THREADS)
    multiples_kernel(void *sums, const void *base, uint32_t n)
{
    uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    point p = {load_fe(base, 0), load_fe(base, 1)};
    store_sum(sums, i, multiple_of(p, i + 1));
}

static int multiples(cu_stream s, void *sums, const void *base, uint32_t n)
{
    multiples_kernel<<<(n + THREADS - 1) / THREADS, THREADS, 0, (cudaStream_t)s>>>(sums, base, n);
    return cudaGetLastError();
}

CU_FN sum_t fixed_one(const void *table, const uint32_t *value, const cu_digits &d, size_t i)
{
    uint32_t v[8], sign = load_value(v, value, i), half = 1u << (d.c - 1);
    sum_t acc = sum_t::inf();

#pragma unroll 1
    for (uint32_t w = 0; w < d.windows; w++, shift_right(v, d.c)) {
        digit x = low_digit(v, sign, d, w);
        if (x.magnitude == 0) continue;
        size_t at = (size_t)w * half + x.magnitude - 1;
        point p = {load_fe(table, 2 * at), load_fe(table, 2 * at + 1)};
        if (x.negative != 0) p.y = neg(p.y);
        add_point(acc, p);
    }
    return acc;
}

static __global__ void __launch_bounds__(THREADS)
    fixed_kernel(void *sums, const void *table, const uint32_t *value, cu_digits d, size_t n)
{
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n) store_sum(sums, i, fixed_one(table, value, d, i));
}

static int fixed(cu_stream s, void *sums, const void *table, const uint32_t *value,
                 const cu_digits *d, size_t n)
{
    fixed_kernel<<<(unsigned)((n + THREADS - 1) / THREADS), THREADS, 0, (cudaStream_t)s>>>(
        sums, table, value, *d, n);
    return cudaGetLastError();
}

/* ---- affine, and written ---- */

CU_FN uint32_t swap_bytes(uint32_t x)
{
    return x << 24 | (x & 0xff00u) << 8 | (x >> 8 & 0xff00u) | x >> 24;
}

/** Out of Montgomery form, big-endian, c1 first. */
template <class P> CU_FN field<P> big_endian(const field<P> &a)
{
    field<P> x = from_mont(a), r;
#pragma unroll
    for (int i = 0; i < P::N; i++) r.l[i] = swap_bytes(x.l[P::N - 1 - i]);
    return r;
}

template <class P> CU_FN fp2<P> big_endian(const fp2<P> &a)
{
    return {big_endian(a.c1), big_endian(a.c0)};
}

/** Of y and -y the larger, as numbers; in the extension c1 counts first. */
template <class P> CU_FN bool is_larger(const field<P> &y)
{
    field<P> a = from_mont(y), b = neg(a), t;
    return rows<P::N>::difference(t.l, b.l, a.l) != 0;
}

template <class P> CU_FN bool is_larger(const fp2<P> &y)
{
    return y.c1.is_zero() ? is_larger(y.c0) : is_larger(y.c1);
}

template <class P> CU_FN void flag(field<P> &encoded, uint32_t flags)
{
    encoded.l[0] |= flags;
}

template <class P> CU_FN void flag(fp2<P> &encoded, uint32_t flags)
{
    encoded.c0.l[0] |= flags;
}

CU_FN void write_point(void *out, size_t i, const point &p, int form)
{
    if (form == CU_WRITE_LEM) {
        store_fe(out, 2 * i, p.x);
        store_fe(out, 2 * i + 1, p.y);
        return;
    }
    fe x = big_endian(p.x);
    bool compressed = form == CU_WRITE_ZCASH_COMPRESSED;
    if (p.is_inf()) flag(x, FLAG_INFINITY);
    if (compressed) flag(x, FLAG_COMPRESSED | (is_larger(p.y) ? FLAG_LARGER_Y : 0));
    store_fe(out, compressed ? i : 2 * i, x);
    if (!compressed) store_fe(out, 2 * i + 1, big_endian(p.y));
}

/** A lane's elements; the lowest that is infinity, or w.n. */
CU_FN size_t write_lane(const cu_write &w, size_t lane)
{
    size_t none = w.n, i;
    fe acc = fe::one();

    for (i = lane; i < w.n; i += w.lanes) {
        fe zzz = load_fe(w.sums, 4 * i + 3);
        store_fe(w.prefix, i, acc);
        if (!zzz.is_zero()) acc = acc * zzz;
    }
    acc = inverse(acc);
    while (i > lane) {
        i -= w.lanes;
        sum_t a = load_sum(w.sums, i);
        point p = point::inf();
        if (a.is_inf()) {
            none = i;
        } else {
            fe inv = acc * load_fe(w.prefix, i), z = inv * a.zz; /* 1/zzz; zz/zzz = 1/z */
            acc = acc * a.zzz;
            p = {a.x * sqr(z), a.y * inv};
        }
        write_point(w.out, i, p, w.form);
    }
    return none;
}

static __global__ void __launch_bounds__(THREADS) write_kernel(cu_write w)
{
    size_t lane = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (lane >= w.lanes) return;
    size_t none = write_lane(w, lane);
    if (none != w.n) atomicMin(w.none, (unsigned long long)(w.first + none));
}

static int write_points(cu_stream s, const cu_write *w)
{
    write_kernel<<<(unsigned)((w->lanes + THREADS - 1) / THREADS), THREADS, 0, (cudaStream_t)s>>>(
        *w);
    return cudaGetLastError();
}

/* ---- host ---- */

static void fixed_host(const cu_write *w, void *table, const void *bases, const uint32_t *value,
                       const cu_digits *d)
{
    uint32_t half = 1u << (d->c - 1);
    unsigned long long ignored;
    cu_write row = *w;

    row.none = &ignored;
    row.n = half;
    row.lanes = 3;
    row.form = CU_WRITE_LEM;
    for (size_t k = 0; k < d->windows; k++) {
        point p = {load_fe(bases, 2 * k), load_fe(bases, 2 * k + 1)};
        for (uint32_t i = 0; i < half; i++)
            store_sum((void *)(uintptr_t)w->sums, i, multiple_of(p, i + 1));
        row.out = (char *)table + k * half * sizeof(point);
        for (size_t lane = 0; lane < row.lanes; lane++) (void)write_lane(row, lane);
    }
    for (size_t i = 0; i < w->n; i++)
        store_sum((void *)(uintptr_t)w->sums, i, fixed_one(table, value, *d, i));
    for (size_t lane = 0; lane < w->lanes; lane++) {
        size_t none = write_lane(*w, lane);
        if (none != w->n && w->first + none < *w->none) *w->none = w->first + none;
    }
}

#endif
