/*
 * engine/filecoin.c - jobs on Filecoin's proofs: prove and verify, whatever the kind
 *
 * A partition at a time on each device: check and synthesise, prove, verify against the public inputs that follow from the statement
 * alone. The shape and the key of a circuit are shared by all its partitions. What differs between kinds is in filecoin.h's
 * tables.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/aggregate.h"

#include <stdio.h>
#include <string.h>

#include "circuit/filecoin/statement_fields.h"
#include "engine/kept_vk.h"
#include "engine/key_store.h"

static const fil_ops *const ops_of_kinds[FIL_KINDS] = {
    [FIL_POREP] = &fil_porep_ops,
    [FIL_WINNING] = &fil_post_ops,
    [FIL_WINDOW] = &fil_post_ops,
    [FIL_UPDATE] = &fil_update_ops,
    [FIL_UPDATE_POSEIDON] = &fil_update_ops,
};

cuzk_status fil_ops_of(const fil_ops **ops, fil_kind *kind, const char *name)
{
    if (name == NULL || !fil_kind_from_name(kind, name))
        return FAIL(CUZK_EINVAL, "unknown kind %s; known: porep, winning, window, update",
                    name == NULL ? "(none)" : name);
    *ops = ops_of_kinds[*kind];
    return CUZK_OK;
}

cuzk_status fil_key_path(char out[FIL_PATH_MAX], const char *dir, fil_kind kind,
                         const fil_size *size, const char *ext)
{
    char name[256];

    if (dir == NULL) return FAIL(CUZK_EINVAL, "no key directory given (--params DIR)");
    TRY(fil_key_name(name, kind, size));
    int n = snprintf(out, FIL_PATH_MAX, "%s/%s%s", dir, name, ext);
    if (n < 0 || n >= FIL_PATH_MAX)
        return FAIL(CUZK_EINVAL, "key directory path longer than %d bytes", FIL_PATH_MAX);
    return CUZK_OK;
}

/* ---- a job's statement and inputs ---- */

/** The statement's text with the fields that are given beside it. */
static cuzk_status read_merged(fil_job *f, const file_map *m, const cuzk_filecoin_args *args)
{
    cuzk_status st;
    bytes_out text;
    fil_field *fields = mem_new(f->env->m, args->n_fields, sizeof *fields, &st);

    if (fields == NULL) return st;
    for (size_t i = 0; i < args->n_fields; i++)
        fields[i] = (fil_field){args->fields[i].name, args->fields[i].value};
    bytes_out_init(&text, f->env->m);
    st = fil_statement_merge(&text, m->data, m->size, fields, args->n_fields);
    if (st == CUZK_OK) st = f->ops->read_statement(f, text.data, text.size);
    bytes_out_clear(&text);
    mem_free(f->env->m, fields);
    return st;
}

static cuzk_status read_statement(fil_job *f, const cuzk_filecoin_args *args)
{
    file_map m = {0};
    cuzk_status st;

    if (args->statement == NULL && args->n_fields == 0)
        return FAIL(CUZK_EINVAL, "no statement given (--statement S.json)");
    if (args->statement != NULL) TRY(file_map_open(&m, args->statement));
    st = args->n_fields != 0 ? read_merged(f, &m, args) : f->ops->read_statement(f, m.data, m.size);
    file_map_close(&m);
    return st;
}

static cuzk_status open_inputs(fil_job *f, const cuzk_filecoin_args *args)
{
    cuzk_status st;

    f->files = mem_new(f->env->m, args->n_inputs, sizeof *f->files, &st);
    if (f->files == NULL) return st;
    for (; f->n_files < args->n_inputs; f->n_files++)
        TRY(file_map_open(&f->files[f->n_files], args->inputs[f->n_files]));
    return f->ops->read_inputs == NULL ? CUZK_OK : f->ops->read_inputs(f);
}

/** What prove and verify begin with. */
static cuzk_status fil_job_open(fil_job *f, cuzk_engine *e, const cuzk_filecoin_args *args)
{
    *f = (fil_job){.env = &e->env,
                   .cv = curve_get(CURVE_ID_BLS12_381, e->table),
                   .single = args->partition >= 0,
                   .redundant = {args->strict, engine_warn, e}};
    TRY(fil_ops_of(&f->ops, &f->kind, args->kind));
    return read_statement(f, args);
}

static void fil_job_clear(const cuzk_engine *e, fil_job *f)
{
    mem *m = f->env->m;

    if (f->ops != NULL) f->ops->clear(f);
    for (size_t i = 0; i < f->n_files; i++) file_map_close(&f->files[i]);
    mem_free(m, f->files);
    engine_forget_key(e, f->pk, f->sys);
    groth16_pk_free(f->pk);
    r1cs_free(f->sys);
    poseidon_set_free(f->ps);
}

static cuzk_status partition_range(const fil_job *f, const cuzk_filecoin_args *args, size_t *from,
                                   size_t *to)
{
    *from = 0;
    *to = f->n_partitions;
    if (args->partition < 0) return CUZK_OK;
    if ((uint64_t)args->partition >= f->n_partitions)
        return FAIL_DATA(SHAPE, "partition", "partition %lld, the statement has %zu",
                         (long long)args->partition, f->n_partitions);
    *from = (size_t)args->partition;
    *to = *from + 1;
    return CUZK_OK;
}

/* ---- prove ---- */

static cuzk_status open_key(cuzk_engine *e, fil_job *f, const char *dir)
{
    char path[FIL_PATH_MAX];
    span sp = span_open(SPAN_SHAPE);
    cuzk_status st = f->ops->system(&f->sys, f->ps, f->kind, f->size, e->m);

    span_close(&sp);
    TRY(st);
    TRY(fil_key_path(path, dir, f->kind, f->size, ".params"));
    sp = span_open(SPAN_READ_KEY);
    st = key_trust(e, dir, f->kind, f->size);
    if (st == CUZK_OK) st = groth16_params_open(&f->pk, path, f->cv, f->sys, e->m);
    if (st == CUZK_OK) st = key_derived_open(e, f->pk, dir, f->kind, f->size);
    span_close(&sp);
    return st;
}

cuzk_status fil_compare_public(const fil_job *f, size_t k, const r1cs_assignment *w)
{
    mem *m = f->env->m;
    cuzk_status st;
    size_t n = f->n_public;
    fr *pub = mem_new(m, n, sizeof *pub, &st);

    if (pub == NULL) return st;
    st = f->ops->public_inputs(f, k, pub);
    if (st == CUZK_OK && (w->n_inputs != n + 1 || memcmp(pub, w->inputs + 1, n * sizeof *pub) != 0))
        st = FAIL(CUZK_EBUG, "partition %zu: the witness's public inputs are not the statement's",
                  k);
    mem_free(m, pub);
    return st;
}

static cuzk_status check_derived(const fil_job *f)
{
    const groth16_derived *x = f->pk->derived;
    groth16_derived_info info;

    return x == NULL ? CUZK_OK
                     : groth16_derived_info_read(&info, x->file.data, x->file.size, f->env->cancel);
}

cuzk_status fil_explain(const fil_job *f, const r1cs_assignment *w)
{
    const job_env *e = f->env;
    r1cs_fault fault;
    char where[128];

    TRY(r1cs_check(f->sys, w, e->pool, e->cancel, &fault));
    if (fault.found) {
        snprintf(where, sizeof where, "row %u, gadget %s, instance %zu", fault.row, fault.tmpl,
                 fault.instance);
        return FAIL_DATA(UNSATISFIED, where,
                         "the witness does not satisfy constraint %u (%s, its row %u)", fault.row,
                         fault.tmpl, fault.row_in_tmpl);
    }
    TRY(engine_check_key(f->pk, e->pool, e->cancel, NULL));
    TRY(check_derived(f));
    return FAIL(
        CUZK_EBUG,
        "the proof of a satisfied circuit did not verify: key of another circuit, or a bug");
}

/* Partitions [from, from + n) of a proof. */
typedef struct proving {
    const fil_job *f;
    const cuzk_filecoin_args *args;
    size_t from, n;
    uint8_t *bytes;      /* of each partition's proof; NULL: they are checked alone */
    atomic_size_t begun; /* relaxed: to be told alone */
} proving;

static cuzk_status prove_partition(job *j, const proving *p, size_t i)
{
    const fil_job *f = p->f;
    size_t k = p->from + i;
    r1cs_assignment *w = NULL;
    groth16_proof proof;
    bool valid;
    cuzk_status st;

    TRY(f->ops->synthesise(f, k, &w));
    TRY_OUT(fil_compare_public(f, k, w));
    groth16_prove_args pa = {
        .pk = f->pk, .sys = f->sys, .w = w, .fixed = p->args->fixed, .m = f->env->m};
    TRY_OUT(engine_prove(j, &proof, &pa, &valid));
    if (!valid) {
        st = fil_explain(f, w);
        goto out;
    }
    groth16_proof_write(p->bytes + i * GROTH16_PROOF_BYTES, f->cv, &proof);
out:;
    span sp = span_open(SPAN_FREE);
    r1cs_assignment_free(w);
    span_close(&sp);
    return st;
}

static cuzk_status do_partition(void *ctx, job *j, size_t i)
{
    proving *p = ctx;
    size_t k = p->from + i;

    span_context(0, (int32_t)k);
    engine_progress(j->e, "partitions",
                    atomic_fetch_add_explicit(&p->begun, 1, memory_order_relaxed), p->n);
    return p->bytes == NULL ? p->f->ops->check(p->f, k) : prove_partition(j, p, i);
}

/* Their proofs, in order, to out. */
static cuzk_status do_partitions(job *j, proving *p, bytes_out *out)
{
    mem *m = p->f->env->m;
    cuzk_status st = CUZK_OK;

    if (!p->args->check_only) {
        p->bytes = mem_new(m, p->n, GROTH16_PROOF_BYTES, &st);
        if (p->bytes == NULL) return st;
    }
    st = engine_spread(j, p->n, do_partition, p);
    if (st == CUZK_OK) engine_progress(j->e, "partitions", p->n, p->n);
    if (st == CUZK_OK && p->bytes != NULL) {
        bytes_put(out, p->bytes, p->n * GROTH16_PROOF_BYTES);
        st = bytes_out_status(out);
    }
    mem_free(m, p->bytes);
    return st;
}

/** Everything before the first partition. */
static cuzk_status prepare(fil_job *f, cuzk_engine *e, const cuzk_filecoin_args *args)
{
    span sp = span_open(SPAN_READ_INPUT);
    cuzk_status st = fil_job_open(f, e, args);

    if (st == CUZK_OK) st = open_inputs(f, args);
    span_close(&sp);
    TRY(st);
    sp = span_open(SPAN_SHAPE);
    st = poseidon_set_new_of(&f->ps, e->table, fil_arities(f->kind, f->size), e->m);
    span_close(&sp);
    return st;
}

/** The powers that the proof's form takes, when it is an aggregate; before hours of proving. */
static cuzk_status open_powers(cuzk_engine *e, const fil_job *f, const cuzk_filecoin_args *args,
                               agg_powers *powers)
{
    bool wanted = fil_is_ni(f) && !args->circuit_proofs && args->partition < 0 && !args->check_only;

    if (!wanted && args->srs != NULL)
        return FAIL(CUZK_EINVAL, "powers (--srs) are for whole proofs of non-interactive PoReps");
    if (!wanted) return CUZK_OK;
    TRY(agg_powers_open(powers, e, args->params_dir, args->srs));
    return agg_powers_reach(powers, f->n_partitions);
}

static cuzk_status prove(job *j, const cuzk_filecoin_args *args, cuzk_buffer *proof)
{
    cuzk_engine *e = j->e;
    agg_powers powers = {0};
    fil_job f;
    bytes_out out, whole;
    size_t from, to;
    cuzk_status st;

    bytes_out_init(&out, e->m);
    bytes_out_init(&whole, e->m);
    TRY_OUT(prepare(&f, e, args));
    TRY_OUT(partition_range(&f, args, &from, &to));
    TRY_OUT(open_powers(e, &f, args, &powers));
    if (!args->check_only) TRY_OUT(open_key(e, &f, args->params_dir));
    proving p = {.f = &f, .args = args, .from = from, .n = to - from};
    TRY_OUT(do_partitions(j, &p, &out));
    if (powers.srs != NULL) TRY_OUT(fil_aggregate_ni(&whole, j->host, &f, &powers, &out));
    st = buffer_from_out(proof, powers.srs != NULL ? &whole : &out);
out:;
    span sp = span_open(SPAN_FREE);
    bytes_out_clear(&whole);
    bytes_out_clear(&out);
    agg_powers_close(&powers);
    fil_job_clear(e, &f);
    span_close(&sp);
    return st;
}

cuzk_status cuzk_filecoin_prove(cuzk_engine *e, const cuzk_filecoin_args *args, cuzk_buffer *proof)
{
    job j;
    TRY(job_begin(&j, e));
    cuzk_status st = prove(&j, args, proof);
    job_end(&j);
    return st;
}

/* ---- verify ---- */

static cuzk_status read_vk_at(groth16_vk **vk, const fil_job *f, const char *dir, const char *path)
{
    file_map m;

    TRY(file_map_open(&m, path));
    cuzk_status st = key_trust_vk(f->env, dir, f->kind, f->size, m.data, m.size);
    if (st == CUZK_OK) st = groth16_vk_read(vk, m.data, m.size, NULL, f->cv, f->env->m);
    file_map_close(&m);
    return st;
}

static cuzk_status check_inputs(const groth16_vk *vk, const fil_job *f)
{
    if (vk->n_ic == f->n_public + 1) return CUZK_OK;
    return FAIL_DATA(SHAPE, "vk", "the key has %u public inputs, the statement %zu", vk->n_ic - 1,
                     f->n_public);
}

cuzk_status fil_read_vk(groth16_vk **vk, const fil_job *f, const char *dir)
{
    char path[FIL_PATH_MAX];

    TRY(fil_key_path(path, dir, f->kind, f->size, ".vk"));
    TRY(read_vk_at(vk, f, dir, path));
    return check_inputs(*vk, f);
}

/** The key that the engine used last, when it is the one; else read. */
static cuzk_status take_vk(kept_vk **k, cuzk_engine *e, const fil_job *f, const char *dir)
{
    char path[FIL_PATH_MAX];

    TRY(fil_key_path(path, dir, f->kind, f->size, ".vk"));
    TRY(kept_vk_take(k, e, path));
    if ((*k)->vk == NULL) TRY(read_vk_at(&(*k)->vk, f, dir, path));
    return check_inputs((*k)->vk, f);
}

/** Decodes partitions [from, to) of the proof and derives their public inputs. */
static cuzk_status read_proofs(const fil_job *f, const file_map *m, size_t from, size_t to,
                               groth16_proof *proofs, fr *pub)
{
    size_t bad = 0;
    cuzk_status st = groth16_proofs_read(proofs, f->cv, m->data, to - from, &bad);

    if (st != CUZK_OK) {
        status_add_where("partition %zu", from + bad);
        return st;
    }
    for (size_t k = from; k < to; k++)
        TRY(f->ops->public_inputs(f, k, pub + (k - from) * f->n_public));
    return CUZK_OK;
}

static cuzk_status verify_all(job *j, const fil_job *f, const groth16_vk *vk, const file_map *m,
                              size_t from, size_t to, bool *valid)
{
    mem *mm = j->e->m;
    cuzk_status st;
    size_t n = to - from;
    fr *pub = NULL;
    groth16_proof *proofs = NULL;

    if (m->size != n * GROTH16_PROOF_BYTES)
        return FAIL_DATA(SHAPE, "proof", "proof of %zu bytes, %zu partitions have %zu", m->size, n,
                         n * GROTH16_PROOF_BYTES);
    proofs = mem_new(mm, n, sizeof *proofs, &st);
    if (proofs == NULL) goto out;
    pub = mem_new(mm, n * f->n_public, sizeof *pub, &st);
    if (pub == NULL) goto out;
    span sp = span_open(SPAN_READ_INPUT);
    st = read_proofs(f, m, from, to, proofs, pub);
    span_close(&sp);
    if (st == CUZK_OK) st = groth16_verify_batch(j->host, vk, proofs, n, pub, valid);
out:
    mem_free(mm, pub);
    mem_free(mm, proofs);
    return st;
}

/** The proof is the network's form of a non-interactive PoRep: not its circuits' proofs, whose length no aggregate has. */
static bool is_whole_ni(const fil_job *f, const cuzk_filecoin_args *args, const file_map *m)
{
    return fil_is_ni(f) && !args->circuit_proofs && args->partition < 0 &&
           m->size != f->n_partitions * GROTH16_PROOF_BYTES;
}

static cuzk_status verify_whole(job *j, const fil_job *f, const cuzk_filecoin_args *args,
                                const groth16_vk *vk, const file_map *m, bool *valid)
{
    agg_powers powers;

    TRY(agg_powers_open(&powers, j->e, args->params_dir, args->srs));
    cuzk_status st = fil_verify_ni(valid, j->host, f, &powers, vk, m->data, m->size);
    agg_powers_close(&powers);
    return st;
}

static cuzk_status verify(job *j, const cuzk_filecoin_args *args, const char *proof, bool *valid)
{
    fil_job f;
    kept_vk *k = NULL;
    file_map m = {0};
    size_t from, to;
    cuzk_status st;
    span sp = span_open(SPAN_READ_INPUT);

    st = fil_job_open(&f, j->e, args);
    if (st == CUZK_OK) st = partition_range(&f, args, &from, &to);
    if (st == CUZK_OK) st = file_map_open(&m, proof);
    if (st == CUZK_OK) st = take_vk(&k, j->e, &f, args->params_dir);
    if (st == CUZK_OK) kept_vk_prepare(k, j->host);
    span_close(&sp);
    if (st == CUZK_OK)
        st = is_whole_ni(&f, args, &m) ? verify_whole(j, &f, args, k->vk, &m, valid)
                                       : verify_all(j, &f, k->vk, &m, from, to, valid);
    file_map_close(&m);
    if (st == CUZK_OK)
        kept_vk_put(j->e, k);
    else
        kept_vk_free(k);
    fil_job_clear(j->e, &f);
    return st;
}

cuzk_status cuzk_filecoin_verify(cuzk_engine *e, const cuzk_filecoin_args *args, const char *proof,
                                 bool *valid)
{
    job j;
    TRY(job_begin(&j, e));
    cuzk_status st = verify(&j, args, proof, valid);
    job_end(&j);
    return st;
}
