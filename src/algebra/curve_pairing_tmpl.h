/*
 * algebra/curve_pairing_tmpl.h - the pairing's entries of a curve table; included by curve_tmpl.h
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

/* Pairs in one Miller loop: they share its squarings, 36 of 36 + 63 n products a step; more only costs stack. */
#define PAIRING_CHUNK 16

static fp12 gt_in(const gt_any *a)
{
    fp12 t;
    memcpy(&t, a, sizeof t);
    return t;
}

static void gt_out(gt_any *r, const fp12 *a)
{
    memcpy(r, a, sizeof *a);
}

/* ---- Miller loops ---- */

_Static_assert(MILLER_LINES_MAX * sizeof(line1) <= sizeof((g2_prepared *)NULL)->w,
               "lines do not fit g2_prepared");

static void tab_g2_prepare(g2_prepared *r, const g2_any *q)
{
    g2_affine a = g2_in(q);

    r->infinity = g2_affine_is_inf(&a);
    if (!r->infinity) miller_prepare((line1 *)(void *)r->w, &a);
}

static bool term_init(miller_pair *m, const pairing_term *t)
{
    g1_affine p = g1_in(t->p);
    g2_affine q;

    if (t->prepared == NULL) {
        q = g2_in(t->q);
        return miller_pair_init(m, &p, &q);
    }
    if (g1_affine_is_inf(&p) || t->prepared->infinity) return false;
    memset(&m->q, 0, sizeof m->q);
    m->p = p;
    m->lines = (const line1 *)(const void *)t->prepared->w;
    return true;
}

/** The points that meet prepared lines become (x/y, 1/y); y is not 0 in the subgroup. */
static void scale_points(miller_pair *m, size_t n)
{
    fp y[PAIRING_CHUNK], tmp[PAIRING_CHUNK];
    size_t k = 0;

    for (size_t i = 0; i < n; i++)
        if (m[i].lines != NULL) y[k++] = m[i].p.y;
    if (k == 0) return;
    fp_batch_inv_var(y, tmp, k);
    k = 0;
    for (size_t i = 0; i < n; i++) {
        if (m[i].lines == NULL) continue;
        m[i].p.y = y[k++];
        fp_mul(&m[i].p.x, &m[i].p.x, &m[i].p.y);
    }
}

/** f = product of the Miller loops of n terms, n <= PAIRING_CHUNK. */
static void miller_chunk(fp12 *f, const pairing_term *t, size_t n)
{
    miller_pair m[PAIRING_CHUNK];
    size_t used = 0;

    for (size_t i = 0; i < n; i++)
        if (term_init(&m[used], &t[i])) used++;
    scale_points(m, used);
    miller_loop(f, m, used);
}

static void tab_miller(gt_any *r, const pairing_term *t, size_t n)
{
    fp12 f, g;

    fp12_set_one(&f);
    for (size_t i = 0; i < n; i += PAIRING_CHUNK) {
        miller_chunk(&g, &t[i], n - i < PAIRING_CHUNK ? n - i : PAIRING_CHUNK);
        fp12_mul(&f, &f, &g);
    }
    gt_out(r, &f);
}

static void tab_final_exp(gt_any *r, const gt_any *a)
{
    fp12 f = gt_in(a);
    final_exp(&f, &f);
    gt_out(r, &f);
}

static bool tab_pairing_check(const g1_any *p, const g2_any *q, size_t n)
{
    pairing_term t[PAIRING_CHUNK];
    fp12 f, g;

    fp12_set_one(&f);
    for (size_t i = 0; i < n; i += PAIRING_CHUNK) {
        size_t k = n - i < PAIRING_CHUNK ? n - i : PAIRING_CHUNK;
        for (size_t j = 0; j < k; j++) t[j] = (pairing_term){.p = &p[i + j], .q = &q[i + j]};
        miller_chunk(&g, t, k);
        fp12_mul(&f, &f, &g);
    }
    final_exp(&f, &f);
    return fp12_is_one(&f);
}

static void tab_pairing(gt_any *r, const g1_any *p, const g2_any *q)
{
    pairing_term t = {.p = p, .q = q};
    fp12 f;

    miller_chunk(&f, &t, 1);
    final_exp(&f, &f);
    gt_out(r, &f);
}

/* ---- GT ---- */

static void tab_gt_set_one(gt_any *r)
{
    fp12 one;
    memset(r, 0, sizeof *r);
    fp12_set_one(&one);
    gt_out(r, &one);
}

static bool tab_gt_eq(const gt_any *a, const gt_any *b)
{
    fp12 x = gt_in(a), y = gt_in(b);
    return fp12_eq(&x, &y);
}

static bool tab_gt_is_one(const gt_any *a)
{
    fp12 x = gt_in(a);
    return fp12_is_one(&x);
}

static void tab_gt_mul(gt_any *r, const gt_any *a, const gt_any *b)
{
    fp12 x = gt_in(a), y = gt_in(b);
    fp12_mul(&x, &x, &y);
    gt_out(r, &x);
}

static void tab_gt_inv(gt_any *r, const gt_any *a)
{
    fp12 x = gt_in(a);
    fp12_conj(&x, &x);
    gt_out(r, &x);
}

static void tab_gt_pow_var(gt_any *r, const gt_any *a, const fr *k)
{
    fp12 x = gt_in(a);
    uint64_t e[FR_LIMBS];
    fr_to_limbs(e, k);
    gt_pow_limbs_var(&x, &x, e);
    gt_out(r, &x);
}

static bool tab_gt_in_subgroup(const gt_any *a)
{
    fp12 x = gt_in(a);
    return gt_in_subgroup(&x);
}

static void tab_gt_coord_dec(char out[CURVE_DEC_MAX], const gt_any *a, unsigned i, unsigned j,
                             unsigned k)
{
    size_t at = (size_t)(3 * i + j) * 2 + k; /* as fp12 lies in memory */
    fp t;
    memcpy(&t, &a->w[FP_LIMBS * at], sizeof t);
    fp_to_dec(out, &t);
}
