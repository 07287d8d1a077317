/*
 * algebra/mont_adx_add_tmpl.h - sums and differences in assembly, for 4 and 6 limbs; included by mont_tmpl.h
 *
 * The same functions as the plain ones there, bit for bit. They need no new instruction; it is that compilers take the carry
 * out of the flag and put it back at every limb, which costs as much as the sum. Not more than 14 registers, as in
 * mont_adx_tmpl.h.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

/* the length of an asm text has no limit */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverlength-strings"

#define M(i) ADX_MEM(m##i, FIELD_FN(modulus)[i])
/* t_i = t_i op b_i */
#define SUM(i, op) op " 8*" #i "(%[b]), %[t" #i "]\n\t"
/* s = t - m; then s = t when that borrowed */
#define TRY_LESS(i, op) "movq %[t" #i "], %[s" #i "]\n\t" op " %[m" #i "], %[s" #i "]\n\t"
#define KEEP(i) "cmovcq %[t" #i "], %[s" #i "]\n\t"
/* s = m when t borrowed, else 0; then t += s */
#define BACK(i) "movl $0, %k[s" #i "]\n\t cmovcq %[m" #i "], %[s" #i "]\n\t"
#define ADD_BACK(i, op) op " %[s" #i "], %[t" #i "]\n\t"

/* r_i = a_i op b_i; t_k = t_k - b_i, with the borrow */
#define WIDE(i, op) \
    "movq 8*" #i "(%[a]), %[x]\n\t" op " 8*" #i "(%[b]), %[x]\n\t movq %[x], 8*" #i "(%[r])\n\t"
#define HIGH(k, i) "sbbq 8*" #i "(%[b]), %[t" #k "]\n\t"

#if FIELD_LIMBS == 6

U128_INLINE void FIELD_FN(add)(FIELD *r, const FIELD *a, const FIELD *b)
{
    uint64_t t0 = a->l[0], t1 = a->l[1], t2 = a->l[2], t3 = a->l[3], t4 = a->l[4], t5 = a->l[5];
    uint64_t s0, s1, s2, s3, s4, s5;
    VERIFY(FIELD_FN(is_canonical)(a) && FIELD_FN(is_canonical)(b));
    /* clang-format off */
    __asm__ volatile(SUM(0, "addq")
            SUM(1, "adcq")
            SUM(2, "adcq")
            SUM(3, "adcq")
            SUM(4, "adcq")
            SUM(5, "adcq")
            TRY_LESS(0, "subq")
            TRY_LESS(1, "sbbq")
            TRY_LESS(2, "sbbq")
            TRY_LESS(3, "sbbq")
            TRY_LESS(4, "sbbq")
            TRY_LESS(5, "sbbq")
            KEEP(0) KEEP(1) KEEP(2) KEEP(3) KEEP(4) KEEP(5)
            : ADX_INOUT(t0), ADX_INOUT(t1), ADX_INOUT(t2), ADX_INOUT(t3), ADX_INOUT(t4), ADX_INOUT(t5),
              ADX_OUT(s0), ADX_OUT(s1), ADX_OUT(s2), ADX_OUT(s3), ADX_OUT(s4), ADX_OUT(s5)
            : ADX_IN(b, b), M(0), M(1), M(2), M(3), M(4), M(5)
            : "cc", "memory");
    /* clang-format on */
    r->l[0] = s0;
    r->l[1] = s1;
    r->l[2] = s2;
    r->l[3] = s3;
    r->l[4] = s4;
    r->l[5] = s5;
}

U128_INLINE void FIELD_FN(sub)(FIELD *r, const FIELD *a, const FIELD *b)
{
    uint64_t t0 = a->l[0], t1 = a->l[1], t2 = a->l[2], t3 = a->l[3], t4 = a->l[4], t5 = a->l[5];
    uint64_t s0, s1, s2, s3, s4, s5;
    VERIFY(FIELD_FN(is_canonical)(a) && FIELD_FN(is_canonical)(b));
    /* clang-format off */
    __asm__ volatile(SUM(0, "subq")
            SUM(1, "sbbq")
            SUM(2, "sbbq")
            SUM(3, "sbbq")
            SUM(4, "sbbq")
            SUM(5, "sbbq")
            BACK(0)
            BACK(1)
            BACK(2)
            BACK(3)
            BACK(4)
            BACK(5)
            ADD_BACK(0, "addq")
            ADD_BACK(1, "adcq")
            ADD_BACK(2, "adcq")
            ADD_BACK(3, "adcq")
            ADD_BACK(4, "adcq")
            ADD_BACK(5, "adcq")
            : ADX_INOUT(t0), ADX_INOUT(t1), ADX_INOUT(t2), ADX_INOUT(t3), ADX_INOUT(t4), ADX_INOUT(t5),
              ADX_OUT(s0), ADX_OUT(s1), ADX_OUT(s2), ADX_OUT(s3), ADX_OUT(s4), ADX_OUT(s5)
            : ADX_IN(b, b), M(0), M(1), M(2), M(3), M(4), M(5)
            : "cc", "memory");
    /* clang-format on */
    r->l[0] = t0;
    r->l[1] = t1;
    r->l[2] = t2;
    r->l[3] = t3;
    r->l[4] = t4;
    r->l[5] = t5;
}

U128_INLINE void FIELD_FN(wide_sub_lazy)(FIELD_WIDE *r, const FIELD_WIDE *a, const FIELD_WIDE *b)
{
    uint64_t x;
    ADX_WRITES(r);
    /* clang-format off */
    __asm__ volatile(WIDE(0, "subq") WIDE(1, "sbbq") WIDE(2, "sbbq") WIDE(3, "sbbq")
            WIDE(4, "sbbq") WIDE(5, "sbbq") WIDE(6, "sbbq") WIDE(7, "sbbq")
            WIDE(8, "sbbq") WIDE(9, "sbbq") WIDE(10, "sbbq") WIDE(11, "sbbq")
            : ADX_OUT(x)
            : ADX_IN(r, r), ADX_IN(a, a), ADX_IN(b, b)
            : "cc", "memory");
    /* clang-format on */
}

U128_INLINE void FIELD_FN(wide_sub)(FIELD_WIDE *r, const FIELD_WIDE *a, const FIELD_WIDE *b)
{
    uint64_t t0 = a->l[6], t1 = a->l[7], t2 = a->l[8], t3 = a->l[9], t4 = a->l[10], t5 = a->l[11];
    uint64_t s0, s1, s2, s3, s4, s5;
    ADX_WRITES(r);
    /* clang-format off */
    __asm__ volatile(/* the low half; s0 = 0 or, for a borrow, -1 */
            WIDE(0, "subq") WIDE(1, "sbbq") WIDE(2, "sbbq") WIDE(3, "sbbq") WIDE(4, "sbbq") WIDE(5, "sbbq")
            "sbbq %[x], %[x]\n\t"
            : [x] "=&r"(s0)
            : ADX_IN(r, r), ADX_IN(a, a), ADX_IN(b, b)
            : "cc", "memory");
    __asm__ volatile("negq %[s0]\n\t"
            HIGH(0, 6) HIGH(1, 7) HIGH(2, 8) HIGH(3, 9) HIGH(4, 10) HIGH(5, 11)
            BACK(0) BACK(1) BACK(2) BACK(3) BACK(4) BACK(5)
            ADD_BACK(0, "addq") ADD_BACK(1, "adcq") ADD_BACK(2, "adcq") ADD_BACK(3, "adcq") ADD_BACK(4, "adcq") ADD_BACK(5, "adcq")
            : ADX_INOUT(t0), ADX_INOUT(t1), ADX_INOUT(t2), ADX_INOUT(t3), ADX_INOUT(t4), ADX_INOUT(t5),
              ADX_INOUT(s0), ADX_OUT(s1), ADX_OUT(s2), ADX_OUT(s3), ADX_OUT(s4), ADX_OUT(s5)
            : ADX_IN(b, b), M(0), M(1), M(2), M(3), M(4), M(5)
            : "cc", "memory");
    /* clang-format on */
    r->l[6] = t0;
    r->l[7] = t1;
    r->l[8] = t2;
    r->l[9] = t3;
    r->l[10] = t4;
    r->l[11] = t5;
}

#else

U128_INLINE void FIELD_FN(add)(FIELD *r, const FIELD *a, const FIELD *b)
{
    uint64_t t0 = a->l[0], t1 = a->l[1], t2 = a->l[2], t3 = a->l[3];
    uint64_t s0, s1, s2, s3;
    VERIFY(FIELD_FN(is_canonical)(a) && FIELD_FN(is_canonical)(b));
    /* clang-format off */
    __asm__ volatile(SUM(0, "addq")
            SUM(1, "adcq")
            SUM(2, "adcq")
            SUM(3, "adcq")
            TRY_LESS(0, "subq")
            TRY_LESS(1, "sbbq")
            TRY_LESS(2, "sbbq")
            TRY_LESS(3, "sbbq")
            KEEP(0) KEEP(1) KEEP(2) KEEP(3)
            : ADX_INOUT(t0), ADX_INOUT(t1), ADX_INOUT(t2), ADX_INOUT(t3),
              ADX_OUT(s0), ADX_OUT(s1), ADX_OUT(s2), ADX_OUT(s3)
            : ADX_IN(b, b), M(0), M(1), M(2), M(3)
            : "cc", "memory");
    /* clang-format on */
    r->l[0] = s0;
    r->l[1] = s1;
    r->l[2] = s2;
    r->l[3] = s3;
}

U128_INLINE void FIELD_FN(sub)(FIELD *r, const FIELD *a, const FIELD *b)
{
    uint64_t t0 = a->l[0], t1 = a->l[1], t2 = a->l[2], t3 = a->l[3];
    uint64_t s0, s1, s2, s3;
    VERIFY(FIELD_FN(is_canonical)(a) && FIELD_FN(is_canonical)(b));
    /* clang-format off */
    __asm__ volatile(SUM(0, "subq")
            SUM(1, "sbbq")
            SUM(2, "sbbq")
            SUM(3, "sbbq")
            BACK(0)
            BACK(1)
            BACK(2)
            BACK(3)
            ADD_BACK(0, "addq")
            ADD_BACK(1, "adcq")
            ADD_BACK(2, "adcq")
            ADD_BACK(3, "adcq")
            : ADX_INOUT(t0), ADX_INOUT(t1), ADX_INOUT(t2), ADX_INOUT(t3),
              ADX_OUT(s0), ADX_OUT(s1), ADX_OUT(s2), ADX_OUT(s3)
            : ADX_IN(b, b), M(0), M(1), M(2), M(3)
            : "cc", "memory");
    /* clang-format on */
    r->l[0] = t0;
    r->l[1] = t1;
    r->l[2] = t2;
    r->l[3] = t3;
}

U128_INLINE void FIELD_FN(wide_sub_lazy)(FIELD_WIDE *r, const FIELD_WIDE *a, const FIELD_WIDE *b)
{
    uint64_t x;
    ADX_WRITES(r);
    /* clang-format off */
    __asm__ volatile(WIDE(0, "subq") WIDE(1, "sbbq") WIDE(2, "sbbq") WIDE(3, "sbbq")
            WIDE(4, "sbbq") WIDE(5, "sbbq") WIDE(6, "sbbq") WIDE(7, "sbbq")
            : ADX_OUT(x)
            : ADX_IN(r, r), ADX_IN(a, a), ADX_IN(b, b)
            : "cc", "memory");
    /* clang-format on */
}

U128_INLINE void FIELD_FN(wide_sub)(FIELD_WIDE *r, const FIELD_WIDE *a, const FIELD_WIDE *b)
{
    uint64_t t0 = a->l[4], t1 = a->l[5], t2 = a->l[6], t3 = a->l[7];
    uint64_t s0, s1, s2, s3;
    ADX_WRITES(r);
    /* clang-format off */
    __asm__ volatile(/* the low half; s0 = 0 or, for a borrow, -1 */
            WIDE(0, "subq") WIDE(1, "sbbq") WIDE(2, "sbbq") WIDE(3, "sbbq")
            "sbbq %[x], %[x]\n\t"
            : [x] "=&r"(s0)
            : ADX_IN(r, r), ADX_IN(a, a), ADX_IN(b, b)
            : "cc", "memory");
    __asm__ volatile("negq %[s0]\n\t"
            HIGH(0, 4) HIGH(1, 5) HIGH(2, 6) HIGH(3, 7)
            BACK(0) BACK(1) BACK(2) BACK(3)
            ADD_BACK(0, "addq") ADD_BACK(1, "adcq") ADD_BACK(2, "adcq") ADD_BACK(3, "adcq")
            : ADX_INOUT(t0), ADX_INOUT(t1), ADX_INOUT(t2), ADX_INOUT(t3),
              ADX_INOUT(s0), ADX_OUT(s1), ADX_OUT(s2), ADX_OUT(s3)
            : ADX_IN(b, b), M(0), M(1), M(2), M(3)
            : "cc", "memory");
    /* clang-format on */
    r->l[4] = t0;
    r->l[5] = t1;
    r->l[6] = t2;
    r->l[7] = t3;
}

#endif

#undef M
#undef SUM
#undef TRY_LESS
#undef KEEP
#undef BACK
#undef ADD_BACK
#undef WIDE
#undef HIGH

#pragma GCC diagnostic pop
