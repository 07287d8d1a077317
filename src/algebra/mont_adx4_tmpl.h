/*
 * algebra/mont_adx4_tmpl.h - the ADX kernels for 4 limbs; included by mont_adx_tmpl.h, which says what they are
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

/* r = t, reduced once */
U128_INLINE void FIELD_FN(adx_finish)(FIELD *r, const uint64_t t[4])
{
    uint64_t s0, s1, s2, s3;
    /* clang-format off */
    __asm__("movq %[t0], %[s0]\n\t subq %[m0], %[s0]\n\t"
            "movq %[t1], %[s1]\n\t sbbq %[m1], %[s1]\n\t"
            "movq %[t2], %[s2]\n\t sbbq %[m2], %[s2]\n\t"
            "movq %[t3], %[s3]\n\t sbbq %[m3], %[s3]\n\t"
            "cmovcq %[t0], %[s0]\n\t cmovcq %[t1], %[s1]\n\t cmovcq %[t2], %[s2]\n\t cmovcq %[t3], %[s3]\n\t"
            : ADX_OUT(s0), ADX_OUT(s1), ADX_OUT(s2), ADX_OUT(s3)
            : ADX_IN(t0, t[0]), ADX_IN(t1, t[1]), ADX_IN(t2, t[2]), ADX_IN(t3, t[3]), M(0), M(1), M(2), M(3)
            : "cc");
    /* clang-format on */
    r->l[0] = s0;
    r->l[1] = s1;
    r->l[2] = s2;
    r->l[3] = s3;
}

/* t = a b / R, not reduced */
U128_INLINE void FIELD_FN(adx_mul)(uint64_t t[4], const FIELD *a, const FIELD *b)
{
    uint64_t t0, t1, t2, t3, t4, lo, hi;
    /* clang-format off */
    __asm__ volatile(ADX_FIRST4(t0, t1, t2, t3, t4)
            NEXT4(ADX_SPACER, t0, t1, t2, t3, t4)
            ADX_ROW4(1, lo, ROW_GAP, t1, t2, t3, t4, t0) NEXT4(ADX_SPACER, t1, t2, t3, t4, t0)
            ADX_ROW4(2, lo, ROW_GAP, t2, t3, t4, t0, t1) NEXT4(ADX_SPACER, t2, t3, t4, t0, t1)
            ADX_ROW4(3, lo, ROW_GAP, t3, t4, t0, t1, t2) ADX_REDUCE4("", t3, t4, t0, t1, t2)
            : ADX_OUT(t0), ADX_OUT(t1), ADX_OUT(t2), ADX_OUT(t3), ADX_OUT(t4),
              ADX_OUT(lo), ADX_OUT(hi)
            : ADX_IN(a, a), ADX_IN(b, b), ADX_IN(k, FIELD_FN(adx)), NIL
            : "rdx", "cc", "memory");
    /* clang-format on */
    t[0] = t4;
    t[1] = t0;
    t[2] = t1;
    t[3] = t2;
}

U128_INLINE void FIELD_FN(mul_wide_inl)(FIELD_WIDE *r, const FIELD *a, const FIELD *b)
{
    uint64_t t0, t1, t2, t3, t4, lo, hi;
    ADX_WRITES(r);
    /* clang-format off */
    __asm__ volatile(ADX_FIRST4(t0, t1, t2, t3, t4) ADX_STORE(t0, 0)
            ADX_ROW4(1, t0, "", t1, t2, t3, t4, t0) ADX_STORE(t1, 1)
            ADX_ROW4(2, t1, "", t2, t3, t4, t0, t1) ADX_STORE(t2, 2)
            ADX_ROW4(3, t2, "", t3, t4, t0, t1, t2) ADX_STORE(t3, 3)
            ADX_STORE(t4, 4) ADX_STORE(t0, 5) ADX_STORE(t1, 6) ADX_STORE(t2, 7)
            : ADX_OUT(t0), ADX_OUT(t1), ADX_OUT(t2), ADX_OUT(t3), ADX_OUT(t4),
              ADX_OUT(lo), ADX_OUT(hi)
            : ADX_IN(a, a), ADX_IN(b, b), ADX_IN(r, r), NIL
            : "rdx", "cc", "memory");
    /* clang-format on */
}

U128_INLINE void FIELD_FN(sqr_wide_inl)(FIELD_WIDE *r, const FIELD *a)
{
    uint64_t t0, t1, t2, t3, t4, t5, t6, lo, hi;
    ADX_WRITES(r);
    /* clang-format off */
    __asm__ volatile(/* words 1..4: a_0 a_1 .. a_0 a_3 */
            ADX_SET("0(%[a])") ADX_ZERO(lo)
            "mulxq 8(%[a]), %[t1], %[t2]\n\t"
            ADX_MAC_NEW("16(%[a])", t2, t3) ADX_MAC_NEW("24(%[a])", t3, t4)
            ADX_CARRY("%[nil]", t4)
            /* words 3..5: a_1 a_2, a_1 a_3; words 5, 6: a_2 a_3 */
            ADX_ZERO(t5) ADX_SET("8(%[a])")
            ADX_MAC("16(%[a])", t3, t4) ADX_MAC("24(%[a])", t4, t5)
            ADX_CARRY("%[nil]", t5)
            ADX_SET("16(%[a])") ADX_ZERO(lo)
            ADX_MAC_NEW("24(%[a])", t5, t6) ADX_CARRY("%[nil]", t6)
            /* doubled, with the squares a_i^2 at words 2i and 2i + 1; t0 is word 7 */
            ADX_ZERO(t0)
            ADX_SQUARE(0) ADX_STORE(lo, 0) ADX_DOUBLE(t1, hi) ADX_STORE(t1, 1)
            ADX_SQUARE(1) ADX_DOUBLE(t2, lo) ADX_STORE(t2, 2) ADX_DOUBLE(t3, hi) ADX_STORE(t3, 3)
            ADX_SQUARE(2) ADX_DOUBLE(t4, lo) ADX_STORE(t4, 4) ADX_DOUBLE(t5, hi) ADX_STORE(t5, 5)
            ADX_SQUARE(3) ADX_DOUBLE(t6, lo) ADX_STORE(t6, 6) ADX_DOUBLE(t0, hi) ADX_STORE(t0, 7)
            : ADX_OUT(t0), ADX_OUT(t1), ADX_OUT(t2), ADX_OUT(t3), ADX_OUT(t4), ADX_OUT(t5),
              ADX_OUT(t6), ADX_OUT(lo), ADX_OUT(hi)
            : ADX_IN(a, a), ADX_IN(r, r), NIL
            : "rdx", "cc", "memory");
    /* clang-format on */
}

U128_INLINE void FIELD_FN(adx_redc)(uint64_t r[4], const FIELD_WIDE *w)
{
    uint64_t t0 = w->l[0], t1 = w->l[1], t2 = w->l[2], t3 = w->l[3], t4 = 0, lo, hi;
    /* clang-format off */
    __asm__(NEXT4(ADX_SPACER, t0, t1, t2, t3, t4)
            NEXT4("", t1, t2, t3, t4, t0)
            NEXT4(ADX_SPACER, t2, t3, t4, t0, t1)
            ADX_REDUCE4("", t3, t4, t0, t1, t2)
            "addq 32(%[w]), %[t4]\n\t"
            "adcq 40(%[w]), %[t0]\n\t"
            "adcq 48(%[w]), %[t1]\n\t"
            "adcq 56(%[w]), %[t2]\n\t"
            : ADX_INOUT(t0), ADX_INOUT(t1), ADX_INOUT(t2), ADX_INOUT(t3), ADX_INOUT(t4),
              ADX_OUT(lo), ADX_OUT(hi)
            : ADX_IN(w, w), "m"(*w), ADX_IN(k, FIELD_FN(adx)), NIL
            : "rdx", "cc");
    /* clang-format on */
    r[0] = t4;
    r[1] = t0;
    r[2] = t1;
    r[3] = t2;
}
