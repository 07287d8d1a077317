/*
 * device/cuda/group_tmpl.cuh - kernels over the points of one group; included once for each by g1_bls.cu and its like
 *
 * Before inclusion: COORD (the type of a coordinate), GROUP_OPS (the table's name), GROUP_PAIR_BLOCKS (blocks of 128
 * threads that a multiprocessor shall hold: registers follow from it), curve_rhs_ok(x, y): the curve's equation.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <cuda_runtime.h>
#include <string.h>

#include "device/cuda/group.cuh"
#include "device/cuda/kernels.h"

typedef COORD fe;
typedef affine<COORD> point;
typedef xyzz<COORD> sum_t;

#define THREADS 128

CU_FN fe load_fe(const void *p, size_t i)
{
    union {
        fe x;
        uint4 q[sizeof(fe) / 16];
    } u;
    const uint4 *q = (const uint4 *)p + i * (sizeof(fe) / 16);
#pragma unroll
    for (unsigned k = 0; k < sizeof(fe) / 16; k++) u.q[k] = q[k];
    return u.x;
}

CU_FN void store_fe(void *p, size_t i, const fe &x)
{
    union {
        fe x;
        uint4 q[sizeof(fe) / 16];
    } u;
    uint4 *q = (uint4 *)p + i * (sizeof(fe) / 16);
    u.x = x;
#pragma unroll
    for (unsigned k = 0; k < sizeof(fe) / 16; k++) q[k] = u.q[k];
}

CU_FN sum_t load_sum(const void *p, size_t i)
{
    return {load_fe(p, 4 * i), load_fe(p, 4 * i + 1), load_fe(p, 4 * i + 2), load_fe(p, 4 * i + 3)};
}

CU_FN void store_sum(void *p, size_t i, const sum_t &a)
{
    store_fe(p, 4 * i, a.x);
    store_fe(p, 4 * i + 1, a.y);
    store_fe(p, 4 * i + 2, a.zz);
    store_fe(p, 4 * i + 3, a.zzz);
}

/* called, not inlined: in loops where registers are dear and calls are not */
static __host__ __device__ __noinline__ void add_apart(sum_t *a, const sum_t *b)
{
    add_point(*a, *b);
}

#include "device/cuda/group_decode.cuh"
#include "device/cuda/group_fixed.cuh"
#include "device/cuda/group_pairs.cuh"
#include "device/cuda/group_segments.cuh"

/* ---- host ---- */

/* the caller's memory may be aligned to 8 bytes only */
static sum_t sum_at(const void *p, size_t i)
{
    sum_t s;
    memcpy(&s, (const char *)p + i * sizeof s, sizeof s);
    return s;
}

static void add_windows(void *acc, const void *window, size_t n, unsigned shift, unsigned c)
{
    sum_t t = sum_t::inf(), a = sum_at(acc, 0);

    for (size_t i = n; i > 0; i--) {
        for (unsigned k = 0; k < c; k++) double_point(t);
        add_point(t, sum_at(window, i - 1));
    }
    for (unsigned k = 0; k < shift; k++) double_point(t);
    add_point(a, t);
    memcpy(acc, &a, sizeof a);
}

static void sum_to_affine(void *out, const void *sum)
{
    point p = to_affine(sum_at(sum, 0));
    memcpy(out, &p, sizeof p);
}

static void sum_from_affine(void *sum, const void *p)
{
    point q;
    memcpy(&q, p, sizeof q);
    sum_t s = from_affine(q);
    memcpy(sum, &s, sizeof s);
}

/* ---- for benchmarks ---- */

static __global__ void products_kernel(fe *x, uint32_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    fe a = x[2 * i], b = x[2 * i + 1];
#pragma unroll 1
    for (uint32_t k = 0; k < n; k++) {
        a = a * b;
        b = b * a;
    }
    x[2 * i] = a;
    x[2 * i + 1] = b;
}

static int products(cu_stream s, void *x, uint32_t blocks, uint32_t n)
{
    products_kernel<<<blocks, THREADS, 0, (cudaStream_t)s>>>((fe *)x, n);
    return cudaGetLastError();
}

/* ---- start-up check ---- */

/* From points in[i], in[i + 1]: their sum by the mixed and the full formula and their double, as affine; all host and
   device code paths of the field lie under these. */
static CU_FN void check_one(point *out, const point &a, const point &b)
{
    sum_t s = from_affine(a), d = s, f = from_affine(b);

    double_apart(&d);
    add_point(s, b);
    add_apart(&f, &d); /* 2 a + b */
    sum_t r[3] = {s, d, f};
#pragma unroll 1
    for (int i = 0; i < 3; i++) out[i] = to_affine(r[i]);
}

static __global__ void check_kernel(point *out, const point *in, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 1 < n) check_one(out + 3 * i, in[i], in[i + 1]);
}

static int check(cu_stream s, void *out, const void *in, size_t n)
{
    check_kernel<<<(unsigned)((n + 31) / 32), 32, 0, (cudaStream_t)s>>>((point *)out,
                                                                        (const point *)in, n);
    return cudaGetLastError();
}

static void check_host(void *out, const void *in, size_t n)
{
    for (size_t i = 0; i + 1 < n; i++) {
        point ab[2], r[3];
        memcpy(ab, (const char *)in + i * sizeof ab[0], sizeof ab);
        check_one(r, ab[0], ab[1]);
        memcpy((char *)out + i * sizeof r, r, sizeof r);
    }
}

extern "C" const cu_group_ops GROUP_OPS = {
    sizeof(fe), sizeof(point), sizeof(sum_t), GROUP_PAIR_BLOCKS, decode,          pairs, segments,
    bucket,     combine,       add_windows,   sum_to_affine,     sum_from_affine, check, check_host,
    multiples,  fixed,         write_points,  fixed_host,        products};
