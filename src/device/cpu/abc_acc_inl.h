/*
 * device/cpu/abc_acc_inl.h - the sum of a row before its reduction: nine words
 *
 * The sum stands for acc / 2^256: a product goes in at word 0 unreduced, a value that is not multiplied at word 4. Each
 * adds less than 2^512, so that nine words hold 2^64 terms. Reduced once, at the end of a row.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_CPU_ABC_ACC_INL_H
#define DEVICE_CPU_ABC_ACC_INL_H

#include "algebra/curve_inl.h"

typedef struct abc_acc {
    uint64_t w[9];
    uint64_t low[3]; /* scratch of abc_mac */
} abc_acc;

#if FIELD_ADX

/* clang-format off */

/* acc += v & mask, from word 4 on */
U128_INLINE void abc_add(abc_acc *acc, const fr *v, uint64_t mask)
{
    uint64_t v0 = v->l[0] & mask, v1 = v->l[1] & mask, v2 = v->l[2] & mask, v3 = v->l[3] & mask;
    __asm__("addq %[v0], %[w4]\n\t adcq %[v1], %[w5]\n\t adcq %[v2], %[w6]\n\t adcq %[v3], %[w7]\n\t"
            "adcq $0, %[w8]\n\t"
            : [w4] "+r"(acc->w[4]), [w5] "+r"(acc->w[5]), [w6] "+r"(acc->w[6]), [w7] "+r"(acc->w[7]),
              [w8] "+r"(acc->w[8])
            : [v0] "r"(v0), [v1] "r"(v1), [v2] "r"(v2), [v3] "r"(v3)
            : "cc");
}

/* acc += m - v, from word 4 on */
U128_INLINE void abc_sub(abc_acc *acc, const fr *v)
{
    uint64_t v0 = fr_modulus[0], v1 = fr_modulus[1], v2 = fr_modulus[2], v3 = fr_modulus[3];
    __asm__("subq %[s0], %[v0]\n\t sbbq %[s1], %[v1]\n\t sbbq %[s2], %[v2]\n\t sbbq %[s3], %[v3]\n\t"
            "addq %[v0], %[w4]\n\t adcq %[v1], %[w5]\n\t adcq %[v2], %[w6]\n\t adcq %[v3], %[w7]\n\t"
            "adcq $0, %[w8]\n\t"
            : [w4] "+r"(acc->w[4]), [w5] "+r"(acc->w[5]), [w6] "+r"(acc->w[6]), [w7] "+r"(acc->w[7]),
              [w8] "+r"(acc->w[8]), [v0] "+&r"(v0), [v1] "+&r"(v1), [v2] "+&r"(v2), [v3] "+&r"(v3)
            : [s0] "m"(v->l[0]), [s1] "m"(v->l[1]), [s2] "m"(v->l[2]), [s3] "m"(v->l[3])
            : "cc");
}

/* t_low += low word of rdx * f (CF chain); t_high += its high word (OF chain) */
#define ABC_MAC(f, t_low, t_high) \
    "mulxq " f ", %[lo], %[hi]\n\t adcxq %[lo], %[" #t_low "]\n\t adoxq %[hi], %[" #t_high "]\n\t"
/* t_low += low word; t_high = high word */
#define ABC_MAC_NEW(f, t_low, t_high) \
    "mulxq " f ", %[lo], %[" #t_high "]\n\t adcxq %[lo], %[" #t_low "]\n\t"
/* words i to i + 4 += a b_i, top is a new word */
#define ABC_ROW(i, t0, t1, t2, t3, top)                                         \
    "movq 8*" #i "(%[b]), %%rdx\n\t xorl %k[" #top "], %k[" #top "]\n\t"        \
    ABC_MAC("0(%[a])", t0, t1) ABC_MAC("8(%[a])", t1, t2)                       \
    ABC_MAC("16(%[a])", t2, t3) ABC_MAC("24(%[a])", t3, top) "adcq $0, %[" #top "]\n\t"

/* acc += a b: the product first, then one chain of additions, which is all that the next term waits for. The product's
   low words wait in acc->low, since registers are few. */
U128_INLINE void abc_mac(abc_acc *acc, const fr *a, const fr *b)
{
    uint64_t t0, t1, t2, t3, t4, lo, hi;
    __asm__ volatile("movq 0(%[b]), %%rdx\n\t xorl %k[lo], %k[lo]\n\t"
            "mulxq 0(%[a]), %[t0], %[t1]\n\t"
            ABC_MAC_NEW("8(%[a])", t1, t2) ABC_MAC_NEW("16(%[a])", t2, t3)
            ABC_MAC_NEW("24(%[a])", t3, t4) "adcq $0, %[t4]\n\t movq %[t0], 72(%[w])\n\t"
            ABC_ROW(1, t1, t2, t3, t4, t0) "movq %[t1], 80(%[w])\n\t"
            ABC_ROW(2, t2, t3, t4, t0, t1) "movq %[t2], 88(%[w])\n\t"
            ABC_ROW(3, t3, t4, t0, t1, t2)
            "movq 72(%[w]), %[lo]\n\t addq %[lo], 0(%[w])\n\t movq 80(%[w]), %[lo]\n\t adcq %[lo], 8(%[w])\n\t"
            "movq 88(%[w]), %[lo]\n\t adcq %[lo], 16(%[w])\n\t"
            "adcq %[t3], 24(%[w])\n\t adcq %[t4], 32(%[w])\n\t adcq %[t0], 40(%[w])\n\t adcq %[t1], 48(%[w])\n\t"
            "adcq %[t2], 56(%[w])\n\t adcq $0, 64(%[w])\n\t"
            : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4), [lo] "=&r"(lo),
              [hi] "=&r"(hi)
            : [a] "r"(a), [b] "r"(b), [w] "r"(acc)
            : "rdx", "cc", "memory");
}

#undef ABC_ROW
#undef ABC_MAC
#undef ABC_MAC_NEW

/* clang-format on */

#else

U128_INLINE void abc_add(abc_acc *acc, const fr *v, uint64_t mask)
{
    uint64_t carry = 0;
    for (int i = 0; i < 4; i++) acc->w[4 + i] = u64_addc(acc->w[4 + i], v->l[i] & mask, &carry);
    acc->w[8] += carry;
}

U128_INLINE void abc_sub(abc_acc *acc, const fr *v)
{
    uint64_t borrow = 0;
    fr d;
    for (int i = 0; i < 4; i++) d.l[i] = u64_subb(fr_modulus[i], v->l[i], &borrow);
    abc_add(acc, &d, UINT64_MAX);
}

U128_INLINE void abc_mac(abc_acc *acc, const fr *a, const fr *b)
{
    uint64_t carry = 0;
    fr_wide p;
    fr_mul_wide(&p, a, b);
    for (int i = 0; i < 8; i++) acc->w[i] = u64_addc(acc->w[i], p.l[i], &carry);
    acc->w[8] += carry;
}

#endif

/* The top word leaves: t * 2^256 = t * one mod m, one = 2^256 mod m in four words. r below 2^256 and (t, r) the sum. */
static void abc_fold(uint64_t r[4], uint64_t t)
{
    while (t != 0) {
        uint64_t hi = 0, carry = 0;
        for (int i = 0; i < 4; i++) {
            uint64_t p = word_mac(t, fr_mont_one[i], 0, &hi);
            r[i] = u64_addc(r[i], p, &carry);
        }
        t = hi + carry; /* < t unless both are small: one is below 2^255 */
    }
}

/* r = acc / 2^256 mod m */
U128_INLINE void abc_end(fr *r, const abc_acc *acc)
{
    fr_wide wide;
    fr top;

    memcpy(top.l, &acc->w[4], sizeof top.l);
    if (acc->w[8] != 0) abc_fold(top.l, acc->w[8]);
    while (!fr_is_canonical(&top)) { /* 2^256 < 6m */
        uint64_t borrow = 0;
        for (int i = 0; i < 4; i++) top.l[i] = u64_subb(top.l[i], fr_modulus[i], &borrow);
    }
    if ((acc->w[0] | acc->w[1] | acc->w[2] | acc->w[3]) == 0) {
        *r = top;
        return;
    }
    memcpy(wide.l, acc->w, 4 * sizeof *wide.l);
    memcpy(&wide.l[4], top.l, 4 * sizeof *wide.l);
    fr_redc_wide(r, &wide);
}

#endif
