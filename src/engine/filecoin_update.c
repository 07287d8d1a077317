/*
 * engine/filecoin_update.c - sector updates, SnapDeals and its Poseidon variant: one input a partition
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <string.h>

#include "circuit/filecoin/update.h"
#include "engine/filecoin.h"

static cuzk_status read_statement(fil_job *f, const uint8_t *json, size_t size)
{
    cuzk_status st = CUZK_OK;
    update_statement *s = mem_new(f->env->m, 1, sizeof *s, &st);

    if (s == NULL) return st;
    f->statement = s;
    TRY(update_statement_read(s, json, size, f->kind));
    f->size = s->shape.size;
    f->n_partitions = s->shape.n_partitions;
    f->n_public = UPDATE_N_PUBLIC;
    return CUZK_OK;
}

static cuzk_status public_inputs(const fil_job *f, size_t k, fr *out)
{
    return update_public_inputs(f->statement, k, f->cv, out);
}

/** Partition k's file is the k-th, or the only one when it is that partition's alone that is asked for. */
static cuzk_status decode(const fil_job *f, size_t k, update_vanilla **v)
{
    size_t at = f->n_files == f->n_partitions ? k : 0;
    cuzk_status st;
    span sp;

    if (f->n_files != f->n_partitions && !(f->single && f->n_files == 1))
        return FAIL_DATA(SHAPE, "inputs", "%zu inputs given, the update has %zu partitions",
                         f->n_files, f->n_partitions);
    sp = span_open(SPAN_READ_INPUT);
    st = update_vanilla_read(v, f->statement, k, f->files[at].data, f->files[at].size, f->ps,
                             f->env->m);
    span_close(&sp);
    return st;
}

static cuzk_status check(const fil_job *f, size_t k)
{
    const job_env *env = f->env;
    update_vanilla *v = NULL;
    cuzk_status st;
    span sp;

    TRY(decode(f, k, &v));
    sp = span_open(SPAN_CHECK_INPUT);
    st = update_vanilla_check(v, &f->redundant, env->pool, env->cancel);
    span_close(&sp);
    update_vanilla_free(v);
    return st;
}

static cuzk_status synthesise(const fil_job *f, size_t k, r1cs_assignment **w)
{
    const job_env *env = f->env;
    update_vanilla *v = NULL;
    cuzk_status st;
    span sp;

    TRY(decode(f, k, &v));
    sp = span_open(SPAN_SYNTH);
    st = update_synthesize(w, f->sys, v, &f->redundant, env->pool, env->cancel, env->m);
    span_close(&sp);
    update_vanilla_free(v);
    return st;
}

static void binding(const fil_job *f, fil_binding *out)
{
    const update_statement *s = f->statement;
    const uint8_t *const comms[] = {s->comm_r_old, s->comm_r_new, s->comm_d_new};

    memset(out, 0, sizeof *out);
    out->group = s->shape.high[s->shape.high_choice];
    out->bytes[out->size++] = (uint8_t)out->group;
    for (size_t i = 0; i < 3; i++, out->size += 32) memcpy(out->bytes + out->size, comms[i], 32);
}

static void clear(fil_job *f)
{
    mem_free(f->env->m, f->statement);
}

const fil_ops fil_update_ops = {
    .read_statement = read_statement,
    .public_inputs = public_inputs,
    .system = update_system_of,
    .check = check,
    .synthesise = synthesise,
    .binding = binding,
    .clear = clear,
};
