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
 * Against canonical values this spares the last subtraction of a product. mulx leaves the flags alone, adcx touches CF only
 * and adox OF only: a row runs one carry chain of low words on CF and one of high words on OF. AT&T syntax; t0..t4 is a
 * window of words that moves up by naming them one further.
 *
 * Measured on Zen 3 (2^9 points in the first-level cache, ns a butterfly): 21.5 (a canonical product alone 20.8); with the
 * shifts that the low word 2^64 - 2^32 + 1 of BLS12-381's modulus allows instead of multiplications, 21.5; with two
 * products interleaved 1 less, but then their operands must be copied together first; with unused mulx between the rows'
 * last carries 0.5 less, which other cores would pay for.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_CPU_NTT_ADX_INL_H
#define DEVICE_CPU_NTT_ADX_INL_H

#include "algebra/curve_inl.h"

static const uint64_t ntt_inv = FR_NEG_INV;
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

#define NTT_R(reg) "%[" #reg "]"
#define NTT_OUT(x) [x] "=&r"(x)
#define NTT_INOUT(x) [x] "+&r"(x)
#define NTT_IN(name, x) [name] "r"(x)
#define NTT_MEM(name, x) [name] "m"(x)
#define NTT_M NTT_MEM(m0, fr_modulus[0]), NTT_MEM(m1, fr_modulus[1]), NTT_MEM(m2, fr_modulus[2]), NTT_MEM(m3, fr_modulus[3])
#define NTT_M2 NTT_MEM(m0, ntt_m2[0]), NTT_MEM(m1, ntt_m2[1]), NTT_MEM(m2, ntt_m2[2]), NTT_MEM(m3, ntt_m2[3])

/* t_low += low word of rdx * f (CF chain); t_high += its high word (OF chain) */
#define NTT_MAC(f, t_low, t_high) \
    "mulxq " f ", %[lo], %[hi]\n\t adcxq %[lo], " NTT_R(t_low) "\n\t adoxq %[hi], " NTT_R(t_high) "\n\t"
/* t_low += low word; t_high = high word */
#define NTT_MAC_NEW(f, t_low, t_high) \
    "mulxq " f ", %[lo], " NTT_R(t_high) "\n\t adcxq %[lo], " NTT_R(t_low) "\n\t"

/* t = z x_0 */
#define NTT_FIRST(t0, t1, t2, t3, top)                                  \
    "movq 0(%[x]), %%rdx\n\t xorl %k[lo], %k[lo]\n\t"                   \
    "mulxq 0(%[z]), " NTT_R(t0) ", " NTT_R(t1) "\n\t"                   \
    NTT_MAC_NEW("8(%[z])", t1, t2) NTT_MAC_NEW("16(%[z])", t2, t3)      \
    NTT_MAC_NEW("24(%[z])", t3, top) "adcq $0, " NTT_R(top) "\n\t"
/* t += z x_i, top is a new word */
#define NTT_ROW(i, t0, t1, t2, t3, top)                                 \
    "movq 8*" #i "(%[x]), %%rdx\n\t xorl %k[" #top "], %k[" #top "]\n\t" \
    NTT_MAC("0(%[z])", t0, t1) NTT_MAC("8(%[z])", t1, t2)               \
    NTT_MAC("16(%[z])", t2, t3) NTT_MAC("24(%[z])", t3, top) "adcq $0, " NTT_R(top) "\n\t"
/* t += q m with q = t0 * -1/m mod 2^64: t0 becomes 0, and adds the carry to the top word */
#define NTT_REDUCE(t0, t1, t2, t3, top)                                 \
    "movq " NTT_R(t0) ", %%rdx\n\t imulq %[inv], %%rdx\n\t xorl %k[lo], %k[lo]\n\t" \
    NTT_MAC("%[m0]", t0, t1) NTT_MAC("%[m1]", t1, t2)                   \
    NTT_MAC("%[m2]", t2, t3) NTT_MAC("%[m3]", t3, top) "adcxq " NTT_R(t0) ", " NTT_R(top) "\n\t"

/* r = x z / 2^256 mod m, lazy */
U128_INLINE void ntt_mul(fr *r, const fr *x, const fr *z)
{
    uint64_t t0, t1, t2, t3, t4, lo, hi;
    __asm__(NTT_FIRST(t0, t1, t2, t3, t4)
            NTT_REDUCE(t0, t1, t2, t3, t4)
            NTT_ROW(1, t1, t2, t3, t4, t0) NTT_REDUCE(t1, t2, t3, t4, t0)
            NTT_ROW(2, t2, t3, t4, t0, t1) NTT_REDUCE(t2, t3, t4, t0, t1)
            NTT_ROW(3, t3, t4, t0, t1, t2) NTT_REDUCE(t3, t4, t0, t1, t2)
            : NTT_OUT(t0), NTT_OUT(t1), NTT_OUT(t2), NTT_OUT(t3), NTT_OUT(t4), NTT_OUT(lo), NTT_OUT(hi)
            : NTT_IN(z, z), NTT_IN(x, x), "m"(*z), "m"(*x), NTT_MEM(inv, ntt_inv), NTT_M
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
            : NTT_INOUT(s0), NTT_INOUT(s1), NTT_INOUT(s2), NTT_INOUT(s3),
              NTT_OUT(d0), NTT_OUT(d1), NTT_OUT(d2), NTT_OUT(d3), NTT_OUT(c)
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
            : NTT_INOUT(s0), NTT_INOUT(s1), NTT_INOUT(s2), NTT_INOUT(s3),
              NTT_OUT(d0), NTT_OUT(d1), NTT_OUT(d2), NTT_OUT(d3)
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

#undef NTT_R
#undef NTT_OUT
#undef NTT_INOUT
#undef NTT_IN
#undef NTT_MEM
#undef NTT_M
#undef NTT_M2
#undef NTT_MAC
#undef NTT_MAC_NEW
#undef NTT_FIRST
#undef NTT_ROW
#undef NTT_REDUCE

#endif
