/*
 * device/cuda/group.cuh - points of y^2 = x^3 + b over a field or its quadratic extension: affine and XYZZ
 *
 * Affine (0, 0) is infinity, as in algebra and in zkeys. XYZZ: x = X/ZZ, y = Y/ZZZ, ZZ^3 = ZZZ^2; ZZ = 0 is infinity.
 *
 *   xyzz + affine   8 M + 2 S     madd-2008-s
 *   xyzz + xyzz    12 M + 2 S     add-2008-s
 *   2 xyzz          6 M + 3 S     dbl-2008-s-1, a = 0
 *
 * All are complete: equal and opposite points and infinity are seen and handled.
 *
 * Source: Explicit-Formulas Database, short Weierstrass curves, xyzz coordinates
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_CUDA_GROUP_CUH
#define DEVICE_CUDA_GROUP_CUH

#include "device/cuda/fp2.cuh"

template <class F> struct affine {
    F x, y;
    static CU_FN affine inf() { return {F::zero(), F::zero()}; }
    CU_FN bool is_inf() const { return x.is_zero() && y.is_zero(); }
};

template <class F> struct xyzz {
    F x, y, zz, zzz;
    static CU_FN xyzz inf() { return {F::zero(), F::zero(), F::zero(), F::zero()}; }
    CU_FN bool is_inf() const { return zz.is_zero(); }
};

template <class F> CU_FN xyzz<F> from_affine(const affine<F> &p)
{
    return p.is_inf() ? xyzz<F>::inf() : xyzz<F>{p.x, p.y, F::one(), F::one()};
}

template <class F> CU_FN void double_point(xyzz<F> &a)
{
    if (a.is_inf()) return;
    F u = dbl(a.y), v = sqr(u), w = u * v, s = a.x * v, m = sqr(a.x);
    m = dbl(m) + m;
    F x = sqr(m) - dbl(s);
    a.y = m * (s - x) - w * a.y;
    a.x = x;
    a.zz = v * a.zz;
    a.zzz = w * a.zzz;
}

/** For the rare case inside an addition: a call, which keeps the common one short. */
template <class F> __host__ __device__ __noinline__ void double_apart(xyzz<F> *a)
{
    double_point(*a);
}

template <class F> CU_FN void add_equal_x(xyzz<F> &a, bool same_y)
{
    xyzz<F> t = a;
    if (same_y) {
        double_apart(&t);
        a = t;
    } else {
        a = xyzz<F>::inf();
    }
}

/** What both additions end with: p, r the differences of x and y over a common denominator, (x1, y1) the first point. */
template <class F> CU_FN void add_tail(xyzz<F> &a, const F &x1, const F &y1, const F &p, const F &r)
{
    F pp = sqr(p), ppp = p * pp, q = x1 * pp, x = sqr(r) - ppp - dbl(q);
    a.y = r * (q - x) - y1 * ppp;
    a.x = x;
    a.zz = a.zz * pp;
    a.zzz = a.zzz * ppp;
}

template <class F> CU_FN void add_point(xyzz<F> &a, const affine<F> &b)
{
    if (b.is_inf()) return;
    if (a.is_inf()) {
        a = from_affine(b);
        return;
    }
    F p = b.x * a.zz - a.x, r = b.y * a.zzz - a.y;
    if (p.is_zero()) {
        add_equal_x(a, r.is_zero());
        return;
    }
    add_tail(a, a.x, a.y, p, r);
}

template <class F> CU_FN void add_point(xyzz<F> &a, const xyzz<F> &b)
{
    if (b.is_inf()) return;
    if (a.is_inf()) {
        a = b;
        return;
    }
    F x1 = a.x * b.zz, y1 = a.y * b.zzz, p = b.x * a.zz - x1, r = b.y * a.zzz - y1;
    if (p.is_zero()) {
        add_equal_x(a, r.is_zero());
        return;
    }
    a.zz = a.zz * b.zz;
    a.zzz = a.zzz * b.zzz;
    add_tail(a, x1, y1, p, r);
}

template <class F> CU_FN affine<F> to_affine(const xyzz<F> &a)
{
    if (a.is_inf()) return affine<F>::inf();
    F i = inverse(a.zzz), z = i * a.zz; /* 1/zzz; zz/zzz = 1/z */
    return {a.x * sqr(z), a.y * i};
}

#endif
