/*
 * groth16/setup_zkey.c - a snarkjs key from given secrets (gamma = 1), for tests and demonstrations
 *
 * Its ceremony record says what it is: csHash zero, no contribution.
 *
 * Source: spec/circom-formats.md section 4.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "groth16/setup.h"
#include "r1cs/circom.h"

#include <string.h>

#define ZKEY_SECTIONS 10

typedef struct zkey_out {
    emitter e;
    file_out *f;
    const r1cs_system *sys;
    const groth16_vk *vk;
    unsigned log_n;
} zkey_out;

static cuzk_status put(zkey_out *z, const void *p, size_t n)
{
    return file_out_write(z->f, p, n);
}

static cuzk_status put_u32(zkey_out *z, uint32_t v)
{
    uint8_t b[4];
    store_u32le(b, v);
    return put(z, b, sizeof b);
}

static cuzk_status section(zkey_out *z, uint32_t id, uint64_t size)
{
    uint8_t h[12];
    store_u32le(h, id);
    store_u64le(h + 4, size);
    return put(z, h, sizeof h);
}

static cuzk_status write_header(zkey_out *z)
{
    const curve *cv = z->e.cv;
    const groth16_vk *vk = z->vk;

    TRY(section(z, 1, 4));
    TRY(put_u32(z, 1));
    TRY(section(z, 2, 4 + cv->fp_size + 4 + 32 + 12 + 3 * cv->g1_size + 3 * cv->g2_size));
    TRY(put_u32(z, (uint32_t)cv->fp_size));
    TRY(put(z, cv->p_le, cv->fp_size));
    TRY(put_u32(z, 32));
    TRY(put(z, cv->r_le, 32));
    TRY(put_u32(z, (uint32_t)z->e.n_vars));
    TRY(put_u32(z, z->sys->n_inputs - 1));
    TRY(put_u32(z, (uint32_t)1 << z->log_n));
    TRY(put(z, &vk->alpha_g1, cv->g1_size));
    TRY(put(z, &vk->beta_g1, cv->g1_size));
    TRY(put(z, &vk->beta_g2, cv->g2_size));
    TRY(put(z, &vk->gamma_g2, cv->g2_size));
    TRY(put(z, &vk->delta_g1, cv->g1_size));
    TRY(put(z, &vk->delta_g2, cv->g2_size));
    TRY(section(z, 3, (uint64_t)vk->n_ic * cv->g1_size));
    return put(z, vk->ic, (size_t)vk->n_ic * cv->g1_size);
}

/** A coefficient as the file holds it: times R^2, plain limbs. r2 is R in Montgomery form, so one product does it. */
static cuzk_status write_entry(zkey_out *z, uint32_t matrix, uint32_t row, uint32_t wire,
                               const fr *value, const fr *r2)
{
    uint8_t b[44];
    fr v;

    z->e.cv->fr_mul(&v, value, r2);
    store_u32le(b, matrix);
    store_u32le(b + 4, row);
    store_u32le(b + 8, wire);
    for (unsigned i = 0; i < 4; i++) store_u64le(b + 12 + (size_t)8 * i, v.l[i]);
    return put(z, b, sizeof b);
}

/** Wire number of snarkjs: inputs, then aux. The system is one block without passed-in wires. */
static uint32_t wire_number(const r1cs_system *sys, const r1cs_template *t, uint32_t wire)
{
    if (wire == 0) return 0;
    if (wire > t->n_local) return wire - t->n_local; /* own public inputs: 1.. */
    return sys->n_inputs + wire - 1;
}

static cuzk_status write_row(zkey_out *z, uint32_t matrix, uint32_t row, const fr *r2)
{
    const r1cs_system *sys = z->sys;
    const r1cs_template *t = &sys->templates[sys->instances[0].tmpl];
    const r1cs_matrix *m = matrix == 0 ? &t->a : &t->b;

    for (uint32_t k = m->row_start[row]; k < m->row_start[row + 1]; k++)
        TRY(write_entry(z, matrix, row, wire_number(sys, t, m->wire[k]), &sys->coeffs[m->coeff[k]],
                        r2));
    return CUZK_OK;
}

static cuzk_status write_coeffs(zkey_out *z)
{
    const r1cs_system *sys = z->sys;
    const r1cs_template *t = &sys->templates[sys->instances[0].tmpl];
    uint64_t n = (uint64_t)t->a.row_start[t->n_rows] + t->b.row_start[t->n_rows] + sys->n_inputs;
    fr r2;
    scalar r;

    if (n > UINT32_MAX)
        return FAIL_DATA(LIMIT, "coefficients", "%llu coefficients, limit 4294967295",
                         (unsigned long long)n);
    for (unsigned i = 0; i < 4; i++)
        store_u64le(r.b + (size_t)8 * i, z->e.cv->fr_one.l[i]); /* R mod r, plain */
    if (!z->e.cv->fr_from_scalar(&r2, &r)) return FAIL(CUZK_EBUG, "R mod r is not canonical");
    TRY(section(z, 4, 4 + n * 44));
    TRY(put_u32(z, (uint32_t)n));
    for (uint32_t row = 0; row < t->n_rows; row++) {
        TRY(write_row(z, 0, row, &r2));
        TRY(write_row(z, 1, row, &r2));
    }
    for (uint32_t i = 0; i < sys->n_inputs; i++)
        TRY(write_entry(z, 0, sys->n_rows + i, i, &z->e.cv->fr_one, &r2));
    return CUZK_OK;
}

/** The points of a chunk, to the file. */
static cuzk_status put_points(zkey_out *z, bool g2, const fr *k, size_t n, bool infinity_ok,
                              const char *list, size_t at)
{
    TRY(emit_points(&z->e, g2, k, n, infinity_ok, list, at));
    span sp = span_open(SPAN_WRITE);
    cuzk_status st = put(z, z->e.buf, n * (g2 ? z->e.cv->g2_size : z->e.cv->g1_size));
    span_close(&sp);
    return st;
}

/** One section over the variables from `from` on: the column in *k, or with `scale` the columns combined. */
static cuzk_status write_list(zkey_out *z, uint32_t id, bool g2, const char *list, fr *const *k,
                              const fr *scale)
{
    emitter *e = &z->e;
    size_t first = scale != NULL ? e->n_inputs : 0;

    TRY(section(z, id, (uint64_t)(e->n_vars - first) * (g2 ? e->cv->g2_size : e->cv->g1_size)));
    for (size_t from = first; from < e->n_vars; from += e->cap) {
        size_t n = e->n_vars - from < e->cap ? e->n_vars - from : e->cap;
        TRY(emit_columns(e, from, from + n));
        if (scale != NULL) TRY(emit_combine(e, scale, n));
        TRY(put_points(z, g2, *k, n, true, list, from));
    }
    return CUZK_OK;
}

static cuzk_status write_queries(zkey_out *z)
{
    emitter *e = &z->e;
    fr delta_inv;

    TRY(write_list(z, 5, false, "A", &e->u, NULL));
    TRY(write_list(z, 6, false, "B1", &e->v, NULL));
    TRY(write_list(z, 7, true, "B2", &e->v, NULL));
    e->cv->fr_inv(&delta_inv, &e->t->delta);
    cuzk_status st = write_list(z, 8, false, "C", &e->k, &delta_inv);
    explicit_bzero(&delta_inv, sizeof delta_inv);
    return st;
}

/** H: the odd Lagrange polynomials of the domain of 2n points, over delta. */
static cuzk_status write_h(zkey_out *z)
{
    emitter *e = &z->e;
    const curve *cv = e->cv;
    size_t n = (size_t)1 << z->log_n;
    lagrange x = {.cv = cv,
                  .tau = e->t->tau,
                  .gen = 5,
                  .log_n = z->log_n + 1,
                  .first = 1,
                  .step = 2,
                  .p = e->p,
                  .c = e->o->cancel};
    cuzk_status st;

    x.tmp = mem_new(e->m, (size_t)pool_threads(e->p) * LAGRANGE_CHUNK, sizeof *x.tmp, &st);
    if (x.tmp == NULL) return st;
    cv->fr_inv(&x.scale, &e->t->delta);
    st = section(z, 9, (uint64_t)n * cv->g1_size);
    for (size_t from = 0; from < n && st == CUZK_OK; from += e->cap) {
        size_t c = n - from < e->cap ? n - from : e->cap;
        span sp = span_open(SPAN_SETUP_QAP);
        st = lagrange_range(&x, e->k, from, from + c);
        span_close(&sp);
        if (st == CUZK_OK) st = put_points(z, false, e->k, c, false, "H", from);
    }
    explicit_bzero(&x.tau, sizeof x.tau);
    explicit_bzero(&x.scale, sizeof x.scale);
    /* running products of tau - w^q: the first two give tau */
    explicit_bzero(x.tmp, (size_t)pool_threads(e->p) * LAGRANGE_CHUNK * sizeof *x.tmp);
    mem_free(e->m, x.tmp);
    return st;
}

static cuzk_status write_record(zkey_out *z)
{
    static const uint8_t none[68]; /* csHash and number of contributions */
    TRY(section(z, 10, sizeof none));
    return put(z, none, sizeof none);
}

static cuzk_status write_file(zkey_out *z)
{
    TRY(put(z, "zkey", 4));
    TRY(put_u32(z, 1));
    TRY(put_u32(z, ZKEY_SECTIONS));
    TRY(write_header(z));
    span sp = span_open(SPAN_WRITE);
    cuzk_status st = write_coeffs(z);
    span_close(&sp);
    TRY(st);
    TRY(write_queries(z));
    TRY(write_h(z));
    return write_record(z);
}

static cuzk_status check_system(const r1cs_system *sys, unsigned log_n)
{
    unsigned limit =
        sys->cv->two_adicity - 1 < DEV_MAX_LOG_N ? sys->cv->two_adicity - 1 : DEV_MAX_LOG_N;
    if (sys->n_instances != 1 || !sys->input_rows ||
        sys->templates[sys->instances[0].tmpl].n_in != 0)
        return FAIL(CUZK_EINVAL, "a zkey is made of a circuit read from a .r1cs file");
    if (log_n > limit)
        return FAIL_DATA(LIMIT, "circuit", "domain 2^%u, limit 2^%u on %s", log_n, limit,
                         sys->cv->json_name);
    return CUZK_OK;
}

cuzk_status groth16_setup_zkey(dev_stream *s, const r1cs_system *sys, const groth16_trapdoors *t,
                               const char *zkey_path, const groth16_setup_opts *o, pool *p, mem *m)
{
    cuzk_status st = CUZK_OK;
    const curve *cv = sys->cv;
    groth16_trapdoors t1 = *t;
    groth16_vk *vk = NULL;
    uint64_t n_vars = (uint64_t)sys->n_inputs + sys->n_aux;
    zkey_out z = {.e = {.s = s, .enc = POINT_LEM, .o = o, .t = &t1, .p = p, .m = m},
                  .sys = sys,
                  .log_n = r1cs_log_domain(sys, 1)};

    t1.gamma = cv->fr_one;
    TRY_OUT(check_system(sys, z.log_n));
    z.e.total = 4 * n_vars - sys->n_inputs + ((uint64_t)1 << z.log_n);
    TRY_OUT(emitter_open(&z.e, sys, 5, z.log_n, z.e.total - n_vars, n_vars));
    TRY_OUT(setup_vk(&vk, &z.e));
    z.vk = vk;
    TRY_OUT(file_out_open(&z.f, zkey_path));
    TRY_OUT(write_file(&z));
    span sp = span_open(SPAN_WRITE);
    st = file_out_commit(z.f);
    z.f = NULL;
    span_close(&sp);
out:
    explicit_bzero(&t1, sizeof t1);
    file_out_abort(z.f);
    groth16_vk_free(vk);
    emitter_close(&z.e);
    return st;
}
