/*
 * algebra/batch_tmpl.h - fills a table of batch operations; included by batch_<table>.c
 *
 * Before inclusion: CURVE_BLS12_381, FIELD_ADX, and BATCH_TABLE, the name of the table to define; BATCH_LANES_TABLE: of another, whose
 * products of pairings are batch_lanes.c's.
 *
 * Sources: pairing_inl.h; Scott, Barreto, CRYPTO 2004 (compression: an element of norm 1 over Fp6 is (b + w) / (b - w));
 * spec/filecoin-aggregate.md section 1.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "algebra/batch_tables.h"
#include "algebra/curve_inl.h"
#include "algebra/gt_inl.h"

#include <string.h>

_Static_assert(sizeof(g1_affine) == sizeof(g1_any) && sizeof(g2_affine) == sizeof(g2_any) &&
                   sizeof(fp12) == sizeof(gt_any),
               "arrays of opaque values are packed");

/* Pairs that share the squarings of a Miller loop: more cost stack, and save a twelfth of what the last did. */
#define MILLER_PAIRS 16
/* Powers that share squarings: tables of 2.3 KiB each, on the stack. */
#define POW_BASES 5
#define POW_LEN (FR_BITS + 1)

/* ---- scalars as signed digits ---- */

/** v as digits of 0 or odd, |d| < 8, no two within four places; returns how many. cap is never reached: 8 bits of room. */
static unsigned batch_recode(int16_t *d, unsigned cap, u128 v)
{
    unsigned n = 0;

    memset(d, 0, cap * sizeof *d);
    for (; v != 0; n++, v >>= 1) {
        if ((v & 1) == 0) continue;
        int t = (int)(v & 15);
        if (t >= 8) t -= 16;
        d[n] = (int16_t)t;
        v = t < 0 ? v + (unsigned)-t : v - (unsigned)t;
    }
    return n;
}

/** k = d[0] + d[1] |x| + d[2] |x|^2 + d[3] |x|^3, which r = x^4 - x^2 + 1 allows. */
static void batch_split_x(uint64_t d[4], const fr *k)
{
    uint64_t e[FR_LIMBS];

    fr_to_limbs(e, k);
    for (int j = 0; j < 4; j++) {
        uint64_t rem = 0;
        for (int i = FR_LIMBS - 1; i >= 0; i--) {
            u128 t = (u128)rem << 64 | e[i];
            e[i] = (uint64_t)(t / CURVE_X_ABS);
            rem = (uint64_t)(t % CURVE_X_ABS);
        }
        d[j] = rem;
    }
}

/* ---- G1: E(P) = x^2 P = -(beta x, y) ---- */

static void g1_split(u128 part[2], const fr *k)
{
    uint64_t d[4];

    batch_split_x(d, k);
    part[0] = (u128)d[1] * CURVE_X_ABS + d[0];
    part[1] = (u128)d[3] * CURVE_X_ABS + d[2];
}

static void g1_endo(g1_affine *r, const g1_affine *a)
{
    fp_mul(&r->x, &a->x, &g1_beta);
    fp_neg(&r->y, &a->y);
}

/* ---- G2: E(P) = |x| P = -psi(P) ---- */

static void g2_split(u128 part[4], const fr *k)
{
    uint64_t d[4];

    batch_split_x(d, k);
    for (int j = 0; j < 4; j++) part[j] = d[j];
}

static void g2_endo(g2_affine *r, const g2_affine *a)
{
    fp2_conj(&r->x, &a->x);
    fp2_conj(&r->y, &a->y);
    fp2_mul(&r->x, &r->x, &g2_psi_x);
    fp2_mul(&r->y, &r->y, &g2_psi_y);
    if (CURVE_X_NEG) fp2_neg(&r->y, &r->y);
}

#define EC_FIELD fp
#define EC_F(name) EC_CAT(fp, name)
#define EC_G(name) EC_CAT(g1, name)
#define EC_ANY g1_any
#define BATCH_DIMS 2
#define BATCH_LEN 136
#define BATCH_POINTS 8
#include "algebra/batch_group_tmpl.h"
#undef EC_FIELD
#undef EC_F
#undef EC_G
#undef EC_ANY
#undef BATCH_DIMS
#undef BATCH_LEN
#undef BATCH_POINTS

/* Butterflies that share an inversion: what odd_multiples takes at once. */
#define BUTTERFLIES 8

static void butterflies(g1_any *a, g1_any *b, const fr *k, size_t n)
{
    g1_affine p[BUTTERFLIES], odd[3 * BUTTERFLIES], sum[2 * BUTTERFLIES], u;
    g1_jac acc[2 * BUTTERFLIES];
    fp tmp[2 * BUTTERFLIES];
    g1_digits digits;

    for (size_t i = 0; i < n; i++) memcpy(&p[i], &b[i], sizeof p[i]);
    g1_odd_multiples(odd, p, n);
    for (size_t i = 0; i < n; i++) {
        g1_digits_of(&digits, &k[i]);
        g1_walk(&acc[2 * i], &p[i], &odd[3 * i], &digits);
        g1_jac_neg(&acc[2 * i + 1], &acc[2 * i]);
        memcpy(&u, &a[i], sizeof u);
        g1_jac_add_affine(&acc[2 * i], &acc[2 * i], &u);
        g1_jac_add_affine(&acc[2 * i + 1], &acc[2 * i + 1], &u);
    }
    g1_jac_batch_to_affine(sum, acc, tmp, 2 * n);
    for (size_t i = 0; i < n; i++) {
        memcpy(&a[i], &sum[2 * i], sizeof a[i]);
        memcpy(&b[i], &sum[2 * i + 1], sizeof b[i]);
    }
}

static void g1_batch_butterfly(g1_any *a, g1_any *b, const fr *k, size_t n)
{
    for (size_t i = 0; i < n; i += BUTTERFLIES)
        butterflies(a + i, b + i, k + i, n - i < BUTTERFLIES ? n - i : BUTTERFLIES);
}

#define EC_FIELD fp2
#define EC_F(name) EC_CAT(fp2, name)
#define EC_G(name) EC_CAT(g2, name)
#define EC_ANY g2_any
#define BATCH_DIMS 4
#define BATCH_LEN 72
#define BATCH_POINTS 4
#include "algebra/batch_group_tmpl.h"
#undef EC_FIELD
#undef EC_F
#undef EC_G
#undef EC_ANY
#undef BATCH_DIMS
#undef BATCH_LEN
#undef BATCH_POINTS

/* ---- products of pairings ---- */

/** A point of G2 on its walk, with the points of G1 that meet its lines. */
typedef struct shared_pair {
    g2_affine q;
    g2_proj t;
    g1_affine p[BATCH_MILLER];
    bool used[BATCH_MILLER];
} shared_pair;

static void shared_line(fp12 *f, const line *l, const shared_pair *m, size_t n_p)
{
    for (size_t j = 0; j < n_p; j++)
        if (m->used[j]) miller_line(&f[j], l, &m->p[j]);
}

/** f[j] = product over the n pairs of f_{x,Q}(P_j) */
static void shared_loop(fp12 *f, shared_pair *m, size_t n, size_t n_p)
{
    unsigned top = u64_bits(CURVE_X_ABS) - 1;
    line l;

    for (size_t j = 0; j < n_p; j++) fp12_set_one(&f[j]);
    for (unsigned k = top; k-- > 0;) {
        for (size_t j = 0; j < n_p && k != top - 1; j++) fp12_sqr(&f[j], &f[j]);
        for (size_t i = 0; i < n; i++) {
            miller_dbl(&l, &m[i].t);
            shared_line(f, &l, &m[i], n_p);
        }
        if ((CURVE_X_ABS >> k & 1) == 0) continue;
        for (size_t i = 0; i < n; i++) {
            miller_add(&l, &m[i].t, &m[i].q);
            shared_line(f, &l, &m[i], n_p);
        }
    }
    for (size_t j = 0; j < n_p && CURVE_X_NEG; j++) fp12_conj(&f[j], &f[j]);
}

static void batch_miller(gt_any *f, const g1_any *const *p, size_t n_p, const g2_any *q, size_t n)
{
    shared_pair m[MILLER_PAIRS];
    fp12 acc[BATCH_MILLER], part[BATCH_MILLER];

    for (size_t j = 0; j < n_p; j++) fp12_set_one(&acc[j]);
    for (size_t i = 0; i < n;) {
        size_t used = 0;
        for (; i < n && used < MILLER_PAIRS; i++) {
            shared_pair *s = &m[used];
            memcpy(&s->q, &q[i], sizeof s->q);
            if (g2_affine_is_inf(&s->q)) continue;
            s->t.x = s->q.x;
            s->t.y = s->q.y;
            fp2_set_one(&s->t.z);
            for (size_t j = 0; j < n_p; j++) {
                memcpy(&s->p[j], &p[j][i], sizeof s->p[j]);
                s->used[j] = !g1_affine_is_inf(&s->p[j]);
            }
            used++;
        }
        shared_loop(part, m, used, n_p);
        for (size_t j = 0; j < n_p; j++) fp12_mul(&acc[j], &acc[j], &part[j]);
    }
    for (size_t j = 0; j < n_p; j++) memcpy(&f[j], &acc[j], sizeof acc[j]);
}

/* ---- powers ---- */

/** As batch_recode, for a whole scalar. */
static unsigned batch_recode_fr(int16_t d[POW_LEN], const fr *k)
{
    uint64_t e[FR_LIMBS + 1] = {0};
    unsigned n = 0;

    fr_to_limbs(e, k);
    memset(d, 0, POW_LEN * sizeof *d);
    while ((e[0] | e[1] | e[2] | e[3] | e[4]) != 0) {
        if ((e[0] & 1) != 0) {
            unsigned low = (unsigned)(e[0] & 15);
            uint64_t carry = 0, up = low >= 8 ? 16 : 0;
            d[n] = (int16_t)((int)low - (int)up);
            e[0] -= low;
            for (int i = 0; i <= FR_LIMBS; i++) e[i] = u64_addc(e[i], i == 0 ? up : 0, &carry);
        }
        for (int i = 0; i < FR_LIMBS; i++) e[i] = e[i] >> 1 | e[i + 1] << 63;
        e[FR_LIMBS] >>= 1;
        n++;
    }
    return n;
}

/** r = product of a[i]^k[i], n <= POW_BASES */
static void pow_chunk(fp12 *r, const gt_any *a, const fr *k, size_t n)
{
    fp12 odd[POW_BASES][4], t;
    int16_t d[POW_BASES][POW_LEN];
    unsigned len = 0;

    for (size_t i = 0; i < n; i++) {
        unsigned own = batch_recode_fr(d[i], &k[i]);
        if (own > len) len = own;
        memcpy(&odd[i][0], &a[i], sizeof odd[i][0]);
        fp12_cyclotomic_sqr(&t, &odd[i][0]);
        for (int j = 1; j < 4; j++) fp12_mul(&odd[i][j], &odd[i][j - 1], &t);
    }
    fp12_set_one(r);
    for (unsigned b = len; b-- > 0;) {
        if (b + 1 != len) fp12_cyclotomic_sqr(r, r);
        for (size_t i = 0; i < n; i++) {
            int v = d[i][b];
            if (v == 0) continue;
            t = odd[i][(v < 0 ? -v : v) / 2];
            if (v < 0) fp12_conj(&t, &t);
            fp12_mul(r, r, &t);
        }
    }
}

static void batch_gt_pow_product(gt_any *r, const gt_any *a, const fr *k, size_t n)
{
    fp12 acc, part;

    fp12_set_one(&acc);
    for (size_t i = 0; i < n; i += POW_BASES) {
        pow_chunk(&part, a + i, k + i, n - i < POW_BASES ? n - i : POW_BASES);
        fp12_mul(&acc, &acc, &part);
    }
    memcpy(r, &acc, sizeof acc);
}

/* ---- bytes ---- */

static void write_fps(uint8_t *out, const void *in, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fp t;
        memcpy(&t, (const uint8_t *)in + i * sizeof t, sizeof t);
        fp_to_le_bytes(out + i * sizeof t, &t);
    }
}

static void batch_gt_write_plain(uint8_t out[GT_PLAIN_BYTES], const gt_any *a)
{
    write_fps(out, a, 12);
}

static bool batch_gt_write(uint8_t out[GT_BYTES], const gt_any *a)
{
    fp12 t;
    fp6 one, b;

    memcpy(&t, a, sizeof t);
    if (fp6_is_zero(&t.c1)) return false;
    fp6_set_one(&one);
    fp6_add(&b, &t.c0, &one);
    fp6_inv_var(&t.c1, &t.c1);
    fp6_mul(&b, &b, &t.c1);
    write_fps(out, &b, 6);
    return true;
}

static gt_err batch_gt_read(gt_any *r, const uint8_t in[GT_BYTES])
{
    fp c[6];
    fp6 b, den;
    fp12 g;

    for (size_t i = 0; i < 6; i++)
        if (!fp_from_le_bytes(&c[i], in + i * sizeof c[i])) return GT_NOT_CANONICAL;
    memcpy(&b, c, sizeof b);
    /* (b + w) / (b - w) = (b^2 + v + 2 b w) / (b^2 - v); v has no root in Fp6 */
    fp6_set_one(&den);
    fp6_mul_nonres(&den, &den);
    fp6_mul(&g.c0, &b, &b);
    fp6_add(&g.c1, &g.c0, &den);
    fp6_sub(&den, &g.c0, &den);
    fp6_inv_var(&den, &den);
    fp6_mul(&g.c0, &g.c1, &den);
    fp6_dbl(&b, &b);
    fp6_mul(&g.c1, &b, &den);
    if (!gt_in_subgroup(&g)) return GT_NOT_IN_SUBGROUP;
    memcpy(r, &g, sizeof g);
    return GT_OK;
}

#define BATCH_FIELDS(miller_fn) \
    .g1_fold = g1_batch_fold, .g2_fold = g2_batch_fold, .g1_scale = g1_batch_scale, \
    .g2_scale = g2_batch_scale, .g1_butterfly = g1_batch_butterfly, .miller = (miller_fn), \
    .gt_pow_product = batch_gt_pow_product, .gt_write_plain = batch_gt_write_plain, \
    .gt_write = batch_gt_write, .gt_read = batch_gt_read

const batch_ops BATCH_TABLE = {BATCH_FIELDS(batch_miller)};
#ifdef BATCH_LANES_TABLE
const batch_ops BATCH_LANES_TABLE = {BATCH_FIELDS(batch_lanes_miller)};
#endif
