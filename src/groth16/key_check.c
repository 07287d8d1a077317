/*
 * groth16/key_check.c - every point of a proving key: encoding, curve, subgroup
 *
 * Takes longer than a proof, so it is not part of loading (design section 9): it says, after a proof of a good witness
 * failed to verify, whether the key is at fault, and where; and it is what `params check` does. Points are numbered over
 * all lists, and done in steps, so that a long check can be gone on with.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "groth16/internal.h"

#include <stdio.h>

#define CHECK_CHUNK 256
/* points between two calls of progress: some tenths of a second of one core */
#define STEP_DEEP ((size_t)1 << 13)
#define STEP_CURVE ((size_t)1 << 20)

typedef struct check_step {
    const key_list *l;
    bool subgroup;
    size_t from, to;
} check_step;

static cuzk_status check_one(const key_list *l, bool subgroup, size_t i)
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
    if (!l->infinity_ok && (l->pts->g2 ? cv->g2_is_inf(&p2) : cv->g1_is_inf(&p1)))
        return FAIL_DATA(MALFORMED, where, "%s is the point at infinity", where);
    if (!subgroup) return CUZK_OK;
    if (l->pts->g2 ? cv->g2_in_subgroup(&p2) : cv->g1_in_subgroup(&p1)) return CUZK_OK;
    return FAIL_DATA(MALFORMED, where, "%s is not in the subgroup of order r", where);
}

static cuzk_status check_chunk(void *ctx, size_t chunk, unsigned worker)
{
    const check_step *s = ctx;
    size_t from = s->from + chunk * CHECK_CHUNK, to = from + CHECK_CHUNK;
    (void)worker;

    if (to > s->to) to = s->to;
    for (size_t i = from; i < to; i++) TRY(check_one(s->l, s->subgroup, i));
    return CUZK_OK;
}

cuzk_status key_list_check(const key_list *l, size_t from, const groth16_key_check *o, pool *p,
                           uint64_t *done, uint64_t total)
{
    size_t step = o->subgroup ? STEP_DEEP : STEP_CURVE;
    check_step s = {.l = l, .subgroup = o->subgroup};

    for (s.from = from; s.from < l->pts->n; s.from = s.to) {
        s.to = l->pts->n - s.from < step ? l->pts->n : s.from + step;
        TRY(pool_run(p, o->cancel, (s.to - s.from + CHECK_CHUNK - 1) / CHECK_CHUNK, check_chunk,
                     &s));
        *done += s.to - s.from;
        if (o->progress != NULL) o->progress(o->ctx, *done, total);
    }
    return CUZK_OK;
}

uint64_t groth16_pk_points(const groth16_pk *pk)
{
    return (uint64_t)pk->a.n + pk->b_g1.n + pk->b_g2.n + pk->l.n + pk->h.n;
}

cuzk_status groth16_pk_check(const groth16_pk *pk, const groth16_key_check *o, pool *p)
{
    const struct {
        const dev_points *pts;
        const char *name;
    } lists[] = {{&pk->a, "A"},
                 {&pk->b_g1, "B1"},
                 {&pk->b_g2, "B2"},
                 {&pk->l, pk->form == GROTH16_SNARKJS ? "C" : "L"},
                 {&pk->h, "H"}};
    uint64_t skip = o->from, done = o->from, total = groth16_pk_points(pk);
    span sp = span_open(SPAN_READ_KEY);
    cuzk_status st = CUZK_OK;

    for (size_t i = 0; i < sizeof lists / sizeof lists[0] && st == CUZK_OK; i++) {
        key_list l = {.cv = pk->cv,
                      .pts = lists[i].pts,
                      .name = lists[i].name,
                      .infinity_ok = pk->form == GROTH16_SNARKJS};
        if (l.pts->data == NULL && l.pts->n != 0) {
            st =
                FAIL(CUZK_EINVAL, "key list %s is on a device alone: it cannot be checked", l.name);
            break;
        }
        size_t from = skip < l.pts->n ? (size_t)skip : l.pts->n;
        skip -= from;
        st = key_list_check(&l, from, o, p, &done, total);
    }
    span_close(&sp);
    return st;
}
