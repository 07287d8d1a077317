/*
 * device/cuda/digits.cuh - signed digits of a biased value: (value + bias) by c bits, less half
 *
 * A value has 256 bits, the top one its sign (kernels.h). The last window has no bias: it holds what is left.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_CUDA_DIGITS_CUH
#define DEVICE_CUDA_DIGITS_CUH

#include "device/cuda/kernels.h"
#include "device/cuda/limbs.cuh"

struct digit {
    uint32_t magnitude, negative;
};

/** The low word of hi:lo >> bit, bit < 32. */
CU_FN uint32_t shift_pair(uint32_t lo, uint32_t hi, uint32_t bit)
{
#ifdef __CUDA_ARCH__
    return __funnelshift_r(lo, hi, bit);
#else
    return (uint32_t)(((uint64_t)hi << 32 | lo) >> bit);
#endif
}

/** v >>= bit: limbs are indexed by constants alone, so they stay in registers; the loop is the same for all threads. */
CU_FN void shift_right(uint32_t *v, uint32_t bit)
{
    for (uint32_t k = bit / 32; k > 0; k--) {
#pragma unroll
        for (int i = 0; i < 7; i++) v[i] = v[i + 1];
        v[7] = 0;
    }
#pragma unroll
    for (int i = 0; i < 7; i++) v[i] = shift_pair(v[i], v[i + 1], bit % 32);
    v[7] >>= bit % 32;
}

/** The digit in the lowest bits of v, window w of a value with this sign. */
CU_FN digit low_digit(const uint32_t *v, uint32_t sign, const cu_digits &d, uint32_t w)
{
    uint32_t half = 1u << (d.c - 1), x = v[0] & (2 * half - 1);
    if (w + 1 == d.windows) return {v[0], sign}; /* all that is left, no bias */
    return x >= half ? digit{x - half, sign} : digit{half - x, sign ^ 1};
}

/** Limbs of value j without its sign, which is returned. */
CU_FN uint32_t load_value(uint32_t *v, const uint32_t *value, size_t j)
{
    const uint4 *p = (const uint4 *)value + 2 * j;
    uint4 lo = p[0], hi = p[1];
    v[0] = lo.x, v[1] = lo.y, v[2] = lo.z, v[3] = lo.w;
    v[4] = hi.x, v[5] = hi.y, v[6] = hi.z, v[7] = hi.w & 0x7fffffffu;
    return hi.w >> 31;
}

#endif
