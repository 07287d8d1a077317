/*
 * device/cpu/msm_digits.c - the constants of signed digits: number of windows, bias, halves
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "device/cpu/msm_digits.h"

/* (r - 1) / 2 has one bit less than r; one more than that is needed, for the carry into the last digit */
size_t msm_windows(const curve *cv, unsigned c)
{
    return (cv->fr_bits + c - 1) / c;
}

void msm_digits_init(msm_digits *d, const curve *cv, unsigned c)
{
    *d = (msm_digits){.c = c, .windows = msm_windows(cv, c), .half = (int32_t)1 << (c - 1)};
    d->small_windows = (64 + c - 1) / c;
    if (d->small_windows > d->windows) d->small_windows = d->windows;
    for (int i = 0; i < 4; i++) d->order[i] = load_u64le(cv->r_le + 8 * i);
    for (int i = 0; i < 4; i++) {
        d->half_order[i] = d->order[i] >> 1;
        if (i < 3) d->half_order[i] |= d->order[i + 1] << 63;
    }
    for (size_t w = 0; w + 1 < d->windows; w++) {
        size_t bit = w * c + c - 1;
        d->bias[bit / 64] |= (uint64_t)1 << (bit % 64);
    }
}
