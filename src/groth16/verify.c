/*
 * groth16/verify.c - checking proofs, one or many at once
 *
 * One: e(A, B) e(acc, -gamma) e(C, -delta) e(-alpha, beta) = 1 with acc = IC_0 + sum x_i IC_i.
 * Many: with random z_j, prod e(z_j A_j, B_j) e(-sum z_j acc_j, gamma) e(-sum z_j C_j, delta) e(-(sum z_j) alpha, beta) = 1.
 *
 * Source: spec/filecoin-formats.md section 7.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/hash.h"
#include "base/u128.h"
#include "groth16/internal.h"

#include <string.h>

/** acc = k[0] IC_0 + ... + k[n_ic-1] IC_(n_ic-1). */
static cuzk_status ic_sum(dev_stream *s, const groth16_vk *vk, const fr *k, g1_any *acc)
{
    dev_points ic = {.data = vk->ic, .n = vk->n_ic, .enc = POINT_LEM, .trusted = true};
    dev_scalars sc = {.n = vk->n_ic, .elems = k};
    span sp = span_open(SPAN_MSM_IC);
    cuzk_status st = dev_msm_g1(s, acc, vk->cv->id, &ic, 0, &sc);
    span_close(&sp);
    return st;
}

cuzk_status groth16_verify(dev_stream *s, const groth16_vk *vk, const groth16_proof *p,
                           const fr *pub, size_t n, bool *valid)
{
    cuzk_status st = CUZK_OK;
    const curve *cv = vk->cv;
    g1_any acc, g1[4];
    g2_any g2[4];

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

    g1[0] = p->a;
    g2[0] = p->b;
    cv->g1_neg(&g1[1], &acc);
    g2[1] = vk->gamma_g2;
    cv->g1_neg(&g1[2], &p->c);
    g2[2] = vk->delta_g2;
    cv->g1_neg(&g1[3], &vk->alpha_g1);
    g2[3] = vk->beta_g2;
    span sp = span_open(SPAN_PAIRING);
    *valid = cv->pairing_check(g1, g2, 4);
    span_close(&sp);
    return CUZK_OK;
}

/** 128 random bits, never 0. */
static cuzk_status random_weight(const curve *cv, fr *z)
{
    scalar s = {{0}};
    do {
        if (os_random(s.b, 16) != 0) return FAIL(CUZK_EIO, "the system's random generator failed");
    } while (load_u64le(s.b) == 0 && load_u64le(s.b + 8) == 0);
    return cv->fr_from_scalar(z, &s) ? CUZK_OK
                                     : FAIL(CUZK_EBUG, "128-bit weight not below the group order");
}

/** Folds proof j with weight z into the sums; g1, g2: its own pair. */
static void fold(const groth16_vk *vk, const groth16_proof *p, const fr *pub, const fr *z, fr *k,
                 g1_any *c_sum, g1_any *g1, g2_any *g2)
{
    const curve *cv = vk->cv;
    g1_any t;
    fr u;

    cv->g1_mul(g1, &p->a, z);
    *g2 = p->b;
    cv->g1_mul(&t, &p->c, z);
    cv->g1_add(c_sum, c_sum, &t);
    cv->fr_add(&k[0], &k[0], z);
    for (uint32_t i = 1; i < vk->n_ic; i++) {
        cv->fr_mul(&u, z, &pub[i - 1]);
        cv->fr_add(&k[i], &k[i], &u);
    }
}

cuzk_status groth16_verify_batch(dev_stream *s, const groth16_vk *vk, const groth16_proof *p,
                                 size_t n_proofs, const fr *pub, bool *valid)
{
    cuzk_status st = CUZK_OK;
    const curve *cv = vk->cv;
    mem *m = vk->m;
    size_t n_pub = vk->n_ic - 1, pairs;
    g1_any *g1 = NULL, c_sum, acc, alpha;
    g2_any *g2 = NULL;
    fr *k = NULL;

    if (n_proofs == 1) return groth16_verify(s, vk, p, pub, n_pub, valid);
    if (!size_add(&pairs, n_proofs, 3)) return FAIL(CUZK_EINVAL, "%zu proofs", n_proofs);
    memset(&c_sum, 0, sizeof c_sum);
    g1 = mem_new(m, pairs, sizeof *g1, &st);
    if (g1 == NULL) goto out;
    g2 = mem_new(m, pairs, sizeof *g2, &st);
    if (g2 == NULL) goto out;
    k = mem_new(m, vk->n_ic, sizeof *k, &st);
    if (k == NULL) goto out;

    span sp = span_open(SPAN_PAIRING);
    for (size_t j = 0; j < n_proofs && st == CUZK_OK; j++) {
        fr z;
        st = random_weight(cv, &z);
        if (st == CUZK_OK) fold(vk, &p[j], pub + j * n_pub, &z, k, &c_sum, &g1[j], &g2[j]);
    }
    if (st == CUZK_OK) st = ic_sum(s, vk, k, &acc);
    if (st == CUZK_OK) {
        cv->g1_neg(&g1[n_proofs], &acc);
        g2[n_proofs] = vk->gamma_g2;
        cv->g1_neg(&g1[n_proofs + 1], &c_sum);
        g2[n_proofs + 1] = vk->delta_g2;
        cv->g1_mul(&alpha, &vk->alpha_g1, &k[0]);
        cv->g1_neg(&g1[n_proofs + 2], &alpha);
        g2[n_proofs + 2] = vk->beta_g2;
        *valid = cv->pairing_check(g1, g2, pairs);
    }
    span_close(&sp);
out:
    mem_free(m, k);
    mem_free(m, g2);
    mem_free(m, g1);
    return st;
}
