/*
 * engine/service_aggregate_job.c - jobs of kind AGGREGATE: proofs that came with the request become one
 *
 * Stored as a statement (JSON, as the command line's) and a proof for each sector. It has one partition, which takes no
 * proving key and no device: `synthesis` reads, checks and aggregates, under the gate, then verifies what came out.
 *
 * Source: spec/filecoin-aggregate.md section 4.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "circuit/filecoin/porep.h"
#include "engine/aggregate.h"
#include "engine/service.h"

#define UPDATES 5u      /* registered update proofs */
#define MOST_PUBLIC 512 /* inputs of a partition, about as many as a PoRep has at most */
#define HASHES 7

/** Fields of 32 bytes, and which kinds have them. */
static const struct {
    const char *name;
    size_t at;
    uint32_t of;
} hashes[HASHES] = {
    {"ticket", offsetof(cuzk_sector, ticket), CUZK_POREP},
    {"seed", offsetof(cuzk_sector, seed), CUZK_POREP},
    {"comm_d", offsetof(cuzk_sector, comm_d), CUZK_POREP},
    {"comm_r", offsetof(cuzk_sector, comm_r), CUZK_POREP},
    {"comm_r_old", offsetof(cuzk_sector, comm_r_old), CUZK_UPDATE},
    {"comm_r_new", offsetof(cuzk_sector, comm_r_new), CUZK_UPDATE},
    {"comm_d_new", offsetof(cuzk_sector, comm_d_new), CUZK_UPDATE},
};

static const cuzk_bytes *hash_of(const cuzk_sector *s, size_t k)
{
    return (const cuzk_bytes *)(const void *)((const char *)s + hashes[k].at);
}

/* ---- the request ---- */

#define REFUSE(field, ...) \
    ((void)status_fail(__FILE__, __LINE__, CUZK_EINVAL, CUZK_CLASS_MALFORMED, (field), \
                       __VA_ARGS__), \
     CUZK_EINVAL)

static cuzk_status check_sector(const cuzk_request *r, size_t i)
{
    const cuzk_sector *s = &r->sectors[i];
    char field[64];

    for (size_t k = 0; k < HASHES; k++) {
        size_t size = hash_of(s, k)->size;

        if (size == 0 && hashes[k].of != r->aggregate_of) continue;
        (void)snprintf(field, sizeof field, "sectors[%zu].%s", i, hashes[k].name);
        if (hashes[k].of != r->aggregate_of)
            return REFUSE(field, "%s is given, and the proofs are %s", field,
                          r->aggregate_of == CUZK_POREP ? "seals'" : "updates'");
        if (size != 32) return REFUSE(field, "%s of %zu bytes, expected 32", field, size);
    }
    if (s->proof.size != 0) return CUZK_OK;
    (void)snprintf(field, sizeof field, "sectors[%zu].proof", i);
    return REFUSE(field, "%s is missing: each sector has its statement and its proof", field);
}

cuzk_status svc_aggregate_from(svc_request *out, const cuzk_request *r)
{
    bool seal = r->aggregate_of == CUZK_POREP;
    unsigned n_registered = seal ? POREP_REGISTERED : UPDATES;

    if (!seal && r->aggregate_of != CUZK_UPDATE)
        return REFUSE("proof_kind",
                      "proofs of kind %" PRIu32 " are not aggregated; known: 1 (PoRep), 2 "
                      "(SnapDeals), by AggregateProofs",
                      r->aggregate_of);
    if (r->registered_proof >= n_registered)
        return REFUSE("registered_proof", "registered %s proof %" PRIu64 ", known: 0 to %u",
                      seal ? "seal" : "update", r->registered_proof, n_registered - 1);
    if (r->aggregate_version > 2)
        return REFUSE("aggregate_version", "aggregate version %" PRIu32 ", known: 1, 2 (0: 2)",
                      r->aggregate_version);
    if (!seal && r->aggregate_version == 1)
        return REFUSE("aggregate_version", "updates are aggregated by version 2 alone");
    if (r->n_sectors == 0) return REFUSE("sectors", "no sectors: nothing to aggregate");
    if (r->n_sectors > AGGREGATE_MAX)
        return REFUSE("sectors", "%zu sectors, limit of an aggregate %u", r->n_sectors,
                      AGGREGATE_MAX);
    for (size_t i = 0; i < r->n_sectors; i++) TRY(check_sector(r, i));
    out->aggregate_of = r->aggregate_of;
    out->aggregate_version = r->aggregate_version == 1 ? 1 : 2;
    out->trust_inputs = r->trust_inputs;
    return CUZK_OK;
}

static void hash_u64(sha256_ctx *c, uint64_t v)
{
    uint8_t b[8];

    store_u64le(b, v);
    sha256_update(c, b, sizeof b);
}

static void hash_bytes(sha256_ctx *c, const cuzk_bytes *b)
{
    hash_u64(c, b->size);
    if (b->size != 0) sha256_update(c, b->data, b->size);
}

void svc_aggregate_hash(sha256_ctx *c, const cuzk_request *r)
{
    hash_u64(c, r->aggregate_of);
    hash_u64(c, r->aggregate_version == 1 ? 1 : 2);
    hash_u64(c, r->trust_inputs);
    hash_u64(c, r->n_sectors);
    for (size_t i = 0; i < r->n_sectors; i++) {
        const cuzk_sector *s = &r->sectors[i];

        hash_u64(c, s->sector_number);
        hash_u64(c, s->miner_id);
        for (size_t k = 0; k < HASHES; k++) hash_bytes(c, hash_of(s, k));
        hash_bytes(c, &s->proof);
    }
}

/* ---- the stored form ---- */

static void statement_text(bytes_out *o, const cuzk_request *r, const cuzk_sector *s)
{
    const fil_size *size = fil_size_by_bytes(r->sector_size);
    bool seal = r->aggregate_of == CUZK_POREP;

    bytes_printf(o, "{\"%s\":%" PRIu64, seal ? "registered_seal_proof" : "registered_update_proof",
                 r->registered_proof);
    if (r->sector_size != 0) svc_put_u64(o, "sector_size", r->sector_size);
    if (seal) {
        svc_put_u64(o, "layers", size == NULL ? 0 : size->porep_layers);
        svc_put_u64(o, "miner_id", s->miner_id);
        svc_put_u64(o, "sector_number", s->sector_number);
    }
    for (size_t k = 0; k < HASHES; k++)
        if (hashes[k].of == r->aggregate_of) svc_put_hash(o, hashes[k].name, hash_of(s, k)->data);
    bytes_printf(o, "}");
}

cuzk_status svc_aggregate_compact(cuzk_bytes *pieces, bytes_out *scratch, const cuzk_request *r)
{
    const uint8_t *at;

    for (size_t i = 0; i < r->n_sectors; i++) {
        size_t before = scratch->size;

        statement_text(scratch, r, &r->sectors[i]);
        pieces[2 * i].size = scratch->size - before;
        pieces[2 * i + 1] = r->sectors[i].proof;
    }
    TRY(bytes_out_status(scratch));
    at = scratch->data; /* it does not move any more */
    for (size_t i = 0; i < r->n_sectors; at += pieces[2 * i++].size) pieces[2 * i].data = at;
    return CUZK_OK;
}

/* ---- the job ---- */

static cuzk_status read_statement(fil_job *f, const svc_job *j, const job_env *env, size_t sector)
{
    const file_map *text = &j->fil.files[2 * sector];

    *f = (fil_job){.env = env,
                   .cv = curve_get(CURVE_ID_BLS12_381, env->table),
                   .redundant = {false, env->warn, env->warn_ctx}};
    TRY(fil_ops_of(&f->ops, &f->kind, svc_cli_kind(j->rq.aggregate_of)));
    cuzk_status st = f->ops->read_statement(f, text->data, text->size);
    if (st != CUZK_OK) status_add_where("sector %zu", sector);
    return st;
}

static size_t sectors_of(const svc_job *j)
{
    return j->rq.n_pieces / 2;
}

cuzk_status svc_aggregate_decode(svc_job *j)
{
    agg_powers p;
    fil_job f;
    cuzk_status st;

    if (j->rq.n_pieces == 0 || j->rq.n_pieces % 2 != 0)
        return FAIL(CUZK_EDATA, "stored aggregate of %" PRIu32 " pieces", j->rq.n_pieces);
    st = read_statement(&f, j, &j->env, 0);
    f.files = j->fil.files;
    f.n_files = j->fil.n_files;
    j->fil = f; /* cleared with the job */
    TRY(st);
    size_t n = sectors_of(j) * f.n_partitions; /* both are small */
    if (n > AGGREGATE_MAX)
        return FAIL_DATA(LIMIT, "sectors", "%zu sectors of %zu proofs, limit of an aggregate %u",
                         sectors_of(j), f.n_partitions, AGGREGATE_MAX);
    TRY(agg_powers_open(&p, j->s->e, j->s->c.params_dir, NULL));
    st = agg_powers_reach(&p, n);
    agg_powers_close(&p);
    return st;
}

uint64_t svc_aggregate_foreseen(const svc_job *j)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < sectors_of(j); i++) bytes += j->rq.piece_sizes[2 * i + 1];
    if (bytes / GROTH16_PROOF_BYTES > AGGREGATE_MAX) return 1; /* decoding refuses it */
    return agg_list_size((size_t)(bytes / GROTH16_PROOF_BYTES), MOST_PUBLIC);
}

uint64_t svc_aggregate_needs(const svc_job *j)
{
    return agg_list_size(sectors_of(j) * j->fil.n_partitions, j->fil.n_public);
}

static cuzk_status read_sectors(agg_list *l, const svc_job *j)
{
    for (size_t i = 0; i < sectors_of(j); i++) {
        const file_map *proof = &j->fil.files[2 * i + 1];
        fil_job f;

        TRY(cancel_check(l->env->cancel));
        cuzk_status st = read_statement(&f, j, l->env, i);
        if (st == CUZK_OK) st = agg_list_add(l, &f, proof->data, proof->size);
        if (f.ops != NULL) f.ops->clear(&f);
        TRY(st);
    }
    return CUZK_OK;
}

/** What an aggregation works with. */
typedef struct work {
    svc_part *p;
    agg_list l;
    groth16_vk *vk;
    agg_powers powers;
    dev_stream *host;
    bytes_out out;
} work;

static cuzk_status open_keys(work *w)
{
    const service *s = w->p->job->s;
    fil_job f = {.env = w->l.env,
                 .cv = w->l.cv,
                 .kind = w->l.kind,
                 .size = w->l.size,
                 .n_public = w->l.n_public};
    span sp = span_open(SPAN_READ_KEY);
    cuzk_status st = fil_read_vk(&w->vk, &f, s->c.params_dir);

    span_close(&sp);
    TRY(st);
    TRY(agg_powers_open(&w->powers, s->e, s->c.params_dir, NULL));
    return dev_stream_open(&w->host, s->e->host, w->p->job->cancel);
}

/** It does not verify: then a proof in it does not, or the powers are none. */
static cuzk_status explain(const work *w)
{
    TRY(agg_list_check(&w->l, w->host, w->vk));
    return status_fail(__FILE__, __LINE__, CUZK_EIO, CUZK_CLASS_IO, FIL_SRS_NAME,
                       "the aggregate does not verify, though every proof does: %s does not hold "
                       "powers of two secrets, or the machine is faulty",
                       FIL_SRS_NAME),
           CUZK_EIO; /* not the request's: it may be tried again */
}

static void change_phase(svc_job *j, job_phase from, job_phase to)
{
    svc_lock(j->s);
    uint64_t now = clock_ns();
    job_clock_leave(&j->clock, from, now);
    job_clock_enter(&j->clock, to, now);
    svc_unlock(j->s);
}

static cuzk_status aggregate(work *w)
{
    svc_job *j = w->p->job;
    aggregate_version v = j->rq.aggregate_version == 1 ? AGGREGATE_V1 : AGGREGATE_V2;
    bool valid = false;
    cuzk_status st;

    span sp = span_open(SPAN_READ_INPUT);
    st = read_sectors(&w->l, j);
    span_close(&sp);
    TRY(st);
    TRY(open_keys(w));
    if (!j->rq.trust_inputs) TRY(agg_list_check(&w->l, w->host, w->vk));
    fault_stall("aggregate");
    TRY(agg_list_prove(&w->out, &w->l, &w->powers, w->host, v, NULL));
    change_phase(j, PHASE_SYNTHESIS, PHASE_VERIFY);
    st = agg_list_verify(&valid, &w->l, &w->powers, w->host, v, w->vk, w->out.data, w->out.size);
    if (fault_hit("aggregate self check")) valid = false;
    if (st == CUZK_OK && !valid) st = explain(w);
    change_phase(j, PHASE_VERIFY, PHASE_SYNTHESIS);
    return st;
}

cuzk_status svc_aggregate_run(svc_part *p)
{
    svc_job *j = p->job;
    job_env env = j->env;
    cuzk_buffer whole = {0};
    work w = {.p = p};
    cuzk_status st;

    env.m = p->m;
    bytes_out_init(&w.out, p->m);
    agg_list_init(&w.l, &env, curve_get(CURVE_ID_BLS12_381, env.table), sectors_of(j), true);
    st = aggregate(&w);
    if (st == CUZK_OK) st = buffer_from_out(&whole, &w.out);
    p->proof = whole.data;
    p->proof_size = whole.size;
    dev_stream_close(w.host);
    agg_powers_close(&w.powers);
    agg_list_clear(&w.l);
    groth16_vk_free(w.vk);
    bytes_out_clear(&w.out);
    return st;
}
