/*
 * engine/filecoin_setup.c - jobs that make keys of Filecoin's circuits
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/filecoin.h"

#include <stdio.h>
#include <string.h>

static cuzk_status write_meta(const char *dir, fil_kind kind, const fil_size *size)
{
    char path[FIL_PATH_MAX], text[64];

    TRY(fil_key_path(path, dir, kind, size, ".meta"));
    int n = snprintf(text, sizeof text, "{\"sector_size\":%llu}", (unsigned long long)size->bytes);
    return file_write_whole(path, text, (size_t)n);
}

static cuzk_status setup(job *j, const char *circuit, const char *dir, const char *trapdoors)
{
    cuzk_engine *e = j->e;
    const curve *cv = curve_get(CURVE_ID_BLS12_381, e->table);
    char params[FIL_PATH_MAX], vk[FIL_PATH_MAX];
    groth16_setup_opts o = {.progress = engine_progress, .ctx = e, .cancel = e->cancel};
    groth16_trapdoors t;
    poseidon_set *ps = NULL;
    r1cs_system *sys = NULL;
    const fil_size *size;
    const fil_ops *ops;
    fil_kind kind;
    cuzk_status st;

    TRY(fil_circuit_parse(&kind, &size, circuit));
    TRY(fil_ops_of(&ops, &kind, fil_kind_name(kind)));
    TRY(fil_key_path(params, dir, kind, size, ".params"));
    TRY(fil_key_path(vk, dir, kind, size, ".vk"));
    TRY(file_make_dir(dir));
    TRY_OUT(trapdoors != NULL ? trapdoors_read(trapdoors, cv, &t, NULL)
                              : groth16_trapdoors_random(&t, cv));
    span sp = span_open(SPAN_SHAPE);
    st = poseidon_set_new(&ps, cv, e->m);
    if (st == CUZK_OK) st = ops->system(&sys, ps, kind, size, e->m);
    span_close(&sp);
    if (st != CUZK_OK) goto out;
    sp = span_open(SPAN_SETUP);
    st = groth16_setup_params(j->s, sys, &t, params, vk, &o, e->pool, e->m);
    span_close(&sp);
    if (st == CUZK_OK) st = write_meta(dir, kind, size);
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
