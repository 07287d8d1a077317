/*
 * algebra/mont_adx_inl.h - rows of products in ADX/BMI2 assembly, as text: what mont_adx_tmpl.h is made of
 *
 * mulx leaves the flags alone, adcx touches CF only and adox OF only: a row of products runs two carry chains, low words on
 * CF and high words on OF, without saving either. AT&T syntax. Operands, by name, of every asm statement made of these:
 *
 *   t0..t6    accumulator words; a row shifts down by a word by naming them one further, the freed word is the new top
 *   lo, hi    scratch; rdx is the multiplier of mulx
 *   a, b      pointers to the factors
 *   m0..m5    words of the modulus, in memory; inv: -1/m mod 2^64, in memory
 *
 * How the rows are written was measured (Zen 3, 381 bits: 110 cycles; in brackets what the other way costs): a row starts
 * by clearing both flags, though they are known to be clear, since that frees it from the row before [12]; the carry into
 * the top word of a reduction comes from the word that became zero [2]; the first row, which has one chain, uses adcx [2];
 * issuing mulx ahead of its additions does not help [10 worse], nor does any order that 5,000 random exchanges of
 * instructions found.
 *
 * Source: Ozturk, Guilford, Gopal, Feghali, "New instructions supporting large integer arithmetic", Intel, 2013
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ALGEBRA_MONT_ADX_INL_H
#define ALGEBRA_MONT_ADX_INL_H

/* clang-format off */

#define ADX_R(k) "%[" #k "]"

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
/* top += CF, which ends a row: both flags are spent */
#define ADX_CARRY(top) "adcq $0, " ADX_R(top) "\n\t"
/* the same with a register known to be zero */
#define ADX_CARRY_ZERO(zero, top) "adcxq " ADX_R(zero) ", " ADX_R(top) "\n\t"

/* t = a * b_0 */
#define ADX_FIRST4(t0, t1, t2, t3, top)                  \
    ADX_SET("0(%[b])")                                   \
    ADX_ZERO(lo)                                         \
    "mulxq 0(%[a]), " ADX_R(t0) ", " ADX_R(t1) "\n\t"    \
    ADX_MAC_NEW("8(%[a])", t1, t2)                       \
    ADX_MAC_NEW("16(%[a])", t2, t3)                      \
    ADX_MAC_NEW("24(%[a])", t3, top)                     \
    ADX_CARRY(top)

#define ADX_FIRST6(t0, t1, t2, t3, t4, t5, top)          \
    ADX_SET("0(%[b])")                                   \
    ADX_ZERO(lo)                                         \
    "mulxq 0(%[a]), " ADX_R(t0) ", " ADX_R(t1) "\n\t"    \
    ADX_MAC_NEW("8(%[a])", t1, t2)                       \
    ADX_MAC_NEW("16(%[a])", t2, t3)                      \
    ADX_MAC_NEW("24(%[a])", t3, t4)                      \
    ADX_MAC_NEW("32(%[a])", t4, t5)                      \
    ADX_MAC_NEW("40(%[a])", t5, top)                     \
    ADX_CARRY(top)

/* t += a * b_i; top is a new word */
#define ADX_ROW4(i, t0, t1, t2, t3, top)      \
    ADX_ZERO(top)                             \
    ADX_SET("8*" #i "(%[b])")                 \
    ADX_MAC("0(%[a])", t0, t1)                \
    ADX_MAC("8(%[a])", t1, t2)                \
    ADX_MAC("16(%[a])", t2, t3)               \
    ADX_MAC("24(%[a])", t3, top)              \
    ADX_CARRY(top)

#define ADX_ROW6(i, t0, t1, t2, t3, t4, t5, top) \
    ADX_ZERO(top)                                \
    ADX_SET("8*" #i "(%[b])")                    \
    ADX_MAC("0(%[a])", t0, t1)                   \
    ADX_MAC("8(%[a])", t1, t2)                   \
    ADX_MAC("16(%[a])", t2, t3)                  \
    ADX_MAC("24(%[a])", t3, t4)                  \
    ADX_MAC("32(%[a])", t4, t5)                  \
    ADX_MAC("40(%[a])", t5, top)                 \
    ADX_CARRY(top)

/* t += q m, q = t0 * inv: t0 becomes 0 and is free after it */
#define ADX_QUOTIENT(t0)                      \
    ADX_SET(ADX_R(t0))                        \
    "imulq %[inv], %%rdx\n\t"                 \
    ADX_ZERO(lo)

#define ADX_REDUCE4(t0, t1, t2, t3, top)      \
    ADX_QUOTIENT(t0)                          \
    ADX_MAC("%[m0]", t0, t1)                  \
    ADX_MAC("%[m1]", t1, t2)                  \
    ADX_MAC("%[m2]", t2, t3)                  \
    ADX_MAC("%[m3]", t3, top)                 \
    ADX_CARRY_ZERO(t0, top)

#define ADX_REDUCE6(t0, t1, t2, t3, t4, t5, top) \
    ADX_QUOTIENT(t0)                          \
    ADX_MAC("%[m0]", t0, t1)                  \
    ADX_MAC("%[m1]", t1, t2)                  \
    ADX_MAC("%[m2]", t2, t3)                  \
    ADX_MAC("%[m3]", t3, t4)                  \
    ADX_MAC("%[m4]", t4, t5)                  \
    ADX_MAC("%[m5]", t5, top)                 \
    ADX_CARRY_ZERO(t0, top)

#define ADX_STEP4(i, t0, t1, t2, t3, top) \
    ADX_ROW4(i, t0, t1, t2, t3, top) ADX_REDUCE4(t0, t1, t2, t3, top)
#define ADX_STEP6(i, t0, t1, t2, t3, t4, t5, top) \
    ADX_ROW6(i, t0, t1, t2, t3, t4, t5, top) ADX_REDUCE6(t0, t1, t2, t3, t4, t5, top)

/* r[k] = reg, and back */
#define ADX_STORE(reg, k) "movq " ADX_R(reg) ", 8*" #k "(%[r])\n\t"
#define ADX_LOAD(k, reg) "movq 8*" #k "(%[r]), " ADX_R(reg) "\n\t"

/* squares: r[2i - 1], r[2i] = doubled, plus the high word of a_(i-1)^2 in hi, and the low word of a_i^2; hi = its high word.
   CF carries the doubling, OF the squares */
#define ADX_SQUARE(i)                  \
    ADX_SET("8*" #i "(%[a])")          \
    "mulxq %%rdx, %[lo], %[hi]\n\t"
#define ADX_DOUBLE(t, word)            \
    "adcxq " ADX_R(t) ", " ADX_R(t) "\n\t" \
    "adoxq " ADX_R(word) ", " ADX_R(t) "\n\t"

/* operands: a word that the text makes, one that it also reads, a register that it reads, a word of memory that it reads */
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
