/*
 * groth16/aggregate_int.h - what the files of aggregation share: a proof in memory, its bytes, its transcript
 *
 * Names follow spec/filecoin-aggregate.md. Suffixes _l and _r: the left and right value of a round; [k]: made with alpha (0) or
 * beta (1).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef GROTH16_AGGREGATE_INT_H
#define GROTH16_AGGREGATE_INT_H

#include "algebra/batch.h"
#include "groth16/aggregate.h"

typedef struct agg_round {
    gt_any tab_l[2], tab_r[2]; /* commitments to A and B */
    gt_any tuc_l[2], tuc_r[2]; /* to C */
    gt_any zab_l, zab_r;       /* products of pairings A B */
    g1_any zc_l, zc_r;         /* sums of C */
} agg_round;

typedef struct agg_proof {
    uint32_t n;
    unsigned log_n;
    gt_any com_ab[2], com_c[2], ip_ab;
    g1_any agg_c;
    agg_round round[AGGREGATE_MAX_LOG];
    g1_any a; /* the folded vectors */
    g2_any b;
    g1_any c;
    g2_any v[2];
    g1_any w[2];
    g2_any pv[2]; /* openings of v and w */
    g1_any pw[2];
} agg_proof;

/* ---- bytes ---- */

/** The proof's bytes; every element is checked. CUZK_EDATA, class malformed, names the field. */
CUZK_STATUS agg_proof_read(agg_proof *out, const uint8_t *data, size_t size, const curve *cv,
                           pool *p, const cancel *stop);
/** CUZK_EDATA: a value is 1. */
CUZK_STATUS agg_proof_write(bytes_out *o, agg_proof *p, const curve *cv);

/* ---- transcript: the challenges in their order ---- */

/** What the challenges are made of, beside the proof. */
typedef struct agg_transcript {
    const curve *cv;
    const batch_ops *b;
    const uint8_t *statement;
    aggregate_version version;
    fr first; /* x', of which x_0 is made */
    aggregate_challenges c;
} agg_transcript;

/** hcom and r, after com_ab and com_c. */
void agg_challenge_r(agg_transcript *t, const agg_proof *p);
/** x', after ip_ab and agg_c. */
void agg_challenge_first(agg_transcript *t, const agg_proof *p);
/** x_i, after the values of round i. */
void agg_challenge_round(agg_transcript *t, const agg_proof *p, unsigned i);
/** extra and zeta, after the final values. c_last: 1 / x_(l-1). */
void agg_challenge_zeta(agg_transcript *t, const agg_proof *p, const fr *c_last);

/** product over j < l of 1 + y[l-1-j] (s x)^(2^j) */
void agg_evaluate(fr *r, const curve *cv, const fr *y, unsigned l, const fr *s, const fr *x);

#endif
