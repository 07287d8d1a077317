/*
 * algebra/mont_tmpl.h - a prime field in Montgomery form: the arithmetic; included once for each field
 *
 * Before inclusion: FIELD (its type's and functions' name: fp), FIELD_UP (FP), and the constants of
 * tools/gen_consts.py for it. The type is a struct of FIELD_LIMBS limbs; values are canonical between calls, R = 2^(64 n).
 * Every function is constant time. Products are mont_mul_tmpl.h, or with FIELD_ADX mont_adx_tmpl.h.
 *
 * m < R/2 (gen_consts.py asserts it), so a + b never leaves n limbs.
 *
 * Wide values: products before their reduction, 2n limbs, below m * R wherever redc or add or sub takes them.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

/* ---- values and comparisons ---- */

U128_INLINE void FIELD_FN(set_zero)(FIELD *r)
{
    *r = (FIELD){{0}};
}

U128_INLINE void FIELD_FN(set_one)(FIELD *r)
{
    FIELD_UNROLL
    for (int i = 0; i < FIELD_LIMBS; i++) r->l[i] = FIELD_FN(mont_one)[i];
}

U128_INLINE bool FIELD_FN(is_zero)(const FIELD *a)
{
    uint64_t acc = 0;
    FIELD_UNROLL
    for (int i = 0; i < FIELD_LIMBS; i++) acc |= a->l[i];
    return acc == 0;
}

U128_INLINE bool FIELD_FN(eq)(const FIELD *a, const FIELD *b)
{
    uint64_t acc = 0;
    FIELD_UNROLL
    for (int i = 0; i < FIELD_LIMBS; i++) acc |= a->l[i] ^ b->l[i];
    return acc == 0;
}

U128_INLINE bool FIELD_FN(is_one)(const FIELD *a)
{
    uint64_t acc = 0;
    FIELD_UNROLL
    for (int i = 0; i < FIELD_LIMBS; i++) acc |= a->l[i] ^ FIELD_FN(mont_one)[i];
    return acc == 0;
}

/** r = c ? a : r */
U128_INLINE void FIELD_FN(cmov)(FIELD *r, const FIELD *a, bool c)
{
    uint64_t mask = word_mask(c);
    FIELD_UNROLL
    for (int i = 0; i < FIELD_LIMBS; i++) r->l[i] ^= mask & (r->l[i] ^ a->l[i]);
}

/** Exchanges a and b when c. */
U128_INLINE void FIELD_FN(cswap)(FIELD *a, FIELD *b, bool c)
{
    uint64_t mask = word_mask(c);
    FIELD_UNROLL
    for (int i = 0; i < FIELD_LIMBS; i++) {
        uint64_t d = mask & (a->l[i] ^ b->l[i]);
        a->l[i] ^= d;
        b->l[i] ^= d;
    }
}

/** Limbs below the modulus: for elements that came from a file in Montgomery form. */
U128_INLINE bool FIELD_FN(is_canonical)(const FIELD *a)
{
    uint64_t borrow = 0;
    FIELD_UNROLL
    for (int i = 0; i < FIELD_LIMBS; i++) (void)u64_subb(a->l[i], FIELD_FN(modulus)[i], &borrow);
    return borrow != 0;
}

/* ---- addition ---- */

/** r = t < 2m, reduced. */
U128_INLINE void FIELD_FN(reduce_once)(FIELD *r, const uint64_t t[FIELD_LIMBS])
{
    uint64_t s[FIELD_LIMBS], borrow = 0, keep;
    FIELD_UNROLL
    for (int i = 0; i < FIELD_LIMBS; i++) s[i] = u64_subb(t[i], FIELD_FN(modulus)[i], &borrow);
    keep = word_mask(borrow);
    FIELD_UNROLL
    for (int i = 0; i < FIELD_LIMBS; i++) r->l[i] = s[i] ^ (keep & (s[i] ^ t[i]));
}

/** r = a + b < 2m, not reduced: a factor of mul_wide, nothing else. */
U128_INLINE void FIELD_FN(add_lazy)(FIELD *r, const FIELD *a, const FIELD *b)
{
    uint64_t carry = 0;
    FIELD_UNROLL
    for (int i = 0; i < FIELD_LIMBS; i++) r->l[i] = u64_addc(a->l[i], b->l[i], &carry);
}

#if FIELD_ADX
#    include "algebra/mont_adx_add_tmpl.h"
#else
U128_INLINE void FIELD_FN(add)(FIELD *r, const FIELD *a, const FIELD *b)
{
    uint64_t t[FIELD_LIMBS], carry = 0;
    VERIFY(FIELD_FN(is_canonical)(a) && FIELD_FN(is_canonical)(b));
    FIELD_UNROLL
    for (int i = 0; i < FIELD_LIMBS; i++) t[i] = u64_addc(a->l[i], b->l[i], &carry);
    FIELD_FN(reduce_once)(r, t);
}

U128_INLINE void FIELD_FN(sub)(FIELD *r, const FIELD *a, const FIELD *b)
{
    uint64_t t[FIELD_LIMBS], borrow = 0, carry = 0, mask;
    VERIFY(FIELD_FN(is_canonical)(a) && FIELD_FN(is_canonical)(b));
    FIELD_UNROLL
    for (int i = 0; i < FIELD_LIMBS; i++) t[i] = u64_subb(a->l[i], b->l[i], &borrow);
    mask = word_mask(borrow);
    FIELD_UNROLL
    for (int i = 0; i < FIELD_LIMBS; i++)
        r->l[i] = u64_addc(t[i], mask & FIELD_FN(modulus)[i], &carry);
}
#endif

U128_INLINE void FIELD_FN(dbl)(FIELD *r, const FIELD *a)
{
    FIELD_FN(add)(r, a, a);
}

U128_INLINE void FIELD_FN(neg)(FIELD *r, const FIELD *a)
{
    uint64_t any = 0, borrow = 0, mask;
    FIELD_UNROLL
    for (int i = 0; i < FIELD_LIMBS; i++) any |= a->l[i];
    mask = word_mask((any | (0 - any)) >> 63); /* -0 is 0, not m */
    FIELD_UNROLL
    for (int i = 0; i < FIELD_LIMBS; i++)
        r->l[i] = u64_subb(mask & FIELD_FN(modulus)[i], a->l[i], &borrow);
}

/** r = c ? -a : a */
U128_INLINE void FIELD_FN(cneg)(FIELD *r, const FIELD *a, bool c)
{
    FIELD t;
    FIELD_FN(neg)(&t, a);
    *r = *a;
    FIELD_FN(cmov)(r, &t, c);
}

/* ---- products ---- */

/* mul_lazy leaves out the last subtraction: for chains of products. With a < s m and b < t m its result is below
   (1.54 + s t m/R) m, and m/R is 0.11 for BLS12-381's fp, 0.19 for BN254's. So chains of products with reduced factors
   stay below 1.9 m, a product of two such is below 2.3 m, and what mul_last makes of that and a reduced factor, one
   subtraction reduces. On portable C all are reduced. redc_wide_once: w < 2 m^2, also one subtraction. fp only. */

/* mul, sqr, mul_wide, sqr_wide, redc_wide are calls, one copy of each in a translation unit; X_inl is the same inlined
   where that is faster (ADX; 2 KB of code with 6 limbs, 1 KB with 4), else the same call. */
#if FIELD_ADX
#    include "algebra/mont_adx_tmpl.h"
#else
#    include "algebra/mont_mul_tmpl.h"
#endif

/* ---- wide sums ---- */

/** The high half of t, below 2m, minus m when it is not below m: t mod m R. */
U128_INLINE void FIELD_FN(wide_reduce_once)(FIELD_WIDE *r, const FIELD_WIDE *t)
{
    FIELD hi;
    FIELD_FN(reduce_once)(&hi, &t->l[FIELD_LIMBS]);
    FIELD_UNROLL
    for (int i = 0; i < FIELD_LIMBS; i++) {
        r->l[i] = t->l[i];
        r->l[i + FIELD_LIMBS] = hi.l[i];
    }
}

/** r = a + b as integers; the caller knows that it stays below what its next step takes. */
U128_INLINE void FIELD_FN(wide_add_lazy)(FIELD_WIDE *r, const FIELD_WIDE *a, const FIELD_WIDE *b)
{
    uint64_t carry = 0;
    FIELD_UNROLL
    for (int i = 0; i < 2 * FIELD_LIMBS; i++) r->l[i] = u64_addc(a->l[i], b->l[i], &carry);
    VERIFY(carry == 0);
}

/** r = a + b mod m R; a, b < m R */
U128_INLINE void FIELD_FN(wide_add)(FIELD_WIDE *r, const FIELD_WIDE *a, const FIELD_WIDE *b)
{
    FIELD_FN(wide) t;
    FIELD_FN(wide_add_lazy)(&t, a, b);
    FIELD_FN(wide_reduce_once)(r, &t);
}

#if !FIELD_ADX /* else in mont_adx_add_tmpl.h */
/** r = a - b as integers; the caller knows that a >= b. */
U128_INLINE void FIELD_FN(wide_sub_lazy)(FIELD_WIDE *r, const FIELD_WIDE *a, const FIELD_WIDE *b)
{
    uint64_t borrow = 0;
    FIELD_UNROLL
    for (int i = 0; i < 2 * FIELD_LIMBS; i++) r->l[i] = u64_subb(a->l[i], b->l[i], &borrow);
    VERIFY(borrow == 0);
}

/** r = a - b mod m R; a, b < m R */
U128_INLINE void FIELD_FN(wide_sub)(FIELD_WIDE *r, const FIELD_WIDE *a, const FIELD_WIDE *b)
{
    uint64_t borrow = 0, carry = 0, mask;
    FIELD_FN(wide) t;
    FIELD_UNROLL
    for (int i = 0; i < 2 * FIELD_LIMBS; i++) t.l[i] = u64_subb(a->l[i], b->l[i], &borrow);
    mask = word_mask(borrow);
    FIELD_UNROLL
    for (int i = 0; i < FIELD_LIMBS; i++) {
        uint64_t m = mask & FIELD_FN(modulus)[i];
        r->l[i] = t.l[i];
        r->l[i + FIELD_LIMBS] = u64_addc(t.l[i + FIELD_LIMBS], m, &carry);
    }
}
#endif
