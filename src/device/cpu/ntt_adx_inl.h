/*
 * device/cpu/ntt_adx_inl.h - butterflies in ADX/BMI2 assembly on lazy values; ntt_plain_inl.h is what they must equal
 *
 * A value is below 2m, m the modulus, and 2m < 2^256 for both curves; ntt_settle makes it canonical. Bounds:
 *
 *   product   x any 4 words, z < m: (x z + q m) / 2^256 < z + m < 2m. The rows run over the words of x, so that a row adds
 *             less than 2^64 2m to t < 2m and needs one word more, no two
 *   sum       x + t < 4m, minus 2m when it is not below 2m. 4m has 257 bits for BLS12-381: the carry counts
 *   diff      x - t, plus 2m when it is negative
 *
 * Against canonical values this spares the last subtraction of a product, 8 of 165 operations.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

/* 2m */
#if defined(CURVE_BLS12_381)
static const uint64_t ntt_m2[4] = {0xfffffffe00000002, 0xa77b4805fffcb7fd, 0x6673b0101343b00a,
                                   0xe7db4ea6533afa90};
#elif defined(CURVE_BN254)
static const uint64_t ntt_m2[4] = {0x87c3eb27e0000002, 0x5067d090f372e122, 0x70a08b6d0302b0ba,
                                   0x60c89ce5c2634053};
#else
#    error "no lazy butterflies for this field"
#endif

/* clang-format off */

#define NTT_M ADX_MEM(m0, fr_modulus[0]), ADX_MEM(m1, fr_modulus[1]), ADX_MEM(m2, fr_modulus[2]), ADX_MEM(m3, fr_modulus[3])
#define NTT_M2 ADX_MEM(m0, ntt_m2[0]), ADX_MEM(m1, ntt_m2[1]), ADX_MEM(m2, ntt_m2[2]), ADX_MEM(m3, ntt_m2[3])

/* r = x z / 2^256 mod m, lazy */
U128_INLINE void ntt_mul(fr *r, const fr *x, const fr *z)
{
    uint64_t t0, t1, t2, t3, t4, lo, hi;
    __asm__(ADX_FIRST4(t0, t1, t2, t3, t4)
            ADX_REDUCE4(t0, t1, t2, t3, t4)
            ADX_STEP4(1, t1, t2, t3, t4, t0)
            ADX_STEP4(2, t2, t3, t4, t0, t1)
            ADX_STEP4(3, t3, t4, t0, t1, t2)
            : ADX_OUT(t0), ADX_OUT(t1), ADX_OUT(t2), ADX_OUT(t3), ADX_OUT(t4), ADX_OUT(lo), ADX_OUT(hi)
            : ADX_IN(a, z), ADX_IN(b, x), "m"(*z), "m"(*x), ADX_MEM(inv, fr_neg_inv), NTT_M
            : "rdx", "cc");
    r->l[0] = t4;
    r->l[1] = t0;
    r->l[2] = t1;
    r->l[3] = t2;
}

/* r = x + t mod 2m */
U128_INLINE void ntt_add(fr *r, const fr *x, const fr *t)
{
    uint64_t s0 = x->l[0], s1 = x->l[1], s2 = x->l[2], s3 = x->l[3], d0, d1, d2, d3, c;
    __asm__("addq %[t0], %[s0]\n\t adcq %[t1], %[s1]\n\t adcq %[t2], %[s2]\n\t adcq %[t3], %[s3]\n\t"
            "sbbq %[c], %[c]\n\t" /* -carry */
            "movq %[s0], %[d0]\n\t movq %[s1], %[d1]\n\t movq %[s2], %[d2]\n\t movq %[s3], %[d3]\n\t"
            "subq %[m0], %[d0]\n\t sbbq %[m1], %[d1]\n\t sbbq %[m2], %[d2]\n\t sbbq %[m3], %[d3]\n\t"
            "sbbq $0, %[c]\n\t" /* borrows when there was no carry, and the sum was below 2m */
            "cmovcq %[s0], %[d0]\n\t cmovcq %[s1], %[d1]\n\t cmovcq %[s2], %[d2]\n\t cmovcq %[s3], %[d3]\n\t"
            : ADX_INOUT(s0), ADX_INOUT(s1), ADX_INOUT(s2), ADX_INOUT(s3),
              ADX_OUT(d0), ADX_OUT(d1), ADX_OUT(d2), ADX_OUT(d3), ADX_OUT(c)
            : [t0] "rm"(t->l[0]), [t1] "rm"(t->l[1]), [t2] "rm"(t->l[2]), [t3] "rm"(t->l[3]), NTT_M2
            : "cc");
    r->l[0] = d0;
    r->l[1] = d1;
    r->l[2] = d2;
    r->l[3] = d3;
}

/* r = x - t mod 2m */
U128_INLINE void ntt_sub(fr *r, const fr *x, const fr *t)
{
    uint64_t s0 = x->l[0], s1 = x->l[1], s2 = x->l[2], s3 = x->l[3], d0, d1, d2, d3;
    __asm__("subq %[t0], %[s0]\n\t sbbq %[t1], %[s1]\n\t sbbq %[t2], %[s2]\n\t sbbq %[t3], %[s3]\n\t"
            "sbbq %[d0], %[d0]\n\t movq %[d0], %[d1]\n\t movq %[d0], %[d2]\n\t movq %[d0], %[d3]\n\t"
            "andq %[m0], %[d0]\n\t andq %[m1], %[d1]\n\t andq %[m2], %[d2]\n\t andq %[m3], %[d3]\n\t"
            "addq %[d0], %[s0]\n\t adcq %[d1], %[s1]\n\t adcq %[d2], %[s2]\n\t adcq %[d3], %[s3]\n\t"
            : ADX_INOUT(s0), ADX_INOUT(s1), ADX_INOUT(s2), ADX_INOUT(s3),
              ADX_OUT(d0), ADX_OUT(d1), ADX_OUT(d2), ADX_OUT(d3)
            : [t0] "rm"(t->l[0]), [t1] "rm"(t->l[1]), [t2] "rm"(t->l[2]), [t3] "rm"(t->l[3]), NTT_M2
            : "cc");
    r->l[0] = s0;
    r->l[1] = s1;
    r->l[2] = s2;
    r->l[3] = s3;
}

/* clang-format on */

/* r = x, canonical */
U128_INLINE void ntt_settle_one(fr *r, const fr *x)
{
    fr_reduce_once(r, x->l);
}

#undef NTT_M
#undef NTT_M2
