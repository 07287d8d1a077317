/*
 * groth16/setup.c - secrets, QAP columns at tau, and the streaming of points to a file
 *
 * Source: spec/filecoin-formats.md section 8.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "groth16/setup.h"

#include <string.h>

#define LAGRANGE_CHUNK 4096

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

/* L_q(tau) = w^q (tau^n - 1) / (n (tau - w^q)) */
bool lagrange_at(fr *out, fr *tmp, const curve *cv, const fr *tau, unsigned gen, unsigned log_n,
                 uint64_t first, uint64_t step, size_t from, size_t to, const fr *scale)
{
    fr root, w, jump, z, k;
    bool inside = false;

    cv->fr_root(&root, gen, log_n);
    cv->fr_pow_var(&jump, &root, step);
    cv->fr_pow_var(&w, &root, first + step * from);
    cv->fr_pow_var(&z, tau, (uint64_t)1 << log_n);
    cv->fr_sub(&z, &z, &cv->fr_one);
    cv->fr_from_u64(&k, (uint64_t)1 << log_n);
    cv->fr_inv(&k, &k);
    cv->fr_mul(&k, &k, &z);
    cv->fr_mul(&k, &k, scale);
    cv->fr_mul(&k, &k, &w); /* k runs as scale * z / n * w^q */
    for (size_t i = from; i < to; i++) {
        cv->fr_sub(&out[i - from], tau, &w);
        inside = inside || cv->fr_is_zero(&out[i - from]);
        cv->fr_mul(&w, &w, &jump);
    }
    cv->fr_batch_inv(out, tmp, to - from);
    for (size_t i = from; i < to; i++) {
        cv->fr_mul(&out[i - from], &out[i - from], &k);
        cv->fr_mul(&k, &k, &jump);
    }
    return !inside;
}

typedef struct lagrange_ctx {
    const curve *cv;
    const fr *tau;
    fr *l, *tmp;
    unsigned gen, log_n;
    size_t n;
} lagrange_ctx;

static cuzk_status lagrange_chunk(void *ctx, size_t i, unsigned worker)
{
    lagrange_ctx *x = ctx;
    size_t from = i * LAGRANGE_CHUNK,
           to = from + LAGRANGE_CHUNK < x->n ? from + LAGRANGE_CHUNK : x->n;
    if (lagrange_at(x->l + from, x->tmp + (size_t)worker * LAGRANGE_CHUNK, x->cv, x->tau, x->gen,
                    x->log_n, 0, 1, from, to, &x->cv->fr_one))
        return CUZK_OK;
    return FAIL_DATA(MALFORMED, "tau", "tau is a point of the domain of size 2^%u", x->log_n);
}

typedef struct columns_ctx {
    const r1cs_system *sys;
    const fr *l; /* Lagrange values by row */
    fr *out[3];
} columns_ctx;

/** Column number of a template wire of an instance. */
static size_t column_of(const r1cs_system *sys, const r1cs_instance *inst, const r1cs_template *t,
                        uint32_t wire)
{
    r1cs_wire g;

    if (wire == 0) return 0;
    wire--;
    if (wire >= t->n_in + t->n_local)
        return (size_t)inst->pub_start + (wire - t->n_in - t->n_local);
    if (wire >= t->n_in) return (size_t)sys->n_inputs + inst->aux_start + (wire - t->n_in);
    g = sys->wires[inst->wires + wire];
    return (g & R1CS_AUX) != 0 ? (size_t)sys->n_inputs + (g & ~R1CS_AUX) : g;
}

static void add_row(const columns_ctx *x, fr *out, const r1cs_instance *inst,
                    const r1cs_template *t, const r1cs_matrix *m, uint32_t row)
{
    const curve *cv = x->sys->cv;
    const fr *l = &x->l[(size_t)inst->row_start + row];

    for (uint32_t k = m->row_start[row]; k < m->row_start[row + 1]; k++) {
        fr *o = &out[column_of(x->sys, inst, t, m->wire[k])], v;
        if (m->coeff[k] == 0) {
            cv->fr_add(o, o, l);
        } else if (m->coeff[k] == 1) {
            cv->fr_sub(o, o, l);
        } else {
            cv->fr_mul(&v, l, &x->sys->coeffs[m->coeff[k]]);
            cv->fr_add(o, o, &v);
        }
    }
}

/** One matrix, all instances. Each matrix has its own output, so the three run side by side. */
static cuzk_status columns_of(void *ctx, size_t which, unsigned worker)
{
    columns_ctx *x = ctx;
    const r1cs_system *sys = x->sys;
    (void)worker;

    for (size_t i = 0; i < sys->n_instances; i++) {
        const r1cs_instance *inst = &sys->instances[i];
        const r1cs_template *t = &sys->templates[inst->tmpl];
        const r1cs_matrix *m = which == 0 ? &t->a : which == 1 ? &t->b : &t->c;
        for (uint32_t row = 0; row < t->n_rows; row++) add_row(x, x->out[which], inst, t, m, row);
    }
    if (which == 0 && sys->input_rows)
        for (uint32_t i = 0; i < sys->n_inputs; i++)
            sys->cv->fr_add(&x->out[0][i], &x->out[0][i], &x->l[(size_t)sys->n_rows + i]);
    return CUZK_OK;
}

void qap_clear(qap *q)
{
    if (q->m == NULL) return;
    mem_free(q->m, q->u);
    mem_free(q->m, q->v);
    mem_free(q->m, q->w);
    memset(q, 0, sizeof *q);
}

cuzk_status qap_eval(qap *out, const r1cs_system *sys, const fr *tau, unsigned gen, unsigned log_n,
                     pool *p, mem *m)
{
    cuzk_status st = CUZK_OK;
    const curve *cv = sys->cv;
    size_t n = (size_t)1 << log_n, n_vars = (size_t)sys->n_inputs + sys->n_aux;
    qap q = {.cv = cv, .m = m, .n_vars = n_vars};
    fr *l = NULL, *tmp = NULL;
    span sp = span_open(SPAN_SETUP_QAP);

    for (size_t i = 0; i < sys->n_templates; i++)
        if (sys->templates[i].c.row_start == NULL) {
            st = FAIL(CUZK_EINVAL, "a setup needs matrix C, template %s has none",
                      sys->templates[i].name);
            goto out;
        }
    l = mem_new(m, n, sizeof *l, &st);
    if (l == NULL) goto out;
    tmp = mem_new(m, pool_threads(p), LAGRANGE_CHUNK * sizeof *tmp, &st);
    if (tmp == NULL) goto out;
    q.u = mem_new(m, n_vars, sizeof *q.u, &st);
    if (q.u == NULL) goto out;
    q.v = mem_new(m, n_vars, sizeof *q.v, &st);
    if (q.v == NULL) goto out;
    q.w = mem_new(m, n_vars, sizeof *q.w, &st);
    if (q.w == NULL) goto out;
    cv->fr_pow_var(&q.z, tau, n);
    cv->fr_sub(&q.z, &q.z, &cv->fr_one);

    lagrange_ctx lc = {cv, tau, l, tmp, gen, log_n, n};
    TRY_OUT(pool_run(p, NULL, (n + LAGRANGE_CHUNK - 1) / LAGRANGE_CHUNK, lagrange_chunk, &lc));
    columns_ctx cc = {sys, l, {q.u, q.v, q.w}};
    TRY_OUT(pool_run(p, NULL, 3, columns_of, &cc));
    *out = q;
    memset(&q, 0, sizeof q);
out:
    mem_free(m, tmp);
    mem_free(m, l);
    qap_clear(&q);
    span_close(&sp);
    return st;
}

void qap_combine(fr *out, const qap *q, const groth16_trapdoors *t, const fr *k, size_t from,
                 size_t to)
{
    const curve *cv = q->cv;
    span sp = span_open(SPAN_SETUP_QAP);
    for (size_t i = from; i < to; i++) {
        fr x, y;
        cv->fr_mul(&x, &t->beta, &q->u[i]);
        cv->fr_mul(&y, &t->alpha, &q->v[i]);
        cv->fr_add(&x, &x, &y);
        cv->fr_add(&x, &x, &q->w[i]);
        cv->fr_mul(&out[i - from], &x, k);
    }
    span_close(&sp);
}

cuzk_status emit_points(emitter *e, bool g2, const fr *k, size_t n, bool infinity_ok,
                        const char *list)
{
    size_t size = e->cv->point_size(g2, e->enc);

    for (size_t from = 0; from < n; from += EMIT_CHUNK) {
        TRY(cancel_check(e->o->cancel));
        size_t c = n - from < EMIT_CHUNK ? n - from : EMIT_CHUNK, inf = SIZE_MAX;
        span sp = span_open(SPAN_SETUP_POINTS);
        cuzk_status st = g2 ? dev_fixed_base_g2(e->s, e->buf, e->enc, e->cv->id, &e->cv->g2_gen,
                                                k + from, c, &inf)
                            : dev_fixed_base_g1(e->s, e->buf, e->enc, e->cv->id, &e->cv->g1_gen,
                                                k + from, c, &inf);
        span_close(&sp);
        TRY(st);
        if (inf != SIZE_MAX && !infinity_ok)
            return FAIL_DATA(
                MALFORMED, list,
                "setup: %s[%zu] is the point at infinity (an unconstrained variable, or secrets "
                "that do not suit this circuit)",
                list, from + inf);
        sp = span_open(SPAN_WRITE);
        st = file_out_write(e->f, e->buf, c * size);
        span_close(&sp);
        TRY(st);
        e->done += c;
        if (e->o->progress != NULL) e->o->progress(e->o->ctx, "points", e->done, e->total);
    }
    return CUZK_OK;
}

cuzk_status emit_u32le(emitter *e, uint32_t v)
{
    uint8_t b[4];
    store_u32le(b, v);
    return file_out_write(e->f, b, 4);
}

cuzk_status emit_u32be(emitter *e, uint32_t v)
{
    uint8_t b[4];
    store_u32be(b, v);
    return file_out_write(e->f, b, 4);
}

cuzk_status setup_vk(groth16_vk **out, emitter *e, const qap *q, const groth16_trapdoors *t,
                     uint32_t n_inputs, mem *m)
{
    cuzk_status st = CUZK_OK;
    const curve *cv = q->cv;
    groth16_vk *vk = NULL;
    size_t inf;
    fr gamma_inv, *k = NULL;

    TRY(vk_new(&vk, cv, n_inputs, m));
    k = mem_new(m, n_inputs, sizeof *k, &st);
    if (k == NULL) goto out;
    cv->fr_inv(&gamma_inv, &t->gamma);
    qap_combine(k, q, t, &gamma_inv, 0, n_inputs);
    TRY_OUT(dev_fixed_base_g1(e->s, vk->ic, POINT_LEM, cv->id, &cv->g1_gen, k, n_inputs, &inf));
    cv->g1_mul(&vk->alpha_g1, &cv->g1_gen, &t->alpha);
    cv->g1_mul(&vk->beta_g1, &cv->g1_gen, &t->beta);
    cv->g2_mul(&vk->beta_g2, &cv->g2_gen, &t->beta);
    cv->g2_mul(&vk->gamma_g2, &cv->g2_gen, &t->gamma);
    cv->g1_mul(&vk->delta_g1, &cv->g1_gen, &t->delta);
    cv->g2_mul(&vk->delta_g2, &cv->g2_gen, &t->delta);
    *out = vk;
    vk = NULL;
out:
    mem_free(m, k);
    groth16_vk_free(vk);
    return st;
}
