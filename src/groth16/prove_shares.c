/*
 * groth16/prove_shares.c - sums of a proof that other devices take: one circuit on several
 *
 * The witness is there from the beginning, so a helper begins with its sums over it while the proof's own device evaluates and
 * transforms; when the scalars of the H sum are there, it copies its range of them and sums that. Results are exact: where a sum was
 * taken does not show. What a helper has not done, for whatever reason, the proof's device does itself: a helper's failure costs
 * time and nothing else. One whose device is the proof's has its memory too: beside it the proof may fail for want of some, and
 * whoever lent the helper starts it again without (engine/lanes.h).
 *
 * A share is its helper's from start to join, then the proof's; `stop` alone is looked at from both sides.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdatomic.h>
#include <string.h>

#include "groth16/prove_int.h"

typedef struct share {
    /* fixed while it is started */
    shares *all;
    const groth16_helper *by;
    const groth16_pk *pk; /* the one that it reads */
    split_part part;
    /* its helper's thread, and once that is joined the proof's */
    bool done[SUMS];
    job_sums sums;
} share;

struct shares {
    /* fixed after init */
    groth16_job *job;
    size_t n;
    split_part own;
    /* any thread; relaxed: a helper may take a sum more than it has to */
    _Atomic bool stop;
    share share[SPLIT_MAX - 1];
};

/* ---- on a helper's thread ---- */

static bool stopped(const share *h)
{
    return atomic_load_explicit(&h->all->stop, memory_order_relaxed);
}

static cuzk_status take_witness_sums(void *arg, dev_stream *s)
{
    share *h = arg;
    cuzk_status st = CUZK_OK;

    dev_share_begin(s);
    dev_keep(s, true);
    for (unsigned k = SUM_L; k < SUMS && st == CUZK_OK; k++) {
        if (!h->part.takes[k] || stopped(h)) continue;
        st = job_sum(&h->sums, h->all->job, s, h->pk, (sum_kind)k);
        h->done[k] = st == CUZK_OK;
    }
    dev_keep(s, false);
    dev_work_end(s);
    return st;
}

static cuzk_status take_h(void *arg, dev_stream *s)
{
    share *h = arg;
    const groth16_job *job = h->all->job;
    const split_part *p = &h->part;
    dev_buf *k = NULL;
    cuzk_status st;

    if (stopped(h)) return CUZK_OK;
    span sp = span_open(SPAN_ALLOC);
    st = dev_buf_new(&k, dev_stream_device(s), p->h_n);
    span_close(&sp);
    TRY(st);
    dev_share_begin(s);
    sp = span_open(SPAN_QUOTIENT);
    st = dev_copy(s, k, 0, job->a, p->h_from, p->h_n);
    span_close(&sp);
    if (st == CUZK_OK) st = job_sum_h(&h->sums.h, job, s, h->pk, p->h_from, k, p->h_n);
    h->done[SUM_H] = st == CUZK_OK;
    dev_buf_free(k);
    dev_work_end(s);
    return st;
}

/* ---- on the proof's ---- */

/* One that reads points of its own has to have them all. */
static bool can_help(const groth16_helper *by, const groth16_job *job)
{
    return by->pk == NULL || job->derived == NULL || by->pk->derived != NULL;
}

static bool has_witness_sums(const split_part *p)
{
    return p->takes[SUM_L] || p->takes[SUM_A] || p->takes[SUM_B1] || p->takes[SUM_B2];
}

cuzk_status shares_open(shares **out, groth16_job *job, const groth16_prove_args *args)
{
    split_part plan[SPLIT_MAX];
    split_costs costs = job_costs(job);
    cuzk_status st = CUZK_OK;
    shares *x = mem_new(job->m, 1, sizeof *x, &st);

    if (x == NULL) return st;
    x->job = job;
    atomic_init(&x->stop, false);
    for (size_t i = 0; i < args->n_helpers && x->n < SPLIT_MAX - 1; i++) {
        const groth16_helper *by = &args->helpers[i];

        if (!can_help(by, job)) continue;
        x->share[x->n++] = (share){.all = x, .by = by, .pk = by->pk != NULL ? by->pk : job->pk};
    }
    split_plan(plan, (unsigned)x->n + 1, &costs);
    x->own = plan[0];
    for (size_t i = 0; i < x->n; i++) {
        share *h = &x->share[i];

        h->part = plan[i + 1];
        if (has_witness_sums(&h->part)) h->by->start(h->by->ctx, take_witness_sums, h);
    }
    *out = x;
    return CUZK_OK;
}

static void join_all(shares *x)
{
    span sp = span_open(SPAN_DEVICE_WAIT);

    for (size_t i = 0; i < x->n; i++) {
        share *h = &x->share[i];

        h->by->join(h->by->ctx);
        dev_forget(h->by->dev, x->job->values_id);
    }
    span_close(&sp);
}

void shares_close(shares *x)
{
    if (x == NULL) return;
    mem *m = x->job->m;
    atomic_store_explicit(&x->stop, true, memory_order_relaxed);
    join_all(x);
    explicit_bzero(x, sizeof *x);
    mem_free(m, x);
}

/* Where *out is. */
static void put_sum(job_sums *out, const job_sums *from, sum_kind k)
{
    switch (k) {
    case SUM_L: out->l = from->l; break;
    case SUM_A: out->a = from->a; break;
    case SUM_B1: out->b1 = from->b1; break;
    case SUM_B2: out->b2 = from->b2; break;
    case SUM_H:
    case SUMS: break;
    }
}

/* A range of H on the proof's device: the scalars lie there, at `from`. */
static cuzk_status own_h(g1_any *out, groth16_job *job, size_t from, size_t n)
{
    dev_buf *k = NULL;
    cuzk_status st;

    if (from == 0) return job_sum_h(out, job, job->s, job->pk, 0, job->a, n);
    TRY(dev_buf_new(&k, job->dev, n));
    st = dev_copy(job->s, k, 0, job->a, from, n);
    if (st == CUZK_OK) st = job_sum_h(out, job, job->s, job->pk, from, k, n);
    dev_buf_free(k);
    return st;
}

/* What the helper did goes to the job's sums; what it did not is done here. */
static cuzk_status collect(shares *x, share *h)
{
    groth16_job *job = x->job;

    for (unsigned k = SUM_L; k < SUMS; k++) {
        if (!h->part.takes[k]) continue;
        if (h->done[k])
            put_sum(&job->sums, &h->sums, (sum_kind)k);
        else
            TRY(job_sum(&job->sums, job, job->s, job->pk, (sum_kind)k));
    }
    if (!h->part.takes[SUM_H]) return CUZK_OK;
    if (!h->done[SUM_H]) TRY(own_h(&h->sums.h, job, h->part.h_from, h->part.h_n));
    job->pk->cv->g1_add(&job->sums.h, &job->sums.h, &h->sums.h);
    return CUZK_OK;
}

static cuzk_status own_sums(shares *x)
{
    groth16_job *job = x->job;

    TRY(own_h(&job->sums.h, job, 0, x->own.h_n)); /* perhaps of none: infinity */
    for (unsigned k = SUM_L; k < SUMS; k++)
        if (x->own.takes[k]) TRY(job_sum(&job->sums, job, job->s, job->pk, (sum_kind)k));
    return CUZK_OK;
}

cuzk_status shares_sums(shares *x)
{
    groth16_job *job = x->job;

    span sp = span_open(SPAN_QUOTIENT);
    cuzk_status st = dev_sync(job->s); /* others read the scalars from here on */
    span_close(&sp);
    TRY(st);
    for (size_t i = 0; i < x->n; i++) {
        share *h = &x->share[i];

        if (h->part.takes[SUM_H]) h->by->start(h->by->ctx, take_h, h);
    }
    TRY(own_sums(x));
    join_all(x);
    for (size_t i = 0; i < x->n; i++) TRY(collect(x, &x->share[i]));
    dev_buf_free(job->a);
    job->a = NULL;
    return CUZK_OK;
}
