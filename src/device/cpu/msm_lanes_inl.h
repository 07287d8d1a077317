/*
 * device/cpu/msm_lanes_inl.h - coordinates of points in cells of 52-bit limbs: eight at a time in and out
 *
 * A cell is a point of the curve y^2 = x^3 + u^6 b, to which (x, y) -> (u^2 x, u^3 y) leads. The formulas of affine addition do not
 * hold b, so sums are the same on both. u is a power of two for which a key's bytes need no product: a coordinate in memory is
 * X = x 2^(64 k) mod m; read as a value of radix R = 2^(52 n) it stands for x / 2^(52 n - 64 k), and X shifted left by few bits for u^2 x,
 * or u^3 y:
 *
 *                 52 n - 64 k    u         X shifted by    Y shifted by
 *     BLS12-381   32             2^-10     12              2
 *     BN254       4              2^-1      2               1
 *
 * Forms of a coordinate of eight words (docs/cpu.md has the bounds in full):
 *
 *     x   settled, below 2^12 m or 4m when it is a key's, below 2m when it is a sum's
 *     y   from 0 to 4m, limbs perhaps negative (a key's point subtracted)
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_CPU_MSM_LANES_INL_H
#define DEVICE_CPU_MSM_LANES_INL_H

#include "algebra/fp2_lanes_inl.h"

#if defined(LANES)

#    if defined(CURVE_BLS12_381)
#        define MSM_LOG_U 10
#        define MSM_SHIFT_X 12
#        define MSM_SHIFT_Y 2
#    else
#        define MSM_LOG_U 1
#        define MSM_SHIFT_X 2
#        define MSM_SHIFT_Y 1
#    endif

/* Words of a coordinate over Fp in a cell: a row of a transposition. */
#    define MSM_COORD 8

/* Where limb j of X << shift lies in the words of X: byte k of its word is byte MSM_BYTE(j, shift) + k of X, and that word's
   lowest MSM_BIT bits are not its own. */
#    define MSM_FROM(j, shift) (52 * (j) + 64 - (shift))
#    define MSM_BYTE(j, shift) (MSM_FROM(j, shift) / 8 - 8)
#    define MSM_BIT(j, shift) (MSM_FROM(j, shift) % 8)

/** Limbs of X << shift for coordinate k of a point of n coordinates at p. Reads 64 bytes that are all the point's: what a mask left
 *  out would be waited for. All but p are constants. */
U128_INLINE __m512i msm_limbs_of(const uint8_t *p, const int k, const int n, const int shift)
{
    const int at = k * FP_BYTES, from = at + 64 <= n * FP_BYTES ? at : n * FP_BYTES - 64;
    __m512i x = _mm512_loadu_si512(p + from), index, right;
    uint8_t byte[64];
    uint64_t low[8];
    __mmask64 inside = 0;

    FIELD_UNROLL
    for (int j = 0; j < 8; j++) {
        low[j] = (uint64_t)MSM_BIT(j, shift);
        FIELD_UNROLL
        for (int i = 0; i < 8; i++) {
            int b = MSM_BYTE(j, shift) + i;
            bool is = b >= 0 && b < FP_BYTES && j < FP_LIMBS52;
            byte[8 * j + i] = (uint8_t)(is ? b + at - from : 0);
            inside |= (__mmask64)is << (8 * j + i);
        }
    }
    index = _mm512_loadu_si512(byte);
    right = _mm512_loadu_si512(low);
    x = _mm512_maskz_permutexvar_epi8(inside, index, x);
    return _mm512_and_si512(_mm512_srlv_epi64(x, right), lanes_set1(LANES_MASK));
}

/** Limbs of 4m, one a lane. */
U128_INLINE __m512i msm_4m(void)
{
    uint64_t l[8] = {0};
    FIELD_UNROLL
    for (int j = 0; j < FP_LIMBS52; j++) l[j] = 4 * lanes_limb(fp_modulus, FP_LIMBS, j);
    return _mm512_loadu_si512(l);
}

/**
 * Multiples of m that sums add, as limbs. In memory: compilers build a constant of eight equal lanes from an immediate each time, which
 * takes as long as the addition; what they must load they add where it lies.
 */
typedef struct msm_consts {
    uint64_t one[FP_LIMBS52], two[FP_LIMBS52], four[FP_LIMBS52]; /* m, 2m, 4m */
    uint64_t diff[FP_LIMBS52], twice[FP_LIMBS52]; /* 2^MSM_SHIFT_X m, 2^(MSM_SHIFT_X + 1) m */
    uint64_t x[FP_LIMBS52];                       /* 2^(MSM_SHIFT_X + 2) m + m */
    uint64_t sum[FP_LIMBS52];                     /* 2^(MSM_SHIFT_X + 1) m + m */
    uint64_t complement[FP_LIMBS52];              /* R - m */
} msm_consts;

/* 2^shift m, in limbs of 52 bits below the top one */
static void msm_shifted_m(uint64_t r[FP_LIMBS52], unsigned shift)
{
    uint64_t carry = 0;

    for (int j = 0; j < FP_LIMBS52; j++) {
        uint64_t l = lanes_limb(fp_modulus, FP_LIMBS, j);
        r[j] = (l << shift) + carry;
        if (j + 1 == FP_LIMBS52) break;
        r[j] = ((l << shift) & LANES_MASK) + carry;
        carry = l >> (LANES_BITS - shift);
    }
}

static void msm_consts_init(msm_consts *c)
{
    msm_shifted_m(c->one, 0);
    msm_shifted_m(c->two, 1);
    msm_shifted_m(c->four, 2);
    msm_shifted_m(c->diff, MSM_SHIFT_X);
    msm_shifted_m(c->twice, MSM_SHIFT_X + 1);
    msm_shifted_m(c->x, MSM_SHIFT_X + 2);
    for (int j = 0; j < FP_LIMBS52; j++) {
        c->x[j] += c->one[j];
        c->sum[j] = c->twice[j] + c->one[j];
        c->complement[j] = LANES_MASK - c->one[j] + (j == 0 ? 1 : 0);
    }
}

LANES_KERNEL void fp_x8_add_c(fp_x8 *r, const uint64_t c[FP_LIMBS52])
{
    FIELD_UNROLL
    for (int j = 0; j < FP_LIMBS52; j++) r->l[j] = _mm512_add_epi64(r->l[j], lanes_set1(c[j]));
}
U128_INLINE void fp2_x8_add_c(fp2_x8 *r, const uint64_t c[FP_LIMBS52])
{
    fp_x8_add_c(&r->c0, c);
    fp_x8_add_c(&r->c1, c);
}

/* fp_x8_reduce; c: the complement */
LANES_KERNEL void fp_x8_reduce_c(fp_x8 *r, const uint64_t c[FP_LIMBS52])
{
    const uint64_t quot = (LANES_MASK + 1) / (lanes_limb(fp_modulus, FP_LIMBS, FP_LIMBS52 - 1) + 1);
    __m512i top = _mm512_sub_epi64(r->l[FP_LIMBS52 - 1], lanes_set1(4));
    __m512i q = _mm512_madd52hi_epu64(_mm512_setzero_si512(), top, lanes_set1(quot));

    FIELD_UNROLL
    for (int j = 0; j < FP_LIMBS52; j++) {
        __m512i k = lanes_set1(c[j]);
        r->l[j] = _mm512_madd52lo_epu64(r->l[j], q, k);
        if (j + 1 < FP_LIMBS52) r->l[j + 1] = _mm512_madd52hi_epu64(r->l[j + 1], q, k);
    }
    FIELD_UNROLL
    for (int j = 0; j < FP_LIMBS52; j++) {
        if (j + 1 < FP_LIMBS52)
            r->l[j + 1] = _mm512_add_epi64(r->l[j + 1], lanes_sar(r->l[j], LANES_BITS));
        r->l[j] = _mm512_and_si512(r->l[j], lanes_set1(LANES_MASK)); /* the top one: modulo R */
    }
}
U128_INLINE void fp2_x8_reduce_c(fp2_x8 *r, const uint64_t c[FP_LIMBS52])
{
    fp_x8_reduce_c(&r->c0, c);
    fp_x8_reduce_c(&r->c1, c);
}

/** Eight coordinates, at p[i] + off words. */
U128_INLINE void msm_gather(fp_x8 *r, const uint64_t *const p[LANES], size_t off)
{
    __m512i w[LANES];
    FIELD_UNROLL
    for (int i = 0; i < LANES; i++) w[i] = _mm512_loadu_si512(p[i] + off);
    lanes_transpose(w);
    FIELD_UNROLL
    for (int j = 0; j < FP_LIMBS52; j++) r->l[j] = w[j];
}

/* Differences of coordinates: subtracted before they are transposed. */
U128_INLINE void msm_gather_diff(fp_x8 *r, const uint64_t *const q[LANES],
                                 const uint64_t *const p[LANES], size_t off)
{
    __m512i w[LANES];
    FIELD_UNROLL
    for (int i = 0; i < LANES; i++)
        w[i] = _mm512_sub_epi64(_mm512_loadu_si512(q[i] + off), _mm512_loadu_si512(p[i] + off));
    lanes_transpose(w);
    FIELD_UNROLL
    for (int j = 0; j < FP_LIMBS52; j++) r->l[j] = w[j];
}

U128_INLINE void msm_scatter(uint64_t *const p[LANES], size_t off, const fp_x8 *a)
{
    __m512i w[LANES];
    FIELD_UNROLL
    for (int j = 0; j < LANES; j++) w[j] = j < FP_LIMBS52 ? a->l[j] : _mm512_setzero_si512();
    lanes_transpose(w);
    FIELD_UNROLL
    for (int i = 0; i < LANES; i++) _mm512_storeu_si512(p[i] + off, w[i]);
}

/* The same for both fields: one coordinate of Fp, or two. */
U128_INLINE void fp_x8_gather(fp_x8 *r, const uint64_t *const p[LANES], size_t off)
{
    msm_gather(r, p, off);
}
U128_INLINE void fp2_x8_gather(fp2_x8 *r, const uint64_t *const p[LANES], size_t off)
{
    msm_gather(&r->c0, p, off);
    msm_gather(&r->c1, p, off + MSM_COORD);
}
U128_INLINE void fp_x8_gather_diff(fp_x8 *r, const uint64_t *const q[LANES],
                                   const uint64_t *const p[LANES], size_t off)
{
    msm_gather_diff(r, q, p, off);
}
U128_INLINE void fp2_x8_gather_diff(fp2_x8 *r, const uint64_t *const q[LANES],
                                    const uint64_t *const p[LANES], size_t off)
{
    msm_gather_diff(&r->c0, q, p, off);
    msm_gather_diff(&r->c1, q, p, off + MSM_COORD);
}
U128_INLINE void fp_x8_scatter(uint64_t *const p[LANES], size_t off, const fp_x8 *a)
{
    msm_scatter(p, off, a);
}
U128_INLINE void fp2_x8_scatter(uint64_t *const p[LANES], size_t off, const fp2_x8 *a)
{
    msm_scatter(p, off, &a->c0);
    msm_scatter(p, off + MSM_COORD, &a->c1);
}
U128_INLINE void msm_mul(fp_x8 *r, const fp_x8 *a, const fp_x8 *b)
{
    fp_x8_mul(r, a, b);
}

/* ---- what a sum is made of: products whose operands have been carried, results raw ---- */

U128_INLINE void fp_x8_product(fp_x8 *r, const fp_x8 *a, const fp_x8 *b)
{
    fp_x8_mul_raw(r, a, b);
}
U128_INLINE void fp2_x8_product(fp2_x8 *r, const fp2_x8 *a, const fp2_x8 *b)
{
    fp2_x8_mul_raw(r, a, b);
}
U128_INLINE void fp_x8_square(fp_x8 *r, const fp_x8 *a)
{
    fp_x8_sqr_raw(r, a);
}
/* y below 4m */
U128_INLINE void fp_x8_square_y(fp_x8 *r, const fp_x8 *a)
{
    fp_x8_sqr_raw(r, a);
}
FIELD_KERNEL void fp2_x8_square_y(fp2_x8 *r, const fp2_x8 *a)
{
    fp2_x8_sqr_raw(r, a, 4);
}
/* coefficients below 3m, as a product leaves them */
FIELD_KERNEL void fp2_x8_square(fp2_x8 *r, const fp2_x8 *a)
{
    fp2_x8_sqr_raw(r, a, 3);
}

/* r = a - y as a cell's y: a raw and below 2.5m, y from 0 to 4m. 4m is added; or m alone, where the sum would pass 3.5m. */
U128_INLINE void fp_x8_minus_y(fp_x8 *r, const fp_x8 *a, const fp_x8 *y, const msm_consts *c)
{
    const int top = FP_LIMBS52 - 1;
    const uint64_t m = lanes_limb(fp_modulus, FP_LIMBS, top);
    __m512i t = _mm512_sub_epi64(a->l[top], y->l[top]);
    __mmask8 large = _mm512_cmpge_epi64_mask(t, lanes_set1((uint64_t)(-(int64_t)m / 2)));

    FIELD_UNROLL
    for (int j = 0; j < FP_LIMBS52; j++) {
        __m512i k = _mm512_mask_blend_epi64(large, lanes_set1(c->four[j]), lanes_set1(c->one[j]));
        r->l[j] = _mm512_add_epi64(_mm512_sub_epi64(a->l[j], y->l[j]), k);
    }
    fp_x8_carry(r);
}
U128_INLINE void fp2_x8_minus_y(fp2_x8 *r, const fp2_x8 *a, const fp2_x8 *y, const msm_consts *c)
{
    fp_x8_minus_y(&r->c0, &a->c0, &y->c0, c);
    fp_x8_minus_y(&r->c1, &a->c1, &y->c1, c);
}

/* The norm of d (settled, at most twice a key's x), which is inverted in its stead: in Fp d itself. And 1/d from the norm's inverse. */
U128_INLINE void fp_x8_norm(fp_x8 *r, const fp_x8 *d)
{
    *r = *d;
}
U128_INLINE void fp_x8_from_norm(fp_x8 *r, const fp_x8 *d, const fp_x8 *inv, const msm_consts *c)
{
    (void)c;
    (void)d;
    *r = *inv;
}
FIELD_KERNEL void fp2_x8_norm(fp_x8 *r, const fp2_x8 *d)
{
    fp_x8_wide a, b;

    fp_x8_sqr_wide(&a, &d->c0);
    fp_x8_sqr_wide(&b, &d->c1);
    for (int j = 0; j < 2 * FP_LIMBS52; j++) a.l[j] = _mm512_add_epi64(a.l[j], b.l[j]);
    fp_x8_redc_raw(r, &a);
    fp_x8_carry(r);
}
U128_INLINE void fp2_x8_from_norm(fp2_x8 *r, const fp2_x8 *d, const fp_x8 *inv, const msm_consts *c)
{
    fp_x8 t;

    fp_x8_neg(&t, &d->c1, 0);
    fp_x8_add_c(&t, c->twice);
    fp_x8_carry(&t);
    msm_mul(&r->c0, &d->c0, inv);
    msm_mul(&r->c1, &t, inv);
}

/* r = 1 in all lanes of k: any value but 0 does. */
U128_INLINE void fp_x8_put_one(fp_x8 *r, __mmask8 k)
{
    FIELD_UNROLL
    for (int j = 0; j < FP_LIMBS52; j++)
        r->l[j] = _mm512_mask_mov_epi64(r->l[j], k, lanes_set1(j == 0 ? 1 : 0));
}
U128_INLINE void fp2_x8_put_one(fp2_x8 *r, __mmask8 k)
{
    fp_x8_put_one(&r->c0, k);
    fp_x8_put_one(&r->c1, k);
}

/* r = 1/r, lane by lane; no lane is 0. */
U128_NOINLINE void msm_invert_lanes(fp_x8 *r)
{
    fp_x8 to, from;
    fp a[LANES], tmp[LANES];

    fp_x8_form_factors(&to, &from);
    fp_x8_mul(r, r, &from);
    fp_x8_canonical(r);
    fp_x8_store(a, r, sizeof a[0]);
    fp_batch_inv_var(a, tmp, LANES);
    fp_x8_load(r, a, sizeof a[0]);
    fp_x8_mul(r, r, &to);
}

/* 2^log mod m in all lanes, log at least 64 FP_LIMBS. */
static void msm_power_of_two(fp_x8 *r, int log)
{
    const uint64_t *start = log < 128 * FP_LIMBS ? fp_mont_one : fp_mont_r2;
    fp f;

    for (int j = 0; j < FP_LIMBS; j++) f.l[j] = start[j];
    for (int i = log < 128 * FP_LIMBS ? 64 * FP_LIMBS : 128 * FP_LIMBS; i < log; i++)
        fp_dbl(&f, &f);
    fp_x8_set1(r, &f);
}

/* From a cell's coordinate that was shifted by `shift` to the ordinary form, settled, below m: times 2^(52 n - shift). */
U128_INLINE void msm_unshift_factor(fp_x8 *r, int shift)
{
    msm_power_of_two(r, LANES_BITS * FP_LIMBS52 - shift);
}

/* ---- points as they are written ---- */

/* Words of eight coordinates at in[i] + off; those of plain big-endian numbers when reversed. */
U128_INLINE void msm_coordinate_words(__m512i w[LANES], const uint8_t *const in[LANES], size_t off,
                                      bool reversed)
{
    uint8_t at[64];

    for (int i = 0; i < 64; i++) at[i] = (uint8_t)(i < FP_BYTES ? FP_BYTES - 1 - i : i);
    for (int i = 0; i < LANES; i++) {
        w[i] = _mm512_maskz_loadu_epi64((__mmask8)((1u << FP_LIMBS) - 1), in[i] + off);
        if (reversed) w[i] = _mm512_permutexvar_epi8(_mm512_loadu_si512(at), w[i]);
    }
    lanes_transpose(w);
}

U128_INLINE void msm_store_words(void *const out[LANES], size_t off, const __m512i w[FP_LIMBS])
{
    __m512i t[LANES];

    for (int i = 0; i < LANES; i++) t[i] = i < FP_LIMBS ? w[i] : _mm512_setzero_si512();
    lanes_transpose(t);
    for (int i = 0; i < LANES; i++)
        _mm512_mask_storeu_epi64((uint8_t *)out[i] + off, (__mmask8)((1u << FP_LIMBS) - 1), t[i]);
}

/* The lanes of a settled value that are below m. */
U128_INLINE __mmask8 msm_below_m(const fp_x8 *a)
{
    __m512i borrow = _mm512_setzero_si512();

    for (int j = 0; j < FP_LIMBS52; j++)
        borrow = lanes_sar(
            _mm512_add_epi64(
                _mm512_sub_epi64(a->l[j], lanes_set1(lanes_limb(fp_modulus, FP_LIMBS, j))), borrow),
            LANES_BITS);
    return _mm512_movepi64_mask(borrow);
}

#endif
#endif
