/*
 * engine/filecoin_setup.c - making a key: .params, .vk, .meta under the network's names, and .digest
 *
 * The key appears last: once NAME.params is there, all that belongs to it is.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/filecoin.h"

#include <stdio.h>
#include <string.h>

#include "base/file_target.h"
#include "base/hash.h"
#include "engine/key_store.h"

typedef struct setup_job {
    cuzk_engine *e;
    const char *dir;
    fil_kind kind;
    const fil_size *size;
    char params_digest[KEY_DIGEST_HEX + 1], vk_digest[KEY_DIGEST_HEX + 1];
} setup_job;

static void progress(void *ctx, const char *step, uint64_t done, uint64_t total)
{
    engine_progress(((setup_job *)ctx)->e, step, done, total);
}

static cuzk_status write_meta(const setup_job *x)
{
    char path[FIL_PATH_MAX], text[64];

    TRY(fil_key_path(path, x->dir, x->kind, x->size, ".meta"));
    int n =
        snprintf(text, sizeof text, "{\"sector_size\":%llu}", (unsigned long long)x->size->bytes);
    return file_write_whole(path, text, (size_t)n);
}

/** An earlier key goes before the new one's digests come: stopped in between, there is none, but none that looks damaged. */
static cuzk_status remove_old(const setup_job *x)
{
    char path[FIL_PATH_MAX];

    TRY(fil_key_path(path, x->dir, x->kind, x->size, ".vk"));
    TRY(file_remove_target(path));
    TRY(fil_key_path(path, x->dir, x->kind, x->size, ".params"));
    return file_remove_target(path);
}

/** The key is whole but has no name yet. */
static cuzk_status on_written(void *ctx, const char *part_path, uint64_t size, const uint8_t *vk,
                              size_t vk_size)
{
    setup_job *x = ctx;
    blake2b_ctx c;
    uint8_t hash[64];
    span sp = span_open(SPAN_READ_KEY);
    cuzk_status st = key_digest(x->e, part_path, size, x->params_digest);

    span_close(&sp);
    TRY(st);
    blake2b_init(&c, sizeof hash, NULL, 0);
    blake2b_update(&c, vk, vk_size);
    blake2b_final(&c, hash);
    hex_encode(x->vk_digest, hash, KEY_DIGEST_HEX / 2);
    sp = span_open(SPAN_WRITE);
    st = write_meta(x); /* the same for every key of this name */
    if (st == CUZK_OK) st = remove_old(x);
    if (st == CUZK_OK)
        st = key_write_digests(x->dir, x->kind, x->size, x->params_digest, x->vk_digest);
    span_close(&sp);
    return st;
}

/** So that the first proof need not read the whole key for its digest. */
static cuzk_status remember(const setup_job *x, const char *path, const char *digest)
{
    key_record r = {0};

    (void)snprintf(r.file, sizeof r.file, "%s", strrchr(path, '/') + 1);
    memcpy(r.digest, digest, sizeof r.digest);
    TRY(file_id_of(&r.id, path));
    return key_try_remember(x->e, x->dir, &r);
}

static cuzk_status make_key(job *j, setup_job *x, const r1cs_system *sys,
                            const groth16_trapdoors *t, bool resume)
{
    char params[FIL_PATH_MAX], vk[FIL_PATH_MAX];
    groth16_setup_opts o = {.progress = progress,
                            .ctx = x,
                            .cancel = x->e->cancel,
                            .resume = resume,
                            .written = on_written};

    TRY(fil_key_path(params, x->dir, x->kind, x->size, ".params"));
    TRY(fil_key_path(vk, x->dir, x->kind, x->size, ".vk"));
    TRY(groth16_setup_params(job_setup_stream(j), sys, t, params, vk, &o, x->e->pool, x->e->m));
    span sp = span_open(SPAN_WRITE);
    cuzk_status st = remember(x, params, x->params_digest);
    if (st == CUZK_OK) st = remember(x, vk, x->vk_digest);
    span_close(&sp);
    return st;
}

static cuzk_status setup(job *j, const char *circuit, const char *dir, const char *trapdoors)
{
    cuzk_engine *e = j->e;
    const curve *cv = curve_get(CURVE_ID_BLS12_381, e->table);
    setup_job x = {.e = e, .dir = dir};
    groth16_trapdoors t;
    poseidon_set *ps = NULL;
    r1cs_system *sys = NULL;
    const fil_ops *ops;
    cuzk_status st;

    TRY(fil_circuit_parse(&x.kind, &x.size, circuit));
    TRY(fil_ops_of(&ops, &x.kind, fil_kind_name(x.kind)));
    if (dir == NULL) return FAIL(CUZK_EINVAL, "no key directory given (--params DIR)");
    TRY_OUT(key_may_replace(e, dir, x.kind, x.size));
    TRY_OUT(trapdoors != NULL ? trapdoors_read(trapdoors, cv, &t, NULL)
                              : groth16_trapdoors_random(&t, cv));
    span sp = span_open(SPAN_SHAPE);
    st = poseidon_set_new(&ps, e->table, e->m);
    if (st == CUZK_OK) st = ops->system(&sys, ps, x.kind, x.size, e->m);
    span_close(&sp);
    if (st != CUZK_OK) goto out;
    TRY_OUT(file_make_dir(dir));
    sp = span_open(SPAN_SETUP);
    st = make_key(j, &x, sys, &t, trapdoors != NULL);
    span_close(&sp);
out:
    explicit_bzero(&t, sizeof t);
    r1cs_free(sys);
    poseidon_set_free(ps);
    return st;
}

cuzk_status cuzk_filecoin_setup(cuzk_engine *e, const char *circuit, const char *params_dir,
                                const char *trapdoors)
{
    job j;
    TRY(job_begin(&j, e));
    cuzk_status st = setup(&j, circuit, params_dir, trapdoors);
    job_end(&j);
    return st;
}
