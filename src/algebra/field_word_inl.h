/*
 * algebra/field_word_inl.h - single words: carries, masks, divisions; what every field template stands on
 *
 * Source: none. Branch-free but where a name ends in _var.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ALGEBRA_FIELD_WORD_INL_H
#define ALGEBRA_FIELD_WORD_INL_H

#include "base/u128.h"

/* one copy in a translation unit, called */
#define FIELD_KERNEL static __attribute__((noinline, unused))

/* loops over limbs have constant bounds and are meant to vanish */
#define FIELD_UNROLL _Pragma("GCC unroll 16")

/** A little-endian word. */
U128_INLINE uint64_t word_from_bytes(const uint8_t *p)
{
    return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 |
           (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 |
           (uint64_t)p[7] << 56;
}

/** Low word of a * b + c + *carry, which fits two words; the high word goes to *carry. */
U128_INLINE uint64_t word_mac(uint64_t a, uint64_t b, uint64_t c, uint64_t *carry)
{
    u128 t = (u128)a * b + c + *carry;
    *carry = (uint64_t)(t >> 64);
    return (uint64_t)t;
}

/** All ones for 1, 0 for 0; the compiler cannot see that it is one of two, so it cannot make a branch of it. */
U128_INLINE uint64_t word_mask(uint64_t bit)
{
    uint64_t m = 0 - bit;
    __asm__("" : "+r"(m));
    return m;
}

#endif
