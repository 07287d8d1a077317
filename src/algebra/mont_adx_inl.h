/*
 * algebra/mont_adx_inl.h - rows of products in ADX/BMI2 assembly, as text: what mont_adx_tmpl.h is made of
 *
 * mulx leaves the flags alone, adcx touches CF only and adox OF only: a row of products runs two carry chains, low words on
 * CF and high words on OF, without saving either. AT&T syntax. Operands, by name, of every asm statement made of these:
 *
 *   t0..t6    accumulator words, a window that moves up a word by naming them one further
 *   lo, hi    scratch; rdx is the multiplier of mulx
 *   a, b      pointers to the factors
 *   k         pointer to X_adx: m, fold, -1/m mod 2^64, 0
 *   nil       the 0 among them, in memory
 *
 * Two ways to clear the lowest word t0 of a window of n + 1 words and move the window up:
 *   fold      t = t / 2^64 + t0 * fold, fold = (m (-1/m mod 2^64) + 1) / 2^64 < m. Nothing to wait for: t0 is the
 *             multiplier. It leaves t a word longer than m, so the last row's must be
 *   reduce    t = (t + q m) / 2^64, q = t0 * -1/m mod 2^64
 *
 * How the rows are written was measured (381-bit product on Zen 3, cycles). A row starts by clearing both flags though
 * they are clear: that frees it from the row before (12 cycles a product). Its last carry is added by adcx of a zero in
 * memory: adc costs 20 more. Of two such carries one, and when rows are reduced each, has a mulx before it whose result
 * nobody reads, a spacer: 111 cycles without, 94 with it. It seems that this core hands operations to its
 * ALUs by position, and three additions in a row steal multiplier slots; other cores pay 5 multiplications for it.
 * Issuing mulx ahead of its additions costs 10, and 5,000 random exchanges of instructions found nothing better.
 *
 * Source: Ozturk, Guilford, Gopal, Feghali, "New instructions supporting large integer arithmetic", Intel, 2013
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ALGEBRA_MONT_ADX_INL_H
#define ALGEBRA_MONT_ADX_INL_H

/* clang-format off */

#define ADX_R(reg) "%[" #reg "]"
/* words of a, of b, of X_adx for n = 4 and 6 */
#define ADX_A(i) "8*" #i "(%[a])"
#define ADX_B(i) "8*" #i "(%[b])"
#define ADX_M(i) "8*" #i "(%[k])"
#define ADX_FOLD_4(i) "8*(4+" #i ")(%[k])"
#define ADX_FOLD_6(i) "8*(6+" #i ")(%[k])"
#define ADX_INV_4 "8*8(%[k])"
#define ADX_INV_6 "8*12(%[k])"

/* t_low += low word of rdx * x (CF chain); t_high += its high word (OF chain) */
#define ADX_MAC(x, t_low, t_high)        \
    "mulxq " x ", %[lo], %[hi]\n\t"      \
    "adcxq %[lo], " ADX_R(t_low) "\n\t"  \
    "adoxq %[hi], " ADX_R(t_high) "\n\t"

/* t_low += low word of rdx * x (CF chain); t_high = its high word */
#define ADX_MAC_NEW(x, t_low, t_high)                  \
    "mulxq " x ", %[lo], " ADX_R(t_high) "\n\t"        \
    "adcxq %[lo], " ADX_R(t_low) "\n\t"

#define ADX_SET(x) "movq " x ", %%rdx\n\t"
/* reg = 0, CF = OF = 0 */
#define ADX_ZERO(reg) "xorl %k[" #reg "], %k[" #reg "]\n\t"
/* top += CF, which ends a row; both flags are then clear */
#define ADX_CARRY(zero, top) "adcxq " zero ", " ADX_R(top) "\n\t"
/* see above */
#define ADX_SPACER "mulxq %%rdx, %[lo], %[hi]\n\t"

/* t = a * b_0, n + 1 words */
#define ADX_FIRST4(t0, t1, t2, t3, top)                    \
    ADX_SET(ADX_B(0)) ADX_ZERO(lo)                         \
    "mulxq " ADX_A(0) ", " ADX_R(t0) ", " ADX_R(t1) "\n\t" \
    ADX_MAC_NEW(ADX_A(1), t1, t2)                          \
    ADX_MAC_NEW(ADX_A(2), t2, t3)                          \
    ADX_MAC_NEW(ADX_A(3), t3, top)                         \
    ADX_CARRY("%[nil]", top)

#define ADX_FIRST6(t0, t1, t2, t3, t4, t5, top)            \
    ADX_SET(ADX_B(0)) ADX_ZERO(lo)                         \
    "mulxq " ADX_A(0) ", " ADX_R(t0) ", " ADX_R(t1) "\n\t" \
    ADX_MAC_NEW(ADX_A(1), t1, t2)                          \
    ADX_MAC_NEW(ADX_A(2), t2, t3)                          \
    ADX_MAC_NEW(ADX_A(3), t3, t4)                          \
    ADX_MAC_NEW(ADX_A(4), t4, t5)                          \
    ADX_MAC_NEW(ADX_A(5), t5, top)                         \
    ADX_CARRY("%[nil]", top)

/* t += a * b_i, n + 1 words; gap is ADX_SPACER or nothing (""); clear is a register to clear for the flags' sake: top when
   it is new, else lo */
#define ADX_ROW4(i, clear, gap, t0, t1, t2, t3, top)      \
    ADX_SET(ADX_B(i)) ADX_ZERO(clear)                \
    ADX_MAC(ADX_A(0), t0, t1)                        \
    ADX_MAC(ADX_A(1), t1, t2)                        \
    ADX_MAC(ADX_A(2), t2, t3)                        \
    ADX_MAC(ADX_A(3), t3, top)                       \
    gap ADX_CARRY("%[nil]", top)

#define ADX_ROW6(i, clear, gap, t0, t1, t2, t3, t4, t5, top) \
    ADX_SET(ADX_B(i)) ADX_ZERO(clear)                   \
    ADX_MAC(ADX_A(0), t0, t1)                           \
    ADX_MAC(ADX_A(1), t1, t2)                           \
    ADX_MAC(ADX_A(2), t2, t3)                           \
    ADX_MAC(ADX_A(3), t3, t4)                           \
    ADX_MAC(ADX_A(4), t4, t5)                           \
    ADX_MAC(ADX_A(5), t5, top)                          \
    gap ADX_CARRY("%[nil]", top)

/* fold: the window becomes t1 .. top, t0; gap as above */
#define ADX_FOLD4(gap, t0, t1, t2, t3, top)  \
    ADX_SET(ADX_R(t0)) ADX_ZERO(t0)     \
    ADX_MAC(ADX_FOLD_4(0), t1, t2)      \
    ADX_MAC(ADX_FOLD_4(1), t2, t3)      \
    ADX_MAC(ADX_FOLD_4(2), t3, top)     \
    ADX_MAC(ADX_FOLD_4(3), top, t0)     \
    gap ADX_CARRY("%[nil]", t0)

#define ADX_FOLD6(gap, t0, t1, t2, t3, t4, t5, top) \
    ADX_SET(ADX_R(t0)) ADX_ZERO(t0)            \
    ADX_MAC(ADX_FOLD_6(0), t1, t2)             \
    ADX_MAC(ADX_FOLD_6(1), t2, t3)             \
    ADX_MAC(ADX_FOLD_6(2), t3, t4)             \
    ADX_MAC(ADX_FOLD_6(3), t4, t5)             \
    ADX_MAC(ADX_FOLD_6(4), t5, top)            \
    ADX_MAC(ADX_FOLD_6(5), top, t0)            \
    gap ADX_CARRY("%[nil]", t0)

/* reduce: t0 becomes 0, the window t1 .. top, t0 */
#define ADX_REDUCE4(gap, t0, t1, t2, t3, top)                                \
    ADX_SET(ADX_R(t0)) "imulq " ADX_INV_4 ", %%rdx\n\t" ADX_ZERO(lo)    \
    ADX_MAC(ADX_M(0), t0, t1)                                           \
    ADX_MAC(ADX_M(1), t1, t2)                                           \
    ADX_MAC(ADX_M(2), t2, t3)                                           \
    ADX_MAC(ADX_M(3), t3, top)                                          \
    gap ADX_CARRY(ADX_R(t0), top)

#define ADX_REDUCE6(gap, t0, t1, t2, t3, t4, t5, top)                        \
    ADX_SET(ADX_R(t0)) "imulq " ADX_INV_6 ", %%rdx\n\t" ADX_ZERO(lo)    \
    ADX_MAC(ADX_M(0), t0, t1)                                           \
    ADX_MAC(ADX_M(1), t1, t2)                                           \
    ADX_MAC(ADX_M(2), t2, t3)                                           \
    ADX_MAC(ADX_M(3), t3, t4)                                           \
    ADX_MAC(ADX_M(4), t4, t5)                                           \
    ADX_MAC(ADX_M(5), t5, top)                                          \
    gap ADX_CARRY(ADX_R(t0), top)

/* r[i] = reg, and back */
#define ADX_STORE(reg, i) "movq " ADX_R(reg) ", 8*" #i "(%[r])\n\t"
#define ADX_LOAD(i, reg) "movq 8*" #i "(%[r]), " ADX_R(reg) "\n\t"

/* squares: lo, hi = a_i^2; then words are doubled on CF and receive a square's word on OF */
#define ADX_SQUARE(i) ADX_SET(ADX_A(i)) "mulxq %%rdx, %[lo], %[hi]\n\t"
#define ADX_DOUBLE(t, word)                    \
    "adcxq " ADX_R(t) ", " ADX_R(t) "\n\t"     \
    "adoxq " ADX_R(word) ", " ADX_R(t) "\n\t"

/* operands: a word that the text makes, one that it also reads, a register that it reads */
#define ADX_OUT(x) [x] "=&r"(x)
#define ADX_INOUT(x) [x] "+&r"(x)
#define ADX_IN(name, x) [name] "r"(x)
#define ADX_MEM(name, x) [name] "m"(x)

/* MSan does not see what asm writes through a pointer: there the whole is written before */
#define ADX_WRITES(r) ((void)0)
#if defined(__has_feature)
#    if __has_feature(memory_sanitizer)
#        undef ADX_WRITES
#        define ADX_WRITES(r) __builtin_memset((r), 0, sizeof *(r))
#    endif
#endif

/* clang-format on */

#endif
