/*
 * engine/lanes.h - further streams of one GPU, for a proof of which it is not filled by one
 *
 * A sum of a small circuit is a row of short kernels, each waiting for the one before, with the host between some of them. Sums do not
 * depend on each other: on streams of their own they fill each other's gaps. A lane is a helper (helpers.h) whose device is the proof's,
 * and so is its memory: what a lane's sum has, the proof's own stream does not. A proof that fails for want of memory beside its
 * lanes is started once more without.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ENGINE_LANES_H
#define ENGINE_LANES_H

#include "engine/helpers.h"

#define LANES 3u /* beside the proof's own stream */

typedef struct lanes_taken {
    helper *h[LANES];
    groth16_helper offer[LANES];
    unsigned n;
} lanes_taken;

/** Of a GPU; of a CPU, which a sum fills, *out is NULL. d outlives them. */
CUZK_STATUS lanes_open(helpers **out, device *d, span_rec *rec);
/** Those that are free, streams of this level under c, for a proof with this key; none where x is NULL or the circuit is tiny or large. */
void lanes_take(lanes_taken *out, helpers *x, const groth16_pk *pk, const cancel *c,
                unsigned level);
/** groth16_prove_start with these as its helpers, whatever args has; they are put back. *why: a lane's first failure other than
 *  CUZK_ECANCELLED (status CUZK_OK: none), which has cost time alone where this succeeds. */
CUZK_STATUS lanes_prove_start(groth16_job **out, dev_stream *s, const groth16_prove_args *args,
                              lanes_taken *t, cuzk_error *why);

#endif
