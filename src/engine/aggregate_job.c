/*
 * engine/aggregate_job.c - jobs on aggregates: sectors' files in, one aggregate out; and its verification
 *
 * Each statement says its kind itself. Proofs are verified one with another before they are aggregated, and the aggregate
 * before it is given, unless the caller vouches for them.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <string.h>

#include "base/json.h"
#include "engine/aggregate.h"

/** "porep" or "update", by the members of a statement. */
static cuzk_status kind_of(const file_map *m, const char **kind)
{
    json_in j;
    json_token t;

    *kind = "porep";
    TRY(json_init(&j, m->data, m->size));
    TRY(json_expect(&j, JSON_OBJECT, &t, "statement"));
    for (;;) {
        TRY(json_next(&j, &t));
        if (t.type == JSON_OBJECT_END) return CUZK_OK;
        if (json_is(&t, "comm_r_old") || json_is(&t, "registered_update_proof")) {
            *kind = "update";
            return CUZK_OK;
        }
        if (json_is(&t, "randomness") || json_is(&t, "registered_post_proof"))
            return FAIL_DATA(SHAPE, "statement",
                             "a PoSt's statement: its proofs are not aggregated");
        TRY(json_skip(&j));
    }
}

static cuzk_status add_sector(agg_list *l, cuzk_engine *e, const file_map *statement,
                              const file_map *proof)
{
    fil_job f = {.env = l->env, .cv = l->cv, .redundant = {false, e->warn, e->ctx}};
    const char *kind;
    cuzk_status st = kind_of(statement, &kind);

    if (st == CUZK_OK) st = fil_ops_of(&f.ops, &f.kind, kind);
    if (st == CUZK_OK) st = f.ops->read_statement(&f, statement->data, statement->size);
    if (st != CUZK_OK)
        status_add_where("sector %zu", l->n_added);
    else
        st = agg_list_add(l, &f, proof->data, proof->size);
    if (f.ops != NULL) f.ops->clear(&f);
    return st;
}

/** Statements, and with them their proofs, into a list that agg_list_init made. */
static cuzk_status read_sectors(agg_list *l, cuzk_engine *e, const cuzk_aggregate_args *args)
{
    for (size_t i = 0; i < args->n_statements; i++) {
        file_map statement = {0}, proof = {0};
        TRY(cancel_check(e->cancel));
        cuzk_status st = file_map_open(&statement, args->statements[i]);
        if (st == CUZK_OK && l->with_proofs) st = file_map_open(&proof, args->proofs[i]);
        if (st == CUZK_OK) st = add_sector(l, e, &statement, &proof);
        file_map_close(&proof);
        file_map_close(&statement);
        TRY(st);
    }
    return CUZK_OK;
}

static cuzk_status check_args(const cuzk_aggregate_args *args, bool with_proofs)
{
    if (args->version != 1 && args->version != 2)
        return FAIL(CUZK_EINVAL, "aggregate version %u, known: 1, 2", args->version);
    if (args->n_statements == 0)
        return FAIL_DATA(SHAPE, "statements", "nothing to aggregate: no statement is given");
    if (with_proofs && args->n_proofs != args->n_statements)
        return FAIL_DATA(SHAPE, "statements", "%zu statements and %zu proofs: each has one file",
                         args->n_statements, args->n_proofs);
    return CUZK_OK;
}

/** The circuit's verifying key, and the powers. */
static cuzk_status open_keys(const agg_list *l, cuzk_engine *e, const cuzk_aggregate_args *args,
                             groth16_vk **vk, agg_powers *powers)
{
    fil_job f = {
        .env = l->env, .cv = l->cv, .kind = l->kind, .size = l->size, .n_public = l->n_public};

    if (vk != NULL) {
        span sp = span_open(SPAN_READ_KEY);
        cuzk_status st = fil_read_vk(vk, &f, args->params_dir);
        span_close(&sp);
        TRY(st);
    }
    return agg_powers_open(powers, e, args->params_dir, args->srs);
}

static aggregate_version version_of(const cuzk_aggregate_args *args)
{
    return args->version == 1 ? AGGREGATE_V1 : AGGREGATE_V2;
}

static cuzk_status read_list(agg_list *l, cuzk_engine *e, const cuzk_aggregate_args *args)
{
    span sp = span_open(SPAN_READ_INPUT);
    cuzk_status st = read_sectors(l, e, args);

    span_close(&sp);
    return st;
}

static cuzk_status aggregate(job *j, const cuzk_aggregate_args *args, cuzk_buffer *out)
{
    cuzk_engine *e = j->e;
    agg_powers powers = {0};
    groth16_vk *vk = NULL;
    agg_list l;
    bytes_out o;
    cuzk_status st;

    TRY(check_args(args, true));
    bytes_out_init(&o, e->m);
    agg_list_init(&l, &e->env, curve_get(CURVE_ID_BLS12_381, e->table), args->n_statements, true);
    TRY_OUT(read_list(&l, e, args));
    TRY_OUT(open_keys(&l, e, args, args->trust_inputs ? NULL : &vk, &powers));
    if (vk != NULL) TRY_OUT(agg_list_check(&l, j->host, vk));
    TRY_OUT(agg_list_prove(&o, &l, &powers, j->host, version_of(args), vk));
    st = buffer_from_out(out, &o);
out:
    bytes_out_clear(&o);
    agg_list_clear(&l);
    agg_powers_close(&powers);
    groth16_vk_free(vk);
    return st;
}

cuzk_status cuzk_filecoin_aggregate(cuzk_engine *e, const cuzk_aggregate_args *args,
                                    cuzk_buffer *out)
{
    job j;

    TRY(job_begin(&j, e));
    cuzk_status st = aggregate(&j, args, out);
    job_end(&j);
    return st;
}

static cuzk_status verify_aggregate(job *j, const cuzk_aggregate_args *args, const char *proof,
                                    bool *valid)
{
    cuzk_engine *e = j->e;
    agg_powers powers = {0};
    groth16_vk *vk = NULL;
    file_map m = {0};
    agg_list l;
    cuzk_status st;

    TRY(check_args(args, false));
    agg_list_init(&l, &e->env, curve_get(CURVE_ID_BLS12_381, e->table), args->n_statements, false);
    TRY_OUT(read_list(&l, e, args));
    TRY_OUT(open_keys(&l, e, args, &vk, &powers));
    TRY_OUT(file_map_open(&m, proof));
    st = agg_list_verify(valid, &l, &powers, j->host, version_of(args), vk, m.data, m.size);
out:
    file_map_close(&m);
    agg_list_clear(&l);
    agg_powers_close(&powers);
    groth16_vk_free(vk);
    return st;
}

cuzk_status cuzk_filecoin_verify_aggregate(cuzk_engine *e, const cuzk_aggregate_args *args,
                                           const char *proof, bool *valid)
{
    job j;

    TRY(job_begin(&j, e));
    cuzk_status st = verify_aggregate(&j, args, proof, valid);
    job_end(&j);
    return st;
}
