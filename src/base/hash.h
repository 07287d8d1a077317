/*
 * base/hash.h - SHA-256, BLAKE2b, BLAKE2s, ChaCha
 *
 * Sources: FIPS 180-4; RFC 7693; RFC 8439 (ChaCha with 20 rounds; 8 rounds as rand_chacha's ChaCha8Rng uses it).
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct sha256_ctx {
    uint32_t h[8];
    uint64_t n; /* bytes so far */
    uint8_t buf[64];
} sha256_ctx;
void sha256_init(sha256_ctx *c);
void sha256_update(sha256_ctx *c, const void *p, size_t n);
void sha256_final(sha256_ctx *c, uint8_t out[32]);
void sha256(uint8_t out[32], const void *p, size_t n);
/** K and the initial hash value, for circuits that compute SHA-256. */
extern const uint32_t sha256_k[64]; /* 16-byte aligned */
extern const uint32_t sha256_initial[8];

typedef struct blake2b_ctx {
    uint64_t h[8], t;
    size_t out_len, buf_len;
    uint8_t buf[128];
} blake2b_ctx;
/** out_len 1..64, key_len 0..64 */
void blake2b_init(blake2b_ctx *c, size_t out_len, const void *key, size_t key_len);
void blake2b_update(blake2b_ctx *c, const void *p, size_t n);
void blake2b_final(blake2b_ctx *c, uint8_t *out);

typedef struct blake2s_ctx {
    uint32_t h[8];
    uint64_t t;
    size_t out_len, buf_len;
    uint8_t buf[64];
} blake2s_ctx;
void blake2s_init(blake2s_ctx *c, size_t out_len, const void *key, size_t key_len);
void blake2s_update(blake2s_ctx *c, const void *p, size_t n);
void blake2s_final(blake2s_ctx *c, uint8_t *out);

/** One 64-byte block. rounds 8 or 20; state words 12..15 as given: IETF has a 32-bit counter and a 96-bit nonce,
 *  rand_chacha a 64-bit counter and a 64-bit stream. */
void chacha_block(uint8_t out[64], const uint8_t key[32], const uint32_t counter_nonce[4],
                  unsigned rounds);

/** n bytes from the operating system's generator; never fails short (aborts the process only if the kernel has none). */
int os_random(void *out, size_t n); /* 0, or -1 when the kernel refuses */

#endif
