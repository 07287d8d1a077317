/*
 * engine/circom.c - jobs on circom's and snarkjs's files: prove, verify, setup
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/engine.h"

#include "r1cs/circom.h"

#include <stdio.h>
#include <string.h>

/** Everything that a circom proof stands on. */
typedef struct circom_job {
    groth16_pk *pk;
    r1cs_system *sys; /* NULL without --r1cs */
    r1cs_assignment *w;
    file_map wtns, r1cs;
} circom_job;

static void circom_job_clear(const cuzk_engine *e, circom_job *c)
{
    r1cs_assignment_free(c->w);
    engine_forget_key(e, c->pk, c->sys);
    groth16_pk_free(c->pk);
    r1cs_free(c->sys);
    file_map_close(&c->wtns);
    file_map_close(&c->r1cs);
}

static cuzk_status read_witness(cuzk_engine *e, circom_job *c, const char *path)
{
    circom_wtns_info info;
    const groth16_pk *pk = c->pk;

    TRY(file_map_open(&c->wtns, path));
    TRY(circom_wtns_info_read(&info, c->wtns.data, c->wtns.size));
    if (info.curve != pk->cv->id)
        return FAIL_DATA(SHAPE, "witness", "the witness is of curve %s, the key of %s",
                         curve_get(info.curve, CPU_TABLE_GENERIC)->json_name, pk->cv->json_name);
    return circom_wtns_read(&c->w, c->wtns.data, c->wtns.size, pk->cv, pk->n_inputs + pk->n_aux,
                            pk->n_inputs - 1, e->pool, e->m);
}

static cuzk_status check_rows(cuzk_engine *e, const circom_job *c)
{
    r1cs_fault fault;
    char where[64];
    span sp = span_open(SPAN_CHECK_R1CS);
    cuzk_status st = r1cs_check(c->sys, c->w, e->pool, e->cancel, &fault);

    span_close(&sp);
    TRY(st);
    if (!fault.found) return CUZK_OK;
    snprintf(where, sizeof where, "row %u", fault.row);
    return FAIL_DATA(UNSATISFIED, where,
                     "the witness does not satisfy constraint %u of the circuit", fault.row);
}

static cuzk_status read_circuit(cuzk_engine *e, circom_job *c, const char *path)
{
    span sp = span_open(SPAN_READ_CIRCUIT);
    cuzk_status st = file_map_open(&c->r1cs, path);
    const groth16_pk *pk = c->pk;

    if (st == CUZK_OK) st = circom_r1cs_read(&c->sys, c->r1cs.data, c->r1cs.size, e->table, e->m);
    span_close(&sp);
    TRY(st);
    if (c->sys->cv->id != pk->cv->id)
        return FAIL_DATA(SHAPE, "circuit", "the circuit is of curve %s, the key of %s",
                         c->sys->cv->json_name, pk->cv->json_name);
    if (c->sys->n_inputs != pk->n_inputs || c->sys->n_aux != pk->n_aux)
        return FAIL_DATA(SHAPE, "circuit",
                         "the circuit has %u public signals and %u wires, the key %u and %u",
                         c->sys->n_inputs - 1, c->sys->n_inputs + c->sys->n_aux, pk->n_inputs - 1,
                         pk->n_inputs + pk->n_aux);
    return check_rows(e, c);
}

static cuzk_status read_all(cuzk_engine *e, circom_job *c, const cuzk_circom_prove_args *args)
{
    span sp = span_open(SPAN_READ_KEY);
    cuzk_status st = groth16_zkey_open(&c->pk, args->zkey, e->table, e->pool, e->m);
    span_close(&sp);
    TRY(st);
    sp = span_open(SPAN_READ_WITNESS);
    st = read_witness(e, c, args->wtns);
    span_close(&sp);
    TRY(st);
    return args->r1cs == NULL ? CUZK_OK : read_circuit(e, c, args->r1cs);
}

/** Why a proof of this witness under this key did not verify. */
static cuzk_status explain(cuzk_engine *e, const circom_job *c)
{
    if (c->sys == NULL)
        return FAIL_DATA(UNSATISFIED, "witness",
                         "witness does not satisfy this key, or the key is damaged (give --r1cs, "
                         "or run cuzk inspect)");
    TRY(engine_check_key(c->pk, e->pool, e->cancel, NULL));
    return FAIL(
        CUZK_EBUG,
        "the proof of a witness that satisfies its circuit did not verify: key of another circuit, "
        "or a bug");
}

static cuzk_status prove(job *j, const cuzk_circom_prove_args *args, cuzk_buffer *proof_json,
                         cuzk_buffer *public_json)
{
    cuzk_engine *e = j->e;
    circom_job c = {0};
    bytes_out proof_out, public_out;
    groth16_proof proof;
    bool valid = false;
    cuzk_status st;

    bytes_out_init(&proof_out, e->m);
    bytes_out_init(&public_out, e->m);
    TRY_OUT(read_all(e, &c, args));
    groth16_prove_args pa = {.pk = c.pk, .w = c.w, .fixed = args->fixed, .m = e->m};
    TRY_OUT(engine_prove(j, &proof, &pa, &valid));
    if (!valid) {
        st = explain(e, &c);
        goto out;
    }
    span sp = span_open(SPAN_ENCODE);
    groth16_proof_to_json(&proof_out, c.pk->cv, &proof);
    groth16_public_to_json(&public_out, c.pk->cv, c.w->inputs + 1, c.w->n_inputs - 1);
    st = buffer_from_out(proof_json, &proof_out);
    if (st == CUZK_OK) {
        st = buffer_from_out(public_json, &public_out);
        if (st != CUZK_OK) cuzk_buffer_clear(proof_json);
    }
    span_close(&sp);
out:;
    span sf = span_open(SPAN_FREE);
    bytes_out_clear(&proof_out);
    bytes_out_clear(&public_out);
    circom_job_clear(e, &c);
    span_close(&sf);
    return st;
}

cuzk_status cuzk_circom_prove(cuzk_engine *e, const cuzk_circom_prove_args *args,
                              cuzk_buffer *proof_json, cuzk_buffer *public_json)
{
    job j;
    TRY(job_begin(&j, e));
    cuzk_status st = prove(&j, args, proof_json, public_json);
    job_end(&j);
    return st;
}

static cuzk_status verify(job *j, const char *vk_json, const char *public_json,
                          const char *proof_json, bool *valid)
{
    cuzk_engine *e = j->e;
    file_map f[3] = {{0}};
    groth16_vk *vk = NULL;
    groth16_proof proof;
    fr *pub = NULL;
    size_t n;
    cuzk_status st;
    span sp = span_open(SPAN_READ_INPUT);

    st = file_map_open(&f[0], vk_json);
    if (st == CUZK_OK) st = file_map_open(&f[1], public_json);
    if (st == CUZK_OK) st = file_map_open(&f[2], proof_json);
    if (st == CUZK_OK) st = groth16_vk_from_json(&vk, f[0].data, f[0].size, e->table, e->m);
    if (st == CUZK_OK) st = groth16_public_from_json(&pub, &n, vk->cv, f[1].data, f[1].size, e->m);
    if (st == CUZK_OK) st = groth16_proof_from_json(&proof, vk->cv, f[2].data, f[2].size);
    span_close(&sp);
    if (st == CUZK_OK) st = groth16_verify(j->host, vk, &proof, pub, n, valid);
    mem_free(e->m, pub);
    groth16_vk_free(vk);
    for (size_t i = 0; i < 3; i++) file_map_close(&f[i]);
    return st;
}

cuzk_status cuzk_circom_verify(cuzk_engine *e, const char *vk_json, const char *public_json,
                               const char *proof_json, bool *valid)
{
    job j;
    TRY(job_begin(&j, e));
    cuzk_status st = verify(&j, vk_json, public_json, proof_json, valid);
    job_end(&j);
    return st;
}

/** Reads the verifying key back from the zkey just written, so that both files come from the same bytes. */
static cuzk_status write_vk(cuzk_engine *e, const char *zkey, const char *vk_json)
{
    groth16_pk *pk;
    bytes_out o;

    TRY(groth16_zkey_open(&pk, zkey, e->table, e->pool, e->m));
    bytes_out_init(&o, e->m);
    cuzk_status st = groth16_vk_to_json(&o, pk->vk);
    if (st == CUZK_OK) st = file_write_whole(vk_json, o.data, o.size);
    bytes_out_clear(&o);
    groth16_pk_free(pk);
    return st;
}

static cuzk_status setup(job *j, const char *r1cs, const char *zkey, const char *vk_json)
{
    cuzk_engine *e = j->e;
    file_map f;
    r1cs_system *sys = NULL;
    groth16_trapdoors t;
    cuzk_status st;
    span sp = span_open(SPAN_READ_CIRCUIT);

    st = file_map_open(&f, r1cs);
    if (st == CUZK_OK) {
        st = circom_r1cs_read(&sys, f.data, f.size, e->table, e->m);
        file_map_close(&f);
    }
    span_close(&sp);
    if (st == CUZK_OK) st = groth16_trapdoors_random(&t, sys->cv);
    if (st == CUZK_OK) {
        groth16_setup_opts o = {.progress = engine_progress, .ctx = e, .cancel = e->cancel};
        sp = span_open(SPAN_SETUP);
        st = groth16_setup_zkey(job_setup_stream(j), sys, &t, zkey, &o, e->pool, e->m);
        span_close(&sp);
    }
    explicit_bzero(&t, sizeof t);
    r1cs_free(sys);
    if (st == CUZK_OK && vk_json != NULL) st = write_vk(e, zkey, vk_json);
    return st;
}

cuzk_status cuzk_circom_setup(cuzk_engine *e, const char *r1cs, const char *zkey,
                              const char *vk_json)
{
    job j;
    TRY(job_begin(&j, e));
    cuzk_status st = setup(&j, r1cs, zkey, vk_json);
    job_end(&j);
    return st;
}
