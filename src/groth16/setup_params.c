/*
 * groth16/setup_params.c - a bellperson key from given secrets: .params and .vk
 *
 * With the standard generators; byte for byte what bellperson's generate_parameters gives for the same secrets.
 *
 * Source: spec/filecoin-formats.md 6.1, 6.2, 8.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "groth16/setup.h"

#include <string.h>

/** Writes h: g1 * (tau^i (tau^n - 1) / delta), i < n - 1. k: EMIT_CHUNK elements. */
static cuzk_status write_h(emitter *e, const qap *q, const groth16_trapdoors *t, fr *k, size_t n)
{
    const curve *cv = q->cv;
    fr x;

    TRY(emit_u32be(e, (uint32_t)(n - 1)));
    cv->fr_inv(&x, &t->delta);
    cv->fr_mul(&x, &x, &q->z);
    for (size_t from = 0; from < n - 1; from += EMIT_CHUNK) {
        size_t c = n - 1 - from < EMIT_CHUNK ? n - 1 - from : EMIT_CHUNK;
        span sp = span_open(SPAN_SETUP_QAP);
        for (size_t i = 0; i < c; i++) {
            k[i] = x;
            cv->fr_mul(&x, &x, &t->tau);
        }
        span_close(&sp);
        TRY(emit_points(e, false, k, c, false, "h"));
    }
    return CUZK_OK;
}

static cuzk_status write_l(emitter *e, const qap *q, const groth16_trapdoors *t, fr *k,
                           uint32_t n_inputs)
{
    fr delta_inv;

    TRY(emit_u32be(e, (uint32_t)(q->n_vars - n_inputs)));
    q->cv->fr_inv(&delta_inv, &t->delta);
    for (size_t from = n_inputs; from < q->n_vars; from += EMIT_CHUNK) {
        size_t to = from + EMIT_CHUNK < q->n_vars ? from + EMIT_CHUNK : q->n_vars;
        qap_combine(k, q, t, &delta_inv, from, to);
        TRY(emit_points(e, false, k, to - from, false, "l"));
    }
    return CUZK_OK;
}

typedef struct query {
    const char *name;
    const fr *column;
    const uint64_t *in_select, *aux_select; /* NULL: all */
    uint32_t n;
    bool g2;
} query;

static bool selected(const uint64_t *select, size_t i)
{
    return select == NULL || (select[i / 64] >> (i % 64) & 1) != 0;
}

/** A query without the variables that do not occur: [inputs][aux]. */
static cuzk_status write_query(emitter *e, const r1cs_system *sys, const query *y, fr *k)
{
    size_t fill = 0, n_vars = (size_t)sys->n_inputs + sys->n_aux;

    TRY(emit_u32be(e, y->n));
    for (size_t i = 0; i < n_vars; i++) {
        bool is_input = i < sys->n_inputs;
        if (is_input ? selected(y->in_select, i) : selected(y->aux_select, i - sys->n_inputs))
            k[fill++] = y->column[i];
        if (fill == EMIT_CHUNK || i + 1 == n_vars) {
            TRY(emit_points(e, y->g2, k, fill, false, y->name));
            fill = 0;
        }
    }
    return CUZK_OK;
}

static cuzk_status write_params(emitter *e, const r1cs_system *sys, const qap *q,
                                const groth16_trapdoors *t, const bytes_out *vk, fr *k, size_t n)
{
    const query queries[] = {
        {"a", q->u, NULL, sys->a_aux, sys->n_inputs + sys->n_a_aux, false},
        {"b_g1", q->v, sys->b_input, sys->b_aux, sys->n_b_input + sys->n_b_aux, false},
        {"b_g2", q->v, sys->b_input, sys->b_aux, sys->n_b_input + sys->n_b_aux, true},
    };

    TRY(file_out_write(e->f, vk->data, vk->size));
    TRY(write_h(e, q, t, k, n));
    TRY(write_l(e, q, t, k, sys->n_inputs));
    for (size_t i = 0; i < 3; i++) TRY(write_query(e, sys, &queries[i], k));
    return CUZK_OK;
}

cuzk_status groth16_setup_params(dev_stream *s, const r1cs_system *sys, const groth16_trapdoors *t,
                                 const char *params_path, const char *vk_path,
                                 const groth16_setup_opts *o, pool *p, mem *m)
{
    cuzk_status st = CUZK_OK;
    const curve *cv = sys->cv;
    unsigned log_n = r1cs_log_domain(sys, 0);
    emitter e = {.s = s, .cv = cv, .enc = POINT_ZCASH, .o = o};
    qap q = {0};
    groth16_vk *vk = NULL;
    bytes_out vk_bytes;
    fr *k = NULL;

    bytes_out_init(&vk_bytes, m);
    if (log_n > DEV_MAX_LOG_N)
        return FAIL_DATA(LIMIT, "circuit", "domain 2^%u, limit 2^%u", log_n, DEV_MAX_LOG_N);
    k = mem_new(m, EMIT_CHUNK, sizeof *k, &st);
    if (k == NULL) goto out;
    e.buf = mem_new(m, EMIT_CHUNK, cv->point_size(true, POINT_ZCASH), &st);
    if (e.buf == NULL) goto out;
    TRY_OUT(qap_eval(&q, sys, &t->tau, 7, log_n, p, m));
    TRY_OUT(setup_vk(&vk, &e, &q, t, sys->n_inputs, m));
    groth16_vk_write(&vk_bytes, vk);
    TRY_OUT(bytes_out_status(&vk_bytes));
    e.total = ((uint64_t)1 << log_n) - 1 + sys->n_aux + sys->n_inputs + sys->n_a_aux +
              2 * ((uint64_t)sys->n_b_input + sys->n_b_aux);
    TRY_OUT(file_out_open(&e.f, params_path));
    TRY_OUT(write_params(&e, sys, &q, t, &vk_bytes, k, (size_t)1 << log_n));
    span sp = span_open(SPAN_WRITE);
    st = file_out_commit(e.f);
    e.f = NULL;
    if (st == CUZK_OK) st = file_write_whole(vk_path, vk_bytes.data, vk_bytes.size);
    span_close(&sp);
out:
    file_out_abort(e.f);
    bytes_out_clear(&vk_bytes);
    groth16_vk_free(vk);
    qap_clear(&q);
    mem_free(m, e.buf);
    mem_free(m, k);
    return st;
}
