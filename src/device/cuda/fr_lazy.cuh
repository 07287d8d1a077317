/*
 * device/cuda/fr_lazy.cuh - sums and differences of a scalar field that are not brought below the order
 *
 * A number of 256 bits stands for its remainder by the order m. The product of field.cuh takes any, and yields one below 2 m;
 * so a sum needs to come back only when it leaves 256 bits. Between passes of a transform elements are in this form.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_CUDA_FR_LAZY_CUH
#define DEVICE_CUDA_FR_LAZY_CUH

/** Limb i of 2^k m. */
template <class P> CU_FN constexpr uint32_t multiple(int k, int i)
{
    return P::mod(i) << k | (k != 0 && i != 0 ? P::mod(i - 1) >> (32 - k) : 0);
}

/** r += n when c is not 0; the carry is dropped. */
CU_FN void add_if(uint32_t *r, uint32_t c, const uint32_t *n)
{
#ifdef __CUDA_ARCH__
    asm("{.reg .pred p; setp.ne.u32 p, %8, 0; @p add.cc.u32 %0, %0, %9; "
        "@p addc.cc.u32 %1, %1, %10; @p addc.cc.u32 %2, %2, %11; @p addc.cc.u32 %3, %3, %12; "
        "@p addc.cc.u32 %4, %4, %13; @p addc.cc.u32 %5, %5, %14; @p addc.cc.u32 %6, %6, %15; "
        "@p addc.u32 %7, %7, %16;}"
        : "+r"(r[0]), "+r"(r[1]), "+r"(r[2]), "+r"(r[3]), "+r"(r[4]), "+r"(r[5]), "+r"(r[6]),
          "+r"(r[7])
        : "r"(c), "r"(n[0]), "r"(n[1]), "r"(n[2]), "r"(n[3]), "r"(n[4]), "r"(n[5]), "r"(n[6]),
          "r"(n[7]));
#else
    if (c != 0) (void)rows<8>::sum(r, r, n);
#endif
}

/** a + b for b below 2 m: less 2 m when it leaves 256 bits. */
template <class P> CU_FN field<P> add_lazy(const field<P> &a, const field<P> &b)
{
    field<P> t, n; /* n = 2^256 - 2 m, and m is odd */
#pragma unroll
    for (int i = 0; i < 8; i++) n.l[i] = ~multiple<P>(1, i) + (i == 0 ? 1 : 0);
    uint32_t c = rows<8>::sum(t.l, a.l, b.l);
    add_if(t.l, c, n.l);
    return t;
}

/** a - b for b of at most 2 m: 2 m more when it is below zero. */
template <class P> CU_FN field<P> sub_lazy(const field<P> &a, const field<P> &b)
{
    field<P> t, n;
#pragma unroll
    for (int i = 0; i < 8; i++) n.l[i] = multiple<P>(1, i);
    uint32_t c = rows<8>::difference(t.l, a.l, b.l);
    add_if(t.l, c, n.l);
    return t;
}

/** Below 2^K m. */
template <int K, class P> CU_FN field<P> below(const field<P> &a)
{
    field<P> t = a, d, n;
    if constexpr (K < 256 - P::BITS)
        t = below<K + 1>(a); /* 2^(256 - BITS) m is above half of 2^256 */
#pragma unroll
    for (int i = 0; i < 8; i++) n.l[i] = multiple<P>(K, i);
    bool keep = rows<8>::difference(d.l, t.l, n.l) != 0;
    return pick(keep, t, d);
}

/** The sum of two below 2 m, below 2 m. */
template <class P> CU_FN field<P> add_below(const field<P> &a, const field<P> &b)
{
    field<P> t, d, n;
#pragma unroll
    for (int i = 0; i < 8; i++) n.l[i] = multiple<P>(1, i);
    uint32_t c = rows<8>::sum(t.l, a.l, b.l);
    bool keep = rows<8>::difference(d.l, t.l, n.l) > c;
    return pick(keep, t, d);
}

#endif
