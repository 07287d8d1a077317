/*
 * groth16/prove_int.h - a proof that is being made: what the prover's files share
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef GROTH16_PROVE_INT_H
#define GROTH16_PROVE_INT_H

#include "groth16/internal.h"
#include "groth16/split.h"

typedef struct job_sums {
    g1_any h, l, a, b1;
    g2_any b2;
} job_sums;

typedef struct shares shares;

struct groth16_job {
    const groth16_pk *pk;
    const r1cs_system *sys;
    const r1cs_assignment *w;
    mem *m;
    device *dev;
    dev_stream *s; /* the start's alone */
    dev_buf *a, *b, *c;
    dev_template *tmpl;
    const groth16_derived *derived; /* NULL: not used */
    uint64_t values_id;             /* the witness's on the device, until its last sum */
    fr r, rs;                       /* blinding scalars r and s */
    job_sums sums;
    shares *shares; /* the helpers'; NULL: none */
};

/* ---- prove_sums.c: one sum of a proof, on any device; what is read of the job does not change meanwhile ---- */

/** The auxiliary variables as device takes them. */
dev_scalars job_aux(const groth16_job *job);
/** The points of the H sum, of a key pk that is the proof's. */
const dev_points *job_h(const groth16_job *job, const groth16_pk *pk);
/** n scalars at the beginning of k, against the points from `from` on. */
CUZK_STATUS job_sum_h(g1_any *out, const groth16_job *job, dev_stream *s, const groth16_pk *pk,
                      size_t from, const dev_buf *k, size_t n);
/** A sum over the witness to its place in *out. */
CUZK_STATUS job_sum(job_sums *out, const groth16_job *job, dev_stream *s, const groth16_pk *pk,
                    sum_kind k);
/** All five on the proof's own device, at once where that is faster; the scalars of H are in job->a. h is H + L, l infinity: their sum is
 *  all that a proof takes of them. */
CUZK_STATUS job_sums_together(job_sums *out, const groth16_job *job);
/** What it should take (split.h). */
split_costs job_costs(const groth16_job *job);

/* ---- prove_shares.c: sums that other devices take ---- */

/** Plans, and starts what the helpers can do from the beginning. *out stays NULL where there is nothing to share. args->helpers must live
 *  until shares_close. */
CUZK_STATUS shares_open(shares **out, groth16_job *job, const groth16_prove_args *args);
/** All sums of the job, whose h scalars are in job->a: its own, the helpers', and again what a helper has failed at. */
CUZK_STATUS shares_sums(shares *x);
/** No helper is at work when it returns. NULL is fine. */
void shares_close(shares *x);

#endif
