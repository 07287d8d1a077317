/*
 * base/hash_blake2b.c - BLAKE2b, with or without a key
 *
 * Inputs are shorter than 2^64 bytes, so the upper half of the byte counter stays 0.
 *
 * Source: RFC 7693, sections 2.1, 2.6, 2.7, 3.1 to 3.3
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/hash.h"

#include "base/bytes.h"
#include "base/hash_blake2b.h"
#include "base/u128.h"

#include <string.h>

U128_INLINE uint64_t rotr(uint64_t x, unsigned n)
{
    return x >> n | x << (64 - n);
}

U128_INLINE void mix(uint64_t v[16], unsigned a, unsigned b, unsigned c, unsigned d, uint64_t x,
                     uint64_t y)
{
    v[a] += v[b] + x;
    v[d] = rotr(v[d] ^ v[a], 32);
    v[c] += v[d];
    v[b] = rotr(v[b] ^ v[c], 24);
    v[a] += v[b] + y;
    v[d] = rotr(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = rotr(v[b] ^ v[c], 63);
}

/* r is a constant at each call, so that the schedule is resolved while compiling */
U128_INLINE void round_b(uint64_t v[16], const uint64_t m[16], unsigned r)
{
    const uint8_t *s = blake2b_sigma[r % 10];

    mix(v, 0, 4, 8, 12, m[s[0]], m[s[1]]);
    mix(v, 1, 5, 9, 13, m[s[2]], m[s[3]]);
    mix(v, 2, 6, 10, 14, m[s[4]], m[s[5]]);
    mix(v, 3, 7, 11, 15, m[s[6]], m[s[7]]);
    mix(v, 0, 5, 10, 15, m[s[8]], m[s[9]]);
    mix(v, 1, 6, 11, 12, m[s[10]], m[s[11]]);
    mix(v, 2, 7, 8, 13, m[s[12]], m[s[13]]);
    mix(v, 3, 4, 9, 14, m[s[14]], m[s[15]]);
}

/* c->t counts this block's bytes already. */
static void compress(blake2b_ctx *c, const uint8_t p[128], bool last)
{
    uint64_t v[16], m[16];

    for (size_t i = 0; i < 16; i++) m[i] = load_u64le(p + 8 * i);
    memcpy(v, c->h, sizeof c->h);
    memcpy(v + 8, blake2b_iv, sizeof blake2b_iv);
    v[12] ^= c->t;
    if (last) v[14] = ~v[14];
    round_b(v, m, 0);
    round_b(v, m, 1);
    round_b(v, m, 2);
    round_b(v, m, 3);
    round_b(v, m, 4);
    round_b(v, m, 5);
    round_b(v, m, 6);
    round_b(v, m, 7);
    round_b(v, m, 8);
    round_b(v, m, 9);
    round_b(v, m, 10);
    round_b(v, m, 11);
    for (unsigned i = 0; i < 8; i++) c->h[i] ^= v[i] ^ v[i + 8];
}

void blake2b_init(blake2b_ctx *c, size_t out_len, const void *key, size_t key_len)
{
    VERIFY(out_len >= 1 && out_len <= 64 && key_len <= 64);
    memcpy(c->h, blake2b_iv, sizeof blake2b_iv);
    c->h[0] ^= (uint64_t)0x01010000 ^ (uint64_t)key_len << 8 ^ (uint64_t)out_len;
    c->t = 0;
    c->out_len = out_len;
    c->buf_len = 0;
    if (key_len == 0) return;
    memset(c->buf, 0, sizeof c->buf);
    memcpy(c->buf, key, key_len);
    c->buf_len = sizeof c->buf;
}

/* The last block has to be known as such, so a full buffer waits until more comes. */
void blake2b_update(blake2b_ctx *c, const void *p, size_t n)
{
    const uint8_t *in = p;

    while (n > 0) {
        size_t part = sizeof c->buf - c->buf_len;

        if (part == 0) {
            c->t += sizeof c->buf;
            compress(c, c->buf, false);
            c->buf_len = 0;
            for (; n > sizeof c->buf; n -= sizeof c->buf, in += sizeof c->buf) {
                c->t += sizeof c->buf;
                compress(c, in, false);
            }
            continue;
        }
        if (part > n) part = n;
        memcpy(c->buf + c->buf_len, in, part);
        c->buf_len += part;
        in += part;
        n -= part;
    }
}

void blake2b_final(blake2b_ctx *c, uint8_t *out)
{
    uint8_t full[64];

    c->t += c->buf_len;
    memset(c->buf + c->buf_len, 0, sizeof c->buf - c->buf_len);
    compress(c, c->buf, true);
    for (size_t i = 0; i < 8; i++) store_u64le(full + 8 * i, c->h[i]);
    memcpy(out, full, c->out_len);
}
