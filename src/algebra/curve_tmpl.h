/*
 * algebra/curve_tmpl.h - fills a curve table from curve_inl.h and pairing_inl.h; included by curve_<curve>_<table>.c
 *
 * Before inclusion: CURVE_*, FIELD_ADX, and CURVE_TABLE, the name of the table to define. Points cross by copies: an
 * opaque point may stand in a packed array, so only its g1_size or g2_size bytes are touched.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "algebra/curve_inl.h"
#include "algebra/curve_tables.h"
#include "algebra/gt_inl.h"
#include "base/hash.h"

#define EC_G(name) EC_CAT(g1, name)
#define EC_ANY g1_any
#include "algebra/curve_group_tmpl.h"
#undef EC_G
#undef EC_ANY

#define EC_G(name) EC_CAT(g2, name)
#define EC_ANY g2_any
#include "algebra/curve_group_tmpl.h"
#undef EC_G
#undef EC_ANY

/* ---- scalar field ---- */

static void tab_fr_add(fr *r, const fr *a, const fr *b)
{
    fr_add(r, a, b);
}

static void tab_fr_sub(fr *r, const fr *a, const fr *b)
{
    fr_sub(r, a, b);
}

static void tab_fr_neg(fr *r, const fr *a)
{
    fr_neg(r, a);
}

static void tab_fr_mul(fr *r, const fr *a, const fr *b)
{
    fr_mul(r, a, b);
}

static void tab_fp_ring(uint64_t ring[CURVE_RING_WORDS], size_t n)
{
    fp *r = (fp *)(void *)ring;

    for (size_t i = 0; i < n; i += 16) {
        for (size_t k = 0; k < 15; k++) fp_mul(&r[k], &r[k], &r[k + 1]);
        fp_mul(&r[15], &r[15], &r[0]);
    }
}

static void tab_fr_ring(fr ring[16], size_t n)
{
    for (size_t i = 0; i < n; i += 16) {
        for (size_t k = 0; k < 15; k++) fr_mul(&ring[k], &ring[k], &ring[k + 1]);
        fr_mul(&ring[15], &ring[15], &ring[0]);
    }
}

static void tab_fr_pow_var(fr *r, const fr *a, uint64_t e)
{
    fr_pow_var(r, a, &e, 1);
}

static bool tab_fr_eq(const fr *a, const fr *b)
{
    return fr_eq(a, b);
}

static bool tab_fr_is_zero(const fr *a)
{
    return fr_is_zero(a);
}

static bool tab_fr_random(fr *r)
{
    scalar s;
    bool found = false;

    do {
        if (os_random(s.b, sizeof s.b) != 0) break;
        s.b[31] &= (uint8_t)(0xff >> (256 - FR_BITS));
        found = fr_from_scalar(r, &s);
    } while (!found);
    explicit_bzero(&s, sizeof s);
    return found;
}

/* ---- encodings ---- */

static size_t tab_point_size(bool g2, point_enc enc)
{
    return g2 ? g2_enc_size(enc) : g1_enc_size(enc);
}

static void tab_g1_coord_dec(char out[CURVE_DEC_MAX], const g1_any *a, unsigned k)
{
    g1_affine p = g1_in(a);
    fp_to_dec(out, k == 0 ? &p.x : &p.y);
}

static void tab_g2_coord_dec(char out[CURVE_DEC_MAX], const g2_any *a, unsigned k)
{
    g2_affine p = g2_in(a);
    const fp2 *c = k < 2 ? &p.x : &p.y;
    fp_to_dec(out, k % 2 == 0 ? &c->c0 : &c->c1);
}

/* (0, 0) is not a point: decimal files write infinity otherwise, and the caller knows how. */
static point_err tab_g1_from_dec(g1_any *r, const char *const xy[2], const size_t len[2])
{
    g1_affine p;
    if (!fp_from_dec(&p.x, xy[0], len[0]) || !fp_from_dec(&p.y, xy[1], len[1]))
        return POINT_NOT_CANONICAL;
    if (g1_affine_is_inf(&p) || !g1_is_on_curve(&p)) return POINT_NOT_ON_CURVE;
    g1_out(r, &p);
    return POINT_OK;
}

static point_err tab_g2_from_dec(g2_any *r, const char *const c[4], const size_t len[4])
{
    g2_affine p;
    if (!fp_from_dec(&p.x.c0, c[0], len[0]) || !fp_from_dec(&p.x.c1, c[1], len[1]) ||
        !fp_from_dec(&p.y.c0, c[2], len[2]) || !fp_from_dec(&p.y.c1, c[3], len[3]))
        return POINT_NOT_CANONICAL;
    if (g2_affine_is_inf(&p) || !g2_is_on_curve(&p)) return POINT_NOT_ON_CURVE;
    g2_out(r, &p);
    return POINT_OK;
}

#include "algebra/curve_pairing_tmpl.h"

const curve CURVE_TABLE = {
#if defined(CURVE_BLS12_381)
    .id = CURVE_ID_BLS12_381,
    .name = "bls12-381",
    .json_name = "bls12381",
#else
    .id = CURVE_ID_BN254,
    .name = "bn254",
    .json_name = "bn128",
#endif
    .table = FIELD_ADX ? CPU_TABLE_ADX : CPU_TABLE_GENERIC,
    .fp_size = sizeof(fp),
    .g1_size = sizeof(g1_affine),
    .g2_size = sizeof(g2_affine),
    .fr_bits = FR_BITS,
    .two_adicity = FR_TWO_ADICITY,
    .r_le = (const uint8_t *)fr_modulus, /* a little-endian machine: encoding_inl.h */
    .p_le = (const uint8_t *)fp_modulus,
    .fr_one = {{CURVE_FR_ONE_WORDS}},
    .g1_gen = {{CURVE_G1_GEN_WORDS}},
    .g2_gen = {{CURVE_G2_GEN_WORDS}},

    .fr_add = tab_fr_add,
    .fr_sub = tab_fr_sub,
    .fr_neg = tab_fr_neg,
    .fr_mul = tab_fr_mul,
    .fr_inv = fr_inv,
    .fr_pow_var = tab_fr_pow_var,
    .fp_ring = tab_fp_ring,
    .fr_ring = tab_fr_ring,
    .fr_eq = tab_fr_eq,
    .fr_is_zero = tab_fr_is_zero,
    .fr_from_u64 = fr_from_u64,
    .fr_from_scalar = fr_from_scalar,
    .fr_to_scalar = fr_to_scalar,
    .fr_root = fr_root,
    .fr_random = tab_fr_random,
    .fr_dot = fr_dot,
    .fr_batch_inv = fr_batch_inv,

    .g1_add = g1_tab_add,
    .g2_add = g2_tab_add,
    .g1_neg = g1_tab_neg,
    .g2_neg = g2_tab_neg,
    .g1_mul = g1_tab_mul,
    .g2_mul = g2_tab_mul,
    .g1_eq = g1_tab_eq,
    .g2_eq = g2_tab_eq,
    .g1_is_inf = g1_tab_is_inf,
    .g2_is_inf = g2_tab_is_inf,
    .g1_in_subgroup = g1_tab_in_subgroup,
    .g2_in_subgroup = g2_tab_in_subgroup,
    .g1_in_subgroup_plain = g1_tab_in_subgroup_plain,
    .g2_in_subgroup_plain = g2_tab_in_subgroup_plain,

    .point_size = tab_point_size,
    .g1_read = g1_tab_read,
    .g2_read = g2_tab_read,
    .g1_write = g1_tab_write,
    .g2_write = g2_tab_write,
    .g1_coord_dec = tab_g1_coord_dec,
    .g2_coord_dec = tab_g2_coord_dec,
    .g1_from_dec = tab_g1_from_dec,
    .g2_from_dec = tab_g2_from_dec,
    .fr_to_dec = fr_to_dec,
    .fr_from_dec = fr_from_dec,

    .pairing_check = tab_pairing_check,
    .pairing = tab_pairing,
    .g2_prepare = tab_g2_prepare,
    .miller = tab_miller,
    .final_exp = tab_final_exp,
    .gt_set_one = tab_gt_set_one,
    .gt_eq = tab_gt_eq,
    .gt_is_one = tab_gt_is_one,
    .gt_mul = tab_gt_mul,
    .gt_inv = tab_gt_inv,
    .gt_pow_var = tab_gt_pow_var,
    .gt_in_subgroup = tab_gt_in_subgroup,
    .gt_coord_dec = tab_gt_coord_dec,
};
