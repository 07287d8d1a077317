/*
 * device/cuda/limbs.cuh - rows of products and sums of 32-bit limbs with their carries: PTX on a device, C on the host
 *
 * A row is a[0], a[2], ... times one limb, each product taking two limbs of the accumulator: so low and high halves lie
 * in aligned pairs, and a pair of mad.lo/madc.hi becomes one wide multiply-add of the machine, carry included. Each
 * chain is one asm statement: the carry flag never lives between statements.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_CUDA_LIMBS_CUH
#define DEVICE_CUDA_LIMBS_CUH

#include "device/cuda/params.cuh"

/* ---- the host's forms, for any n ---- */

/** acc += sum a[2 i] b 2^(64 i) + carry over n limbs; returns the carry out. */
inline uint32_t row_add_host(uint32_t *acc, const uint32_t *a, uint32_t b, int n, uint32_t carry)
{
    for (int j = 0; j < n; j += 2) {
        uint64_t t = (uint64_t)a[j] * b, lo = (uint64_t)acc[j] + (uint32_t)t + carry;
        uint64_t hi = (uint64_t)acc[j + 1] + (t >> 32) + (lo >> 32);
        acc[j] = (uint32_t)lo;
        acc[j + 1] = (uint32_t)hi;
        carry = (uint32_t)(hi >> 32);
    }
    return carry;
}

inline uint32_t sum_host(uint32_t *r, const uint32_t *a, const uint32_t *b, int n, uint32_t carry)
{
    uint64_t c = carry;
    for (int i = 0; i < n; i++) {
        c += (uint64_t)a[i] + b[i];
        r[i] = (uint32_t)c;
        c >>= 32;
    }
    return (uint32_t)c;
}

inline uint32_t difference_host(uint32_t *r, const uint32_t *a, const uint32_t *b, int n)
{
    uint64_t c = 0;
    for (int i = 0; i < n; i++) {
        c = (uint64_t)a[i] - b[i] - c;
        r[i] = (uint32_t)c;
        c = c >> 63;
    }
    return (uint32_t)c;
}

/* ---- the device's: chains written out for 8 and 12 limbs ---- */

#define ROW_FIRST(l, h, x, b) \
    "mad.lo.cc.u32 %" #l ", %" #x ", %" #b ", %" #l "; madc.hi.cc.u32 %" #h ", %" #x ", %" #b \
    ", %" #h "; "
#define ROW_NEXT(l, h, x, b) \
    "madc.lo.cc.u32 %" #l ", %" #x ", %" #b ", %" #l "; madc.hi.cc.u32 %" #h ", %" #x ", %" #b \
    ", %" #h "; "
/* the accumulator comes from two limbs further up */
#define ROW_DOWN(l, h, x, b, from_l, from_h) \
    "madc.lo.cc.u32 %" #l ", %" #x ", %" #b ", %" #from_l "; madc.hi.cc.u32 %" #h ", %" #x \
    ", %" #b ", %" #from_h "; "
#define ROW_LAST(l, h, x, b) \
    "madc.lo.cc.u32 %" #l ", %" #x ", %" #b ", 0; madc.hi.u32 %" #h ", %" #x ", %" #b ", 0; "

template <int N> struct rows;

template <> struct rows<12> {
    /** acc += row; the carry goes to top. */
    static CU_FN void add(uint32_t *acc, uint32_t &top, const uint32_t *a, uint32_t b)
    {
#ifdef __CUDA_ARCH__
        asm(ROW_FIRST(0, 1, 13, 19) ROW_NEXT(2, 3, 14, 19) ROW_NEXT(4, 5, 15, 19)
                ROW_NEXT(6, 7, 16, 19) ROW_NEXT(8, 9, 17, 19)
                    ROW_NEXT(10, 11, 18, 19) "addc.u32 %12, %12, 0;"
            : "+r"(acc[0]), "+r"(acc[1]), "+r"(acc[2]), "+r"(acc[3]), "+r"(acc[4]), "+r"(acc[5]),
              "+r"(acc[6]), "+r"(acc[7]), "+r"(acc[8]), "+r"(acc[9]), "+r"(acc[10]), "+r"(acc[11]),
              "+r"(top)
            : "r"(a[0]), "r"(a[2]), "r"(a[4]), "r"(a[6]), "r"(a[8]), "r"(a[10]), "r"(b));
#else
        top += row_add_host(acc, a, b, 12, 0);
#endif
    }
    /** e0 += acc[1]; acc = (acc >> 64) + row + carry of that sum. Nothing leaves at the top. */
    static CU_FN void add_down(uint32_t *acc, uint32_t &e0, const uint32_t *a, uint32_t b)
    {
#ifdef __CUDA_ARCH__
        asm("add.cc.u32 %12, %12, %1; " ROW_DOWN(0, 1, 13, 19, 2, 3) ROW_DOWN(2, 3, 14, 19, 4, 5)
                ROW_DOWN(4, 5, 15, 19, 6, 7) ROW_DOWN(6, 7, 16, 19, 8, 9)
                    ROW_DOWN(8, 9, 17, 19, 10, 11) ROW_LAST(10, 11, 18, 19)
            : "+r"(acc[0]), "+r"(acc[1]), "+r"(acc[2]), "+r"(acc[3]), "+r"(acc[4]), "+r"(acc[5]),
              "+r"(acc[6]), "+r"(acc[7]), "+r"(acc[8]), "+r"(acc[9]), "+r"(acc[10]), "+r"(acc[11]),
              "+r"(e0)
            : "r"(a[0]), "r"(a[2]), "r"(a[4]), "r"(a[6]), "r"(a[8]), "r"(a[10]), "r"(b));
#else
        uint64_t t = (uint64_t)e0 + acc[1];
        e0 = (uint32_t)t;
        for (int i = 0; i < 10; i++) acc[i] = acc[i + 2];
        acc[10] = acc[11] = 0;
        (void)row_add_host(acc, a, b, 12, (uint32_t)(t >> 32));
#endif
    }
    /** r = a + b; returns the carry. */
    static CU_FN uint32_t sum(uint32_t *r, const uint32_t *a, const uint32_t *b)
    {
#ifdef __CUDA_ARCH__
        uint32_t c;
        asm("add.cc.u32 %0, %13, %25; addc.cc.u32 %1, %14, %26; addc.cc.u32 %2, %15, %27; "
            "addc.cc.u32 %3, %16, %28; addc.cc.u32 %4, %17, %29; addc.cc.u32 %5, %18, %30; "
            "addc.cc.u32 %6, %19, %31; addc.cc.u32 %7, %20, %32; addc.cc.u32 %8, %21, %33; "
            "addc.cc.u32 %9, %22, %34; addc.cc.u32 %10, %23, %35; addc.cc.u32 %11, %24, %36; "
            "addc.u32 %12, 0, 0;"
            : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]),
              "=r"(r[7]), "=r"(r[8]), "=r"(r[9]), "=r"(r[10]), "=r"(r[11]), "=r"(c)
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]),
              "r"(a[7]), "r"(a[8]), "r"(a[9]), "r"(a[10]), "r"(a[11]), "r"(b[0]), "r"(b[1]),
              "r"(b[2]), "r"(b[3]), "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]), "r"(b[8]),
              "r"(b[9]), "r"(b[10]), "r"(b[11]));
        return c;
#else
        return sum_host(r, a, b, 12, 0);
#endif
    }
    /** r = a - b; returns 1 when it went below zero. */
    static CU_FN uint32_t difference(uint32_t *r, const uint32_t *a, const uint32_t *b)
    {
#ifdef __CUDA_ARCH__
        uint32_t c;
        asm("sub.cc.u32 %0, %13, %25; subc.cc.u32 %1, %14, %26; subc.cc.u32 %2, %15, %27; "
            "subc.cc.u32 %3, %16, %28; subc.cc.u32 %4, %17, %29; subc.cc.u32 %5, %18, %30; "
            "subc.cc.u32 %6, %19, %31; subc.cc.u32 %7, %20, %32; subc.cc.u32 %8, %21, %33; "
            "subc.cc.u32 %9, %22, %34; subc.cc.u32 %10, %23, %35; subc.cc.u32 %11, %24, %36; "
            "subc.u32 %12, 0, 0;"
            : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]),
              "=r"(r[7]), "=r"(r[8]), "=r"(r[9]), "=r"(r[10]), "=r"(r[11]), "=r"(c)
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]),
              "r"(a[7]), "r"(a[8]), "r"(a[9]), "r"(a[10]), "r"(a[11]), "r"(b[0]), "r"(b[1]),
              "r"(b[2]), "r"(b[3]), "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]), "r"(b[8]),
              "r"(b[9]), "r"(b[10]), "r"(b[11]));
        return c & 1;
#else
        return difference_host(r, a, b, 12);
#endif
    }
    /** r = a + b + carry; returns the carry. */
    static CU_FN uint32_t sum_in(uint32_t *r, const uint32_t *a, const uint32_t *b, uint32_t carry)
    {
#ifdef __CUDA_ARCH__
        uint32_t c;
        asm("add.cc.u32 %12, %13, 0xffffffff; addc.cc.u32 %0, %14, %26; "
            "addc.cc.u32 %1, %15, %27; addc.cc.u32 %2, %16, %28; "
            "addc.cc.u32 %3, %17, %29; addc.cc.u32 %4, %18, %30; "
            "addc.cc.u32 %5, %19, %31; addc.cc.u32 %6, %20, %32; "
            "addc.cc.u32 %7, %21, %33; addc.cc.u32 %8, %22, %34; "
            "addc.cc.u32 %9, %23, %35; addc.cc.u32 %10, %24, %36; "
            "addc.cc.u32 %11, %25, %37; addc.u32 %12, 0, 0;"
            : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]),
              "=r"(r[7]), "=r"(r[8]), "=r"(r[9]), "=r"(r[10]), "=r"(r[11]), "=&r"(c)
            : "r"(carry), "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]),
              "r"(a[6]), "r"(a[7]), "r"(a[8]), "r"(a[9]), "r"(a[10]), "r"(a[11]), "r"(b[0]),
              "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]),
              "r"(b[8]), "r"(b[9]), "r"(b[10]), "r"(b[11]));
        return c;
#else
        return sum_host(r, a, b, 12, carry);
#endif
    }
    /** acc += sum a[i]^2 2^(64 i) + carry over 6 limbs of a; returns the carry. */
    static CU_FN uint32_t add_squares(uint32_t *acc, const uint32_t *a, uint32_t carry)
    {
#ifdef __CUDA_ARCH__
        uint32_t c;
        asm("add.cc.u32 %12, %13, 0xffffffff; " ROW_NEXT(0, 1, 14, 14) ROW_NEXT(2, 3, 15, 15)
                ROW_NEXT(4, 5, 16, 16) ROW_NEXT(6, 7, 17, 17) ROW_NEXT(8, 9, 18, 18)
                    ROW_NEXT(10, 11, 19, 19) "addc.u32 %12, 0, 0;"
            : "+r"(acc[0]), "+r"(acc[1]), "+r"(acc[2]), "+r"(acc[3]), "+r"(acc[4]), "+r"(acc[5]),
              "+r"(acc[6]), "+r"(acc[7]), "+r"(acc[8]), "+r"(acc[9]), "+r"(acc[10]), "+r"(acc[11]),
              "=&r"(c)
            : "r"(carry), "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]));
        return c;
#else
        for (int i = 0; i < 6; i++) carry = row_add_host(acc + 2 * i, a + i, a[i], 2, carry);
        return carry;
#endif
    }
    /** add_down with m times k = e0 neg_inv, e0 being what it has become; returns k. */
    static CU_FN uint32_t reduce_down(uint32_t *acc, uint32_t &e0, const uint32_t *m,
                                      uint32_t neg_inv)
    {
        uint32_t k;
#ifdef __CUDA_ARCH__
        asm("add.cc.u32 %12, %12, %1; mul.lo.u32 %13, %12, %14; " ROW_DOWN(0, 1, 15, 13, 2, 3)
                ROW_DOWN(2, 3, 16, 13, 4, 5) ROW_DOWN(4, 5, 17, 13, 6, 7)
                    ROW_DOWN(6, 7, 18, 13, 8, 9) ROW_DOWN(8, 9, 19, 13, 10, 11)
                        ROW_LAST(10, 11, 20, 13)
            : "+r"(acc[0]), "+r"(acc[1]), "+r"(acc[2]), "+r"(acc[3]), "+r"(acc[4]), "+r"(acc[5]),
              "+r"(acc[6]), "+r"(acc[7]), "+r"(acc[8]), "+r"(acc[9]), "+r"(acc[10]), "+r"(acc[11]),
              "+r"(e0), "=&r"(k)
            : "r"(neg_inv), "r"(m[0]), "r"(m[2]), "r"(m[4]), "r"(m[6]), "r"(m[8]), "r"(m[10]));
#else
        k = (e0 + acc[1]) * neg_inv;
        add_down(acc, e0, m, k);
#endif
        return k;
    }
};

template <> struct rows<8> {
    /**
     * o += k (m1, m3, m5, m7) and e += k (1, m2, m4, m6), k = -e[0], m1 = 2^32 - 1: the reduction by one limb for the
     * order of BLS12-381, three wide products cheaper. k m1 = 2^32 k - k, and -k is e[0]. m: the modulus. k comes out of
     * a subtraction with a borrow: ptxas moves a plain negation into the products, and then makes two instructions of each.
     */
    static CU_FN void reduce_by_one(uint32_t *e, uint32_t *o, const uint32_t *m)
    {
#ifdef __CUDA_ARCH__
        uint32_t k, hi; /* hi = k - (e[0] != 0) */
        asm("sub.cc.u32 %0, 0, %2; subc.u32 %1, %0, 0;" : "=&r"(k), "=r"(hi) : "r"(e[0]));
        asm("add.cc.u32 %0, %0, %8; addc.cc.u32 %1, %1, %9; " ROW_NEXT(2, 3, 10, 13)
                ROW_NEXT(4, 5, 11, 13) "madc.lo.cc.u32 %6, %12, %13, %6; "
                                       "madc.hi.u32 %7, %12, %13, %7;"
            : "+r"(o[0]), "+r"(o[1]), "+r"(o[2]), "+r"(o[3]), "+r"(o[4]), "+r"(o[5]), "+r"(o[6]),
              "+r"(o[7])
            : "r"(e[0]), "r"(hi), "r"(m[3]), "r"(m[5]), "r"(m[7]), "r"(k));
        asm("add.cc.u32 %0, %0, %12; addc.cc.u32 %1, %1, 0; " ROW_NEXT(2, 3, 9, 12)
                ROW_NEXT(4, 5, 10, 12) ROW_NEXT(6, 7, 11, 12) "addc.u32 %8, %8, 0;"
            : "+r"(e[0]), "+r"(e[1]), "+r"(e[2]), "+r"(e[3]), "+r"(e[4]), "+r"(e[5]), "+r"(e[6]),
              "+r"(e[7]), "+r"(o[7])
            : "r"(m[2]), "r"(m[4]), "r"(m[6]), "r"(k));
#else
        uint32_t k = 0u - e[0], hi = k - (e[0] != 0), none = 0, low = e[0];
        uint64_t t = (uint64_t)o[0] + low;
        o[0] = (uint32_t)t;
        t = (uint64_t)o[1] + hi + (t >> 32);
        o[1] = (uint32_t)t;
        none = row_add_host(o + 2, m + 3, k, 6, (uint32_t)(t >> 32));
        t = (uint64_t)e[0] + k;
        e[0] = (uint32_t)t;
        t = (uint64_t)e[1] + (t >> 32);
        e[1] = (uint32_t)t;
        o[7] += row_add_host(e + 2, m + 2, k, 6, (uint32_t)(t >> 32)) + none;
#endif
    }
    static CU_FN void add(uint32_t *acc, uint32_t &top, const uint32_t *a, uint32_t b)
    {
#ifdef __CUDA_ARCH__
        asm(ROW_FIRST(0, 1, 9, 13) ROW_NEXT(2, 3, 10, 13) ROW_NEXT(4, 5, 11, 13)
                ROW_NEXT(6, 7, 12, 13) "addc.u32 %8, %8, 0;"
            : "+r"(acc[0]), "+r"(acc[1]), "+r"(acc[2]), "+r"(acc[3]), "+r"(acc[4]), "+r"(acc[5]),
              "+r"(acc[6]), "+r"(acc[7]), "+r"(top)
            : "r"(a[0]), "r"(a[2]), "r"(a[4]), "r"(a[6]), "r"(b));
#else
        top += row_add_host(acc, a, b, 8, 0);
#endif
    }
    static CU_FN void add_down(uint32_t *acc, uint32_t &e0, const uint32_t *a, uint32_t b)
    {
#ifdef __CUDA_ARCH__
        asm("add.cc.u32 %8, %8, %1; " ROW_DOWN(0, 1, 9, 13, 2, 3) ROW_DOWN(2, 3, 10, 13, 4, 5)
                ROW_DOWN(4, 5, 11, 13, 6, 7) ROW_LAST(6, 7, 12, 13)
            : "+r"(acc[0]), "+r"(acc[1]), "+r"(acc[2]), "+r"(acc[3]), "+r"(acc[4]), "+r"(acc[5]),
              "+r"(acc[6]), "+r"(acc[7]), "+r"(e0)
            : "r"(a[0]), "r"(a[2]), "r"(a[4]), "r"(a[6]), "r"(b));
#else
        uint64_t t = (uint64_t)e0 + acc[1];
        e0 = (uint32_t)t;
        for (int i = 0; i < 6; i++) acc[i] = acc[i + 2];
        acc[6] = acc[7] = 0;
        (void)row_add_host(acc, a, b, 8, (uint32_t)(t >> 32));
#endif
    }
    static CU_FN uint32_t sum(uint32_t *r, const uint32_t *a, const uint32_t *b)
    {
#ifdef __CUDA_ARCH__
        uint32_t c;
        asm("add.cc.u32 %0, %9, %17; addc.cc.u32 %1, %10, %18; addc.cc.u32 %2, %11, %19; "
            "addc.cc.u32 %3, %12, %20; addc.cc.u32 %4, %13, %21; addc.cc.u32 %5, %14, %22; "
            "addc.cc.u32 %6, %15, %23; addc.cc.u32 %7, %16, %24; addc.u32 %8, 0, 0;"
            : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]),
              "=r"(r[7]), "=r"(c)
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]),
              "r"(a[7]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(b[4]), "r"(b[5]),
              "r"(b[6]), "r"(b[7]));
        return c;
#else
        return sum_host(r, a, b, 8, 0);
#endif
    }
    static CU_FN uint32_t difference(uint32_t *r, const uint32_t *a, const uint32_t *b)
    {
#ifdef __CUDA_ARCH__
        uint32_t c;
        asm("sub.cc.u32 %0, %9, %17; subc.cc.u32 %1, %10, %18; subc.cc.u32 %2, %11, %19; "
            "subc.cc.u32 %3, %12, %20; subc.cc.u32 %4, %13, %21; subc.cc.u32 %5, %14, %22; "
            "subc.cc.u32 %6, %15, %23; subc.cc.u32 %7, %16, %24; subc.u32 %8, 0, 0;"
            : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]),
              "=r"(r[7]), "=r"(c)
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]),
              "r"(a[7]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(b[4]), "r"(b[5]),
              "r"(b[6]), "r"(b[7]));
        return c & 1;
#else
        return difference_host(r, a, b, 8);
#endif
    }
    /** r = a + b + carry; returns the carry. */
    static CU_FN uint32_t sum_in(uint32_t *r, const uint32_t *a, const uint32_t *b, uint32_t carry)
    {
#ifdef __CUDA_ARCH__
        uint32_t c;
        asm("add.cc.u32 %8, %9, 0xffffffff; addc.cc.u32 %0, %10, %18; "
            "addc.cc.u32 %1, %11, %19; addc.cc.u32 %2, %12, %20; "
            "addc.cc.u32 %3, %13, %21; addc.cc.u32 %4, %14, %22; "
            "addc.cc.u32 %5, %15, %23; addc.cc.u32 %6, %16, %24; "
            "addc.cc.u32 %7, %17, %25; addc.u32 %8, 0, 0;"
            : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]),
              "=r"(r[7]), "=&r"(c)
            : "r"(carry), "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]),
              "r"(a[6]), "r"(a[7]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(b[4]),
              "r"(b[5]), "r"(b[6]), "r"(b[7]));
        return c;
#else
        return sum_host(r, a, b, 8, carry);
#endif
    }
    /** acc += sum a[i]^2 2^(64 i) + carry over 4 limbs of a; returns the carry. */
    static CU_FN uint32_t add_squares(uint32_t *acc, const uint32_t *a, uint32_t carry)
    {
#ifdef __CUDA_ARCH__
        uint32_t c;
        asm("add.cc.u32 %8, %9, 0xffffffff; " ROW_NEXT(0, 1, 10, 10) ROW_NEXT(2, 3, 11, 11)
                ROW_NEXT(4, 5, 12, 12) ROW_NEXT(6, 7, 13, 13) "addc.u32 %8, 0, 0;"
            : "+r"(acc[0]), "+r"(acc[1]), "+r"(acc[2]), "+r"(acc[3]), "+r"(acc[4]), "+r"(acc[5]),
              "+r"(acc[6]), "+r"(acc[7]), "=&r"(c)
            : "r"(carry), "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]));
        return c;
#else
        for (int i = 0; i < 4; i++) carry = row_add_host(acc + 2 * i, a + i, a[i], 2, carry);
        return carry;
#endif
    }
    /** add_down with m times k = e0 neg_inv, e0 being what it has become; returns k. */
    static CU_FN uint32_t reduce_down(uint32_t *acc, uint32_t &e0, const uint32_t *m,
                                      uint32_t neg_inv)
    {
        uint32_t k;
#ifdef __CUDA_ARCH__
        asm("add.cc.u32 %8, %8, %1; mul.lo.u32 %9, %8, %10; " ROW_DOWN(0, 1, 11, 9, 2, 3)
                ROW_DOWN(2, 3, 12, 9, 4, 5) ROW_DOWN(4, 5, 13, 9, 6, 7) ROW_LAST(6, 7, 14, 9)
            : "+r"(acc[0]), "+r"(acc[1]), "+r"(acc[2]), "+r"(acc[3]), "+r"(acc[4]), "+r"(acc[5]),
              "+r"(acc[6]), "+r"(acc[7]), "+r"(e0), "=&r"(k)
            : "r"(neg_inv), "r"(m[0]), "r"(m[2]), "r"(m[4]), "r"(m[6]));
#else
        k = (e0 + acc[1]) * neg_inv;
        add_down(acc, e0, m, k);
#endif
        return k;
    }
};

/** acc[0 .. 2 L) += sum a[2 i] b 2^(64 i) over L limbs; the carry goes to acc[2 L]. */
template <int L> CU_FN void add_row(uint32_t *acc, const uint32_t *a, uint32_t b)
{
#ifdef __CUDA_ARCH__
    if constexpr (L == 1) {
        asm(ROW_FIRST(0, 1, 3, 4) "addc.u32 %2, %2, 0;"
            : "+r"(acc[0]), "+r"(acc[1]), "+r"(acc[2])
            : "r"(a[0]), "r"(b));
    } else if constexpr (L == 2) {
        asm(ROW_FIRST(0, 1, 5, 7) ROW_NEXT(2, 3, 6, 7) "addc.u32 %4, %4, 0;"
            : "+r"(acc[0]), "+r"(acc[1]), "+r"(acc[2]), "+r"(acc[3]), "+r"(acc[4])
            : "r"(a[0]), "r"(a[2]), "r"(b));
    } else if constexpr (L == 3) {
        asm(ROW_FIRST(0, 1, 7, 10) ROW_NEXT(2, 3, 8, 10) ROW_NEXT(4, 5, 9, 10) "addc.u32 %6, %6, 0;"
            : "+r"(acc[0]), "+r"(acc[1]), "+r"(acc[2]), "+r"(acc[3]), "+r"(acc[4]), "+r"(acc[5]),
              "+r"(acc[6])
            : "r"(a[0]), "r"(a[2]), "r"(a[4]), "r"(b));
    } else if constexpr (L == 4) {
        asm(ROW_FIRST(0, 1, 9, 13) ROW_NEXT(2, 3, 10, 13) ROW_NEXT(4, 5, 11, 13)
                ROW_NEXT(6, 7, 12, 13) "addc.u32 %8, %8, 0;"
            : "+r"(acc[0]), "+r"(acc[1]), "+r"(acc[2]), "+r"(acc[3]), "+r"(acc[4]), "+r"(acc[5]),
              "+r"(acc[6]), "+r"(acc[7]), "+r"(acc[8])
            : "r"(a[0]), "r"(a[2]), "r"(a[4]), "r"(a[6]), "r"(b));
    } else if constexpr (L == 5) {
        asm(ROW_FIRST(0, 1, 11, 16) ROW_NEXT(2, 3, 12, 16) ROW_NEXT(4, 5, 13, 16)
                ROW_NEXT(6, 7, 14, 16) ROW_NEXT(8, 9, 15, 16) "addc.u32 %10, %10, 0;"
            : "+r"(acc[0]), "+r"(acc[1]), "+r"(acc[2]), "+r"(acc[3]), "+r"(acc[4]), "+r"(acc[5]),
              "+r"(acc[6]), "+r"(acc[7]), "+r"(acc[8]), "+r"(acc[9]), "+r"(acc[10])
            : "r"(a[0]), "r"(a[2]), "r"(a[4]), "r"(a[6]), "r"(a[8]), "r"(b));
    } else {
        static_assert(L == 6, "rows of up to 6 products");
        asm(ROW_FIRST(0, 1, 13, 19) ROW_NEXT(2, 3, 14, 19) ROW_NEXT(4, 5, 15, 19)
                ROW_NEXT(6, 7, 16, 19) ROW_NEXT(8, 9, 17, 19)
                    ROW_NEXT(10, 11, 18, 19) "addc.u32 %12, %12, 0;"
            : "+r"(acc[0]), "+r"(acc[1]), "+r"(acc[2]), "+r"(acc[3]), "+r"(acc[4]), "+r"(acc[5]),
              "+r"(acc[6]), "+r"(acc[7]), "+r"(acc[8]), "+r"(acc[9]), "+r"(acc[10]), "+r"(acc[11]),
              "+r"(acc[12])
            : "r"(a[0]), "r"(a[2]), "r"(a[4]), "r"(a[6]), "r"(a[8]), "r"(a[10]), "r"(b));
    }
#else
    acc[2 * L] += row_add_host(acc, a, b, 2 * L, 0);
#endif
}

#undef ROW_FIRST
#undef ROW_NEXT
#undef ROW_DOWN
#undef ROW_LAST

#endif
