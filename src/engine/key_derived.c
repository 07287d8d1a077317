/*
 * engine/key_derived.c - NAME.derived: a key's derived points, made once beside it, and given to the key
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "engine/key_store.h"

_Static_assert(KEY_DIGEST_HEX == GROTH16_SOURCE_BYTES, "a key is named by its digest's digits");

static const char *file_name(const char *path)
{
    return strrchr(path, '/') + 1;
}

/** The digest of NAME.params. */
static cuzk_status source_of(cuzk_engine *e, const char *dir, fil_kind kind, const fil_size *size,
                             char digest[KEY_DIGEST_HEX + 1])
{
    char path[FIL_PATH_MAX];

    TRY(fil_key_path(path, dir, kind, size, ".params"));
    return key_digest_of(e, dir, file_name(path), path, digest);
}

/** The checksum is remembered, as a key's digest is, for the file that it was made of. */
static cuzk_status check_bytes(cuzk_engine *e, const groth16_pk *pk, const char *dir,
                               const char *path)
{
    const file_map *f = &pk->derived->file;
    key_record r = {0};
    groth16_derived_info info;
    file_id after;

    (void)snprintf(r.file, sizeof r.file, "%s", file_name(path));
    TRY(file_id_of(&r.id, path));
    cuzk_status st = groth16_derived_info_read(&info, f->data, f->size, e->cancel);
    if (st != CUZK_OK) status_add_where("%s", r.file);
    TRY(st);
    hex_encode(r.digest, info.sum, KEY_DIGEST_HEX / 2);
    TRY(file_id_of(&after, path));
    /* one that changes meanwhile is not what was read */
    return file_id_equal(&r.id, &after) ? key_try_remember(e, dir, &r) : CUZK_OK;
}

cuzk_status key_derived_take(cuzk_engine *e, groth16_pk *pk, const char *dir, fil_kind kind,
                             const fil_size *size, bool anew)
{
    char path[FIL_PATH_MAX], digest[KEY_DIGEST_HEX + 1];
    key_record r;
    bool found = false;

    TRY(source_of(e, dir, kind, size, digest));
    TRY(fil_key_path(path, dir, kind, size, ".derived"));
    if (!anew) TRY(key_recall(e, dir, file_name(path), &r, &found));
    TRY(groth16_derived_open(pk, path, (const uint8_t *)digest));
    return found ? CUZK_OK : check_bytes(e, pk, dir, path);
}

cuzk_status key_derived_open(cuzk_engine *e, groth16_pk *pk, const char *dir, fil_kind kind,
                             const fil_size *size)
{
    char path[FIL_PATH_MAX];
    device_info info;

    device_info_get(e->dev, &info);
    if (!e->derived || info.gpu) return CUZK_OK;
    TRY(fil_key_path(path, dir, kind, size, ".derived"));
    return file_exists(path) ? key_derived_take(e, pk, dir, kind, size, false) : CUZK_OK;
}

/* ---- making them ---- */

typedef struct derive_job {
    cuzk_engine *e;
    const char *dir;
    fil_kind kind;
    const fil_size *size;
    poseidon_set *ps;
    r1cs_system *sys;
    groth16_pk *pk;
} derive_job;

static cuzk_status open_key(derive_job *x)
{
    cuzk_engine *e = x->e;
    const fil_ops *ops;
    char path[FIL_PATH_MAX];

    TRY(fil_ops_of(&ops, &x->kind, fil_kind_name(x->kind)));
    TRY(fil_key_path(path, x->dir, x->kind, x->size, ".params"));
    if (!file_exists(path))
        return FAIL(CUZK_EIO, "no key for %s-%s: %s is not there", fil_kind_name(x->kind),
                    x->size->name, path);
    span sp = span_open(SPAN_SHAPE);
    cuzk_status st = poseidon_set_new(&x->ps, e->table, e->m);
    if (st == CUZK_OK) st = ops->system(&x->sys, x->ps, x->kind, x->size, e->m);
    span_close(&sp);
    TRY(st);
    sp = span_open(SPAN_READ_KEY);
    st = key_trust(e, x->dir, x->kind, x->size);
    if (st == CUZK_OK)
        st = groth16_params_open(&x->pk, path, curve_get(CURVE_ID_BLS12_381, e->table), x->sys,
                                 e->m);
    span_close(&sp);
    return st;
}

static cuzk_status make(job *j, const derive_job *x, const char *path)
{
    char digest[KEY_DIGEST_HEX + 1];
    groth16_setup_opts o = {.progress = engine_progress, .ctx = x->e, .cancel = x->e->cancel};

    TRY(source_of(x->e, x->dir, x->kind, x->size, digest));
    return groth16_derive(j->host, x->pk, x->sys, (const uint8_t *)digest, path, &o, x->e->pool,
                          x->e->m);
}

static cuzk_status derive(job *j, derive_job *x)
{
    char path[FIL_PATH_MAX];

    TRY(open_key(x));
    TRY(fil_key_path(path, x->dir, x->kind, x->size, ".derived"));
    if (file_exists(path)) {
        cuzk_status st = key_derived_take(x->e, x->pk, x->dir, x->kind, x->size, true);
        if (st != CUZK_EDATA) return st; /* another key's, or damaged: made anew */
    }
    span sp = span_open(SPAN_SETUP);
    cuzk_status st = make(j, x, path);
    span_close(&sp);
    TRY(st);
    return key_derived_take(x->e, x->pk, x->dir, x->kind, x->size, true);
}

cuzk_status cuzk_params_derive(cuzk_engine *e, const char *circuit, const char *params_dir)
{
    derive_job x = {.e = e, .dir = params_dir};
    cuzk_status st;
    job j;

    if (params_dir == NULL) return FAIL(CUZK_EINVAL, "no key directory given");
    TRY(fil_circuit_parse(&x.kind, &x.size, circuit));
    TRY(job_begin(&j, e));
    st = derive(&j, &x);
    groth16_pk_free(x.pk);
    r1cs_free(x.sys);
    poseidon_set_free(x.ps);
    job_end(&j);
    return st;
}
