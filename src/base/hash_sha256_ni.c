/*
 * base/hash_sha256_ni.c - SHA-256's compression function with the SHA extensions of x86
 *
 * The instructions keep the eight words as two vectors, (a b e f) and (c d g h), highest lane first. One
 * sha256rnds2 makes two rounds; what it returns is the new (a b e f), and the old one is the new (c d g h), so that
 * two of them leave each vector where it was.
 *
 * Source: Intel 64 and IA-32 Software Developer's Manual, volume 2, SHA256RNDS2, SHA256MSG1, SHA256MSG2
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/hash.h"
#include "base/hash_sha256.h"

#if defined(__x86_64__)

#    include <cpuid.h>
#    include <immintrin.h>

#    define NI __attribute__((target("sha,sse4.1,ssse3")))
#    define NI_INLINE static inline __attribute__((target("sha,sse4.1,ssse3"), always_inline))

bool sha256_has_ni(void)
{
    unsigned a, b, c, d;

    /* leaf 1: ecx bit 9 is SSSE3, bit 19 SSE4.1; leaf 7: ebx bit 29 is SHA */
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c >> 9 & 1) == 0 || (c >> 19 & 1) == 0)
        return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b >> 29 & 1) != 0;
}

/* Words t..t+3 from the four vectors of words t-16..t-1, oldest first. */
NI_INLINE __m128i next_words(__m128i w0, __m128i w1, __m128i w2, __m128i w3)
{
    __m128i w = _mm_add_epi32(_mm_sha256msg1_epu32(w0, w1), _mm_alignr_epi8(w3, w2, 4));

    return _mm_sha256msg2_epu32(w, w3);
}

/* Four rounds with words w, the first of which is word number t. */
NI_INLINE void rounds(__m128i *abef, __m128i *cdgh, __m128i w, unsigned t)
{
    __m128i k = _mm_load_si128((const __m128i *)(const void *)(sha256_k + t));
    __m128i wk = _mm_add_epi32(w, k);

    *cdgh = _mm_sha256rnds2_epu32(*cdgh, *abef, wk);
    *abef = _mm_sha256rnds2_epu32(*abef, *cdgh, _mm_shuffle_epi32(wk, 0x0e));
}

NI_INLINE __m128i load_words(const uint8_t *p)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);

    return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)p), swap);
}

/* Lanes of h, lowest first: f e b a and h g d c. */
NI_INLINE void load_state(__m128i *abef, __m128i *cdgh, const uint32_t h[8])
{
    __m128i badc = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)h), 0xb1);
    __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)(h + 4)), 0x1b);

    *abef = _mm_alignr_epi8(badc, hgfe, 8);
    *cdgh = _mm_blend_epi16(hgfe, badc, 0xf0);
}

NI_INLINE void store_state(uint32_t h[8], __m128i abef, __m128i cdgh)
{
    __m128i feba = _mm_shuffle_epi32(abef, 0x1b); /* a b e f */
    __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1); /* g h c d */

    _mm_storeu_si128((__m128i *)(void *)h, _mm_blend_epi16(feba, dchg, 0xf0));    /* a b c d */
    _mm_storeu_si128((__m128i *)(void *)(h + 4), _mm_alignr_epi8(dchg, feba, 8)); /* e f g h */
}

NI static void block(__m128i *abef, __m128i *cdgh, const uint8_t *p)
{
    __m128i w0 = load_words(p), w1 = load_words(p + 16);
    __m128i w2 = load_words(p + 32), w3 = load_words(p + 48);
    __m128i a = *abef, c = *cdgh;

    rounds(&a, &c, w0, 0);
    rounds(&a, &c, w1, 4);
    rounds(&a, &c, w2, 8);
    rounds(&a, &c, w3, 12);
    for (unsigned t = 16; t < 64; t += 16) {
        w0 = next_words(w0, w1, w2, w3);
        rounds(&a, &c, w0, t);
        w1 = next_words(w1, w2, w3, w0);
        rounds(&a, &c, w1, t + 4);
        w2 = next_words(w2, w3, w0, w1);
        rounds(&a, &c, w2, t + 8);
        w3 = next_words(w3, w0, w1, w2);
        rounds(&a, &c, w3, t + 12);
    }
    *abef = _mm_add_epi32(*abef, a);
    *cdgh = _mm_add_epi32(*cdgh, c);
}

NI void sha256_blocks_ni(uint32_t h[8], const uint8_t *p, size_t n)
{
    __m128i abef, cdgh;

    load_state(&abef, &cdgh, h);
    for (; n > 0; n--, p += 64) block(&abef, &cdgh, p);
    store_state(h, abef, cdgh);
}

/* ---- two hashes at a time: sha256rnds2 takes four cycles and another can begin in each second one ---- */

typedef struct pair {
    __m128i x, y; /* the same thing of either hash */
} pair;

NI_INLINE pair load_two(const uint8_t *p, const uint8_t *q)
{
    return (pair){load_words(p), load_words(q)};
}

NI_INLINE pair next_two(pair w0, pair w1, pair w2, pair w3)
{
    return (pair){next_words(w0.x, w1.x, w2.x, w3.x), next_words(w0.y, w1.y, w2.y, w3.y)};
}

NI_INLINE pair add_two(pair a, pair b)
{
    return (pair){_mm_add_epi32(a.x, b.x), _mm_add_epi32(a.y, b.y)};
}

NI_INLINE void rounds_two(pair *abef, pair *cdgh, pair w, unsigned t)
{
    __m128i k = _mm_load_si128((const __m128i *)(const void *)(sha256_k + t));
    pair wk = add_two(w, (pair){k, k});

    cdgh->x = _mm_sha256rnds2_epu32(cdgh->x, abef->x, wk.x);
    cdgh->y = _mm_sha256rnds2_epu32(cdgh->y, abef->y, wk.y);
    abef->x = _mm_sha256rnds2_epu32(abef->x, cdgh->x, _mm_shuffle_epi32(wk.x, 0x0e));
    abef->y = _mm_sha256rnds2_epu32(abef->y, cdgh->y, _mm_shuffle_epi32(wk.y, 0x0e));
}

NI_INLINE void block_two(pair *abef, pair *cdgh, const uint8_t *p, const uint8_t *q)
{
    pair w0 = load_two(p, q), w1 = load_two(p + 16, q + 16);
    pair w2 = load_two(p + 32, q + 32), w3 = load_two(p + 48, q + 48);
    pair a = *abef, c = *cdgh;

    rounds_two(&a, &c, w0, 0);
    rounds_two(&a, &c, w1, 4);
    rounds_two(&a, &c, w2, 8);
    rounds_two(&a, &c, w3, 12);
    for (unsigned t = 16; t < 64; t += 16) {
        w0 = next_two(w0, w1, w2, w3);
        rounds_two(&a, &c, w0, t);
        w1 = next_two(w1, w2, w3, w0);
        rounds_two(&a, &c, w1, t + 4);
        w2 = next_two(w2, w3, w0, w1);
        rounds_two(&a, &c, w2, t + 8);
        w3 = next_two(w3, w0, w1, w2);
        rounds_two(&a, &c, w3, t + 12);
    }
    *abef = add_two(*abef, a);
    *cdgh = add_two(*cdgh, c);
}

NI void sha256_blocks_two_ni(uint32_t h[8], uint32_t g[8], const uint8_t *p, const uint8_t *q,
                             size_t n)
{
    pair abef, cdgh;

    load_state(&abef.x, &cdgh.x, h);
    load_state(&abef.y, &cdgh.y, g);
    for (; n > 0; n--, p += 64, q += 64) block_two(&abef, &cdgh, p, q);
    store_state(h, abef.x, cdgh.x);
    store_state(g, abef.y, cdgh.y);
}

#else

bool sha256_has_ni(void)
{
    return false;
}

/* Never called: sha256_has_ni says no. */
void sha256_blocks_ni(uint32_t h[8], const uint8_t *p, size_t n)
{
    sha256_blocks_generic(h, p, n);
}

void sha256_blocks_two_ni(uint32_t h[8], uint32_t g[8], const uint8_t *p, const uint8_t *q,
                          size_t n)
{
    sha256_blocks_generic(h, p, n);
    sha256_blocks_generic(g, q, n);
}

#endif
