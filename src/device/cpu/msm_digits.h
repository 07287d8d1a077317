/*
 * device/cpu/msm_digits.h - scalars as signed digits that can be read in any order
 *
 * A scalar k becomes (sign, v) with v = min(k, r - k) < 2^bits. Windows of c bits take the digits of v in
 * [-half, half), half = 2^(c-1); the last window's digit is in [0, half]. Instead of carrying from window to window, a
 * bias with `half` in every window but the last is added once: window w of the sum, minus half, is digit w.
 * Windows are chosen to leave the last one room: c * windows > bits.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_CPU_MSM_DIGITS_H
#define DEVICE_CPU_MSM_DIGITS_H

#include <string.h>

#include "algebra/curve.h"
#include "base/u128.h"

#define MSM_MIN_C 3
#define MSM_MAX_C 17
#define MSM_MAX_WINDOWS 88 /* 255 bits in windows of MSM_MIN_C */
/** Values below 2^62 have digits in the first ceil(64 / c) windows alone. */
#define MSM_SMALL_BITS 62

typedef struct msm_digits {
    unsigned c;
    size_t windows, small_windows;
    int32_t half;
    uint64_t order[4], half_order[4]; /* r, (r - 1) / 2 */
    uint64_t bias[4];
} msm_digits;

void msm_digits_init(msm_digits *d, const curve *cv, unsigned c);
size_t msm_windows(const curve *cv, unsigned c);

static inline bool msm_limbs_above(const uint64_t a[4], const uint64_t b[4])
{
    for (int i = 3; i > 0; i--)
        if (a[i] != b[i]) return a[i] > b[i];
    return a[0] > b[0];
}

/** v = min(v, r - v); true when it was negated. */
static inline bool msm_take_sign(const msm_digits *d, uint64_t v[4])
{
    uint64_t borrow = 0;
    if (!msm_limbs_above(v, d->half_order)) return false;
    for (int i = 0; i < 4; i++) {
        u128 t = (u128)d->order[i] - v[i] - borrow;
        v[i] = (uint64_t)t;
        borrow = (uint64_t)(t >> 64) & 1;
    }
    return true;
}

static inline void msm_add_bias(const msm_digits *d, uint64_t r[4], const uint64_t v[4])
{
    uint64_t carry = 0;
    for (int i = 0; i < 4; i++) {
        u128 t = (u128)v[i] + d->bias[i] + carry;
        r[i] = (uint64_t)t;
        carry = (uint64_t)(t >> 64);
    }
}

/** Where one window lies in a biased value. */
typedef struct msm_window {
    unsigned limb, shift, spill; /* spill: the next limb holds the upper bits */
    uint64_t mask;
    int32_t sub;
} msm_window;

static inline msm_window msm_window_at(const msm_digits *d, size_t w)
{
    unsigned bit = (unsigned)w * d->c;
    msm_window x = {bit / 64, bit % 64, 0, ((uint64_t)1 << d->c) - 1,
                    w + 1 < d->windows ? d->half : 0};
    x.spill = x.shift + d->c > 64 && x.limb < 3;
    return x;
}

static inline int32_t msm_digit(const msm_window *x, const uint64_t v[4])
{
    uint64_t t = v[x->limb] >> x->shift;
    if (x->spill) t |= v[x->limb + 1] << (64 - x->shift);
    return (int32_t)(t & x->mask) - x->sub;
}

/**
 * Digit d as the sort wants it: its bucket |d| - 1 in the upper bits, its sign in the lowest; MSM_NO_KEY for 0. Signs are as random as
 * scalars, so whoever counts or places must not branch on them.
 */
#define MSM_NO_KEY UINT32_MAX
static inline uint32_t msm_key(int32_t d)
{
    uint32_t sign = (uint32_t)(d >> 31), abs = ((uint32_t)d ^ sign) - sign;
    uint32_t zero = (uint32_t)((int32_t)(abs - 1) >> 31);
    return (abs - 1) << 1 | (sign & 1) | zero;
}

#endif
