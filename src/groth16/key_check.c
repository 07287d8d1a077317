/*
 * groth16/key_check.c - every point of a proving key: encoding, curve, subgroup
 *
 * Takes longer than a proof, so it is not part of loading (design section 9): it says, after a proof of a good witness
 * failed to verify, whether the key is at fault, and where.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "groth16/internal.h"

#include <stdio.h>

#define CHECK_CHUNK 1024

typedef struct check_list {
    const curve *cv;
    const dev_points *pts;
    const char *name;
} check_list;

static cuzk_status check_one(const check_list *l, size_t i)
{
    const curve *cv = l->cv;
    const uint8_t *in = l->pts->data + i * cv->point_size(l->pts->g2, l->pts->enc);
    g1_any p1;
    g2_any p2;
    point_err e =
        l->pts->g2 ? cv->g2_read(&p2, in, l->pts->enc) : cv->g1_read(&p1, in, l->pts->enc);
    char where[48];

    snprintf(where, sizeof where, "key %s[%zu]", l->name, i);
    if (e != POINT_OK) return FAIL_DATA(MALFORMED, where, "%s: %s", where, point_err_text(e));
    if (l->pts->g2 ? cv->g2_in_subgroup(&p2) : cv->g1_in_subgroup(&p1)) return CUZK_OK;
    return FAIL_DATA(MALFORMED, where, "%s is not in the subgroup of order r", where);
}

static cuzk_status check_chunk(void *ctx, size_t chunk, unsigned worker)
{
    const check_list *l = ctx;
    size_t end = (chunk + 1) * CHECK_CHUNK;
    (void)worker;

    if (end > l->pts->n) end = l->pts->n;
    for (size_t i = chunk * CHECK_CHUNK; i < end; i++) TRY(check_one(l, i));
    return CUZK_OK;
}

cuzk_status groth16_pk_check_points(const groth16_pk *pk, pool *p, const cancel *c)
{
    const check_list lists[] = {
        {pk->cv, &pk->a, "A"},     {pk->cv, &pk->b_g1, "B1"},
        {pk->cv, &pk->b_g2, "B2"}, {pk->cv, &pk->l, pk->form == GROTH16_SNARKJS ? "C" : "L"},
        {pk->cv, &pk->h, "H"},
    };
    span sp = span_open(SPAN_READ_KEY);
    cuzk_status st = CUZK_OK;

    for (size_t i = 0; i < sizeof lists / sizeof lists[0] && st == CUZK_OK; i++) {
        check_list l = lists[i];
        st = pool_run(p, c, (l.pts->n + CHECK_CHUNK - 1) / CHECK_CHUNK, check_chunk, &l);
    }
    span_close(&sp);
    return st;
}
