/*
 * engine/key_load_filecoin.c - the shape of a Filecoin circuit, and its key from the folder of keys, trusted by its digest
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "engine/key_store.h"
#include "engine/keys_int.h"

/** Points that are not this key's, or damaged, are done without: they only save time. */
static cuzk_status open_derived(keys *s, key_entry *k)
{
    cuzk_engine *e = s->c.e;
    cuzk_status st = key_derived_open(e, k->pk, s->params_dir, k->kind, k->size);
    const cuzk_error *why = cuzk_last_error();
    char text[600];

    if (st != CUZK_EDATA) return st;
    (void)snprintf(text, sizeof text, "not used: %s (cuzk params derive makes it anew)",
                   why->message);
    if (e->warn != NULL) e->warn(e->ctx, why->klass, why->where, text);
    return CUZK_OK;
}

/* From secrets that nobody keeps, on the device where it is used: other devices would not have it. */
static cuzk_status make_key(keys *s, key_entry *k)
{
    cuzk_engine *e = s->c.e;
    const groth16_setup_opts o = {.progress = engine_progress, .ctx = e, .cancel = e->cancel};
    groth16_trapdoors t;
    dev_stream *stream;
    span sp;

    if (e->n_devices != 1)
        return FAIL(CUZK_EINVAL, "a key made for the run is of one device; %u are open",
                    e->n_devices);
    TRY(dev_stream_open(&stream, device_has_fixed(e->dev) ? e->dev : e->host, e->cancel));
    sp = span_open(SPAN_SETUP);
    cuzk_status st = groth16_trapdoors_random(&t, k->sys->cv);
    if (st == CUZK_OK) st = groth16_setup_memory(&k->pk, stream, k->sys, &t, &o, e->pool, k->m);
    explicit_bzero(&t, sizeof t);
    span_close(&sp);
    dev_stream_close(stream);
    return st;
}

static cuzk_status open_key(keys *s, key_entry *k, const char *path)
{
    cuzk_engine *e = s->c.e;
    const curve *cv = curve_get(CURVE_ID_BLS12_381, e->table);
    span sp = span_open(SPAN_READ_KEY);
    cuzk_status st;

    fault_stall("key load");
    st = key_trust(e, s->params_dir, k->kind, k->size);
    if (st == CUZK_OK) st = groth16_params_open(&k->pk, path, cv, k->sys, k->m);
    if (st == CUZK_OK && key_is_pinned(k)) groth16_pk_always(k->pk);
    if (st == CUZK_OK) st = open_derived(s, k);
    span_close(&sp);
    return st;
}

cuzk_status key_load_filecoin(keys *s, key_entry *k)
{
    const fil_ops *ops;
    fil_kind kind;
    char path[FIL_PATH_MAX];
    cuzk_status st;
    span sp;

    TRY(fil_ops_of(&ops, &kind, fil_kind_name(k->kind)));
    if (!s->c.ephemeral) TRY(fil_key_path(path, s->params_dir, k->kind, k->size, ".params"));
    if (!s->c.ephemeral && !file_exists(path))
        return FAIL(CUZK_EIO, "no key for %s: %s is not there (cuzk setup, or the network's files)",
                    k->name, path);
    sp = span_open(SPAN_SHAPE);
    st = ops->system(&k->sys, s->c.ps, k->kind, k->size, k->m);
    span_close(&sp);
    TRY(st);
    TRY(s->c.ephemeral ? make_key(s, k) : open_key(s, k, path));
    TRY(groth16_vk_prepare(k->pk->vk, NULL)); /* its proofs are verified here */
    k->witness_bytes = r1cs_assignment_size(k->sys);
    k->prove_bytes = key_first_estimate(s, k->pk, k->sys);
    if (k->pk->derived !=
        NULL) /* a proof that is tried again goes without, and has an array more */
        k->prove_bytes += sizeof(fr) << k->pk->log_n;
    return CUZK_OK;
}
