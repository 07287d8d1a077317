/*
 * engine/key_warm.c - a key's points to the GPUs before a proof wants them
 *
 * Begins when the key is there and somebody wants it (a job on its way in, a preload), on a thread of its own. Proofs begin
 * meanwhile: each sum waits for the points that it takes. Whatever fails here, a proof meets again.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stddef.h>

#include "engine/keys_int.h"

void key_want(const keys *s, const key_entry *k, bool begins)
{
    for (unsigned i = 0; i < s->c.e->n_devices; i++)
        groth16_pk_want(k->pk, s->c.e->devices[i], begins);
}

static cuzk_status warm_on(const keys *s, const key_entry *k, device *d)
{
    dev_stream *stream;

    if (device_is_lost(d) || groth16_pk_is_on(k->pk, d)) return CUZK_OK;
    TRY(dev_stream_open(&stream, d, s->c.e->cancel));
    cuzk_status st = groth16_pk_load(k->pk, stream);
    dev_stream_close(stream);
    return st;
}

/* The use that key_warm began ends; what nobody wants any more goes. */
static void end_use(keys *s, key_entry *k)
{
    key_entry gone;
    bool unused;

    (void)pthread_mutex_lock(&s->mu);
    k->warming = false;
    unused = --k->refs == 0 && k->stale && k->waiting == NULL;
    if (unused) gone = key_take_loaded_locked(k);
    (void)pthread_mutex_unlock(&s->mu);
    if (unused)
        (void)key_free_loaded(s, &gone);
    else
        ledger_poke(s->c.l);
}

static void run_warm(void *ctx, stage_item *it)
{
    keys *s = ctx;
    key_entry *k = (key_entry *)((char *)it - offsetof(key_entry, warm));
    const cuzk_engine *e = s->c.e;

    for (unsigned i = 0; i < e->n_devices; i++) {
        span sp = span_open(SPAN_READ_KEY);
        cuzk_status st = warm_on(s, k, e->devices[i]);
        const cuzk_error *why = cuzk_last_error();

        span_close(&sp);
        if (st != CUZK_OK && st != CUZK_ECANCELLED && e->warn != NULL)
            e->warn(e->ctx, why->klass, k->name, why->message);
    }
    end_use(s, k);
}

cuzk_status key_warm_open(keys *s)
{
    stage_config sc = {
        .name = "key to device", .width = 1, .rec = s->c.e->rec, .fn = run_warm, .ctx = s};
    device_info info;
    bool gpu = false;

    for (unsigned i = 0; i < s->c.e->n_devices; i++) {
        device_info_get(s->c.e->devices[i], &info);
        gpu = gpu || info.gpu;
    }
    return gpu ? stage_open(&s->warms, &sc) : CUZK_OK;
}

void key_warm(keys *s, key_entry *k, unsigned level, uint64_t age)
{
    bool begin;

    if (s->warms == NULL) return;
    (void)pthread_mutex_lock(&s->mu);
    begin = !k->warming && k->state == KEY_LOADED && !s->stopping;
    if (begin) {
        k->warming = true;
        k->refs++;
        stage_order(&k->warm, level, age, 0, 0);
    }
    (void)pthread_mutex_unlock(&s->mu);
    if (begin && stage_push(s->warms, &k->warm) != CUZK_OK) end_use(s, k);
}
