/*
 * engine/kept_vk.c - one verifying key kept between verifications, and made ready when it comes again
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/kept_vk.h"

#include <string.h>

/* So many verifications save what multiples of the key's points cost. */
#define MULTIPLES_FROM 16

void kept_vk_free(kept_vk *k)
{
    if (k == NULL) return;
    groth16_vk_free(k->vk);
    mem_free(k->m, k);
}

/** NULL, and why in *st: there is no such file, or no memory. */
static kept_vk *describe(cuzk_engine *e, const char *path, cuzk_status *st)
{
    size_t len = strlen(path) + 1;
    file_id id;

    *st = file_id_of(&id, path);
    if (*st != CUZK_OK) return NULL;
    kept_vk *k = mem_new(e->m, sizeof *k + len, 1, st);
    if (k == NULL) return NULL;
    k->m = e->m;
    k->path = (char *)(k + 1);
    memcpy(k->path, path, len);
    k->id = id;
    return k;
}

static bool same(const kept_vk *a, const kept_vk *b)
{
    return strcmp(a->path, b->path) == 0 && file_id_equal(&a->id, &b->id);
}

cuzk_status kept_vk_take(kept_vk **out, cuzk_engine *e, const char *path)
{
    cuzk_status st;
    kept_vk *k = describe(e, path, &st), *old = NULL;

    if (k == NULL) return st;
    (void)pthread_mutex_lock(&e->mu);
    if (e->kept != NULL && same(e->kept, k)) {
        old = e->kept;
        e->kept = NULL;
    }
    (void)pthread_mutex_unlock(&e->mu);
    if (old != NULL) {
        kept_vk_free(k);
        k = old;
    }
    k->taken++;
    *out = k;
    return CUZK_OK;
}

void kept_vk_prepare(kept_vk *k, dev_stream *s)
{
    cuzk_status st;

    if (k->taken < 2) return;
    st = groth16_vk_prepare(k->vk, k->taken < MULTIPLES_FROM ? NULL : s);
    (void)st; /* without memory for it the key is used as it is; a stop is seen by who verifies */
}

void kept_vk_put(cuzk_engine *e, kept_vk *k)
{
    kept_vk *old = k;

    if (k != NULL && k->vk != NULL) {
        (void)pthread_mutex_lock(&e->mu);
        old = e->kept;
        e->kept = k;
        (void)pthread_mutex_unlock(&e->mu);
    }
    kept_vk_free(old);
}
