/*
 * base/hash_blake2b_lanes.c - BLAKE2b of inputs of two words, eight side by side
 *
 * The other words of the message are 0 and left out. A lane without an input repeats another's.
 *
 * Source: RFC 7693, sections 3.1, 3.2
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/hash_lanes.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "base/hash_blake2b.h"
#include "base/u128.h"

#define LANES ((size_t)8)

static void one(uint64_t *first, const uint64_t in[2])
{
    uint8_t bytes[16], out[64];
    blake2b_ctx c;

    store_u64le(bytes, in[0]);
    store_u64le(bytes + 8, in[1]);
    blake2b_init(&c, sizeof out, NULL, 0);
    blake2b_update(&c, bytes, sizeof bytes);
    blake2b_final(&c, out);
    *first = load_u64le(out);
}

#if defined(__x86_64__)

#    include <immintrin.h>

#    define AVX512 __attribute__((target("avx512f")))

/* With the message's words x and y, of which `which` says whether they are the first two (0, 1) or none. */
AVX512 U128_INLINE void mix(__m512i v[16], const __m512i m[2], unsigned a, unsigned b, unsigned c,
                            unsigned d, uint8_t x, uint8_t y)
{
    v[a] = _mm512_add_epi64(v[a], v[b]);
    if (x < 2) v[a] = _mm512_add_epi64(v[a], m[x]);
    v[d] = _mm512_ror_epi64(_mm512_xor_si512(v[d], v[a]), 32);
    v[c] = _mm512_add_epi64(v[c], v[d]);
    v[b] = _mm512_ror_epi64(_mm512_xor_si512(v[b], v[c]), 24);
    v[a] = _mm512_add_epi64(v[a], v[b]);
    if (y < 2) v[a] = _mm512_add_epi64(v[a], m[y]);
    v[d] = _mm512_ror_epi64(_mm512_xor_si512(v[d], v[a]), 16);
    v[c] = _mm512_add_epi64(v[c], v[d]);
    v[b] = _mm512_ror_epi64(_mm512_xor_si512(v[b], v[c]), 63);
}

/* r is a constant at each call, so that the places of the two words are known while compiling */
AVX512 U128_INLINE void round_b(__m512i v[16], const __m512i m[2], unsigned r)
{
    const uint8_t *s = blake2b_sigma[r % 10];

    mix(v, m, 0, 4, 8, 12, s[0], s[1]);
    mix(v, m, 1, 5, 9, 13, s[2], s[3]);
    mix(v, m, 2, 6, 10, 14, s[4], s[5]);
    mix(v, m, 3, 7, 11, 15, s[6], s[7]);
    mix(v, m, 0, 5, 10, 15, s[8], s[9]);
    mix(v, m, 1, 6, 11, 12, s[10], s[11]);
    mix(v, m, 2, 7, 8, 13, s[12], s[13]);
    mix(v, m, 3, 4, 9, 14, s[14], s[15]);
}

AVX512 static void eight(uint64_t first[LANES], const uint64_t x[LANES], const uint64_t y[LANES])
{
    const __m512i m[2] = {_mm512_loadu_si512(x), _mm512_loadu_si512(y)};
    __m512i v[16], h;

    for (size_t i = 0; i < 8; i++) v[i] = v[i + 8] = _mm512_set1_epi64((long long)blake2b_iv[i]);
    h = _mm512_xor_si512(v[0], _mm512_set1_epi64(0x01010000 ^ 64)); /* no key, 64 bytes out */
    v[0] = h;
    v[12] = _mm512_xor_si512(v[12], _mm512_set1_epi64(16)); /* bytes in */
    v[14] = _mm512_xor_si512(v[14], _mm512_set1_epi64(-1)); /* the last block */
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
    h = _mm512_xor_si512(h, _mm512_xor_si512(v[0], v[8]));
    _mm512_storeu_si512(first, h);
}

static size_t eights(uint64_t *first, const uint64_t (*in)[2], size_t n)
{
    uint64_t x[LANES], y[LANES], h[LANES];

    if (!__builtin_cpu_supports("avx512f")) return 0;
    for (size_t at = 0; at < n; at += LANES) {
        size_t some = n - at < LANES ? n - at : LANES;
        for (size_t i = 0; i < LANES; i++) {
            x[i] = in[at + (i < some ? i : 0)][0];
            y[i] = in[at + (i < some ? i : 0)][1];
        }
        eight(h, x, y);
        for (size_t i = 0; i < some; i++) first[at + i] = h[i];
    }
    return n;
}

#else

static size_t eights(uint64_t *first, const uint64_t (*in)[2], size_t n)
{
    (void)first;
    (void)in;
    (void)n;
    return 0;
}

#endif

void blake2b_pairs(uint64_t *first, const uint64_t (*in)[2], size_t n)
{
    for (size_t i = eights(first, in, n); i < n; i++) one(&first[i], in[i]);
}
