/*
 * engine/bench_keys.c - keys that benchmarks make for a run: on each device where they are used, never a file
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/bench_keys.h"

#include <string.h>

typedef struct making {
    bench_keys *k;
    const r1cs_system *sys;
    groth16_trapdoors t;
} making;

static void progress(void *ctx, const char *what, uint64_t done, uint64_t total)
{
    engine_progress(ctx, what, done, total);
}

static cuzk_status make_one(void *ctx, job *j, size_t at)
{
    making *x = ctx;
    cuzk_engine *e = j->e;
    groth16_setup_opts o = {.progress = progress, .ctx = e, .cancel = e->cancel};

    return groth16_setup_memory(&x->k->pk[at], j->s, x->sys, &x->t, &o, e->pool, e->m);
}

cuzk_status bench_keys_make(bench_keys *k, job *j, const r1cs_system *sys)
{
    making x = {.k = k, .sys = sys};
    cuzk_status st = groth16_trapdoors_random(&x.t, sys->cv);

    if (st == CUZK_OK) st = engine_on_each(j, make_one, &x);
    explicit_bzero(&x.t, sizeof x.t);
    if (st == CUZK_OK)
        j->pks = (const groth16_pk *const *)k->pk;
    else
        bench_keys_free(k, j);
    return st;
}

const groth16_pk *bench_key_of(const job *j, const groth16_pk *pk)
{
    for (unsigned i = 0; j->pks != NULL && i < j->e->n_devices; i++)
        if (j->e->devices[i] == dev_stream_device(j->s)) return j->pks[i];
    return pk;
}

void bench_keys_free(bench_keys *k, job *j)
{
    for (unsigned i = 0; i < ENGINE_MAX_DEVICES; i++) groth16_pk_free(k->pk[i]);
    memset(k, 0, sizeof *k);
    j->pks = NULL;
}
