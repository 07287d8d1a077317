/*
 * groth16/prove.c - the prover, in two phases
 *
 * start: a, b, c; the quotient; the sums over the key - all that needs the device. finish: r, s and a dozen single point
 * operations on the host. Knows no circuit and no device. Does not verify. The sums: prove_sums.c; on several devices: prove_shares.c.
 *
 * Both forms of key give C = L + H + s A + r B1 + (r s delta + s alpha + r beta), A and B1 being the plain sums; that is L + H + r (B1 + beta) and s
 * times the proof's own A, alpha + A + r delta:
 *   bellperson: H = sum h_i h[i], h the coefficients of (a b - c) / Z
 *   snarkjs:    H = sum over the odd points of (a b - c) H[i]; no division (circom-formats.md section 6)
 *   bellperson with its derived points: L + H = sum over all variables of w_j l'_j + sum over the coset of (a b)[k] h'_k;
 *               no c and no division (derive.c)
 *
 * Source: spec/filecoin-circuits.md 1.1 to 1.3; spec/circom-formats.md 6.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "groth16/prove_int.h"

#include <string.h>

#define SNARKJS_GENERATOR 5
/* Up to here all sums are asked for together; beyond, the scalars of H are given back before the others begin. */
#define TOGETHER_LOG_N 16

void groth16_job_free(groth16_job *job)
{
    if (job == NULL) return;
    mem *m = job->m;
    shares_close(job->shares);
    if (job->values_id != 0) dev_forget(job->dev, job->values_id);
    dev_buf_free(job->a);
    dev_buf_free(job->b);
    dev_buf_free(job->c);
    mem_free(m, job->tmpl);
    explicit_bzero(job, sizeof *job);
    mem_free(m, job);
}

/** a, b and, without derived points, c. */
static size_t arrays_size(const groth16_pk *pk)
{
    return (pk->derived != NULL ? 2 : 3) * ((size_t)1 << pk->log_n) * sizeof(fr);
}

size_t groth16_prove_size(const groth16_pk *pk, const r1cs_system *sys)
{
    const r1cs_system *shape = pk->form == GROTH16_SNARKJS ? pk->coeffs : sys;
    return sizeof(groth16_job) + shape->n_templates * sizeof(dev_template) + arrays_size(pk);
}

size_t groth16_prove_host_size(const groth16_pk *pk, const r1cs_system *sys)
{
    return groth16_prove_size(pk, sys) - arrays_size(pk);
}

static unsigned form_generator(groth16_form form)
{
    return form == GROTH16_BELLPERSON ? BELLPERSON_GENERATOR : SNARKJS_GENERATOR;
}

cuzk_status groth16_domain(ntt_domain **out, device *d, groth16_form form, const curve *cv,
                           unsigned log_n)
{
    fr shift;

    if (form == GROTH16_BELLPERSON)
        cv->fr_from_u64(&shift, BELLPERSON_GENERATOR);
    else
        cv->fr_root(&shift, SNARKJS_GENERATOR, log_n + 1);
    return ntt_domain_new(out, d, cv->id, form_generator(form), log_n, &shift);
}

static cuzk_status sample(const curve *cv, const cuzk_fixed_rs *fixed, fr *r, fr *s)
{
    if (fixed == NULL) {
        if (!cv->fr_random(r) || !cv->fr_random(s))
            return FAIL(CUZK_EIO, "the system's random generator failed");
        return CUZK_OK;
    }
    scalar k;
    memcpy(k.b, fixed->r, 32);
    bool ok = cv->fr_from_scalar(r, &k);
    memcpy(k.b, fixed->s, 32);
    ok = cv->fr_from_scalar(s, &k) && ok;
    explicit_bzero(&k, sizeof k);
    return ok ? CUZK_OK
              : FAIL_DATA(MALFORMED, "r, s", "a fixed r or s is not below the group order");
}

/** C is in the derived points. */
static void drop_c(dev_system *view, dev_template *tmpl)
{
    for (size_t i = 0; i < view->n_templates; i++) tmpl[i].c.row_start = NULL;
    view->shape_id = 0; /* another shape than the system's */
}

static cuzk_status evaluate(groth16_job *job, device *d)
{
    const groth16_pk *pk = job->pk;
    const r1cs_system *shape = pk->form == GROTH16_SNARKJS ? pk->coeffs : job->sys;
    size_t n = (size_t)1 << pk->log_n;
    dev_scalars aux = job_aux(job);
    dev_system view;
    span sp = span_open(SPAN_ALLOC);
    cuzk_status st = dev_buf_new(&job->a, d, n);
    if (st == CUZK_OK) st = dev_buf_new(&job->b, d, n);
    if (st == CUZK_OK && job->derived == NULL) st = dev_buf_new(&job->c, d, n);
    if (st == CUZK_OK) st = system_view(&view, &job->tmpl, shape, job->m);
    span_close(&sp);
    TRY(st);
    if (job->derived != NULL) drop_c(&view, job->tmpl);

    bool product = pk->form == GROTH16_SNARKJS;
    sp = span_open(SPAN_ABC);
    st = dev_abc(job->s, job->a, job->b, product ? NULL : job->c, &view, job->w->inputs, &aux);
    if (st == CUZK_OK && product) st = dev_mul(job->s, job->c, job->a, job->b, n, pk->cv->id);
    span_close(&sp);
    return st;
}

void coset_z_inverse(const curve *cv, unsigned log_n, fr *out)
{
    fr z;
    cv->fr_from_u64(&z, BELLPERSON_GENERATOR);
    cv->fr_pow_var(&z, &z, (uint64_t)1 << log_n);
    cv->fr_sub(&z, &z, &cv->fr_one);
    cv->fr_inv(out, &z);
}

/** a, b, c to the coset, (a b - c) / Z into a, or a b where there are derived points; b and c are given back. */
static cuzk_status quotient_on_coset(groth16_job *job, const ntt_domain *dom)
{
    const groth16_pk *pk = job->pk;
    size_t n = (size_t)1 << pk->log_n;
    bool divide = pk->form == GROTH16_BELLPERSON;
    dev_buf *v[3] = {job->a, job->b, job->c};
    fr k;
    cuzk_status st = CUZK_OK;
    span sp = span_open(SPAN_NTT);

    for (unsigned i = 0; i < 3 && st == CUZK_OK; i++)
        if (v[i] != NULL) st = dev_ntt(job->s, v[i], dom, NTT_TO_COSET);
    span_close(&sp);
    TRY(st);
    sp = span_open(SPAN_QUOTIENT);
    if (divide) coset_z_inverse(pk->cv, pk->log_n, &k);
    st = job->derived != NULL
             ? dev_mul(job->s, job->a, job->a, job->b, n, pk->cv->id)
             : dev_quotient(job->s, job->a, job->b, job->c, n, pk->cv->id, divide ? &k : NULL);
    dev_buf_free(job->b); /* waits until a GPU has done with them */
    dev_buf_free(job->c);
    job->b = job->c = NULL;
    span_close(&sp);
    return st;
}

/** Leaves the scalars of the H sum in a. */
static cuzk_status quotient(groth16_job *job, device *d)
{
    const groth16_pk *pk = job->pk;
    ntt_domain *dom;
    span sp = span_open(SPAN_NTT);
    cuzk_status st = groth16_domain(&dom, d, pk->form, pk->cv, pk->log_n);

    span_close(&sp);
    TRY(st);
    st = quotient_on_coset(job, dom);
    if (st == CUZK_OK && pk->form == GROTH16_BELLPERSON && job->derived == NULL) {
        sp = span_open(SPAN_NTT);
        st = dev_ntt(job->s, job->a, dom, NTT_COSET_INVERSE);
        span_close(&sp);
    }
    ntt_domain_free(dom);
    return st;
}

/* All of them, or what the helpers leave to this device. */
static cuzk_status sums(groth16_job *job)
{
    if (job->shares != NULL) return shares_sums(job->shares);
    if (job->pk->log_n <= TOGETHER_LOG_N) {
        cuzk_status st = job_sums_together(&job->sums, job);
        dev_buf_free(job->a);
        job->a = NULL;
        return st;
    }
    TRY(job_sum_h(&job->sums.h, job, job->s, job->pk, 0, job->a, job_h(job, job->pk)->n));
    dev_buf_free(job->a);
    job->a = NULL;
    for (unsigned k = SUM_L; k < SUMS; k++)
        TRY(job_sum(&job->sums, job, job->s, job->pk, (sum_kind)k));
    return CUZK_OK;
}

static cuzk_status check_args(const groth16_prove_args *args)
{
    const groth16_pk *pk = args->pk;
    const r1cs_assignment *w = args->w;

    if (pk->form == GROTH16_BELLPERSON && args->sys == NULL)
        return FAIL(CUZK_EINVAL, "a bellperson key needs its circuit");
    if (w->n_inputs != pk->n_inputs || w->n_aux != pk->n_aux)
        return FAIL_DATA(SHAPE, "witness",
                         "witness has %u inputs and %u further values, the key %u and %u",
                         w->n_inputs, w->n_aux, pk->n_inputs, pk->n_aux);
    return CUZK_OK;
}

/** Those that this device uses: a GPU would have to keep them beside the key's. */
static const groth16_derived *derived_of(const groth16_pk *pk, const device *d)
{
    device_info info;

    device_info_get(d, &info);
    return info.gpu ? NULL : pk->derived;
}

cuzk_status groth16_prove_start(groth16_job **out, dev_stream *s, const groth16_prove_args *args)
{
    cuzk_status st = CUZK_OK;
    device *d = dev_stream_device(s);

    TRY(check_args(args));
    groth16_job *job = mem_new(args->m, 1, sizeof *job, &st);
    if (job == NULL) return st;
    job->pk = args->pk;
    job->sys = args->sys;
    job->w = args->w;
    job->m = args->m;
    job->dev = d;
    job->s = s;
    job->derived = args->plain ? NULL : derived_of(args->pk, d);
    job->values_id = dev_points_id();
    dev_work_begin(s);
    dev_points_want(d, args->pk->h.keep.set, DEV_WANT_NOW, true);
    TRY_OUT(sample(args->pk->cv, args->fixed, &job->r, &job->rs));
    if (args->n_helpers != 0) TRY_OUT(shares_open(&job->shares, job, args));
    TRY_OUT(evaluate(job, d));
    TRY_OUT(quotient(job, d));
    dev_keep(s, true);
    st = sums(job);
    dev_keep(s, false);
    shares_close(job->shares); /* the helpers are others' from here on */
    job->shares = NULL;
    if (st != CUZK_OK) goto out;
    dev_forget(d, job->values_id);
    job->values_id = 0;
    *out = job;
    job = NULL;
out:
    dev_work_end(s);
    dev_points_want(d, args->pk->h.keep.set, DEV_WANT_NOW, false);
    groth16_job_free(job);
    return st;
}

static void add_mul_g1(const curve *cv, g1_any *acc, const g1_any *p, const fr *k)
{
    g1_any t;
    cv->g1_mul(&t, p, k);
    cv->g1_add(acc, acc, &t);
    explicit_bzero(&t, sizeof t);
}

cuzk_status groth16_prove_finish(groth16_proof *out, groth16_job *job)
{
    const groth16_vk *vk = job->pk->vk;
    const curve *cv = job->pk->cv;
    span sp = span_open(SPAN_ASSEMBLE);
    groth16_proof p;
    g2_any t2;
    g1_any b1;

    cv->g1_add(&p.a, &vk->alpha_g1, &job->sums.a);
    add_mul_g1(cv, &p.a, &vk->delta_g1, &job->r);

    cv->g2_add(&p.b, &vk->beta_g2, &job->sums.b2);
    cv->g2_mul(&t2, &vk->delta_g2, &job->rs);
    cv->g2_add(&p.b, &p.b, &t2);

    cv->g1_add(&p.c, &job->sums.l, &job->sums.h);
    add_mul_g1(cv, &p.c, &p.a, &job->rs); /* s alpha + s A, and r s delta */
    cv->g1_add(&b1, &vk->beta_g1, &job->sums.b1);
    add_mul_g1(cv, &p.c, &b1, &job->r);
    explicit_bzero(&t2, sizeof t2);
    explicit_bzero(&b1, sizeof b1);
    *out = p;
    groth16_job_free(job);
    span_close(&sp);
    return CUZK_OK;
}
