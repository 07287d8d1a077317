/*
 * device/cuda/inverse.cuh - inversion by division steps, the same number of them whatever the argument: lanes stay together
 *
 * As algebra/field_divsteps_inl.h describes them, from delta = 1/2, in batches of 30 on limbs of 30 bits: all limbs but
 * the top one in [0, 2^30), the top one signed. e is delta - 1/2. Invariants, x the argument: f = d x and g = e x mod m
 * (d, e the numbers of inverse()), both in (-2m, m).
 *
 * Source: Bernstein, Yang, "Fast constant-time gcd computation and modular inversion", TCHES 2019(3), and the bound
 * for delta = 1/2 in params.cuh, by the authors' convex-hull method
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_CUDA_INVERSE_CUH
#define DEVICE_CUDA_INVERSE_CUH

#include "device/cuda/field.cuh"

#define LOW30 0x3fffffff

struct div_matrix {
    int32_t u, v, q, r;
};

/** 30 steps on the low words; returns e after them. */
CU_FN int32_t divsteps_30(div_matrix &t, int32_t e, uint32_t f, uint32_t g)
{
    uint32_t u = 1, v = 0, q = 0, r = 1;
#pragma unroll 6
    for (int i = 0; i < 30; i++) {
        uint32_t odd = 0u - (g & 1), swap = odd & ~(uint32_t)(e >> 31);
        uint32_t f0 = f, u0 = u, v0 = v;
        f ^= (f ^ g) & swap;
        u ^= (u ^ q) & swap;
        v ^= (v ^ r) & swap;
        g += ((f0 ^ swap) - swap) & odd;
        q += ((u0 ^ swap) - swap) & odd;
        r += ((v0 ^ swap) - swap) & odd;
        g >>= 1;
        u <<= 1;
        v <<= 1;
        e = (int32_t)(((uint32_t)e ^ swap) - swap) + 1 + (int32_t)swap;
    }
    t.u = (int32_t)u;
    t.v = (int32_t)v;
    t.q = (int32_t)q;
    t.r = (int32_t)r;
    return e;
}

/** (f, g) = T (f, g) / 2^30 */
template <int L> CU_FN void divsteps_fg(int32_t *f, int32_t *g, const div_matrix &t)
{
    int64_t cf = ((int64_t)t.u * f[0] + (int64_t)t.v * g[0]) >> 30;
    int64_t cg = ((int64_t)t.q * f[0] + (int64_t)t.r * g[0]) >> 30;
#pragma unroll
    for (int i = 1; i < L; i++) {
        int32_t fi = f[i], gi = g[i];
        cf += (int64_t)t.u * fi + (int64_t)t.v * gi;
        cg += (int64_t)t.q * fi + (int64_t)t.r * gi;
        f[i - 1] = (int32_t)cf & LOW30;
        g[i - 1] = (int32_t)cg & LOW30;
        cf >>= 30;
        cg >>= 30;
    }
    f[L - 1] = (int32_t)cf;
    g[L - 1] = (int32_t)cg;
}

/** (d, e) = T (d, e) / 2^30 mod m; a multiple of m makes each divisible, and negative ones gain m first. */
template <class P> CU_FN void divsteps_de(int32_t *d, int32_t *e, const div_matrix &t)
{
    const int L = P::N30;
    int32_t sd = d[L - 1] >> 31, se = e[L - 1] >> 31;
    int32_t md = (t.u & sd) + (t.v & se), me = (t.q & sd) + (t.r & se);
    int64_t cd = (int64_t)t.u * d[0] + (int64_t)t.v * e[0];
    int64_t ce = (int64_t)t.q * d[0] + (int64_t)t.r * e[0];

    md -= (int32_t)((P::INV30 * (uint32_t)cd + (uint32_t)md) & LOW30);
    me -= (int32_t)((P::INV30 * (uint32_t)ce + (uint32_t)me) & LOW30);
    cd = (cd + (int64_t)(int32_t)P::mod30(0) * md) >> 30;
    ce = (ce + (int64_t)(int32_t)P::mod30(0) * me) >> 30;
#pragma unroll
    for (int i = 1; i < L; i++) {
        int32_t di = d[i], ei = e[i], mi = (int32_t)P::mod30(i);
        cd += (int64_t)t.u * di + (int64_t)t.v * ei + (int64_t)mi * md;
        ce += (int64_t)t.q * di + (int64_t)t.r * ei + (int64_t)mi * me;
        d[i - 1] = (int32_t)cd & LOW30;
        e[i - 1] = (int32_t)ce & LOW30;
        cd >>= 30;
        ce >>= 30;
    }
    d[L - 1] = (int32_t)cd;
    e[L - 1] = (int32_t)ce;
}

/** d += k m for a small k, limbs carried. */
template <class P> CU_FN void add_multiple(int32_t *d, int32_t k)
{
    int32_t c = 0;
#pragma unroll
    for (int i = 0; i < P::N30; i++) {
        c += d[i] + k * (int32_t)P::mod30(i);
        if (i + 1 < P::N30) {
            d[i] = c & LOW30;
            c >>= 30;
        } else {
            d[i] = c;
        }
    }
}

/** 1/a in Montgomery form; 0 for 0. */
template <class P> CU_FN field<P> inverse(const field<P> &a)
{
    const int L = P::N30;
    int32_t f[L], g[L], d[L], e[L], delta = 0;
    field<P> r, r3;

#pragma unroll
    for (int i = 0; i < L; i++) {
        int k = 30 * i / 32, s = 30 * i % 32;
        uint32_t w = k < P::N ? a.l[k] >> s : 0;
        if (s > 2 && k + 1 < P::N) w |= a.l[k + 1] << (32 - s);
        f[i] = (int32_t)P::mod30(i);
        g[i] = (int32_t)(w & LOW30);
        d[i] = 0;
        e[i] = i == 0;
    }
#pragma unroll 1
    for (int batch = 0; batch < P::BATCHES; batch++) {
        div_matrix t;
        delta = divsteps_30(t, delta, (uint32_t)f[0] | (uint32_t)f[1] << 30,
                            (uint32_t)g[0] | (uint32_t)g[1] << 30);
        divsteps_de<P>(d, e, t);
        divsteps_fg<L>(f, g, t);
    }
    /* f = +-1 (+-m when a = 0, and then d = 0): from (-2m, m) to (-m, m), its sign taken over, to [0, m) */
    add_multiple<P>(d, d[L - 1] < 0 ? 1 : 0);
    int32_t sign = f[L - 1] >> 31;
#pragma unroll
    for (int i = 0; i < L; i++) d[i] = (d[i] ^ sign) - sign;
    add_multiple<P>(d, 0);
    add_multiple<P>(d, d[L - 1] < 0 ? 1 : 0);
#pragma unroll
    for (int i = 0; i < P::N; i++) {
        int k = 32 * i / 30, s = 32 * i % 30;
        uint32_t w = k < L ? (uint32_t)d[k] >> s : 0;
        if (k + 1 < L) w |= (uint32_t)d[k + 1] << (30 - s);
        if (s > 28 && k + 2 < L) w |= (uint32_t)d[k + 2] << (60 - s);
        r.l[i] = w;
        r3.l[i] = P::r3(i);
    }
    return r * r3; /* 1/(a R) R^3 / R */
}

#undef LOW30

#endif
