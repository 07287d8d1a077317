/*
 * algebra/mont_adx6_tmpl.h - the ADX kernels for 6 limbs; included by mont_adx_tmpl.h, which says what they are
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

/* r = t, reduced once */
U128_INLINE void FIELD_FN(adx_finish)(FIELD *r, const uint64_t t[6])
{
    uint64_t s0, s1, s2, s3, s4, s5;
    /* clang-format off */
    __asm__("movq %[t0], %[s0]\n\t subq %[m0], %[s0]\n\t"
            "movq %[t1], %[s1]\n\t sbbq %[m1], %[s1]\n\t"
            "movq %[t2], %[s2]\n\t sbbq %[m2], %[s2]\n\t"
            "movq %[t3], %[s3]\n\t sbbq %[m3], %[s3]\n\t"
            "movq %[t4], %[s4]\n\t sbbq %[m4], %[s4]\n\t"
            "movq %[t5], %[s5]\n\t sbbq %[m5], %[s5]\n\t"
            "cmovcq %[t0], %[s0]\n\t cmovcq %[t1], %[s1]\n\t cmovcq %[t2], %[s2]\n\t"
            "cmovcq %[t3], %[s3]\n\t cmovcq %[t4], %[s4]\n\t cmovcq %[t5], %[s5]\n\t"
            : ADX_OUT(s0), ADX_OUT(s1), ADX_OUT(s2), ADX_OUT(s3), ADX_OUT(s4), ADX_OUT(s5)
            : ADX_IN(t0, t[0]), ADX_IN(t1, t[1]), ADX_IN(t2, t[2]), ADX_IN(t3, t[3]), ADX_IN(t4, t[4]), ADX_IN(t5, t[5]),
              M(0), M(1), M(2), M(3), M(4), M(5)
            : "cc");
    /* clang-format on */
    r->l[0] = s0;
    r->l[1] = s1;
    r->l[2] = s2;
    r->l[3] = s3;
    r->l[4] = s4;
    r->l[5] = s5;
}

/* t = a b / R, not reduced */
U128_INLINE void FIELD_FN(adx_mul)(uint64_t t[6], const FIELD *a, const FIELD *b)
{
    uint64_t t0, t1, t2, t3, t4, t5, t6, lo, hi;
    /* clang-format off */
    __asm__ volatile(ADX_FIRST6(t0, t1, t2, t3, t4, t5, t6)
            NEXT6(ADX_SPACER, t0, t1, t2, t3, t4, t5, t6)
            ADX_ROW6(1, lo, ROW_GAP, t1, t2, t3, t4, t5, t6, t0) NEXT6(ADX_SPACER, t1, t2, t3, t4, t5, t6, t0)
            ADX_ROW6(2, lo, ROW_GAP, t2, t3, t4, t5, t6, t0, t1) NEXT6(ADX_SPACER, t2, t3, t4, t5, t6, t0, t1)
            ADX_ROW6(3, lo, ROW_GAP, t3, t4, t5, t6, t0, t1, t2) NEXT6(ADX_SPACER, t3, t4, t5, t6, t0, t1, t2)
            ADX_ROW6(4, lo, ROW_GAP, t4, t5, t6, t0, t1, t2, t3) NEXT6(ADX_SPACER, t4, t5, t6, t0, t1, t2, t3)
            ADX_ROW6(5, lo, ROW_GAP, t5, t6, t0, t1, t2, t3, t4) ADX_REDUCE6("", t5, t6, t0, t1, t2, t3, t4)
            : ADX_OUT(t0), ADX_OUT(t1), ADX_OUT(t2), ADX_OUT(t3), ADX_OUT(t4), ADX_OUT(t5),
              ADX_OUT(t6), ADX_OUT(lo), ADX_OUT(hi)
            : ADX_IN(a, a), ADX_IN(b, b), ADX_IN(k, FIELD_FN(adx)), NIL
            : "rdx", "cc", "memory");
    /* clang-format on */
    t[0] = t6;
    t[1] = t0;
    t[2] = t1;
    t[3] = t2;
    t[4] = t3;
    t[5] = t4;
}

U128_INLINE void FIELD_FN(mul_wide_inl)(FIELD_WIDE *r, const FIELD *a, const FIELD *b)
{
    uint64_t t0, t1, t2, t3, t4, t5, t6, lo, hi;
    ADX_WRITES(r);
    /* clang-format off */
    __asm__ volatile(ADX_FIRST6(t0, t1, t2, t3, t4, t5, t6) ADX_STORE(t0, 0)
            ADX_ROW6(1, t0, ADX_SPACER, t1, t2, t3, t4, t5, t6, t0) ADX_STORE(t1, 1)
            ADX_ROW6(2, t1, ADX_SPACER, t2, t3, t4, t5, t6, t0, t1) ADX_STORE(t2, 2)
            ADX_ROW6(3, t2, ADX_SPACER, t3, t4, t5, t6, t0, t1, t2) ADX_STORE(t3, 3)
            ADX_ROW6(4, t3, ADX_SPACER, t4, t5, t6, t0, t1, t2, t3) ADX_STORE(t4, 4)
            ADX_ROW6(5, t4, ADX_SPACER, t5, t6, t0, t1, t2, t3, t4) ADX_STORE(t5, 5)
            ADX_STORE(t6, 6) ADX_STORE(t0, 7) ADX_STORE(t1, 8)
            ADX_STORE(t2, 9) ADX_STORE(t3, 10) ADX_STORE(t4, 11)
            : ADX_OUT(t0), ADX_OUT(t1), ADX_OUT(t2), ADX_OUT(t3), ADX_OUT(t4), ADX_OUT(t5),
              ADX_OUT(t6), ADX_OUT(lo), ADX_OUT(hi)
            : ADX_IN(a, a), ADX_IN(b, b), ADX_IN(r, r), NIL
            : "rdx", "cc", "memory");
    /* clang-format on */
}

U128_INLINE void FIELD_FN(sqr_wide_inl)(FIELD_WIDE *r, const FIELD *a)
{
    uint64_t t0, t1, t2, t3, t4, t5, t6, lo, hi;
    ADX_WRITES(r);
    /* clang-format off */
    __asm__ volatile(/* words 1..6: a_0 a_1 .. a_0 a_5 */
            ADX_SET("0(%[a])") ADX_ZERO(lo)
            "mulxq 8(%[a]), %[t1], %[t2]\n\t"
            ADX_MAC_NEW("16(%[a])", t2, t3) ADX_MAC_NEW("24(%[a])", t3, t4)
            ADX_MAC_NEW("32(%[a])", t4, t5) ADX_MAC_NEW("40(%[a])", t5, t6)
            ADX_CARRY("%[nil]", t6) ADX_STORE(t1, 1) ADX_STORE(t2, 2)
            /* words 3..7: a_1 a_2 .. a_1 a_5 */
            ADX_ZERO(t0) ADX_SET("8(%[a])")
            ADX_MAC("16(%[a])", t3, t4) ADX_MAC("24(%[a])", t4, t5)
            ADX_MAC("32(%[a])", t5, t6) ADX_MAC("40(%[a])", t6, t0)
            ADX_CARRY("%[nil]", t0) ADX_STORE(t3, 3) ADX_STORE(t4, 4)
            /* words 5..8: a_2 a_3 .. a_2 a_5 */
            ADX_ZERO(t1) ADX_SET("16(%[a])")
            ADX_MAC("24(%[a])", t5, t6) ADX_MAC("32(%[a])", t6, t0) ADX_MAC("40(%[a])", t0, t1)
            ADX_CARRY("%[nil]", t1) ADX_STORE(t5, 5) ADX_STORE(t6, 6)
            /* words 7..9: a_3 a_4, a_3 a_5; words 9, 10: a_4 a_5 */
            ADX_ZERO(t2) ADX_SET("24(%[a])")
            ADX_MAC("32(%[a])", t0, t1) ADX_MAC("40(%[a])", t1, t2)
            ADX_CARRY("%[nil]", t2)
            ADX_SET("32(%[a])") ADX_ZERO(lo)
            ADX_MAC_NEW("40(%[a])", t2, t3) ADX_CARRY("%[nil]", t3)
            /* doubled, with the squares a_i^2 at words 2i and 2i + 1; t0..t3 are words 7..10 */
            ADX_ZERO(t4)
            ADX_SQUARE(0) ADX_STORE(lo, 0) ADX_LOAD(1, t5) ADX_DOUBLE(t5, hi) ADX_STORE(t5, 1)
            ADX_SQUARE(1) ADX_LOAD(2, t5) ADX_DOUBLE(t5, lo) ADX_STORE(t5, 2)
            ADX_LOAD(3, t6) ADX_DOUBLE(t6, hi) ADX_STORE(t6, 3)
            ADX_SQUARE(2) ADX_LOAD(4, t5) ADX_DOUBLE(t5, lo) ADX_STORE(t5, 4)
            ADX_LOAD(5, t6) ADX_DOUBLE(t6, hi) ADX_STORE(t6, 5)
            ADX_SQUARE(3) ADX_LOAD(6, t5) ADX_DOUBLE(t5, lo) ADX_STORE(t5, 6)
            ADX_DOUBLE(t0, hi) ADX_STORE(t0, 7)
            ADX_SQUARE(4) ADX_DOUBLE(t1, lo) ADX_STORE(t1, 8) ADX_DOUBLE(t2, hi) ADX_STORE(t2, 9)
            ADX_SQUARE(5) ADX_DOUBLE(t3, lo) ADX_STORE(t3, 10) ADX_DOUBLE(t4, hi) ADX_STORE(t4, 11)
            : ADX_OUT(t0), ADX_OUT(t1), ADX_OUT(t2), ADX_OUT(t3), ADX_OUT(t4), ADX_OUT(t5),
              ADX_OUT(t6), ADX_OUT(lo), ADX_OUT(hi)
            : ADX_IN(a, a), ADX_IN(r, r), NIL
            : "rdx", "cc", "memory");
    /* clang-format on */
}

/* r = w / R, below 3 m, or below 2 m when w < m^2 */
U128_INLINE void FIELD_FN(adx_redc)(uint64_t r[6], const FIELD_WIDE *w)
{
    uint64_t t0 = w->l[0], t1 = w->l[1], t2 = w->l[2], t3 = w->l[3], t4 = w->l[4], t5 = w->l[5],
             t6 = 0, lo, hi;
    /* clang-format off */
    __asm__(NEXT6(ADX_SPACER, t0, t1, t2, t3, t4, t5, t6)
            NEXT6("", t1, t2, t3, t4, t5, t6, t0)
            NEXT6(ADX_SPACER, t2, t3, t4, t5, t6, t0, t1)
            NEXT6("", t3, t4, t5, t6, t0, t1, t2)
            NEXT6(ADX_SPACER, t4, t5, t6, t0, t1, t2, t3)
            ADX_REDUCE6("", t5, t6, t0, t1, t2, t3, t4)
            "addq 48(%[w]), %[t6]\n\t"
            "adcq 56(%[w]), %[t0]\n\t"
            "adcq 64(%[w]), %[t1]\n\t"
            "adcq 72(%[w]), %[t2]\n\t"
            "adcq 80(%[w]), %[t3]\n\t"
            "adcq 88(%[w]), %[t4]\n\t"
            : ADX_INOUT(t0), ADX_INOUT(t1), ADX_INOUT(t2), ADX_INOUT(t3), ADX_INOUT(t4), ADX_INOUT(t5),
              ADX_INOUT(t6), ADX_OUT(lo), ADX_OUT(hi)
            : ADX_IN(w, w), "m"(*w), ADX_IN(k, FIELD_FN(adx)), NIL
            : "rdx", "cc");
    /* clang-format on */
    r[0] = t6;
    r[1] = t0;
    r[2] = t1;
    r[3] = t2;
    r[4] = t3;
    r[5] = t4;
}
