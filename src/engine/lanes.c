/*
 * engine/lanes.c - further streams of one GPU, for a proof of which it is not filled by one
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/lanes.h"

/* Rows of a circuit: sums of less are over before a thread has been woken, those of more fill the device, and each wants memory. */
#define MIN_LOG 15u
#define MAX_LOG 23u

cuzk_status lanes_open(helpers **out, device *d, span_rec *rec)
{
    device *all[LANES];
    device_info info;

    *out = NULL;
    device_info_get(d, &info);
    if (!info.gpu) return CUZK_OK;
    for (unsigned i = 0; i < LANES; i++) all[i] = d;
    return helpers_open(out, all, LANES, rec);
}

void lanes_take(lanes_taken *out, helpers *x, const groth16_pk *pk, const cancel *c, unsigned level)
{
    *out = (lanes_taken){.n = 0};
    if (x == NULL || pk->log_n < MIN_LOG || pk->log_n > MAX_LOG) return;
    for (unsigned i = 0; i < LANES; i++) {
        helper *h = helper_take(x, i, c, level);

        if (h == NULL) continue;
        out->h[out->n] = h;
        out->offer[out->n++] = helper_offer(h, NULL);
    }
}

static void put_all(lanes_taken *t, cuzk_error *why)
{
    *why = (cuzk_error){0};
    for (unsigned i = 0; i < t->n; i++) {
        cuzk_error e;
        cuzk_status st = helper_put(t->h[i], &e);

        if (st != CUZK_OK && st != CUZK_ECANCELLED && why->status == CUZK_OK) *why = e;
    }
    t->n = 0;
}

cuzk_status lanes_prove_start(groth16_job **out, dev_stream *s, const groth16_prove_args *args,
                              lanes_taken *t, cuzk_error *why)
{
    groth16_prove_args a = *args;

    a.helpers = t->offer;
    a.n_helpers = t->n;
    cuzk_status st = groth16_prove_start(out, s, &a);
    put_all(t, why);
    if (a.n_helpers == 0 || (st != CUZK_EBUDGET && st != CUZK_ENOMEM)) return st;
    a.helpers = NULL; /* what the lanes had is free */
    a.n_helpers = 0;
    return groth16_prove_start(out, s, &a);
}
