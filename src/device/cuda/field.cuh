/*
 * device/cuda/field.cuh - a prime field in Montgomery form on 32-bit limbs: values are those of algebra, byte for byte
 *
 * The product walks over the limbs of b with two accumulators: `even` for the products of even limbs of a and of the
 * modulus, `odd`, one limb higher, for those of odd limbs. A step adds a b[i] and the multiple of the modulus that
 * clears the lowest limb; instead of shifting by one limb the two change places. Cost: n (2 n + 1) wide products, 300 for
 * n = 12, 136 for n = 8, 112 for the order of BLS12-381, whose lowest limbs are 1 and 2^32 - 1. Values are canonical between calls.
 *
 * Source: the even-odd arrangement of N. Emmart, "A Study of High Performance Multiple Precision Arithmetic on Graphics
 * Processing Units", 2018
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_CUDA_FIELD_CUH
#define DEVICE_CUDA_FIELD_CUH

#include "device/cuda/limbs.cuh"

template <class P> struct alignas(16) field {
    typedef P params;
    typedef field base; /* of an extension: the field below */
    static constexpr int N = P::N;
    uint32_t l[P::N];

    static CU_FN field zero()
    {
        field r;
#pragma unroll
        for (int i = 0; i < N; i++) r.l[i] = 0;
        return r;
    }
    static CU_FN field one()
    {
        field r;
#pragma unroll
        for (int i = 0; i < N; i++) r.l[i] = P::one(i);
        return r;
    }
    static CU_FN field r2()
    {
        field r;
#pragma unroll
        for (int i = 0; i < N; i++) r.l[i] = P::r2(i);
        return r;
    }
    static CU_FN field modulus()
    {
        field r;
#pragma unroll
        for (int i = 0; i < N; i++) r.l[i] = P::mod(i);
        return r;
    }
    CU_FN bool is_zero() const
    {
        uint32_t x = 0;
#pragma unroll
        for (int i = 0; i < N; i++) x |= l[i];
        return x == 0;
    }
    CU_FN bool operator==(const field &b) const
    {
        uint32_t x = 0;
#pragma unroll
        for (int i = 0; i < N; i++) x |= l[i] ^ b.l[i];
        return x == 0;
    }
    /** Below the modulus, as a number. */
    CU_FN bool is_canonical() const
    {
        field t, m = modulus();
        return rows<N>::difference(t.l, l, m.l) != 0;
    }
    /** a < 2 m, brought below m. */
    static CU_FN field reduce_once(const field &a)
    {
        field t, m = modulus();
        bool keep = rows<N>::difference(t.l, a.l, m.l) != 0;
#pragma unroll
        for (int i = 0; i < N; i++) t.l[i] = keep ? a.l[i] : t.l[i];
        return t;
    }
};

template <class P> CU_FN field<P> operator+(const field<P> &a, const field<P> &b)
{
    field<P> t;
    rows<P::N>::sum(t.l, a.l, b.l); /* 2 m fits */
    return field<P>::reduce_once(t);
}

template <class P> CU_FN field<P> operator-(const field<P> &a, const field<P> &b)
{
    field<P> t, m = field<P>::modulus();
    uint32_t below = 0u - rows<P::N>::difference(t.l, a.l, b.l);
#pragma unroll
    for (int i = 0; i < P::N; i++) m.l[i] &= below;
    rows<P::N>::sum(t.l, t.l, m.l);
    return t;
}

template <class P> CU_FN field<P> neg(const field<P> &a)
{
    field<P> t, m = field<P>::modulus();
    rows<P::N>::difference(t.l, m.l, a.l);
    return a.is_zero() ? a : t;
}

/** One limb of b, and the reduction by one limb. E, O: the accumulators, E[0] the lowest limb. */
template <class P>
CU_FN void mont_step(uint32_t *e, uint32_t *o, const uint32_t *a, uint32_t b, bool first)
{
    field<P> m = field<P>::modulus();
    if (first) {
#pragma unroll
        for (int j = 0; j < P::N; j += 2) {
            uint64_t x = (uint64_t)a[j] * b, y = (uint64_t)a[j + 1] * b;
            e[j] = (uint32_t)x;
            e[j + 1] = (uint32_t)(x >> 32);
            o[j] = (uint32_t)y;
            o[j + 1] = (uint32_t)(y >> 32);
        }
    } else {
        rows<P::N>::add_down(o, e[0], a + 1, b);
        rows<P::N>::add(e, o[P::N - 1], a, b);
    }
    if constexpr (P::N == 8 && P::mod(0) == 1 && P::mod(1) == 0xffffffffu) {
        rows<8>::reduce_by_one(e, o, m.l);
    } else {
        uint32_t k = e[0] * P::NEG_INV, none = 0;
        rows<P::N>::add(o, none, m.l + 1, k);
        rows<P::N>::add(e, o[P::N - 1], m.l, k);
    }
}

/** a b / R, below 2 m, for a below m and any b of N limbs. */
template <class P> CU_FN field<P> mul_lazy(const field<P> &a, const field<P> &b)
{
    uint32_t e[P::N], o[P::N];
#pragma unroll
    for (int i = 0; i < P::N; i += 2) {
        mont_step<P>(e, o, a.l, b.l[i], i == 0);
        mont_step<P>(o, e, a.l, b.l[i + 1], false);
    }
    /* the lowest limb of o is cleared, and o is the lower accumulator now: value / 2^32 = e + (o >> 32) */
    field<P> t, s;
#pragma unroll
    for (int i = 0; i < P::N; i++) {
        t.l[i] = e[i];
        s.l[i] = i + 1 < P::N ? o[i + 1] : 0;
    }
    rows<P::N>::sum(t.l, t.l, s.l);
    return t;
}

template <class P> CU_FN field<P> operator*(const field<P> &a, const field<P> &b)
{
    return field<P>::reduce_once(mul_lazy(a, b));
}

/** Products a[i] a[j], j > i: those with i + j even to e at i + j, the others to o at i + j - 1. */
template <int N, int I> CU_FN void cross_products(uint32_t *e, uint32_t *o, const uint32_t *a)
{
    if constexpr (I + 1 < N) {
        add_row<(N - I) / 2>(o + 2 * I, a + I + 1, a[I]);
        if constexpr (I + 2 < N) add_row<(N - I - 1) / 2>(e + 2 * I + 2, a + I + 2, a[I]);
        cross_products<N, I + 1>(e, o, a);
    }
}

/** t = a^2, 2 N limbs. */
template <int N> CU_FN void square_whole(uint32_t *t, const uint32_t *a)
{
    uint32_t o[2 * N];
#pragma unroll
    for (int i = 0; i < 2 * N; i++) t[i] = o[i] = 0;
    cross_products<N, 0>(t, o, a);
    /* o begins one limb further up; its last limb is 0 */
#pragma unroll
    for (int i = 2 * N - 1; i > 0; i--) o[i] = o[i - 1];
    o[0] = 0;
    uint32_t c = rows<N>::sum(t, t, o);
    (void)rows<N>::sum_in(t + N, t + N, o + N, c);
    c = rows<N>::sum(t, t, t);
    (void)rows<N>::sum_in(t + N, t + N, t + N, c);
    c = rows<N>::add_squares(t, a, 0);
    (void)rows<N>::add_squares(t + N, a + N / 2, c);
}

/** What a step of a product does to clear the lowest limb, with nothing added. */
template <class P> CU_FN void reduce_step(uint32_t *e, uint32_t *o)
{
    field<P> m = field<P>::modulus();
    uint32_t k = rows<P::N>::reduce_down(o, e[0], m.l + 1, P::NEG_INV);
    rows<P::N>::add(e, o[P::N - 1], m.l, k);
}

/** The products of two limbs once each: n (3 n + 1) / 2 wide ones and n more to reduce. */
template <class P> CU_FN field<P> sqr(const field<P> &a)
{
    if constexpr (P::N == 8 && P::mod(0) == 1) {
        return a * a; /* whose reduction is cheaper */
    } else {
        uint32_t t[2 * P::N], o[P::N];
        field<P> r, s;
        square_whole<P::N>(t, a.l);
#pragma unroll
        for (int i = 0; i < P::N; i++) o[i] = 0;
#pragma unroll
        for (int i = 0; i < P::N; i += 2) {
            reduce_step<P>(t, o);
            reduce_step<P>(o, t);
        }
#pragma unroll
        for (int i = 0; i < P::N; i++) {
            r.l[i] = t[P::N + i];
            s.l[i] = i + 1 < P::N ? o[i + 1] : 0;
        }
        rows<P::N>::sum(r.l, r.l, t);
        rows<P::N>::sum(r.l, r.l, s.l); /* a^2 / R + m at most: below 2 m */
        return field<P>::reduce_once(r);
    }
}

template <class P> CU_FN field<P> dbl(const field<P> &a)
{
    return a + a;
}

/** Out of Montgomery form: a / R. */
template <class P> CU_FN field<P> from_mont(const field<P> &a)
{
    field<P> one = field<P>::zero();
    one.l[0] = 1;
    return a * one;
}

template <class P> CU_FN field<P> to_mont(const field<P> &a)
{
    return a * field<P>::r2();
}

/** c ? a : b */
template <class P> CU_FN field<P> pick(bool c, const field<P> &a, const field<P> &b)
{
    field<P> r;
#pragma unroll
    for (int i = 0; i < P::N; i++) r.l[i] = c ? a.l[i] : b.l[i];
    return r;
}

#endif
