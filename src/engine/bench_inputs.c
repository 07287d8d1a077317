/*
 * engine/bench_inputs.c - valid inputs of a whole Filecoin proof, made in memory, as a job reads them
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/bench_inputs.h"

#include <string.h>

#include "circuit/filecoin/gen.h"
#include "r1cs/grow.h"

#define SEED 1

cuzk_status bench_inputs_open(bench_inputs *b, job *j, const char *circuit)
{
    cuzk_engine *e = j->e;

    *b = (bench_inputs){.f = {.env = &e->env,
                              .cv = curve_get(CURVE_ID_BLS12_381, e->table),
                              .redundant = {.strict = true}}};
    TRY(fil_circuit_parse(&b->f.kind, &b->f.size, circuit));
    TRY(fil_ops_of(&b->f.ops, &b->f.kind, fil_kind_name(b->f.kind)));
    span sp = span_open(SPAN_BENCH);
    cuzk_status st = poseidon_set_new(&b->f.ps, e->table, e->m);
    span_close(&sp);
    return st;
}

static cuzk_status keep(void *ctx, const char *name, const void *data, size_t size)
{
    bench_inputs *b = ctx;
    mem *m = b->f.env->m;
    bool statement = strcmp(name, "statement.json") == 0;
    cuzk_status st;
    uint8_t *copy;

    if (!statement) {
        file_map *files = r1cs_grow(m, b->f.files, b->f.n_files, &b->cap_files, b->f.n_files + 1,
                                    sizeof *files, &st);
        if (files == NULL) return st;
        b->f.files = files;
    }
    copy = mem_new(m, size, 1, &st);
    if (copy == NULL) return st;
    memcpy(copy, data, size);
    *(statement ? &b->statement : &b->f.files[b->f.n_files++]) = (file_map){copy, size, NULL};
    if (!statement) b->input_bytes += size;
    return CUZK_OK;
}

cuzk_status bench_inputs_make(bench_inputs *b)
{
    const job_env *env = b->f.env;
    fil_gen g = {.kind = b->f.kind,
                 .size = b->f.size,
                 .registered = -1,
                 .n_sectors = b->f.kind == FIL_WINDOW ? b->f.size->window_sectors : 0,
                 .seed = SEED,
                 .ps = b->f.ps,
                 .pool = env->pool,
                 .cancel = env->cancel,
                 .m = env->m,
                 .put = keep,
                 .ctx = b};
    span sp = span_open(SPAN_GENERATE);
    cuzk_status st = fil_generate(&g);

    span_close(&sp);
    return st;
}

cuzk_status bench_inputs_read(bench_inputs *b)
{
    fil_job *f = &b->f;

    TRY(f->ops->read_statement(f, b->statement.data, b->statement.size));
    return f->ops->read_inputs == NULL ? CUZK_OK : f->ops->read_inputs(f);
}

void bench_inputs_forget(bench_inputs *b)
{
    if (b->f.ops != NULL) b->f.ops->clear(&b->f);
    b->f.statement = NULL;
    b->f.input = NULL;
}

void bench_inputs_close(bench_inputs *b)
{
    mem *m = b->f.env->m;

    bench_inputs_forget(b);
    groth16_pk_free(b->f.pk);
    r1cs_free(b->f.sys);
    for (size_t i = 0; i < b->f.n_files; i++) mem_free(m, (uint8_t *)(uintptr_t)b->f.files[i].data);
    mem_free(m, b->f.files);
    mem_free(m, (uint8_t *)(uintptr_t)b->statement.data);
    poseidon_set_free(b->f.ps);
}
