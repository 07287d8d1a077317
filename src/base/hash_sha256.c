/*
 * base/hash_sha256.c - SHA-256: streaming, and the portable compression function
 *
 * Source: FIPS 180-4, sections 4.1.2, 4.2.2, 5.3.3, 6.2
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/hash.h"

#include "base/bytes.h"
#include "base/hash_lanes.h"
#include "base/hash_sha256.h"
#include "base/u128.h"

#include <stdatomic.h>
#include <string.h>

/* First 32 bits of the fractional parts of the cube roots of the first 64 primes. */
_Alignas(16) const uint32_t sha256_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

/* First 32 bits of the fractional parts of the square roots of the first 8 primes. */
const uint32_t sha256_initial[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

U128_INLINE uint32_t rotr(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static void schedule(uint32_t w[64], const uint8_t *p)
{
    for (size_t t = 0; t < 16; t++) w[t] = load_u32be(p + 4 * t);
    for (unsigned t = 16; t < 64; t++) {
        uint32_t a = w[t - 15], b = w[t - 2];
        uint32_t s0 = rotr(a, 7) ^ rotr(a, 18) ^ a >> 3;
        uint32_t s1 = rotr(b, 17) ^ rotr(b, 19) ^ b >> 10;

        w[t] = s1 + w[t - 7] + s0 + w[t - 16];
    }
}

/* One round, with K[t] + W[t] already in *h. Instead of moving all words down by one, the caller moves their names. */
U128_INLINE void round_sha(uint32_t a, uint32_t b, uint32_t c, uint32_t *d, uint32_t e, uint32_t f,
                           uint32_t g, uint32_t *h)
{
    uint32_t t1 = *h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + (g ^ (e & (f ^ g)));
    uint32_t t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) | (c & (a | b)));

    *d += t1;
    *h = t1 + t2;
}

void sha256_blocks_generic(uint32_t h[8], const uint8_t *p, size_t n)
{
    uint32_t w[64];

    for (; n > 0; n--, p += 64) {
        uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], i = h[7];

        schedule(w, p);
        for (const uint32_t *x = w, *k = sha256_k; x < w + 64; x += 8, k += 8) {
            i += k[0] + x[0];
            round_sha(a, b, c, &d, e, f, g, &i);
            g += k[1] + x[1];
            round_sha(i, a, b, &c, d, e, f, &g);
            f += k[2] + x[2];
            round_sha(g, i, a, &b, c, d, e, &f);
            e += k[3] + x[3];
            round_sha(f, g, i, &a, b, c, d, &e);
            d += k[4] + x[4];
            round_sha(e, f, g, &i, a, b, c, &d);
            c += k[5] + x[5];
            round_sha(d, e, f, &g, i, a, b, &c);
            b += k[6] + x[6];
            round_sha(c, d, e, &f, g, i, a, &b);
            a += k[7] + x[7];
            round_sha(b, c, d, &e, f, g, i, &a);
        }
        h[0] += a;
        h[1] += b;
        h[2] += c;
        h[3] += d;
        h[4] += e;
        h[5] += f;
        h[6] += g;
        h[7] += i;
    }
}

/* Chosen at first use; two threads that come first at once choose the same, so relaxed will do. */
static sha256_blocks_fn *blocks(void)
{
    static _Atomic(sha256_blocks_fn *) chosen;
    sha256_blocks_fn *f = atomic_load_explicit(&chosen, memory_order_relaxed);

    if (f == NULL) {
        f = sha256_has_ni() ? sha256_blocks_ni : sha256_blocks_generic;
        atomic_store_explicit(&chosen, f, memory_order_relaxed);
    }
    return f;
}

void sha256_init(sha256_ctx *c)
{
    memcpy(c->h, sha256_initial, sizeof c->h);
    c->n = 0;
}

void sha256_update(sha256_ctx *c, const void *p, size_t n)
{
    const uint8_t *in = p;
    size_t have = c->n % 64;

    if (n == 0) return;
    c->n += n;
    if (have != 0) {
        size_t part = n < 64 - have ? n : 64 - have;

        memcpy(c->buf + have, in, part);
        in += part;
        n -= part;
        if (have + part < 64) return;
        blocks()(c->h, c->buf, 1);
    }
    if (n >= 64) blocks()(c->h, in, n / 64);
    if (n % 64 != 0) memcpy(c->buf, in + (n - n % 64), n % 64);
}

void sha256_final(sha256_ctx *c, uint8_t out[32])
{
    uint8_t pad[128] = {0x80};
    size_t have = c->n % 64, n = (have < 56 ? 56 : 120) - have;

    store_u64be(pad + n, c->n * 8);
    sha256_update(c, pad, n + 8);
    for (size_t i = 0; i < 8; i++) store_u32be(out + 4 * i, c->h[i]);
}

void sha256(uint8_t out[32], const void *p, size_t n)
{
    sha256_ctx c;

    sha256_init(&c);
    sha256_update(&c, p, n);
    sha256_final(&c, out);
}

void sha256_two(uint8_t out_a[32], uint8_t out_b[32], const uint8_t *a, const uint8_t *b, size_t n)
{
    sha256_ctx x, y;
    size_t whole = n / 64;

    sha256_init(&x);
    sha256_init(&y);
    if (blocks() == sha256_blocks_ni && whole != 0) {
        sha256_blocks_two_ni(x.h, y.h, a, b, whole);
        x.n = y.n = 64 * whole;
    } else {
        whole = 0;
    }
    sha256_update(&x, a + 64 * whole, n - 64 * whole);
    sha256_update(&y, b + 64 * whole, n - 64 * whole);
    sha256_final(&x, out_a);
    sha256_final(&y, out_b);
}
