/*
 * groth16/prove_sums.c - the sums of a proof over its key's points
 *
 * Each on whatever stream it is given: on that of the proof's device, or of another one that helps. They read the job, the
 * witness and the key, and write their result alone.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "groth16/prove_int.h"

#include <string.h>

dev_scalars job_aux(const groth16_job *job)
{
    const r1cs_assignment *w = job->w;
    dev_scalars k = {.n = w->n_aux, .elems = w->elems, .bits = w->bits, .id = job->values_id};
    if (w->sys != NULL && w->sys->is_elem != NULL) {
        k.is_elem = w->sys->is_elem;
        k.rank64 = w->sys->rank64;
        k.layout_id = system_part_id(w->sys, PART_SHAPE);
    }
    return k;
}

const dev_points *job_h(const groth16_job *job, const groth16_pk *pk)
{
    return job->derived != NULL ? &pk->derived->h : &pk->h;
}

cuzk_status job_sum_h(g1_any *out, const groth16_job *job, dev_stream *s, const groth16_pk *pk,
                      size_t from, const dev_buf *k, size_t n)
{
    span sp = span_open(SPAN_MSM_H);
    cuzk_status st = dev_msm_g1_buf(s, out, pk->cv->id, job_h(job, pk), from, k, n);

    span_close(&sp);
    return st;
}

/** A query's bases are [inputs][aux]; of both those that take part. */
typedef struct query {
    const dev_points *bases;
    dev_scalars in, aux;
    size_t n_in; /* bases of inputs */
} query;

static query query_of(const groth16_job *job, const dev_points *bases)
{
    return (query){.bases = bases,
                   .in = {.n = job->w->n_inputs, .elems = job->w->inputs},
                   .aux = job_aux(job),
                   .n_in = job->pk->n_inputs};
}

/** The variables that occur in B, in a bellperson key: the others have no point. */
static query query_b(const groth16_job *job, const dev_points *bases)
{
    const r1cs_system *sys = job->sys;
    query q = query_of(job, bases);

    if (job->pk->form == GROTH16_SNARKJS) return q; /* absent wires are points at infinity there */
    q.in.select = sys->b_input;
    q.n_in = sys->n_b_input;
    q.aux.select = sys->b_aux;
    q.aux.n_selected = sys->n_b_aux;
    q.aux.select_id = system_part_id(sys, PART_B_AUX);
    return q;
}

static query query_a(const groth16_job *job, const dev_points *bases)
{
    const r1cs_system *sys = job->sys;
    query q = query_of(job, bases);

    if (job->pk->form == GROTH16_SNARKJS) return q;
    q.aux.select = sys->a_aux;
    q.aux.n_selected = sys->n_a_aux;
    q.aux.select_id = system_part_id(sys, PART_A_AUX);
    return q;
}

/** Of the key's own l: it has no points of inputs, which its l of derived points has. */
static query query_l(const groth16_job *job, const groth16_pk *pk)
{
    query q = query_of(job, &pk->l);

    if (job->derived != NULL) q.bases = &pk->derived->l;
    if (job->derived == NULL) q.in.n = q.n_in = 0;
    return q;
}

static const span_kind kinds[SUMS] = {[SUM_H] = SPAN_MSM_H,
                                      [SUM_L] = SPAN_MSM_L,
                                      [SUM_A] = SPAN_MSM_A,
                                      [SUM_B1] = SPAN_MSM_B1,
                                      [SUM_B2] = SPAN_MSM_B2};

/** What is asked of a device: sums over the auxiliary variables to their places, those over the inputs to `in`, to be added then. */
typedef struct sum_list {
    dev_sum of[2 * SUMS];
    size_t n;
    query q[SUMS];
    job_sums in;
} sum_list;

static void *place_of(job_sums *s, sum_kind k)
{
    void *places[SUMS] = {
        [SUM_H] = &s->h, [SUM_L] = &s->l, [SUM_A] = &s->a, [SUM_B1] = &s->b1, [SUM_B2] = &s->b2};
    return places[k];
}

static void list_sum(sum_list *s, job_sums *out, const groth16_job *job, const groth16_pk *pk,
                     sum_kind k)
{
    query *q = &s->q[k];

    VERIFY(k != SUM_H);
    *q = k == SUM_L   ? query_l(job, pk)
         : k == SUM_A ? query_a(job, &pk->a)
                      : query_b(job, k == SUM_B1 ? &pk->b_g1 : &pk->b_g2);
    s->of[s->n++] = (dev_sum){.kind = kinds[k],
                              .r = place_of(out, k),
                              .bases = q->bases,
                              .first_base = q->n_in,
                              .k = &q->aux};
    if (q->in.n == 0) return;
    s->of[s->n++] =
        (dev_sum){.kind = kinds[k], .r = place_of(&s->in, k), .bases = q->bases, .k = &q->in};
}

static void join(job_sums *out, const sum_list *s, const curve *cv, sum_kind k)
{
    if (s->q[k].in.n == 0) return;
    span sp = span_open(kinds[k]);
    if (k == SUM_B2)
        cv->g2_add(&out->b2, &out->b2, &s->in.b2);
    else if (k == SUM_B1)
        cv->g1_add(&out->b1, &out->b1, &s->in.b1);
    else if (k == SUM_A)
        cv->g1_add(&out->a, &out->a, &s->in.a);
    else
        cv->g1_add(&out->l, &out->l, &s->in.l);
    span_close(&sp);
}

cuzk_status job_sum(job_sums *out, const groth16_job *job, dev_stream *s, const groth16_pk *pk,
                    sum_kind k)
{
    sum_list list = {.n = 0};

    list_sum(&list, out, job, pk, k);
    TRY(dev_msm_many(s, pk->cv->id, list.of, list.n));
    join(out, &list, pk->cv, k);
    return CUZK_OK;
}

static cuzk_status together(job_sums *out, const groth16_job *job)
{
    const groth16_pk *pk = job->pk;
    sum_list list = {.n = 0};
    const dev_points *h = job_h(job, pk);

    memset(&out->l, 0, sizeof out->l); /* infinity */
    list.of[list.n++] =
        (dev_sum){.kind = kinds[SUM_H], .r = &out->h, .bases = h, .buf = job->a, .n = h->n};
    for (unsigned k = SUM_L; k < SUMS; k++) list_sum(&list, out, job, pk, (sum_kind)k);
    list.of[1].r = &out->h; /* only H + L is wanted: added up in the same buckets */
    TRY(dev_msm_many(job->s, pk->cv->id, list.of, list.n));
    for (unsigned k = SUM_L; k < SUMS; k++) join(out, &list, pk->cv, (sum_kind)k);
    return CUZK_OK;
}

cuzk_status job_sums_together(job_sums *out, const groth16_job *job)
{
    span sp = span_open(kinds[SUM_H]); /* what is not another sum's */
    cuzk_status st = together(out, job);
    span_close(&sp);
    return st;
}

/* Those of a selection are taken to be mixed as all are. */
static split_scalars scalars_of(const r1cs_assignment *w, uint64_t n)
{
    uint64_t elems = w->n_aux == 0 ? 0 : (uint64_t)((double)n * w->n_elems / w->n_aux);

    return (split_scalars){.bits = n - elems, .elems = elems};
}

split_costs job_costs(const groth16_job *job)
{
    const groth16_pk *pk = job->pk;
    const r1cs_assignment *w = job->w;
    bool all = pk->form == GROTH16_SNARKJS;
    split_scalars whole = scalars_of(w, w->n_aux), h = {.elems = job_h(job, pk)->n},
                  a = scalars_of(w, all ? w->n_aux : job->sys->n_a_aux),
                  b = scalars_of(w, all ? w->n_aux : job->sys->n_b_aux);

    return (split_costs){.before_h = split_cost_before_h(pk->log_n),
                         .h_n = h.elems,
                         .sum = {[SUM_H] = split_cost(h, false),
                                 [SUM_L] = split_cost(whole, false),
                                 [SUM_A] = split_cost(a, false),
                                 [SUM_B1] = split_cost(b, false),
                                 [SUM_B2] = split_cost(b, true)}};
}
