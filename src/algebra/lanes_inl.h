/*
 * algebra/lanes_inl.h - eight elements at a time: fp_x8, fr_x8 and fp2_x8 on AVX-512 IFMA, for the curve chosen by CURVE_*
 *
 * What a translation unit gets, compiled with the flags of CUZK_IFMA_FLAGS (elsewhere the file is empty), for X = fp and fr:
 *
 *   X_x8 _mul _sqr _mul_raw _sqr_raw _add _sub _neg _carry _settle _reduce _canonical _is_zero_mask _load _store
 *        _from_words _to_words _set1 _to_form _from_form
 *   fp2_x8 _mul _sqr (fp2_lanes_inl.h)
 *
 * Limbs of 52 bits, vector j holding limb j of eight elements: FP_LIMBS52 of them. Products are Montgomery's with radix
 * 2^(52 n). docs/cpu.md has the forms and the bounds; VERIFY builds check them.
 *
 * Source: Gueron, Krasnov, "Accelerating big integer arithmetic using Intel IFMA extensions", ARITH 2016
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ALGEBRA_LANES_INL_H
#define ALGEBRA_LANES_INL_H

#if defined(__AVX512IFMA__) && defined(__AVX512VBMI__) && defined(__AVX512DQ__)

#    include <immintrin.h>

#    include "algebra/field_inl.h"

#    define LANES 8
#    define LANES_ALL ((__mmask8)0xff)
#    define LANES_BITS 52
#    define LANES_MASK ((((uint64_t)1) << LANES_BITS) - 1)
#    define FP_LIMBS52 ((FP_BITS + 6 + 51) / 52)
#    define FR_LIMBS52 5

U128_INLINE __m512i lanes_set1(uint64_t x)
{
    return _mm512_set1_epi64((long long)x);
}

/* Long functions that belong in their callers; but for builds with sanitizers, whose checks would make those callers too long. */
#    if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#        define LANES_KERNEL FIELD_KERNEL
#    elif defined(__has_feature)
#        if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
            __has_feature(memory_sanitizer)
#            define LANES_KERNEL FIELD_KERNEL
#        endif
#    endif
#    ifndef LANES_KERNEL
#        define LANES_KERNEL U128_INLINE
#    endif

/* The compilers' vector types: a shift by a constant is an immediate, whatever the level of optimisation. */
typedef uint64_t lanes_u64 __attribute__((vector_size(64)));
typedef int64_t lanes_s64 __attribute__((vector_size(64)));

U128_INLINE __m512i lanes_shr(__m512i x, int n)
{
    return (__m512i)((lanes_u64)x >> n);
}
U128_INLINE __m512i lanes_shl(__m512i x, int n)
{
    return (__m512i)((lanes_u64)x << n);
}
U128_INLINE __m512i lanes_sar(__m512i x, int n)
{
    return (__m512i)((lanes_s64)x >> n);
}

/** Limb j of 52 bits of a number of n words. */
U128_INLINE uint64_t lanes_limb(const uint64_t *w, int n, int j)
{
    int at = LANES_BITS * j / 64, shift = LANES_BITS * j % 64;
    uint64_t v = at < n ? w[at] >> shift : 0;
    if (shift > 64 - LANES_BITS && at + 1 < n) v |= w[at + 1] << (64 - shift);
    return v & LANES_MASK;
}

/** Row i of eight words becomes column i. */
LANES_KERNEL void lanes_transpose(__m512i r[LANES])
{
    __m512i a[LANES], b[LANES];
    const __m512i lo = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    const __m512i hi = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);

    for (int i = 0; i < LANES; i += 2) {
        a[i] = _mm512_unpacklo_epi64(r[i], r[i + 1]);     /* columns 0 2 4 6 */
        a[i + 1] = _mm512_unpackhi_epi64(r[i], r[i + 1]); /* columns 1 3 5 7 */
    }
    for (int i = 0; i < LANES; i += 4) {
        b[i] = _mm512_permutex2var_epi64(a[i], lo, a[i + 2]); /* columns 0, 4 of four rows */
        b[i + 1] = _mm512_permutex2var_epi64(a[i + 1], lo, a[i + 3]); /* 1, 5 */
        b[i + 2] = _mm512_permutex2var_epi64(a[i], hi, a[i + 2]);     /* 2, 6 */
        b[i + 3] = _mm512_permutex2var_epi64(a[i + 1], hi, a[i + 3]); /* 3, 7 */
    }
    for (int i = 0; i < 4; i++) {
        r[i] = _mm512_shuffle_i64x2(b[i], b[i + 4], 0x44);
        r[i + 4] = _mm512_shuffle_i64x2(b[i], b[i + 4], 0xee);
    }
}

/** Word k of eight elements of four words that lie one behind the other. */
LANES_KERNEL void lanes_load4(__m512i w[4], const uint64_t *in)
{
    const __m512i even = _mm512_setr_epi64(0, 4, 1, 5, 8, 12, 9, 13);
    const __m512i odd = _mm512_setr_epi64(2, 6, 3, 7, 10, 14, 11, 15);
    __m512i z[4], lo[2], hi[2];

    for (int i = 0; i < 4; i++) z[i] = _mm512_loadu_si512(in + 8 * i); /* elements 2i, 2i + 1 */
    for (int i = 0; i < 2; i++) {
        lo[i] = _mm512_unpacklo_epi64(z[2 * i], z[2 * i + 1]); /* words 0 and 2 */
        hi[i] = _mm512_unpackhi_epi64(z[2 * i], z[2 * i + 1]); /* 1 and 3 */
    }
    w[0] = _mm512_permutex2var_epi64(lo[0], even, lo[1]);
    w[1] = _mm512_permutex2var_epi64(hi[0], even, hi[1]);
    w[2] = _mm512_permutex2var_epi64(lo[0], odd, lo[1]);
    w[3] = _mm512_permutex2var_epi64(hi[0], odd, hi[1]);
}

/** Words off/8 .. off/8 + 3 of eight elements that lie apart: half an element a load. */
LANES_KERNEL void lanes_gather4(__m512i w[4], const uint8_t *const p[LANES], size_t off)
{
    __m512i z[4], lo[2], hi[2];
    const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    const __m512i last = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);

    for (int i = 0; i < 4; i++) { /* elements i and i + 4 */
        __m256i low = _mm256_loadu_si256((const __m256i *)(p[i] + off));
        __m256i high = _mm256_loadu_si256((const __m256i *)(p[i + 4] + off));
        z[i] = _mm512_mask_broadcast_i64x4(_mm512_castsi256_si512(low), 0xf0, high);
    }
    for (int i = 0; i < 2; i++) {
        lo[i] = _mm512_unpacklo_epi64(z[2 * i], z[2 * i + 1]); /* words 0 and 2 */
        hi[i] = _mm512_unpackhi_epi64(z[2 * i], z[2 * i + 1]); /* 1 and 3 */
    }
    w[0] = _mm512_permutex2var_epi64(lo[0], first, lo[1]);
    w[1] = _mm512_permutex2var_epi64(hi[0], first, hi[1]);
    w[2] = _mm512_permutex2var_epi64(lo[0], last, lo[1]);
    w[3] = _mm512_permutex2var_epi64(hi[0], last, hi[1]);
}

/** The reverse of lanes_load4. */
LANES_KERNEL void lanes_store4(uint64_t *out, const __m512i w[4])
{
    const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    const __m512i high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    __m512i p = _mm512_unpacklo_epi64(w[0], w[1]), q = _mm512_unpackhi_epi64(w[0], w[1]);
    __m512i r = _mm512_unpacklo_epi64(w[2], w[3]), s = _mm512_unpackhi_epi64(w[2], w[3]);
    __m512i t[4];

    t[0] = _mm512_permutex2var_epi64(p, low, r);  /* elements 0, 2 */
    t[1] = _mm512_permutex2var_epi64(q, low, s);  /* 1, 3 */
    t[2] = _mm512_permutex2var_epi64(p, high, r); /* 4, 6 */
    t[3] = _mm512_permutex2var_epi64(q, high, s); /* 5, 7 */
    for (int i = 0; i < 2; i++) {
        _mm512_storeu_si512(out + 16 * i, _mm512_shuffle_i64x2(t[2 * i], t[2 * i + 1], 0x44));
        _mm512_storeu_si512(out + 16 * i + 8, _mm512_shuffle_i64x2(t[2 * i], t[2 * i + 1], 0xee));
    }
}

#    define FIELD fp
#    define FIELD_LIMBS FP_LIMBS
#    define FIELD_LIMBS52 FP_LIMBS52
#    define FIELD_NEG_INV FP_NEG_INV
#    include "algebra/lanes_tmpl.h"
#    undef FIELD
#    undef FIELD_LIMBS
#    undef FIELD_LIMBS52
#    undef FIELD_NEG_INV

#    define FIELD fr
#    define FIELD_LIMBS FR_LIMBS
#    define FIELD_LIMBS52 FR_LIMBS52
#    define FIELD_NEG_INV FR_NEG_INV
#    include "algebra/lanes_tmpl.h"
#    undef FIELD
#    undef FIELD_LIMBS
#    undef FIELD_LIMBS52
#    undef FIELD_NEG_INV

#endif
#endif
