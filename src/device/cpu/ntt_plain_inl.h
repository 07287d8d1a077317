/*
 * device/cpu/ntt_plain_inl.h - what butterflies are made of, on canonical values: the judge of ntt_adx_inl.h
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_CPU_NTT_PLAIN_INL_H
#define DEVICE_CPU_NTT_PLAIN_INL_H

#include "algebra/curve_inl.h"

U128_INLINE void ntt_mul(fr *r, const fr *x, const fr *z)
{
    fr_mul_inl(r, x, z);
}
U128_INLINE void ntt_add(fr *r, const fr *x, const fr *t)
{
    fr_add(r, x, t);
}
U128_INLINE void ntt_sub(fr *r, const fr *x, const fr *t)
{
    fr_sub(r, x, t);
}
U128_INLINE void ntt_settle_one(fr *r, const fr *x)
{
    *r = *x;
}

#endif
