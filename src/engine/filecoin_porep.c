/*
 * engine/filecoin_porep.c - PoRep: one C1 output holds all partitions
 *
 * It is read and compared with the statement once; then each partition is checked, or synthesised, alone.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "circuit/filecoin/porep_witness.h"
#include "engine/filecoin.h"

static cuzk_status read_statement(fil_job *f, const uint8_t *json, size_t size)
{
    cuzk_status st = CUZK_OK;
    porep_derived *d = mem_new(f->env->m, 1, sizeof *d, &st);
    porep_statement s;

    if (d == NULL) return st;
    f->statement = d;
    TRY(porep_statement_read(&s, json, size));
    porep_derive(d, &s);
    f->size = s.shape.size;
    f->n_partitions = d->n_partitions;
    f->n_public = porep_n_public(d);
    return CUZK_OK;
}

static cuzk_status public_inputs(const fil_job *f, size_t k, fr *out)
{
    return porep_public_inputs(f->statement, k, f->cv, out);
}

static cuzk_status system_of(r1cs_system **out, const poseidon_set *ps, fil_kind kind,
                             const fil_size *s, mem *m)
{
    char name[64];

    (void)snprintf(name, sizeof name, "%s-%s", fil_kind_name(kind), s->name);
    return porep_system_new(out, ps, name, s, s->porep_layers, s->porep_challenges, m);
}

cuzk_status fil_porep_take(fil_job *f, porep_c1 *c1)
{
    f->input = c1;
    return porep_check_statement(c1, f->statement);
}

static cuzk_status read_inputs(fil_job *f)
{
    const porep_derived *d = f->statement;
    porep_c1 *c1;

    if (f->n_files != 1)
        return FAIL_DATA(SHAPE, "inputs", "%zu inputs given, a PoRep has one: its C1 output",
                         f->n_files);
    TRY(porep_c1_read(&c1, f->files[0].data, f->files[0].size, &d->st.shape, f->env->m));
    TRY(fil_porep_take(f, c1));
    return CUZK_OK;
}

static porep_run run_of(const fil_job *f)
{
    return (porep_run){.ps = f->ps,
                       .redundant = &f->redundant,
                       .p = f->env->pool,
                       .stop = f->env->cancel,
                       .m = f->env->m};
}

static cuzk_status check(const fil_job *f, size_t k)
{
    porep_run run = run_of(f);
    span sp = span_open(SPAN_CHECK_INPUT);
    cuzk_status st = porep_c1_check(f->input, (uint32_t)k, &run);

    span_close(&sp);
    return st;
}

static cuzk_status synthesise(const fil_job *f, size_t k, r1cs_assignment **w)
{
    porep_run run = run_of(f);
    span sp = span_open(SPAN_SYNTH);
    cuzk_status st = porep_synthesize(w, f->sys, f->input, (uint32_t)k, &run);

    span_close(&sp);
    return st;
}

static void binding(const fil_job *f, fil_binding *out)
{
    const porep_derived *d = f->statement;

    memset(out, 0, sizeof *out);
    out->non_interactive = d->feature == POREP_NON_INTERACTIVE;
    if (!out->non_interactive) {
        memcpy(out->bytes, d->st.seed, 32);
        out->size = 32;
    }
    memcpy(out->bytes + out->size, d->st.comm_r, 32);
    out->size += 32;
}

static void clear(fil_job *f)
{
    porep_c1_free(f->input);
    mem_free(f->env->m, f->statement);
}

const fil_ops fil_porep_ops = {
    .read_statement = read_statement,
    .public_inputs = public_inputs,
    .system = system_of,
    .read_inputs = read_inputs,
    .check = check,
    .synthesise = synthesise,
    .binding = binding,
    .clear = clear,
};
