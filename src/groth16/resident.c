/*
 * groth16/resident.c - a key's points on devices: what they are kept under, and that they are brought in and wanted
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "groth16/internal.h"

/* In the order in which a proof wants them. */
static void lists_of(groth16_pk *pk, dev_points *out[GROTH16_PK_LISTS])
{
    dev_points *lists[GROTH16_PK_LISTS] = {&pk->h, &pk->l, &pk->a, &pk->b_g1, &pk->b_g2};

    for (unsigned i = 0; i < GROTH16_PK_LISTS; i++) out[i] = lists[i];
}

void groth16_pk_ids(const groth16_pk *pk, uint64_t out[GROTH16_PK_LISTS])
{
    const dev_points *lists[GROTH16_PK_LISTS] = {&pk->h, &pk->l, &pk->a, &pk->b_g1, &pk->b_g2};

    for (unsigned i = 0; i < GROTH16_PK_LISTS; i++) out[i] = lists[i]->id;
}

static void forget_system(device *d, const r1cs_system *sys)
{
    for (unsigned i = 0; sys != NULL && i < SYSTEM_PARTS; i++)
        dev_system_forget(d, system_part_id(sys, (system_part)i));
}

void groth16_pk_forget(device *d, const groth16_pk *pk, const r1cs_system *sys)
{
    uint64_t ids[GROTH16_PK_LISTS];

    forget_system(d, sys);
    if (pk == NULL) return;
    forget_system(d, pk->coeffs);
    groth16_pk_ids(pk, ids);
    for (unsigned i = 0; i < GROTH16_PK_LISTS; i++) dev_points_forget(d, ids[i]);
}

void groth16_pk_one_set(groth16_pk *pk)
{
    size_t n = (size_t)1 << pk->log_n;
    dev_keeping keep = {.set = dev_points_id()};
    dev_points *lists[GROTH16_PK_LISTS];

    keep.beside = (3 * n + n / 2) * sizeof(fr); /* a, b, c and a domain's twiddles */
    keep.during = (n + n / 2) * sizeof(fr);     /* the scalars of H, in a, and the twiddles */
    lists_of(pk, lists);
    for (unsigned i = 0; i < GROTH16_PK_LISTS; i++)
        if (lists[i]->n > keep.longest) keep.longest = lists[i]->n;
    for (unsigned i = 0; i < GROTH16_PK_LISTS; i++) lists[i]->keep = keep;
}

void groth16_pk_always(groth16_pk *pk)
{
    dev_points *lists[GROTH16_PK_LISTS];

    lists_of(pk, lists);
    for (unsigned i = 0; i < GROTH16_PK_LISTS; i++) lists[i]->keep.always = true;
}

cuzk_status groth16_pk_load(const groth16_pk *pk, dev_stream *s)
{
    const dev_points *lists[GROTH16_PK_LISTS] = {&pk->h, &pk->l, &pk->a, &pk->b_g1, &pk->b_g2};

    for (unsigned i = 0; i < GROTH16_PK_LISTS; i++) TRY(dev_points_load(s, pk->cv->id, lists[i]));
    return CUZK_OK;
}

bool groth16_pk_is_on(const groth16_pk *pk, const device *d)
{
    const dev_points *lists[GROTH16_PK_LISTS] = {&pk->h, &pk->l, &pk->a, &pk->b_g1, &pk->b_g2};

    for (unsigned i = 0; i < GROTH16_PK_LISTS; i++) {
        size_t size = lists[i]->g2 ? pk->cv->g2_size : pk->cv->g1_size;
        if (dev_points_kept(d, lists[i]->id) < lists[i]->n * size) return false;
    }
    return true;
}

void groth16_pk_want(const groth16_pk *pk, device *d, bool begins)
{
    dev_points_want(d, pk->h.keep.set, DEV_WANT_QUEUED, begins);
}
