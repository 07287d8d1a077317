/*
 * engine/filecoin.c - jobs on Filecoin's proofs: prove, verify, setup
 *
 * One partition at a time: check and synthesise, prove, verify against the public inputs that follow from the statement
 * alone. The shape and the key of a circuit are shared by all its partitions.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/engine.h"

#include "circuit/filecoin/post.h"

#include <stdio.h>
#include <string.h>

#define PATH_MAX_LEN 4096

/** What all partitions of a proof share. */
typedef struct fil_job {
    const curve *cv;
    poseidon_set *ps;
    post_statement *st;
    r1cs_system *sys;
    groth16_pk *pk;
    file_map *files; /* one an input */
    post_input *inputs;
    size_t n_inputs;
} fil_job;

static cuzk_status parse_kind(fil_kind *kind, const char *name)
{
    if (name == NULL || !fil_kind_from_name(kind, name))
        return FAIL(CUZK_EINVAL, "unknown kind %s; known: winning, window",
                    name == NULL ? "(none)" : name);
    if (*kind != FIL_WINNING && *kind != FIL_WINDOW)
        return FAIL(CUZK_EINVAL,
                    "kind %s is not supported by this version; supported: winning, window", name);
    return CUZK_OK;
}

static cuzk_status key_path(char out[PATH_MAX_LEN], const char *dir, fil_kind kind,
                            const fil_size *size, const char *ext)
{
    char name[256];

    if (dir == NULL) return FAIL(CUZK_EINVAL, "no key directory given (--params DIR)");
    TRY(fil_key_name(name, kind, size));
    int n = snprintf(out, PATH_MAX_LEN, "%s/%s%s", dir, name, ext);
    if (n < 0 || n >= PATH_MAX_LEN)
        return FAIL(CUZK_EINVAL, "key directory path longer than %d bytes", PATH_MAX_LEN);
    return CUZK_OK;
}

static cuzk_status read_statement(cuzk_engine *e, fil_job *f, const cuzk_filecoin_args *args)
{
    fil_kind kind;
    file_map m;

    TRY(parse_kind(&kind, args->kind));
    if (args->statement == NULL)
        return FAIL(CUZK_EINVAL, "no statement given (--statement S.json)");
    TRY(file_map_open(&m, args->statement));
    cuzk_status st = post_statement_read(&f->st, m.data, m.size, kind, e->m);
    file_map_close(&m);
    return st;
}

static cuzk_status open_inputs(cuzk_engine *e, fil_job *f, const cuzk_filecoin_args *args)
{
    cuzk_status st;

    f->files = mem_new(e->m, args->n_inputs, sizeof *f->files, &st);
    if (f->files == NULL) return st;
    f->inputs = mem_new(e->m, args->n_inputs, sizeof *f->inputs, &st);
    if (f->inputs == NULL) return st;
    for (size_t i = 0; i < args->n_inputs; i++) {
        TRY(file_map_open(&f->files[i], args->inputs[i]));
        f->n_inputs = i + 1;
        f->inputs[i] = (post_input){f->files[i].data, f->files[i].size};
    }
    return CUZK_OK;
}

static void fil_job_clear(cuzk_engine *e, fil_job *f)
{
    for (size_t i = 0; i < f->n_inputs; i++) file_map_close(&f->files[i]);
    mem_free(e->m, f->files);
    mem_free(e->m, f->inputs);
    groth16_pk_free(f->pk);
    r1cs_free(f->sys);
    post_statement_free(f->st);
    poseidon_set_free(f->ps);
}

/** The inputs of partition k: of all given ones its slice, or just those given when they are that partition's alone. */
static cuzk_status slice(const fil_job *f, size_t k, bool single, const post_input **in, size_t *n)
{
    size_t total = f->st->n_sectors, from, count;

    post_partition_sectors(f->st, k, &from, &count);
    *n = count;
    if (f->n_inputs == total) {
        *in = f->inputs + from;
        return CUZK_OK;
    }
    if (single && f->n_inputs == count) {
        *in = f->inputs;
        return CUZK_OK;
    }
    return FAIL_DATA(SHAPE, "inputs",
                     "%zu inputs given, the statement has %zu sectors (%zu in partition %zu)",
                     f->n_inputs, total, count, k);
}

static cuzk_status open_key(cuzk_engine *e, fil_job *f, const char *dir)
{
    char path[PATH_MAX_LEN];
    span sp = span_open(SPAN_SHAPE);
    cuzk_status st = post_system_of(&f->sys, f->ps, f->st->kind, f->st->size, e->m);

    span_close(&sp);
    TRY(st);
    TRY(key_path(path, dir, f->st->kind, f->st->size, ".params"));
    sp = span_open(SPAN_READ_KEY);
    st = groth16_params_open(&f->pk, path, f->cv, f->sys, e->m);
    span_close(&sp);
    return st;
}

static cuzk_status decode(cuzk_engine *e, const fil_job *f, size_t k, bool single, post_vanilla **v)
{
    const post_input *in;
    size_t n;

    TRY(slice(f, k, single, &in, &n));
    span sp = span_open(SPAN_READ_INPUT);
    cuzk_status st = post_vanilla_read(v, f->st, k, in, n, f->ps, e->m);
    span_close(&sp);
    return st;
}

static cuzk_status synthesise(cuzk_engine *e, const fil_job *f, size_t k, bool single,
                              r1cs_assignment **w)
{
    post_vanilla *v;

    TRY(decode(e, f, k, single, &v));
    span sp = span_open(SPAN_SYNTH);
    cuzk_status st = post_synthesize(w, f->sys, v, e->pool, e->cancel, e->m);
    span_close(&sp);
    post_vanilla_free(v);
    return st;
}

static cuzk_status check_inputs(cuzk_engine *e, const fil_job *f, size_t k, bool single)
{
    post_vanilla *v;

    TRY(decode(e, f, k, single, &v));
    span sp = span_open(SPAN_CHECK_INPUT);
    cuzk_status st = post_vanilla_check(v, e->pool, e->cancel);
    span_close(&sp);
    post_vanilla_free(v);
    return st;
}

/** The witness's public inputs are the statement's: what a verifier will use. */
static cuzk_status compare_public(cuzk_engine *e, const fil_job *f, size_t k,
                                  const r1cs_assignment *w)
{
    cuzk_status st;
    size_t n = post_n_public(f->st);
    fr *pub = mem_new(e->m, n, sizeof *pub, &st);

    if (pub == NULL) return st;
    st = post_public_inputs(f->st, k, f->cv, pub);
    if (st == CUZK_OK && (w->n_inputs != n + 1 || memcmp(pub, w->inputs + 1, n * sizeof *pub) != 0))
        st = FAIL(CUZK_EBUG, "partition %zu: the witness's public inputs are not the statement's",
                  k);
    mem_free(e->m, pub);
    return st;
}

/** Why a proof of a checked witness did not verify: a row, a point of the key, or a bug. */
static cuzk_status explain(cuzk_engine *e, const fil_job *f, const r1cs_assignment *w)
{
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
    TRY(groth16_pk_check_points(f->pk, e->pool, e->cancel));
    return FAIL(
        CUZK_EBUG,
        "the proof of a satisfied circuit did not verify: key of another circuit, or a bug");
}

static cuzk_status prove_partition(job *j, const fil_job *f, size_t k,
                                   const cuzk_filecoin_args *args, bytes_out *out)
{
    cuzk_engine *e = j->e;
    r1cs_assignment *w = NULL;
    uint8_t bytes[GROTH16_PROOF_BYTES];
    groth16_proof proof;
    bool valid;
    cuzk_status st;

    span_context(0, (int32_t)k);
    TRY(synthesise(e, f, k, args->partition >= 0, &w));
    TRY_OUT(compare_public(e, f, k, w));
    groth16_prove_args pa = {.pk = f->pk, .sys = f->sys, .w = w, .fixed = args->fixed, .m = e->m};
    TRY_OUT(engine_prove(j, &proof, &pa, &valid));
    if (!valid) {
        st = explain(e, f, w);
        goto out;
    }
    groth16_proof_write(bytes, f->cv, &proof);
    bytes_put(out, bytes, sizeof bytes);
    st = bytes_out_status(out);
out:;
    span sp = span_open(SPAN_FREE);
    r1cs_assignment_free(w);
    span_close(&sp);
    return st;
}

static cuzk_status partition_range(const fil_job *f, const cuzk_filecoin_args *args, size_t *from,
                                   size_t *to)
{
    size_t n = post_partitions(f->st);

    *from = 0;
    *to = n;
    if (args->partition < 0) return CUZK_OK;
    if ((uint64_t)args->partition >= n)
        return FAIL_DATA(SHAPE, "partition", "partition %lld, the statement has %zu",
                         (long long)args->partition, n);
    *from = (size_t)args->partition;
    *to = *from + 1;
    return CUZK_OK;
}

static cuzk_status prove(job *j, const cuzk_filecoin_args *args, cuzk_buffer *proof)
{
    cuzk_engine *e = j->e;
    fil_job f = {.cv = curve_get(CURVE_ID_BLS12_381, e->table)};
    bytes_out out;
    size_t from, to;
    cuzk_status st;
    span sp = span_open(SPAN_READ_INPUT);

    bytes_out_init(&out, e->m);
    st = read_statement(e, &f, args);
    if (st == CUZK_OK) st = open_inputs(e, &f, args);
    span_close(&sp);
    if (st == CUZK_OK) {
        sp = span_open(SPAN_SHAPE);
        st = poseidon_set_new(&f.ps, f.cv, e->m);
        span_close(&sp);
    }
    if (st != CUZK_OK) goto out;
    TRY_OUT(partition_range(&f, args, &from, &to));
    if (!args->check_only) TRY_OUT(open_key(e, &f, args->params_dir));
    for (size_t k = from; k < to; k++) {
        engine_progress(e, "partitions", k - from, to - from);
        TRY_OUT(args->check_only ? check_inputs(e, &f, k, args->partition >= 0)
                                 : prove_partition(j, &f, k, args, &out));
    }
    engine_progress(e, "partitions", to - from, to - from);
    st = buffer_from_out(proof, &out);
out:
    sp = span_open(SPAN_FREE);
    bytes_out_clear(&out);
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

static cuzk_status read_vk(cuzk_engine *e, const fil_job *f, const char *dir, groth16_vk **vk)
{
    char path[PATH_MAX_LEN];
    file_map m;

    TRY(key_path(path, dir, f->st->kind, f->st->size, ".vk"));
    TRY(file_map_open(&m, path));
    cuzk_status st = groth16_vk_read(vk, m.data, m.size, NULL, f->cv, e->m);
    file_map_close(&m);
    if (st == CUZK_OK && (*vk)->n_ic != post_n_public(f->st) + 1)
        st = FAIL_DATA(SHAPE, "vk", "the key has %u public inputs, the statement %zu",
                       (*vk)->n_ic - 1, post_n_public(f->st));
    return st;
}

/** Decodes partitions [from, to) of the proof and derives their public inputs. */
static cuzk_status read_proofs(const fil_job *f, const file_map *m, size_t from, size_t to,
                               groth16_proof *proofs, fr *pub)
{
    size_t n = post_n_public(f->st);

    for (size_t k = from; k < to; k++) {
        cuzk_status st = groth16_proof_read(&proofs[k - from], f->cv,
                                            m->data + (k - from) * GROTH16_PROOF_BYTES);
        if (st != CUZK_OK) {
            status_add_where("partition %zu", k);
            return st;
        }
        TRY(post_public_inputs(f->st, k, f->cv, pub + (k - from) * n));
    }
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
    pub = mem_new(mm, n * post_n_public(f->st), sizeof *pub, &st);
    if (pub == NULL) goto out;
    span sp = span_open(SPAN_READ_INPUT);
    st = read_proofs(f, m, from, to, proofs, pub);
    span_close(&sp);
    if (st == CUZK_OK) st = groth16_verify_batch(j->s, vk, proofs, n, pub, valid);
out:
    mem_free(mm, pub);
    mem_free(mm, proofs);
    return st;
}

static cuzk_status verify(job *j, const cuzk_filecoin_args *args, const char *proof, bool *valid)
{
    cuzk_engine *e = j->e;
    fil_job f = {.cv = curve_get(CURVE_ID_BLS12_381, e->table)};
    groth16_vk *vk = NULL;
    file_map m = {0};
    size_t from, to;
    cuzk_status st;
    span sp = span_open(SPAN_READ_INPUT);

    st = read_statement(e, &f, args);
    if (st == CUZK_OK) st = partition_range(&f, args, &from, &to);
    if (st == CUZK_OK) st = file_map_open(&m, proof);
    if (st == CUZK_OK) st = read_vk(e, &f, args->params_dir, &vk);
    span_close(&sp);
    if (st == CUZK_OK) st = verify_all(j, &f, vk, &m, from, to, valid);
    file_map_close(&m);
    groth16_vk_free(vk);
    fil_job_clear(e, &f);
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

/* ---- setup ---- */

static cuzk_status write_meta(const char *dir, fil_kind kind, const fil_size *size)
{
    char path[PATH_MAX_LEN], text[64];

    TRY(key_path(path, dir, kind, size, ".meta"));
    int n = snprintf(text, sizeof text, "{\"sector_size\":%llu}", (unsigned long long)size->bytes);
    return file_write_whole(path, text, (size_t)n);
}

static cuzk_status setup(job *j, const char *circuit, const char *dir, const char *trapdoors)
{
    cuzk_engine *e = j->e;
    const curve *cv = curve_get(CURVE_ID_BLS12_381, e->table);
    char params[PATH_MAX_LEN], vk[PATH_MAX_LEN];
    groth16_setup_opts o = {.progress = engine_progress, .ctx = e, .cancel = e->cancel};
    groth16_trapdoors t;
    poseidon_set *ps = NULL;
    r1cs_system *sys = NULL;
    const fil_size *size;
    fil_kind kind;
    cuzk_status st;

    TRY(fil_circuit_parse(&kind, &size, circuit));
    TRY(parse_kind(&kind, fil_kind_name(kind)));
    TRY(key_path(params, dir, kind, size, ".params"));
    TRY(key_path(vk, dir, kind, size, ".vk"));
    TRY(file_make_dir(dir));
    TRY_OUT(trapdoors != NULL ? trapdoors_read(trapdoors, cv, &t, NULL)
                              : groth16_trapdoors_random(&t, cv));
    span sp = span_open(SPAN_SHAPE);
    st = poseidon_set_new(&ps, cv, e->m);
    if (st == CUZK_OK) st = post_system_of(&sys, ps, kind, size, e->m);
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
