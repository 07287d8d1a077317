/*
 * base/u128.h - the one place that names 128-bit integers and compiler builtins
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef BASE_U128_H
#define BASE_U128_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;

#define U128_LIKELY(x) __builtin_expect(!!(x), 1)
#define U128_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define U128_PREFETCH(p) __builtin_prefetch(p)
/** For what is read much later: not into the nearest cache. */
#define U128_PREFETCH_FAR(p) __builtin_prefetch(p, 0, 2)
#define U128_INLINE static inline __attribute__((always_inline, unused))
/** For a static function in a header that is long enough to be called: one copy, unused is fine. */
#define U128_NOINLINE static __attribute__((noinline, unused))

/* a + b + *carry and a - b - *borrow; *carry and *borrow in and out 0 or 1. On x86-64 through the builtins: compilers make a
   chain of adc of them, and of the plain form seldom. */
U128_INLINE uint64_t u64_addc(uint64_t a, uint64_t b, uint64_t *carry)
{
#if defined(__x86_64__)
    unsigned long long r;
    *carry = __builtin_ia32_addcarryx_u64((unsigned char)*carry, a, b, &r);
    return r;
#else
    u128 t = (u128)a + b + *carry;
    *carry = (uint64_t)(t >> 64);
    return (uint64_t)t;
#endif
}
U128_INLINE uint64_t u64_subb(uint64_t a, uint64_t b, uint64_t *borrow)
{
#if defined(__x86_64__)
    unsigned long long r;
#    if defined(__clang__)
    *borrow = __builtin_ia32_subborrow_u64((unsigned char)*borrow, a, b, &r);
#    else
    *borrow = __builtin_ia32_sbb_u64((unsigned char)*borrow, a, b, &r);
#    endif
    return r;
#else
    u128 t = (u128)a - b - *borrow;
    *borrow = (uint64_t)(t >> 64) & 1;
    return (uint64_t)t;
#endif
}

static inline unsigned u64_popcount(uint64_t x)
{
    return (unsigned)__builtin_popcountll(x);
}
/** Index of the lowest set bit; x must not be 0. */
static inline unsigned u64_ctz(uint64_t x)
{
    return (unsigned)__builtin_ctzll(x);
}
/** Number of bits of x: 0 for 0, else floor(log2 x) + 1. */
static inline unsigned u64_bits(uint64_t x)
{
    return x == 0 ? 0 : 64u - (unsigned)__builtin_clzll(x);
}

/** *p |= x, for words to which several threads add bits at once; ordered by what joins the threads. */
static inline void u64_atomic_or(uint64_t *p, uint64_t x)
{
    uint64_t *word = p; /* clang-tidy does not see that the builtin writes */

    (void)__atomic_fetch_or(word, x, __ATOMIC_RELAXED);
}

/** *r = a * b; false when it does not fit. */
static inline bool size_mul(size_t *r, size_t a, size_t b)
{
    return !__builtin_mul_overflow(a, b, r);
}
static inline bool size_add(size_t *r, size_t a, size_t b)
{
    return !__builtin_add_overflow(a, b, r);
}

#endif
