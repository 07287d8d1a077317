/*
 * groth16/setup.c - secrets, columns combined with them, and points made of them in chunks
 *
 * Source: spec/filecoin-formats.md section 8.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "groth16/setup.h"

#include <string.h>

#define COMBINE_TASK 4096

cuzk_status groth16_trapdoors_random(groth16_trapdoors *out, const curve *cv)
{
    fr *const all[] = {&out->tau, &out->alpha, &out->beta, &out->gamma, &out->delta};
    for (size_t i = 0; i < 5; i++) {
        do {
            if (!cv->fr_random(all[i]))
                return FAIL(CUZK_EIO, "the system's random generator failed");
        } while (cv->fr_is_zero(all[i]));
    }
    return CUZK_OK;
}

/* ---- emitter ---- */

static void wipe(mem *m, fr *p, size_t n)
{
    if (p != NULL) explicit_bzero(p, n * sizeof *p);
    mem_free(m, p);
}

void emitter_close(emitter *e)
{
    qap_close(e->q);
    dev_fixed_free(e->g1);
    dev_fixed_free(e->g2);
    wipe(e->m, e->u, e->cap);
    wipe(e->m, e->v, e->cap);
    wipe(e->m, e->w, e->cap);
    wipe(e->m, e->k, e->cap);
    mem_free(e->m, e->buf);
}

cuzk_status emitter_open(emitter *e, const r1cs_system *sys, unsigned gen, unsigned log_n,
                         uint64_t g1, uint64_t g2)
{
    cuzk_status st = CUZK_OK;
    size_t most = (size_t)1 << log_n;
    fr **const bufs[] = {&e->u, &e->v, &e->w, &e->k};
    span sp = span_open(SPAN_SETUP_QAP);

    e->cv = sys->cv;
    e->n_inputs = sys->n_inputs;
    e->n_vars = (size_t)sys->n_inputs + sys->n_aux;
    if (e->n_vars > most) most = e->n_vars;
    e->cap = most < EMIT_CHUNK ? most : EMIT_CHUNK;
    for (size_t i = 0; i < sizeof bufs / sizeof bufs[0]; i++) {
        *bufs[i] = mem_new(e->m, e->cap, sizeof(fr), &st);
        if (*bufs[i] == NULL) goto out;
    }
    e->buf = mem_new(e->m, e->cap, e->cv->point_size(true, e->enc), &st);
    if (e->buf == NULL) goto out;
    TRY_OUT(qap_open(&e->q, sys, &e->t->tau, gen, log_n, e->p, e->o->cancel, e->m));
    span_close(&sp);
    sp = span_open(SPAN_SETUP_POINTS);
    TRY_OUT(dev_fixed_new(&e->g1, e->s, e->cv->id, false, &e->cv->g1_gen, g1));
    st = dev_fixed_new(&e->g2, e->s, e->cv->id, true, &e->cv->g2_gen, g2);
out:
    span_close(&sp);
    return st;
}

cuzk_status emit_columns(emitter *e, size_t from, size_t to)
{
    span sp = span_open(SPAN_SETUP_QAP);
    cuzk_status st = qap_range(e->q, e->u, e->v, e->w, from, to);
    span_close(&sp);
    return st;
}

typedef struct combine_run {
    const emitter *e;
    const fr *scale;
    size_t n;
} combine_run;

static cuzk_status combine_some(void *ctx, size_t task, unsigned worker)
{
    const combine_run *r = ctx;
    const emitter *e = r->e;
    const curve *cv = e->cv;
    size_t from = task * COMBINE_TASK, to = from + COMBINE_TASK < r->n ? from + COMBINE_TASK : r->n;
    (void)worker;

    for (size_t i = from; i < to; i++) {
        fr x, y;
        cv->fr_mul(&x, &e->t->beta, &e->u[i]);
        cv->fr_mul(&y, &e->t->alpha, &e->v[i]);
        cv->fr_add(&x, &x, &y);
        cv->fr_add(&x, &x, &e->w[i]);
        cv->fr_mul(&e->k[i], &x, r->scale);
    }
    return CUZK_OK;
}

cuzk_status emit_combine(emitter *e, const fr *scale, size_t n)
{
    combine_run r = {e, scale, n};
    span sp = span_open(SPAN_SETUP_QAP);
    cuzk_status st =
        pool_run(e->p, e->o->cancel, (n + COMBINE_TASK - 1) / COMBINE_TASK, combine_some, &r);
    span_close(&sp);
    return st;
}

/* What follows on n multiples of entries [at, at + n) of `list`, the first infinite one at inf. */
static cuzk_status emitted(emitter *e, size_t n, bool infinity_ok, const char *list, uint64_t at,
                           size_t inf)
{
    if (inf != SIZE_MAX && !infinity_ok)
        return FAIL_DATA(
            MALFORMED, list,
            "setup: %s[%llu] is the point at infinity (an unconstrained variable, or secrets "
            "that do not suit this circuit)",
            list, (unsigned long long)(at + inf));
    e->done += n;
    if (e->o->progress != NULL) e->o->progress(e->o->ctx, "points", e->done, e->total);
    return CUZK_OK;
}

cuzk_status emit_points(emitter *e, bool g2, const fr *k, size_t n, bool infinity_ok,
                        const char *list, uint64_t at)
{
    size_t inf = SIZE_MAX;

    TRY(cancel_check(e->o->cancel));
    span sp = span_open(SPAN_SETUP_POINTS);
    cuzk_status st = dev_fixed_mul(e->s, e->buf, e->enc, g2 ? e->g2 : e->g1, k, n, &inf);
    span_close(&sp);
    TRY(st);
    return emitted(e, n, infinity_ok, list, at, inf);
}

cuzk_status emit_keep(emitter *e, const dev_points *to, const fr *k, size_t n, const char *list,
                      uint64_t at)
{
    size_t inf = SIZE_MAX;

    TRY(cancel_check(e->o->cancel));
    span sp = span_open(SPAN_SETUP_POINTS);
    cuzk_status st = dev_fixed_keep(e->s, to, (size_t)at, to->g2 ? e->g2 : e->g1, k, n, &inf);
    span_close(&sp);
    TRY(st);
    return emitted(e, n, false, list, at, inf);
}

static cuzk_status make_ic(groth16_vk *vk, emitter *e)
{
    size_t size = e->cv->g1_size;
    fr gamma_inv;
    cuzk_status st = CUZK_OK;

    e->cv->fr_inv(&gamma_inv, &e->t->gamma);
    for (size_t from = 0; from < e->n_inputs; from += e->cap) {
        size_t n = e->n_inputs - from < e->cap ? e->n_inputs - from : e->cap;
        TRY_OUT(emit_columns(e, from, from + n));
        TRY_OUT(emit_combine(e, &gamma_inv, n));
        TRY_OUT(dev_fixed_mul(e->s, vk->ic + from * size, POINT_LEM, e->g1, e->k, n, NULL));
    }
out:
    explicit_bzero(&gamma_inv, sizeof gamma_inv);
    return st;
}

cuzk_status setup_vk(groth16_vk **out, emitter *e)
{
    const curve *cv = e->cv;
    const groth16_trapdoors *t = e->t;
    groth16_vk *vk = NULL;

    TRY(vk_new(&vk, cv, (uint32_t)e->n_inputs, e->m));
    cuzk_status st = make_ic(vk, e);
    if (st != CUZK_OK) {
        groth16_vk_free(vk);
        return st;
    }
    cv->g1_mul(&vk->alpha_g1, &cv->g1_gen, &t->alpha);
    cv->g1_mul(&vk->beta_g1, &cv->g1_gen, &t->beta);
    cv->g2_mul(&vk->beta_g2, &cv->g2_gen, &t->beta);
    cv->g2_mul(&vk->gamma_g2, &cv->g2_gen, &t->gamma);
    cv->g1_mul(&vk->delta_g1, &cv->g1_gen, &t->delta);
    cv->g2_mul(&vk->delta_g2, &cv->g2_gen, &t->delta);
    *out = vk;
    return CUZK_OK;
}
