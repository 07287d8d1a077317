/*
 * groth16/simulate.c - proofs from a key's secrets: A = a G, B = b H, C = (a b - alpha beta - gamma sum x_i ic_i) / delta G
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "groth16/simulate.h"

#include "groth16/internal.h"

static cuzk_status random_fr(const curve *cv, fr *r)
{
    return cv->fr_random(r) ? CUZK_OK : FAIL(CUZK_EIO, "the system's random generator failed");
}

static cuzk_status make_key(groth16_sim *sim, dev_stream *s)
{
    groth16_vk *vk = sim->vk;
    const curve *cv = vk->cv;
    fr alpha, beta, delta;

    TRY(random_fr(cv, &alpha));
    TRY(random_fr(cv, &beta));
    TRY(random_fr(cv, &sim->gamma));
    TRY(random_fr(cv, &delta));
    for (uint32_t i = 0; i < vk->n_ic; i++) TRY(random_fr(cv, &sim->ic[i]));
    cv->fr_mul(&sim->alpha_beta, &alpha, &beta);
    cv->fr_inv(&sim->delta_inv, &delta);
    cv->g1_mul(&vk->alpha_g1, &cv->g1_gen, &alpha);
    cv->g1_mul(&vk->beta_g1, &cv->g1_gen, &beta);
    cv->g1_mul(&vk->delta_g1, &cv->g1_gen, &delta);
    cv->g2_mul(&vk->beta_g2, &cv->g2_gen, &beta);
    cv->g2_mul(&vk->gamma_g2, &cv->g2_gen, &sim->gamma);
    cv->g2_mul(&vk->delta_g2, &cv->g2_gen, &delta);
    TRY(dev_fixed_base_g1(s, vk->ic, POINT_LEM, cv->id, &cv->g1_gen, sim->ic, vk->n_ic, NULL));
    return CUZK_OK;
}

cuzk_status groth16_sim_open(groth16_sim **out, dev_stream *s, const curve *cv, uint32_t n_ic,
                             mem *m)
{
    cuzk_status st;
    groth16_sim *sim;

    if (n_ic == 0) return FAIL(CUZK_EINVAL, "a key has a point for ONE at least");
    sim = mem_new(m, 1, sizeof *sim, &st);
    if (sim == NULL) return st;
    sim->m = m;
    sim->ic = mem_new(m, n_ic, sizeof *sim->ic, &st);
    if (sim->ic != NULL) st = vk_new(&sim->vk, cv, n_ic, m);
    if (sim->ic != NULL && st == CUZK_OK) st = make_key(sim, s);
    if (st != CUZK_OK) {
        groth16_sim_close(sim);
        return st;
    }
    *out = sim;
    return CUZK_OK;
}

void groth16_sim_close(groth16_sim *sim)
{
    if (sim == NULL) return;
    mem *m = sim->m;
    groth16_vk_free(sim->vk);
    mem_free(m, sim->ic);
    mem_free(m, sim);
}

cuzk_status groth16_sim_prove(groth16_proof *out, const groth16_sim *sim, const fr *pub)
{
    const curve *cv = sim->vk->cv;
    fr a, b, c, sum;

    TRY(random_fr(cv, &a));
    TRY(random_fr(cv, &b));
    cv->fr_dot(&sum, sim->ic + 1, pub, sim->vk->n_ic - 1);
    cv->fr_add(&sum, &sum, &sim->ic[0]);
    cv->fr_mul(&sum, &sum, &sim->gamma);
    cv->fr_mul(&c, &a, &b);
    cv->fr_sub(&c, &c, &sim->alpha_beta);
    cv->fr_sub(&c, &c, &sum);
    cv->fr_mul(&c, &c, &sim->delta_inv);
    cv->g1_mul(&out->a, &cv->g1_gen, &a);
    cv->g2_mul(&out->b, &cv->g2_gen, &b);
    cv->g1_mul(&out->c, &cv->g1_gen, &c);
    return CUZK_OK;
}
