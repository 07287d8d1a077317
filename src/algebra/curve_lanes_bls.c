/*
 * algebra/curve_lanes_bls.c - BLS12-381 in eight lanes: points read, weighed, paired
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define CURVE_BLS12_381
#define FIELD_ADX 1
#include "algebra/points_lanes_inl.h"

#if defined(LANES)

#    include "algebra/curve_inl.h"
#    include "algebra/curve_tables.h"

#    define MILLER_TERMS ((size_t)MILLER_GROUPS * LANES)
#    define MILLER_REST 16

/* ---- points ---- */

/** x of a compressed point that is not infinity; false: it is not plainly right. */
static bool g1_parse(fp *x, const uint8_t *in)
{
    return (in[0] & (ENC_COMPRESSED | ENC_INFINITY)) == ENC_COMPRESSED && fp_read_flagged_be(x, in);
}

static bool g2_parse(fp2 *x, const uint8_t *in)
{
    return (in[0] & (ENC_COMPRESSED | ENC_INFINITY)) == ENC_COMPRESSED &&
           fp2_read_flagged_be(x, in);
}

static unsigned lanes_g1_read(g1_any out[LANES], const uint8_t *const in[LANES])
{
    g1_affine p[LANES];
    const void *at[LANES];
    lanes_forms c;
    fp_x8 x, y, t;
    unsigned ok = 0;

    lanes_forms_init(&c);
    for (unsigned i = 0; i < LANES; i++) {
        at[i] = &p[i];
        if (g1_parse(&p[i].x, in[i]))
            ok |= 1u << i;
        else
            fp_set_zero(&p[i].x);
    }
    fp_x8_gather(&x, at, 0, &c.to);
    fp_x8_sqr_call(&t, &x);
    fp_x8_mul_call(&t, &t, &x);
    lanes_const(&y, &g1_b, &c);
    fp_x8_sum(&t, &t, &y);
    ok &= fp_x8_root(&y, &t);
    ok &= g1_x8_in_subgroup(&x, &y, &c);
    fp_x8_scatter(&p[0].y, sizeof p[0], &y, &c.from);
    for (unsigned i = 0; i < LANES; i++) {
        if ((ok >> i & 1) == 0) continue;
        if (fp_is_larger_half(&p[i].y) != ((in[i][0] & ENC_LARGER_Y) != 0))
            fp_neg(&p[i].y, &p[i].y);
        memcpy(&out[i], &p[i], sizeof p[i]);
    }
    return ok;
}

static unsigned lanes_g2_read(g2_any out[LANES], const uint8_t *const in[LANES])
{
    g2_affine p[LANES];
    const void *at[LANES];
    lanes_forms c;
    fp2_x8 x, y, t;
    unsigned ok = 0;

    lanes_forms_init(&c);
    for (unsigned i = 0; i < LANES; i++) {
        at[i] = &p[i];
        if (g2_parse(&p[i].x, in[i]))
            ok |= 1u << i;
        else
            fp2_set_zero(&p[i].x);
    }
    fp2_x8_gather(&x, at, 0, &c.to);
    fp2_x8_sqr_call(&t, &x);
    fp2_x8_mul_call(&t, &t, &x);
    lanes_const2(&y, &g2_b, &c);
    fp2_x8_sum(&t, &t, &y);
    ok &= fp2_x8_root(&y, &t, &c);
    ok &= g2_x8_in_subgroup(&x, &y, &c);
    fp_x8_scatter(&p[0].y.c0, sizeof p[0], &y.c0, &c.from);
    fp_x8_scatter(&p[0].y.c1, sizeof p[0], &y.c1, &c.from);
    for (unsigned i = 0; i < LANES; i++) {
        if ((ok >> i & 1) == 0) continue;
        if (fp2_is_larger_half(&p[i].y) != ((in[i][0] & ENC_LARGER_Y) != 0))
            fp2_neg(&p[i].y, &p[i].y);
        memcpy(&out[i], &p[i], sizeof p[i]);
    }
    return ok;
}

static unsigned lanes_g1_in_subgroup(const g1_any p[LANES])
{
    const void *at[LANES];
    lanes_forms c;
    fp_x8 x, y;

    lanes_forms_init(&c);
    for (unsigned i = 0; i < LANES; i++) at[i] = &p[i];
    fp_x8_gather(&x, at, 0, &c.to);
    fp_x8_gather(&y, at, sizeof(fp), &c.to);
    return g1_x8_in_subgroup(&x, &y, &c);
}

static void lanes_g1_weigh(g1_any r[LANES], const g1_any p[LANES], const uint64_t a[LANES],
                           const uint64_t b[LANES])
{
    const void *at[LANES];
    g1_jac t[LANES];
    fp z[LANES], tmp[LANES];
    lanes_forms c;
    fp_x8 x, y;
    g1_x8 sum;

    lanes_forms_init(&c);
    for (unsigned i = 0; i < LANES; i++) at[i] = &p[i];
    fp_x8_gather(&x, at, 0, &c.to);
    fp_x8_gather(&y, at, sizeof(fp), &c.to);
    g1_x8_mul_pair(&sum, &x, &y, _mm512_loadu_si512(a), _mm512_loadu_si512(b), &c);
    fp_x8_scatter(&t[0].x, sizeof t[0], &sum.x, &c.from);
    fp_x8_scatter(&t[0].y, sizeof t[0], &sum.y, &c.from);
    fp_x8_scatter(z, sizeof z[0], &sum.z, &c.from);
    fp_batch_inv_var(z, tmp, LANES);
    for (unsigned i = 0; i < LANES; i++) {
        g1_affine q;
        fp zz;
        fp_sqr(&zz, &z[i]);
        fp_mul(&q.x, &t[i].x, &zz);
        fp_mul(&zz, &zz, &z[i]);
        fp_mul(&q.y, &t[i].y, &zz);
        memcpy(&r[i], &q, sizeof q);
    }
}

/** lambda = -x^2 */
static void lanes_g1_weight(fr *z, uint64_t a, uint64_t b)
{
    fr x, t;

    fr_from_u64(&x, CURVE_X_ABS);
    fr_mul(&x, &x, &x);
    fr_from_u64(&t, b);
    fr_mul(&x, &x, &t);
    fr_from_u64(&t, a);
    fr_sub(&x, &t, &x);
    fr_from_u64(&t, (uint64_t)1 << 32);
    fr_mul(&t, &t, &t);
    fr_add(z, &x, &t);
}

const curve_lanes curve_lanes_bls = {
    .g1_read = lanes_g1_read,
    .g2_read = lanes_g2_read,
    .g1_in_subgroup = lanes_g1_in_subgroup,
    .g1_weigh = lanes_g1_weigh,
    .g1_weight = lanes_g1_weight,
};

/* ---- pairs ---- */

/** *r *= the Miller loops of n groups, all lanes together. */
U128_NOINLINE void miller_run(fp12 *r, miller_x8 *m, const miller_p_x8 *p, size_t n,
                              const lanes_forms *c)
{
    fp12_x8 f;
    fp12 lane[LANES];

    fp12_x8_set_one(&f, &c->to);
    miller_x8_loop(&f, m, p, n, 1, &c->to);
    fp12_x8_scatter(lane, &f, &c->from);
    for (unsigned i = 0; i < LANES; i++) {
        if (CURVE_X_NEG) fp12_conj(&lane[i], &lane[i]);
        fp12_mul(r, r, &lane[i]);
    }
}

/** *r *= the Miller loops of n terms, n <= MILLER_TERMS, each with its q. */
U128_NOINLINE void miller_lanes(fp12 *r, const pairing_term *t, size_t n)
{
    static const g1_affine no_p;
    miller_x8 m[MILLER_GROUPS];
    miller_p_x8 at[MILLER_GROUPS];
    const g1_affine *p[LANES];
    const g2_affine *q[LANES];
    lanes_forms c;
    size_t groups = (n + LANES - 1) / LANES;

    lanes_forms_init(&c);
    for (size_t g = 0; g < groups; g++) {
        for (size_t i = 0; i < LANES; i++) {
            size_t k = LANES * g + i;
            p[i] = &no_p; /* and some q of G2: the lane stays in Fp2 */
            q[i] = (const g2_affine *)(const void *)&curve_bls_adx.g2_gen;
            if (k >= n || enc_all_zero((const uint8_t *)t[k].p, sizeof(g1_affine)) ||
                enc_all_zero((const uint8_t *)t[k].q, sizeof(g2_affine)))
                continue;
            p[i] = (const g1_affine *)(const void *)t[k].p;
            q[i] = (const g2_affine *)(const void *)t[k].q;
        }
        miller_p_x8_init(&at[g], p, &c.to);
        miller_x8_init(&m[g], q, &c.to);
    }
    miller_run(r, m, at, groups, &c);
}

/** *r *= the Miller loops of n terms one by one. */
U128_NOINLINE void miller_rest(fp12 *r, const pairing_term *t, size_t n)
{
    gt_any g;
    fp12 f;

    if (n == 0) return;
    curve_bls_adx.miller(&g, t, n);
    memcpy(&f, &g, sizeof f);
    fp12_mul(r, r, &f);
}

void curve_lanes_bls_miller(gt_any *r, const pairing_term *t, size_t n)
{
    pairing_term lane[MILLER_TERMS], rest[MILLER_REST + CURVE_LANES_MIN];
    size_t n_lane = 0, n_rest = 0, few;
    fp12 f;

    fp12_set_one(&f);
    for (size_t i = 0; i < n; i++) {
        if (t[i].q != NULL)
            lane[n_lane++] = t[i];
        else
            rest[n_rest++] = t[i];
        if (n_lane == MILLER_TERMS) {
            miller_lanes(&f, lane, n_lane);
            n_lane = 0;
        }
        if (n_rest == MILLER_REST) {
            miller_rest(&f, rest, n_rest);
            n_rest = 0;
        }
    }
    few = n_lane % LANES < CURVE_LANES_MIN ? n_lane % LANES : 0;
    if (n_lane > few) miller_lanes(&f, lane, n_lane - few);
    memcpy(rest + n_rest, lane + n_lane - few, few * sizeof *rest); /* they share squarings */
    miller_rest(&f, rest, n_rest + few);
    memcpy(r, &f, sizeof f);
}

#endif
