/*
 * engine/filecoin_post.c - WinningPoSt and WindowPoSt: one input a sector, a slice of them a partition
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit/filecoin/post.h"
#include "engine/filecoin.h"

static cuzk_status read_statement(fil_job *f, const uint8_t *json, size_t size)
{
    post_statement *st;

    TRY(post_statement_read(&st, json, size, f->kind, f->env->m));
    f->statement = st;
    f->size = st->size;
    f->n_partitions = post_partitions(st);
    f->n_public = post_n_public(st);
    return CUZK_OK;
}

static cuzk_status public_inputs(const fil_job *f, size_t k, fr *out)
{
    return post_public_inputs(f->statement, k, f->cv, out);
}

/* Which files are partition k's: of all given ones its slice, or just those given when they are that partition's alone. */
static cuzk_status slice(const fil_job *f, size_t k, size_t *from, size_t *n)
{
    const post_statement *st = f->statement;

    post_partition_sectors(st, k, from, n);
    if (f->n_files == st->n_sectors) return CUZK_OK;
    if (f->single && f->n_files == *n) {
        *from = 0;
        return CUZK_OK;
    }
    return FAIL_DATA(SHAPE, "inputs",
                     "%zu inputs given, the statement has %zu sectors (%zu in partition %zu)",
                     f->n_files, st->n_sectors, *n, k);
}

static cuzk_status decode(const fil_job *f, size_t k, post_vanilla **v)
{
    mem *m = f->env->m;
    cuzk_status st;
    size_t from, n;
    post_input *in;

    TRY(slice(f, k, &from, &n));
    span sp = span_open(SPAN_READ_INPUT);
    in = mem_new(m, n, sizeof *in, &st);
    if (in != NULL) {
        for (size_t i = 0; i < n; i++)
            in[i] = (post_input){f->files[from + i].data, f->files[from + i].size};
        st = post_vanilla_read(v, f->statement, k, in, n, f->ps, m);
    }
    mem_free(m, in);
    span_close(&sp);
    return st;
}

static cuzk_status check(const fil_job *f, size_t k)
{
    post_vanilla *v = NULL;

    TRY(decode(f, k, &v));
    span sp = span_open(SPAN_CHECK_INPUT);
    cuzk_status st = post_vanilla_check(v, f->env->pool, f->env->cancel);
    span_close(&sp);
    post_vanilla_free(v);
    return st;
}

static cuzk_status synthesise(const fil_job *f, size_t k, r1cs_assignment **w)
{
    post_vanilla *v = NULL;

    TRY(decode(f, k, &v));
    span sp = span_open(SPAN_SYNTH);
    cuzk_status st = post_synthesize(w, f->sys, v, f->env->pool, f->env->cancel, f->env->m);
    span_close(&sp);
    post_vanilla_free(v);
    return st;
}

static void clear(fil_job *f)
{
    post_statement_free(f->statement);
}

const fil_ops fil_post_ops = {
    .read_statement = read_statement,
    .public_inputs = public_inputs,
    .system = post_system_of,
    .check = check,
    .synthesise = synthesise,
    .clear = clear,
};
