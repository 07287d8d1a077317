/*
 * groth16/verify.c - checking proofs, one or many at once
 *
 * One: e(A, B) e(-acc, gamma) e(-C, delta) = e(alpha, beta) with acc = IC_0 + sum x_i IC_i.
 * Many: with random z_j, prod e(z_j A_j, B_j) e(-sum z_j acc_j, gamma) e(-sum z_j C_j, delta) = e(alpha, beta)^(sum z_j).
 * The z_j are drawn from 2^128 different values that are not 0: when some proof is wrong, at most one of 2^128 choices of its z hides it.
 *
 * A product of pairings is one Miller loop and one final exponentiation. The lines of gamma and delta and the right side come with a
 * prepared key (vk.c). Under another, and where a lane is free, the right side is one more factor, e(-alpha, beta) or
 * e(-alpha sum z_j, beta), and the product is 1.
 *
 * Source: spec/filecoin-formats.md section 7.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "algebra/curve_lanes.h"
#include "base/hash.h"
#include "base/u128.h"
#include "groth16/internal.h"

#include <string.h>

/** r = sum k[i] P_i over n points as in memory, packed. */
static cuzk_status sum_points(dev_stream *s, const curve *cv, const uint8_t *points, const fr *k,
                              size_t n, g1_any *r)
{
    dev_points p = {.data = points, .n = n, .enc = POINT_LEM, .trusted = true};
    dev_scalars sc = {.n = n, .elems = k};
    return dev_msm_g1(s, r, cv->id, &p, 0, &sc);
}

/** acc = k[0] IC_0 + ... + k[n_ic-1] IC_(n_ic-1). */
static cuzk_status ic_sum(dev_stream *s, const groth16_vk *vk, const fr *k, g1_any *acc)
{
    const dev_multiples *t = vk->ready == NULL ? NULL : vk->ready->ic;
    span sp = span_open(SPAN_MSM_IC);
    cuzk_status st = dev_multiples_fit(t, s) ? dev_multiples_sum(s, acc, t, k)
                                             : sum_points(s, vk->cv, vk->ic, k, vk->n_ic, acc);
    span_close(&sp);
    return st;
}

/* Terms that are of the key, at most. */
#define KEY_TERMS 3

/** Whether n pairs of a batch leave a lane empty for one more, beside gamma's and delta's. */
static bool has_lane(const curve *cv, size_t n)
{
    size_t some = (n + 2) % CURVE_LANES;

    return curve_lanes_of(cv) != NULL && some >= CURVE_LANES_MIN;
}

/** r = the pair that stands for e(alpha, beta), or its power `times` unless NULL: -alpha, -times alpha. */
static CUZK_STATUS alpha_term(dev_stream *s, const groth16_vk *vk, g1_any *r, const fr *times)
{
    const curve *cv = vk->cv;
    const dev_multiples *t = vk->ready == NULL ? NULL : vk->ready->alpha;

    *r = vk->alpha_g1;
    if (times != NULL && dev_multiples_fit(t, s))
        TRY(dev_multiples_sum(s, r, t, times));
    else if (times != NULL)
        cv->g1_mul(r, r, times);
    cv->g1_neg(r, r);
    return CUZK_OK;
}

/** *valid: the n terms, with -acc and -c for gamma and delta, are e(alpha, beta), or its power `times` unless NULL. t: room for KEY_TERMS
 *  more. acc and c are negated. */
static CUZK_STATUS holds(dev_stream *s, const groth16_vk *vk, pairing_term *t, size_t n,
                         g1_any *acc, g1_any *c, const fr *times, bool *valid)
{
    const curve *cv = vk->cv;
    const groth16_vk_ready *ready = vk->ready;
    bool one_more = ready == NULL || (times != NULL && ready->alpha != NULL && has_lane(cv, n));
    g1_any alpha;
    gt_any f, want;

    cv->g1_neg(acc, acc);
    cv->g1_neg(c, c);
    t[n] = (pairing_term){
        .p = acc, .q = &vk->gamma_g2, .prepared = ready == NULL ? NULL : &ready->gamma};
    t[n + 1] = (pairing_term){
        .p = c, .q = &vk->delta_g2, .prepared = ready == NULL ? NULL : &ready->delta};
    if (one_more) {
        TRY(alpha_term(s, vk, &alpha, times));
        t[n + 2] = (pairing_term){.p = &alpha, .q = &vk->beta_g2};
    }
    cv->miller(&f, t, n + (one_more ? 3 : 2));
    cv->final_exp(&f, &f);
    if (one_more) {
        *valid = cv->gt_is_one(&f);
        return CUZK_OK;
    }
    want = ready->alpha_beta;
    if (times != NULL) cv->gt_pow_var(&want, &want, times);
    *valid = cv->gt_eq(&f, &want);
    return CUZK_OK;
}

cuzk_status groth16_verify(dev_stream *s, const groth16_vk *vk, const groth16_proof *p,
                           const fr *pub, size_t n, bool *valid)
{
    cuzk_status st = CUZK_OK;
    const curve *cv = vk->cv;
    g1_any acc, c = p->c;
    pairing_term t[1 + KEY_TERMS] = {{.p = &p->a, .q = &p->b}};

    if (n + 1 != vk->n_ic)
        return FAIL_DATA(SHAPE, "public inputs", "%zu public inputs, the key has %u", n,
                         vk->n_ic - 1);
    fr *k = mem_new(vk->m, n + 1, sizeof *k, &st);
    if (k == NULL) return st;
    k[0] = cv->fr_one;
    if (n != 0) memcpy(k + 1, pub, n * sizeof *pub);
    st = ic_sum(s, vk, k, &acc);
    mem_free(vk->m, k);
    TRY(st);

    span sp = span_open(SPAN_PAIRING);
    st = holds(s, vk, t, 1, &acc, &c, NULL, valid);
    span_close(&sp);
    return st;
}

/* ---- many ---- */

/* Up to so many C points are weighed beside the A points and added up; more are cheaper as a sum of the device. */
#define FEW 32

/** A batch's arrays. */
typedef struct batch {
    const groth16_vk *vk;
    const groth16_proof *p;
    size_t n;
    fr *z, *x;         /* weights; one input of each proof */
    uint64_t *half[2]; /* their random halves, with lanes */
    g1_any *a;         /* z_j A_j */
    g1_any c_sum;      /* sum of z_j C_j */
    uint8_t *c;        /* C_j, packed */
    fr *k;             /* sum of z_j x_ij for each IC point */
    pairing_term *t;
} batch;

static void batch_clear(batch *b)
{
    mem *m = b->vk->m;

    mem_free(m, b->t);
    mem_free(m, b->k);
    mem_free(m, b->c);
    mem_free(m, b->a);
    mem_free(m, b->half[0]);
    mem_free(m, b->z);
}

static cuzk_status batch_open(batch *b, const groth16_vk *vk, const groth16_proof *p, size_t n)
{
    cuzk_status st = CUZK_OK;
    mem *m = vk->m;
    size_t n_terms;

    *b = (batch){.vk = vk, .p = p, .n = n};
    if (!size_add(&n_terms, n, KEY_TERMS)) return FAIL(CUZK_EINVAL, "%zu proofs", n);
    b->z = mem_new(m, n, 2 * sizeof *b->z, &st);
    if (b->z == NULL) return st;
    b->x = b->z + n;
    b->half[0] = mem_new(m, n, 2 * sizeof *b->half[0], &st);
    if (b->half[0] == NULL) return st;
    b->half[1] = b->half[0] + n;
    b->a = mem_new(m, n, sizeof *b->a, &st);
    if (b->a == NULL) return st;
    b->c = mem_new(m, n, vk->cv->g1_size, &st);
    if (b->c == NULL) return st;
    b->k = mem_new(m, vk->n_ic, sizeof *b->k, &st);
    if (b->k == NULL) return st;
    b->t = mem_new(m, n_terms, sizeof *b->t, &st);
    return st;
}

static cuzk_status random_bytes(void *out, size_t size)
{
    return os_random(out, size) == 0 ? CUZK_OK
                                     : FAIL(CUZK_EIO, "the system's random generator failed");
}

/** The sum of z_j C_j as one of the device's. */
static cuzk_status sum_c(batch *b, dev_stream *s)
{
    const curve *cv = b->vk->cv;

    if (b->c == NULL) return FAIL(CUZK_EBUG, "batch: not open");
    for (size_t j = 0; j < b->n; j++) memcpy(b->c + j * cv->g1_size, &b->p[j].c, cv->g1_size);
    return sum_points(s, cv, b->c, b->z, b->n, &b->c_sum);
}

/** Weights of 128 random bits, never 0; a = z A point by point. */
static cuzk_status weigh(batch *b, dev_stream *s)
{
    const curve *cv = b->vk->cv;

    for (size_t j = 0; j < b->n; j++) {
        scalar k = {{0}};
        do {
            TRY(random_bytes(k.b, 16));
        } while (load_u64le(k.b) == 0 && load_u64le(k.b + 8) == 0);
        if (!cv->fr_from_scalar(&b->z[j], &k))
            return FAIL(CUZK_EBUG, "128-bit weight not below the group order");
        cv->g1_mul(&b->a[j], &b->p[j].a, &b->z[j]);
    }
    return sum_c(b, s);
}

/** n_of points of each proof, eight at a time: z A, and with n_of = 2 also z C, which are added up. */
static void weigh_points(batch *b, const curve_lanes *l, size_t n_of)
{
    const curve *cv = b->vk->cv;

    for (size_t from = 0; from < n_of * b->n; from += CURVE_LANES) {
        uint64_t half[2][CURVE_LANES];
        g1_any p[CURVE_LANES];

        for (size_t i = 0; i < CURVE_LANES; i++) {
            size_t k = from + i < n_of * b->n ? from + i : from, j = k / n_of;
            p[i] = k % n_of == 0 ? b->p[j].a : b->p[j].c;
            half[0][i] = b->half[0][j];
            half[1][i] = b->half[1][j];
        }
        l->g1_weigh(p, p, half[0], half[1]);
        for (size_t i = 0; i < CURVE_LANES && from + i < n_of * b->n; i++) {
            size_t k = from + i, j = k / n_of;
            if (k % n_of == 0)
                b->a[j] = p[i];
            else
                cv->g1_add(&b->c_sum, &b->c_sum, &p[i]);
        }
    }
}

/** The same as weigh, with weights of two random halves. */
static cuzk_status weigh_lanes(batch *b, dev_stream *s, const curve_lanes *l)
{
    bool few = b->n <= FEW;

    TRY(random_bytes(b->half[0], 2 * b->n * sizeof *b->half[0]));
    for (size_t j = 0; j < b->n; j++) l->g1_weight(&b->z[j], b->half[0][j], b->half[1][j]);
    weigh_points(b, l, few ? 2 : 1);
    return few ? CUZK_OK : sum_c(b, s);
}

static void sum_inputs(batch *b, const fr *pub)
{
    const curve *cv = b->vk->cv;
    size_t n_pub = b->vk->n_ic - 1;

    for (size_t j = 0; j < b->n; j++) cv->fr_add(&b->k[0], &b->k[0], &b->z[j]);
    for (size_t i = 0; i < n_pub; i++) {
        for (size_t j = 0; j < b->n; j++) b->x[j] = pub[j * n_pub + i];
        cv->fr_dot(&b->k[i + 1], b->z, b->x, b->n);
    }
}

/** No point of a proof is infinity: what a reader gives. Lanes rely on it. */
static bool has_infinity(const batch *b)
{
    const curve *cv = b->vk->cv;

    for (size_t j = 0; j < b->n; j++)
        if (cv->g1_is_inf(&b->p[j].a) || cv->g1_is_inf(&b->p[j].c)) return true;
    return false;
}

static cuzk_status check(batch *b, dev_stream *s, const fr *pub, bool *valid)
{
    const groth16_vk *vk = b->vk;
    const curve_lanes *l = has_infinity(b) ? NULL : curve_lanes_of(vk->cv);
    g1_any acc;

    TRY(l == NULL ? weigh(b, s) : weigh_lanes(b, s, l));
    for (size_t j = 0; j < b->n; j++) b->t[j] = (pairing_term){.p = &b->a[j], .q = &b->p[j].b};
    sum_inputs(b, pub);
    TRY(ic_sum(s, vk, b->k, &acc));
    return holds(s, vk, b->t, b->n, &acc, &b->c_sum, &b->k[0], valid);
}

cuzk_status groth16_verify_batch(dev_stream *s, const groth16_vk *vk, const groth16_proof *p,
                                 size_t n_proofs, const fr *pub, bool *valid)
{
    batch b;

    if (n_proofs == 0) return FAIL(CUZK_EINVAL, "no proofs to verify");
    if (n_proofs == 1) return groth16_verify(s, vk, p, pub, vk->n_ic - 1, valid);
    cuzk_status st = batch_open(&b, vk, p, n_proofs);
    if (st == CUZK_OK) {
        span sp = span_open(SPAN_PAIRING);
        st = check(&b, s, pub, valid);
        span_close(&sp);
    }
    batch_clear(&b);
    return st;
}
