/*
 * base/text_avx512.c - base64, and byte arrays in JSON, 64 characters at a time
 *
 * Source: Mula, Lemire, "Base64 encoding and decoding at almost the speed of a memory copy", Softw. Pract. Exper. 50, 2020 (the two
 * multiply-adds that join digits)
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/text_lanes.h"

#if defined(__x86_64__)

#    include <immintrin.h>

#    include "base/u128.h"

#    define LANES __attribute__((target("avx512f,avx512bw,avx512vbmi,avx512vbmi2")))

bool text_has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2");
}

LANES size_t base64_groups_avx512(uint8_t *out, const uint8_t *p, size_t len,
                                  const uint8_t digits[256])
{
    const __m512i low = _mm512_loadu_si512(digits), high = _mm512_loadu_si512(digits + 64);
    const __m512i pairs = _mm512_set1_epi16(0x0140), fours = _mm512_set1_epi32(0x00011000);
    uint8_t order[64];
    __m512i places;
    size_t i = 0;

    for (unsigned k = 0; k < 64; k++)
        order[k] = (uint8_t)(k < 48 ? 4 * (k / 3) + 2 - k % 3 : 0); /* highest of three first */
    places = _mm512_loadu_si512(order);
    for (; len - i >= 64; i += 64, out += 48) {
        __m512i x = _mm512_loadu_si512(p + i), v = _mm512_permutex2var_epi8(low, x, high);

        if (_mm512_movepi8_mask(_mm512_or_si512(x, v)) != 0) break;
        v = _mm512_maddubs_epi16(v, pairs); /* a << 6 | b */
        v = _mm512_madd_epi16(v, fours);    /* those, << 12 | the next */
        _mm512_mask_storeu_epi8(out, ((__mmask64)1 << 48) - 1, _mm512_permutexvar_epi8(places, v));
    }
    return i;
}

/* The first `n` bits. */
static uint64_t below(unsigned n)
{
    return n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

/* At the last digit of each element, its value modulo 256; elsewhere anything. *over: where that is not the value. digit: which
   characters are. p[0] is none. */
LANES static __m512i values(const uint8_t *p, __mmask64 digit, __mmask64 *over)
{
    const __m512i zero = _mm512_set1_epi8('0');
    const __m512i tens = _mm512_set_epi64(0x5a50, 0x463c32281e140a00, 0x5a50, 0x463c32281e140a00,
                                          0x5a50, 0x463c32281e140a00, 0x5a50, 0x463c32281e140a00);
    __mmask64 second = digit & digit << 1, third = second & digit << 2;
    __m512i ones = _mm512_sub_epi8(_mm512_loadu_si512(p), zero);
    __m512i ten = _mm512_sub_epi8(_mm512_loadu_si512(p - 1), zero);
    __m512i hundred = _mm512_sub_epi8(_mm512_loadu_si512(p - 2), zero);
    __m512i v = _mm512_add_epi8(ones, _mm512_maskz_shuffle_epi8(second, tens, ten));

    *over = _mm512_mask_cmpgt_epu8_mask(third, hundred, _mm512_set1_epi8(2)) |
            (_mm512_mask_cmpeq_epu8_mask(third, hundred, _mm512_set1_epi8(2)) &
             _mm512_cmpgt_epu8_mask(v, _mm512_set1_epi8(55)));
    hundred = _mm512_shuffle_epi8(_mm512_set1_epi32((int)0x00c86400), hundred);
    return _mm512_mask_add_epi8(v, third, v, hundred);
}

LANES size_t json_bytes_avx512(const uint8_t *p, const uint8_t *end, uint8_t *out, size_t cap,
                               size_t *used)
{
    const uint8_t *start = p;
    size_t len = 0;

    while (end - p >= 64 && *p == ',') {
        __m512i x = _mm512_loadu_si512(p), v;
        __mmask64 comma = _mm512_cmpeq_epu8_mask(x, _mm512_set1_epi8(','));
        __mmask64 digit =
            _mm512_cmplt_epu8_mask(_mm512_sub_epi8(x, _mm512_set1_epi8('0')), _mm512_set1_epi8(10));
        __mmask64 zero = _mm512_cmpeq_epu8_mask(x, _mm512_set1_epi8('0'));
        __mmask64 after = digit << 1, over, bad, ends;
        unsigned limit, n;

        v = values(p, digit, &over);
        bad = digit & (over | (after & digit << 2 & digit << 3) | (zero & comma << 1 & digit >> 1));
        bad |= (comma & ~(__mmask64)1 & ~after) | ~(digit | comma);
        limit = bad == 0 ? 64 : u64_ctz(bad);
        ends = comma & ~(__mmask64)1 & below(limit);
        if (limit < 64 && p[limit] == ']') ends |= after & (__mmask64)1 << limit;
        if (ends == 0) break;
        n = (unsigned)__builtin_popcountll(ends); /* at most 32 */
        if (n > cap - len) break;
        _mm512_mask_storeu_epi8(out + len, below(n), _mm512_maskz_compress_epi8(ends >> 1, v));
        len += n;
        p += u64_bits(ends) - 1;
    }
    *used = (size_t)(p - start);
    return len;
}

#else

bool text_has_avx512(void)
{
    return false;
}

/* Never called: text_has_avx512 says no. */
size_t base64_groups_avx512(uint8_t *out, const uint8_t *p, size_t len, const uint8_t digits[256])
{
    return base64_groups(out, p, len, digits);
}

size_t json_bytes_avx512(const uint8_t *p, const uint8_t *end, uint8_t *out, size_t cap,
                         size_t *used)
{
    return json_bytes(p, end, out, cap, used);
}

#endif
