/*
 * device/cpu/ntt_tmpl.h - levels of the number-theoretic transform on a tile; included once for each curve and table
 *
 * The transform of size n = 2^L reduces a polynomial modulo x^n - 1 = (x^(n/2) - 1)(x^(n/2) + 1) and so on down to
 * x - w^e. A block at depth l holds n / 2^l coefficients modulo x^(2h) - zeta^2, h = n / 2^(l+1); `down` splits it:
 *
 *     (x[i], x[i+h])  ->  (x[i] + zeta x[i+h], x[i] - zeta x[i+h])            i < h
 *
 * The zeta of block b is tw[b] = w^rev(b) (rev: the L - 1 bits of b reversed), at every depth: so one table serves all
 * levels, a block needs one zeta, and after L levels the value at w^rev(p) stands at p. `up` is the transpose, from
 * bit-reversed to natural order:
 *
 *     (u, v)  ->  (u + v, (u - v) zeta)
 *
 * With `inverse` both use 1/w. From w^(n/2) = -1, 1/tw[b] = -tw[mirror(b)], where mirror reverses the order within
 * [2^t, 2^(t+1)): the same table serves, with the two outputs (or the difference) exchanged. Block 0 has zeta = 1.
 *
 * A tile has rows of `width` elements that go through the same butterflies: columns of a large array, gathered. Two
 * levels are done in one sweep (four products for four elements, as level by level, but half the loads), and parts that
 * fit in the first-level cache go through all their levels before the next part.
 *
 * Values between kernels may be lazy: less than twice the modulus. What a transform starts from is canonical, and
 * ntt_settle makes canonical what it ends with.
 *
 * Source: Cooley, Tukey, Math. Comp. 19 (1965); Gentleman, Sande, AFIPS 1966, for the transpose
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#if FIELD_ADX
#    include "device/cpu/ntt_adx_inl.h"
#else
#    include "device/cpu/ntt_plain_inl.h"
#endif

/* ---- butterflies ---- */

/* x, y -> x + z y, x - z y; exchanged when inverse */
U128_INLINE void ntt_split(fr *x, fr *y, const fr *z, bool inverse)
{
    fr t, u = *x;
    ntt_mul(&t, y, z);
    ntt_add(inverse ? y : x, &u, &t);
    ntt_sub(inverse ? x : y, &u, &t);
}

/* x, y -> x + y, (x - y) z; with -z when inverse */
U128_INLINE void ntt_join(fr *x, fr *y, const fr *z, bool inverse)
{
    fr t, u = *x;
    if (inverse)
        ntt_sub(&t, y, &u);
    else
        ntt_sub(&t, &u, y);
    ntt_add(x, &u, y);
    ntt_mul(y, &t, z);
}

/* x, y -> x + y, x - y: both of the above for z = 1 */
U128_INLINE void ntt_cross(fr *x, fr *y)
{
    fr u = *x, v = *y;
    ntt_add(x, &u, &v);
    ntt_sub(y, &u, &v);
}

/* ---- sweeps: one or two levels of one block; `one`: block 0, whose first zetas are 1 ---- */

/* The zetas of a block and of its two children. */
typedef struct ntt_zetas {
    fr z1, z2, z3;
} ntt_zetas;

/** 1/tw[b] = -tw[ntt_mirror(b)] for b >= 1. */
static inline size_t ntt_mirror(size_t b)
{
    return b == 0 ? 0 : ((size_t)3 << (u64_bits(b) - 1)) - 1 - b;
}

static inline ntt_zetas ntt_zetas_of(const fr *tw, size_t b, bool inverse)
{
    ntt_zetas z;
    z.z1 = tw[inverse ? ntt_mirror(b) : b];
    z.z2 = tw[inverse ? ntt_mirror(2 * b) : 2 * b];
    z.z3 = tw[inverse ? ntt_mirror(2 * b + 1) : 2 * b + 1];
    return z;
}

U128_INLINE void ntt_down2_as(fr *x, size_t q, const ntt_zetas *z, bool one, bool inverse)
{
    for (size_t i = 0; i < q; i++) {
        fr *x0 = x + i, *x1 = x0 + q, *x2 = x1 + q, *x3 = x2 + q;
        if (one) {
            ntt_cross(x0, x2);
            ntt_cross(x1, x3);
            ntt_cross(x0, x1);
        } else {
            ntt_split(x0, x2, &z->z1, inverse);
            ntt_split(x1, x3, &z->z1, inverse);
            ntt_split(x0, x1, &z->z2, inverse);
        }
        ntt_split(x2, x3, &z->z3, inverse);
    }
}

U128_INLINE void ntt_up2_as(fr *x, size_t q, const ntt_zetas *z, bool one, bool inverse)
{
    for (size_t i = 0; i < q; i++) {
        fr *x0 = x + i, *x1 = x0 + q, *x2 = x1 + q, *x3 = x2 + q;
        ntt_join(x2, x3, &z->z3, inverse);
        if (one) {
            ntt_cross(x0, x1);
            ntt_cross(x0, x2);
            ntt_cross(x1, x3);
        } else {
            ntt_join(x0, x1, &z->z2, inverse);
            ntt_join(x0, x2, &z->z1, inverse);
            ntt_join(x1, x3, &z->z1, inverse);
        }
    }
}

/* Two levels of block b; q elements in each quarter. */
static void ntt_down2(fr *x, size_t q, const fr *tw, size_t b, bool inverse)
{
    ntt_zetas z = ntt_zetas_of(tw, b, inverse);
    if (b == 0 && inverse)
        ntt_down2_as(x, q, &z, true, true);
    else if (b == 0)
        ntt_down2_as(x, q, &z, true, false);
    else if (inverse)
        ntt_down2_as(x, q, &z, false, true);
    else
        ntt_down2_as(x, q, &z, false, false);
}

static void ntt_up2(fr *x, size_t q, const fr *tw, size_t b, bool inverse)
{
    ntt_zetas z = ntt_zetas_of(tw, b, inverse);
    if (b == 0 && inverse)
        ntt_up2_as(x, q, &z, true, true);
    else if (b == 0)
        ntt_up2_as(x, q, &z, true, false);
    else if (inverse)
        ntt_up2_as(x, q, &z, false, true);
    else
        ntt_up2_as(x, q, &z, false, false);
}

/* One level of block b; h elements in each half. */
static void ntt_down1(fr *x, size_t h, const fr *tw, size_t b, bool inverse)
{
    fr z = tw[inverse ? ntt_mirror(b) : b];

    if (b == 0)
        for (size_t i = 0; i < h; i++) ntt_cross(&x[i], &x[i + h]);
    else
        for (size_t i = 0; i < h; i++) ntt_split(&x[i], &x[i + h], &z, inverse);
}

static void ntt_up1(fr *x, size_t h, const fr *tw, size_t b, bool inverse)
{
    fr z = tw[inverse ? ntt_mirror(b) : b];

    if (b == 0)
        for (size_t i = 0; i < h; i++) ntt_cross(&x[i], &x[i + h]);
    else
        for (size_t i = 0; i < h; i++) ntt_join(&x[i], &x[i + h], &z, inverse);
}

/* ---- tiles ---- */

/* Elements that are taken through all their levels at once: 16 KiB, half of a first-level cache. */
#define NTT_LEAF 512

/* All k levels of a tile that is in the cache, sweep by sweep. */
static void ntt_down_leaf(fr *x, unsigned k, size_t width, const fr *tw, size_t b, bool inverse)
{
    size_t blocks = 1, q;

    if (k % 2 != 0) {
        ntt_down1(x, width << (k - 1), tw, b, inverse);
        blocks = 2;
    }
    for (; blocks < (size_t)1 << k; blocks *= 4) {
        q = (width << k) / blocks / 4;
        for (size_t i = 0; i < blocks; i++)
            ntt_down2(x + i * 4 * q, q, tw, b * blocks + i, inverse);
    }
}

static void ntt_up_leaf(fr *x, unsigned k, size_t width, const fr *tw, size_t b, bool inverse)
{
    size_t q;

    for (size_t blocks = ((size_t)1 << k) / 4; blocks > 0; blocks /= 4) {
        q = (width << k) / blocks / 4;
        for (size_t i = 0; i < blocks; i++) ntt_up2(x + i * 4 * q, q, tw, b * blocks + i, inverse);
    }
    if (k % 2 != 0) ntt_up1(x, width << (k - 1), tw, b, inverse);
}

static void ntt_down(void *tile, unsigned k, size_t width, const void *tw, size_t block,
                     bool inverse)
{
    fr *x = tile;
    size_t q = (width << k) / 4;

    if (k < 2 || 4 * q <= NTT_LEAF) {
        ntt_down_leaf(x, k, width, tw, block, inverse);
        return;
    }
    ntt_down2(x, q, tw, block, inverse);
    for (size_t i = 0; i < 4; i++) ntt_down(x + i * q, k - 2, width, tw, 4 * block + i, inverse);
}

static void ntt_up(void *tile, unsigned k, size_t width, const void *tw, size_t block, bool inverse)
{
    fr *x = tile;
    size_t q = (width << k) / 4;

    if (k < 2 || 4 * q <= NTT_LEAF) {
        ntt_up_leaf(x, k, width, tw, block, inverse);
        return;
    }
    for (size_t i = 0; i < 4; i++) ntt_up(x + i * q, k - 2, width, tw, 4 * block + i, inverse);
    ntt_up2(x, q, tw, block, inverse);
}

/* ---- scaling, in and out ---- */

/* x[i] *= f[i], f canonical */
static void ntt_scale(void *tile, const void *factors, size_t n)
{
    fr *x = tile;
    const fr *f = factors;
    for (size_t i = 0; i < n; i++) ntt_mul(&x[i], &x[i], &f[i]);
}

/* x[i] *= f, f canonical */
static void ntt_scale_by(void *tile, const fr *f, size_t n)
{
    fr k = *f, *x = tile;
    for (size_t i = 0; i < n; i++) ntt_mul(&x[i], &x[i], &k);
}

static void ntt_load(void *tile, const fr *a, size_t rows, size_t width, size_t stride)
{
    fr *x = tile;
    for (size_t r = 0; r < rows; r++) memcpy(x + r * width, a + r * stride, width * sizeof *x);
}

static void ntt_store(fr *a, const void *tile, size_t rows, size_t width, size_t stride, bool final)
{
    const fr *x = tile;

    for (size_t r = 0; r < rows; r++) {
        fr *out = a + r * stride;
        if (final)
            for (size_t i = 0; i < width; i++) ntt_settle_one(&out[i], &x[r * width + i]);
        else
            memcpy(out, x + r * width, width * sizeof *x);
    }
}

/* a may be the tile */
static void ntt_store_down(fr *a, const void *tile, size_t n, bool final)
{
    const fr *x = tile;

    if (final)
        for (size_t i = 0; i < n; i++) ntt_settle_one(&a[i], &x[i]);
    else if (a != x)
        memcpy(a, x, n * sizeof *x);
}

/* ---- twiddles ---- */

static void ntt_factors(void *out, const fr *f, size_t n, bool down)
{
    (void)down; /* the order is that of memory */
    memcpy(out, f, n * sizeof *f);
}

static void ntt_tw_double(void *table, size_t half, size_t from, size_t to, const fr *k)
{
    fr *x = table;
    for (size_t i = from; i < to; i++) fr_mul_inl(&x[half + i], &x[i], k);
}

static void ntt_tw_local(void *local, const void *tw, const fr *g, unsigned k)
{
    fr *x = local;
    const fr *from = tw;

    for (unsigned j = 0; j < k; j++)
        for (size_t i = 0; i < (size_t)1 << j; i++)
            fr_mul_inl(&x[((size_t)1 << j) + i], &from[i], &g[j]);
}

static void ntt_tw_get(fr *r, const void *tw, size_t b)
{
    *r = ((const fr *)tw)[b];
}
