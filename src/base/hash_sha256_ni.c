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
    /* lanes, lowest first */
    __m128i badc = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)h), 0xb1);
    __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)(h + 4)), 0x1b);
    __m128i abef = _mm_alignr_epi8(badc, hgfe, 8);    /* f e b a */
    __m128i cdgh = _mm_blend_epi16(hgfe, badc, 0xf0); /* h g d c */
    __m128i feba, dchg;

    for (; n > 0; n--, p += 64) block(&abef, &cdgh, p);

    feba = _mm_shuffle_epi32(abef, 0x1b);                                         /* a b e f */
    dchg = _mm_shuffle_epi32(cdgh, 0xb1);                                         /* g h c d */
    _mm_storeu_si128((__m128i *)(void *)h, _mm_blend_epi16(feba, dchg, 0xf0));    /* a b c d */
    _mm_storeu_si128((__m128i *)(void *)(h + 4), _mm_alignr_epi8(dchg, feba, 8)); /* e f g h */
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

#endif
