/*
 * algebra/batch_lanes.c - BLS12-381: products of pairings in eight lanes, the lines through a point of G2 made once for up to three of G1
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define CURVE_BLS12_381
#define FIELD_ADX 1
#include "algebra/pairing_lanes_inl.h"

#if defined(LANES)

#    include "algebra/batch_tables.h"
#    include "algebra/curve_inl.h"
#    include "algebra/curve_tables.h"

/* Groups of eight walks that share squarings: with three products of them what a loop touches is 30 KiB. */
#    define SHARED_GROUPS 2
#    define SHARED_PAIRS ((size_t)SHARED_GROUPS * LANES)

/** Sixteen walks at most, and what meets their lines. */
typedef struct shared_walks {
    miller_x8 m[SHARED_GROUPS];
    miller_p_x8 at[SHARED_GROUPS * BATCH_MILLER];
    size_t groups, n_p;
} shared_walks;

static bool none_is_inf(const g1_any *const *p, size_t n_p, const g2_any *q, size_t from, size_t n)
{
    for (size_t i = from; i < from + n; i++) {
        if (enc_all_zero((const uint8_t *)&q[i], sizeof(g2_affine))) return false;
        for (size_t j = 0; j < n_p; j++)
            if (enc_all_zero((const uint8_t *)&p[j][i], sizeof(g1_affine))) return false;
    }
    return true;
}

/** Lanes beyond n walk the generator with P = (0, 0): they stay in Fp2. */
static void shared_init(shared_walks *s, const g1_any *const *p, const g2_any *q, size_t from,
                        size_t n, const fp_x8 *to)
{
    static const g1_affine no_p;
    const g1_affine *a[LANES];
    const g2_affine *b[LANES];

    for (size_t g = 0; g < s->groups; g++) {
        for (size_t i = 0; i < LANES; i++) {
            const void *at = LANES * g + i < n ? &q[from + LANES * g + i] : &curve_bls_adx.g2_gen;
            b[i] = at;
        }
        miller_x8_init(&s->m[g], b, to);
        for (size_t j = 0; j < s->n_p; j++) {
            for (size_t i = 0; i < LANES; i++) {
                size_t k = LANES * g + i;
                a[i] = k < n ? (const g1_affine *)(const void *)&p[j][from + k] : &no_p;
            }
            miller_p_x8_init(&s->at[g * s->n_p + j], a, to);
        }
    }
}

/** acc[j] *= all lanes of all groups */
U128_NOINLINE void shared_run(fp12 *acc, shared_walks *s, const fp_x8 *to, const fp_x8 *from)
{
    fp12_x8 f[BATCH_MILLER];
    fp12 lane[LANES];

    for (size_t j = 0; j < s->n_p; j++) fp12_x8_set_one(&f[j], to);
    miller_x8_loop(f, s->m, s->at, s->groups, s->n_p, to);
    for (size_t j = 0; j < s->n_p; j++) {
        fp12_x8_scatter(lane, &f[j], from);
        for (unsigned i = 0; i < LANES; i++) {
            if (CURVE_X_NEG) fp12_conj(&lane[i], &lane[i]);
            fp12_mul(&acc[j], &acc[j], &lane[i]);
        }
    }
}

U128_NOINLINE void shared_lanes(fp12 *acc, const g1_any *const *p, size_t n_p, const g2_any *q,
                                size_t from, size_t n)
{
    shared_walks s = {.groups = (n + LANES - 1) / LANES, .n_p = n_p};
    fp_x8 to, back;

    fp_x8_form_factors(&to, &back);
    shared_init(&s, p, q, from, n, &to);
    shared_run(acc, &s, &to, &back);
}

/** Few pairs, or a point at infinity among them. */
U128_NOINLINE void shared_scalar(fp12 *acc, const g1_any *const *p, size_t n_p, const g2_any *q,
                                 size_t from, size_t n)
{
    const g1_any *at[BATCH_MILLER] = {NULL};
    gt_any part[BATCH_MILLER];
    fp12 f;

    for (size_t j = 0; j < n_p; j++) at[j] = p[j] + from;
    batch_adx.miller(part, at, n_p, q + from, n);
    for (size_t j = 0; j < n_p; j++) {
        memcpy(&f, &part[j], sizeof f);
        fp12_mul(&acc[j], &acc[j], &f);
    }
}

void batch_lanes_miller(gt_any *f, const g1_any *const *p, size_t n_p, const g2_any *q, size_t n)
{
    fp12 acc[BATCH_MILLER];

    for (size_t j = 0; j < n_p; j++) fp12_set_one(&acc[j]);
    for (size_t i = 0, take; i < n; i += take) {
        take = n - i < SHARED_PAIRS ? n - i : SHARED_PAIRS;
        if (take > LANES && take % LANES < CURVE_LANES_MIN) take -= take % LANES;
        if (take >= CURVE_LANES_MIN && none_is_inf(p, n_p, q, i, take))
            shared_lanes(acc, p, n_p, q, i, take);
        else
            shared_scalar(acc, p, n_p, q, i, take);
    }
    for (size_t j = 0; j < n_p; j++) memcpy(&f[j], &acc[j], sizeof acc[j]);
}

#endif
