/*
 * device/cuda/fp2.cuh - F[u] / (u^2 + 1), in memory c0 before c1 as in algebra
 *
 * Products are Karatsuba's, 3 of the field below, and on a device they are calls: inlined, the sums of G2 would not fit
 * the instruction cache, nor an evening's compilation.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_CUDA_FP2_CUH
#define DEVICE_CUDA_FP2_CUH

#include "device/cuda/inverse.cuh"

template <class P> struct fp2 {
    typedef P params;
    typedef field<P> base;
    field<P> c0, c1;

    static CU_FN fp2 zero() { return {base::zero(), base::zero()}; }
    static CU_FN fp2 one() { return {base::one(), base::zero()}; }
    CU_FN bool is_zero() const { return c0.is_zero() && c1.is_zero(); }
    CU_FN bool operator==(const fp2 &b) const { return c0 == b.c0 && c1 == b.c1; }
    CU_FN bool is_canonical() const { return c0.is_canonical() && c1.is_canonical(); }
};

template <class P> CU_FN fp2<P> operator+(const fp2<P> &a, const fp2<P> &b)
{
    return {a.c0 + b.c0, a.c1 + b.c1};
}
template <class P> CU_FN fp2<P> operator-(const fp2<P> &a, const fp2<P> &b)
{
    return {a.c0 - b.c0, a.c1 - b.c1};
}
template <class P> CU_FN fp2<P> neg(const fp2<P> &a)
{
    return {neg(a.c0), neg(a.c1)};
}
template <class P> CU_FN fp2<P> dbl(const fp2<P> &a)
{
    return a + a;
}
template <class P> CU_FN fp2<P> pick(bool c, const fp2<P> &a, const fp2<P> &b)
{
    return {pick(c, a.c0, b.c0), pick(c, a.c1, b.c1)};
}

template <class P> __host__ __device__ __noinline__ fp2<P> operator*(fp2<P> a, fp2<P> b)
{
    field<P> s = a.c0 * b.c0, t = a.c1 * b.c1, m = (a.c0 + a.c1) * (b.c0 + b.c1);
    return {s - t, m - s - t};
}
template <class P> __host__ __device__ __noinline__ fp2<P> sqr(fp2<P> a)
{
    field<P> m = a.c0 * a.c1;
    return {(a.c0 + a.c1) * (a.c0 - a.c1), m + m};
}
template <class P> __host__ __device__ __noinline__ fp2<P> inverse(fp2<P> a)
{
    field<P> n = inverse(a.c0 * a.c0 + a.c1 * a.c1);
    return {a.c0 * n, neg(a.c1 * n)};
}

#endif
