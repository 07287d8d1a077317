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

#if FIELD_ADX
#    define CURVE_TABLE_CPU CPU_TABLE_ADX
#else
#    define CURVE_TABLE_CPU CPU_TABLE_GENERIC
#endif
#define CURVE_MILLER tab_miller
#include "algebra/curve_table_tmpl.h"
