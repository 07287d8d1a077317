/*
 * algebra/batch_group_tmpl.h - multiples of many points of one group; included twice by batch_tmpl.h
 *
 * A scalar is cut into BATCH_DIMS short ones along the powers of an endomorphism E (EC_G(endo)): k = sum over e of k_e L^e with
 * E(P) = L P, so that k P takes one walk of doublings of a quarter (G2) or half (G1) of the bits. Digits are signed, odd and
 * below 2^(w-1) = 8 (w = 4), multiples 1, 3, 5, 7 of a point are made affine for several points with one inversion.
 *
 *     cost of a multiple     doublings   additions (mixed)   endomorphism
 *     G1                     128         52 + 3              4
 *     G2                     64          52 + 3              12
 *
 * Before inclusion: EC_G, EC_F, EC_FIELD, EC_ANY, BATCH_DIMS, BATCH_LEN (digits), BATCH_POINTS (points with one inversion).
 *
 * Sources: Gallant, Lambert, Vanstone, CRYPTO 2001; Galbraith, Lin, Scott, EUROCRYPT 2009; Scott, ePrint 2021/1130
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

typedef struct EC_G(digits) {
    unsigned len;
    int16_t d[BATCH_DIMS][BATCH_LEN];
} EC_G(digits);

static void EC_G(digits_of)(EC_G(digits) * r, const fr *k)
{
    u128 part[BATCH_DIMS];

    EC_G(split)(part, k);
    r->len = 0;
    for (unsigned e = 0; e < BATCH_DIMS; e++) {
        unsigned n = batch_recode(r->d[e], BATCH_LEN, part[e]);
        if (n > r->len) r->len = n;
    }
}

/** odd[3 i + j] = (2 j + 3) p[i], affine */
static void EC_G(odd_multiples)(EC_G(affine) * odd, const EC_G(affine) * p, size_t n)
{
    EC_G(jac) t[3 * BATCH_POINTS], twice;
    EC_FIELD tmp[3 * BATCH_POINTS];

    for (size_t i = 0; i < n; i++) {
        EC_G(jac_from_affine)(&twice, &p[i]);
        EC_G(jac_dbl)(&twice, &twice);
        EC_G(jac_add_affine)(&t[3 * i], &twice, &p[i]);
        EC_G(jac_add)(&t[3 * i + 1], &t[3 * i], &twice);
        EC_G(jac_add)(&t[3 * i + 2], &t[3 * i + 1], &twice);
    }
    EC_G(jac_batch_to_affine)(odd, t, tmp, 3 * n);
}

/** r = sum of k_e E^e(p), k by its digits; odd: 3 p, 5 p, 7 p */
static void EC_G(walk)(EC_G(jac) * r, const EC_G(affine) * p, const EC_G(affine) * odd,
                       const EC_G(digits) * k)
{
    EC_G(affine) table[BATCH_DIMS][4], t;

    table[0][0] = *p;
    for (int j = 0; j < 3; j++) table[0][j + 1] = odd[j];
    for (unsigned e = 1; e < BATCH_DIMS; e++)
        for (int j = 0; j < 4; j++) EC_G(endo)(&table[e][j], &table[e - 1][j]);
    EC_G(jac_set_inf)(r);
    for (unsigned i = k->len; i-- > 0;) {
        if (!EC_G(jac_is_inf)(r)) EC_G(jac_dbl)(r, r);
        for (unsigned e = 0; e < BATCH_DIMS; e++) {
            int d = k->d[e][i];
            if (d == 0) continue;
            t = table[e][(d < 0 ? -d : d) / 2];
            if (d < 0) EC_G(affine_neg)(&t, &t);
            EC_G(jac_add_affine)(r, r, &t);
        }
    }
}

/** r[i] = a[i] + k p[i] for n <= BATCH_POINTS; a NULL: nothing to add. same: one scalar for all, its digits in `shared`. */
static void EC_G(combine)(EC_ANY *r, const EC_ANY *a, const EC_ANY *p, const fr *k, size_t n,
                          const EC_G(digits) * shared)
{
    EC_G(affine) in[BATCH_POINTS], odd[3 * BATCH_POINTS], add;
    EC_G(jac) acc[BATCH_POINTS];
    EC_FIELD tmp[BATCH_POINTS];
    EC_G(digits) own;

    for (size_t i = 0; i < n; i++) memcpy(&in[i], &p[i], sizeof in[i]);
    EC_G(odd_multiples)(odd, in, n);
    for (size_t i = 0; i < n; i++) {
        if (shared == NULL) EC_G(digits_of)(&own, &k[i]);
        EC_G(walk)(&acc[i], &in[i], &odd[3 * i], shared == NULL ? &own : shared);
        if (a == NULL) continue;
        memcpy(&add, &a[i], sizeof add);
        EC_G(jac_add_affine)(&acc[i], &acc[i], &add);
    }
    EC_G(jac_batch_to_affine)(in, acc, tmp, n);
    for (size_t i = 0; i < n; i++) memcpy(&r[i], &in[i], sizeof in[i]);
}

static void EC_G(batch_fold)(EC_ANY *r, const EC_ANY *a, const EC_ANY *b, const fr *k, size_t n)
{
    EC_G(digits) shared;

    EC_G(digits_of)(&shared, k);
    for (size_t i = 0; i < n; i += BATCH_POINTS) EC_G(combine)
    (r + i, a + i, b + i, NULL, n - i < BATCH_POINTS ? n - i : BATCH_POINTS, &shared);
}

static void EC_G(batch_scale)(EC_ANY *r, const EC_ANY *a, const fr *k, size_t n)
{
    for (size_t i = 0; i < n; i += BATCH_POINTS)
        EC_G(combine)(r + i, NULL, a + i, k + i, n - i < BATCH_POINTS ? n - i : BATCH_POINTS, NULL);
}
