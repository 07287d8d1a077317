/*
 * base/hash_chacha.c - one block of ChaCha
 *
 * Source: RFC 8439, sections 2.1 to 2.3
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/hash.h"

#include "base/bytes.h"
#include "base/u128.h"

#include <string.h>

U128_INLINE uint32_t rotl(uint32_t x, unsigned n)
{
    return x << n | x >> (32 - n);
}

U128_INLINE void quarter(uint32_t x[16], unsigned a, unsigned b, unsigned c, unsigned d)
{
    x[a] += x[b];
    x[d] = rotl(x[d] ^ x[a], 16);
    x[c] += x[d];
    x[b] = rotl(x[b] ^ x[c], 12);
    x[a] += x[b];
    x[d] = rotl(x[d] ^ x[a], 8);
    x[c] += x[d];
    x[b] = rotl(x[b] ^ x[c], 7);
}

void chacha_block(uint8_t out[64], const uint8_t key[32], const uint32_t counter_nonce[4],
                  unsigned rounds)
{
    uint32_t s[16], x[16];

    VERIFY(rounds % 2 == 0);
    /* "expand 32-byte k" */
    s[0] = 0x61707865;
    s[1] = 0x3320646e;
    s[2] = 0x79622d32;
    s[3] = 0x6b206574;
    for (size_t i = 0; i < 8; i++) s[4 + i] = load_u32le(key + 4 * i);
    memcpy(s + 12, counter_nonce, 16);
    memcpy(x, s, sizeof x);
    for (unsigned i = 0; i < rounds; i += 2) {
        quarter(x, 0, 4, 8, 12);
        quarter(x, 1, 5, 9, 13);
        quarter(x, 2, 6, 10, 14);
        quarter(x, 3, 7, 11, 15);
        quarter(x, 0, 5, 10, 15);
        quarter(x, 1, 6, 11, 12);
        quarter(x, 2, 7, 8, 13);
        quarter(x, 3, 4, 9, 14);
    }
    for (size_t i = 0; i < 16; i++) store_u32le(out + 4 * i, x[i] + s[i]);
    explicit_bzero(s, sizeof s); /* the key may be a secret */
    explicit_bzero(x, sizeof x);
}
