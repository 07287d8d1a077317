/*
 * engine/aggregate.c - a list of Filecoin's proofs: filled sector by sector, checked, aggregated, verified
 *
 * Source: spec/filecoin-aggregate.md section 4.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/aggregate.h"

#include <stdio.h>
#include <string.h>

#include "base/u128.h"
#include "engine/key_store.h"

#define NI_SECTORS_MAX 65u          /* spec section 4.4 */
#define SLACK ((uint64_t)256 << 10) /* statements, blocks' heads, the verifier's few values */

/* ---- powers ---- */

cuzk_status agg_powers_open(agg_powers *out, cuzk_engine *e, const char *dir, const char *path)
{
    char in_dir[FIL_PATH_MAX];

    *out = (agg_powers){0};
    if (path == NULL) {
        if (dir == NULL) return FAIL(CUZK_EINVAL, "no powers given (--srs FILE, or --params DIR)");
        int n = snprintf(in_dir, sizeof in_dir, "%s/%s", dir, FIL_SRS_NAME);
        if (n < 0 || (size_t)n >= sizeof in_dir)
            return FAIL(CUZK_EINVAL, "key directory path longer than %d bytes", FIL_PATH_MAX);
        path = in_dir;
    }
    span sp = span_open(SPAN_READ_KEY);
    cuzk_status st =
        aggregate_srs_open(&out->srs, path, curve_get(CURVE_ID_BLS12_381, e->table), e->m);
    if (st == CUZK_OK) st = key_trust_srs(e, path, aggregate_srs_points(out->srs), &out->trusted);
    span_close(&sp);
    if (st != CUZK_OK) agg_powers_close(out);
    return st;
}

void agg_powers_close(agg_powers *p)
{
    aggregate_srs_free(p->srs);
    p->srs = NULL;
}

cuzk_status agg_powers_reach(const agg_powers *p, size_t n)
{
    uint32_t capacity = aggregate_srs_capacity(p->srs), padded = aggregate_padded(n);

    if (padded != 0 && padded <= capacity) return CUZK_OK;
    return FAIL_DATA(LIMIT, "srs", "the srs reaches to %u proofs, %zu are padded to %u", capacity,
                     n, padded);
}

/* ---- the list ---- */

void agg_list_init(agg_list *l, const job_env *env, const curve *cv, size_t n_sectors,
                   bool with_proofs)
{
    *l = (agg_list){.env = env, .cv = cv, .n_sectors = n_sectors, .with_proofs = with_proofs};
    sha256_init(&l->bound);
}

void agg_list_clear(agg_list *l)
{
    mem_free(l->env->m, l->proofs);
    mem_free(l->env->m, l->pub);
    l->proofs = NULL;
    l->pub = NULL;
}

/** The first sector says what all are of, and how much they take. */
static cuzk_status begin(agg_list *l, const fil_job *f, const fil_binding *b)
{
    size_t n;
    cuzk_status st;

    l->kind = f->kind;
    l->size = f->size;
    l->n_partitions = f->n_partitions;
    l->n_public = f->n_public;
    l->first = *b;
    if (!size_mul(&n, l->n_sectors, f->n_partitions) || n > AGGREGATE_MAX)
        return FAIL_DATA(LIMIT, "sectors", "%zu sectors of %zu proofs, limit of an aggregate %u",
                         l->n_sectors, f->n_partitions, AGGREGATE_MAX);
    if (b->non_interactive && l->n_sectors > NI_SECTORS_MAX)
        return FAIL_DATA(LIMIT, "sectors", "%zu non-interactive sectors, limit %u", l->n_sectors,
                         NI_SECTORS_MAX);
    if (l->with_proofs) {
        l->proofs = mem_new(l->env->m, n, sizeof *l->proofs, &st);
        if (l->proofs == NULL) return st;
    }
    l->pub = mem_new(l->env->m, n, f->n_public * sizeof *l->pub, &st);
    return l->pub == NULL ? st : CUZK_OK;
}

static cuzk_status check_alike(const agg_list *l, const fil_job *f, const fil_binding *b)
{
    if (b->non_interactive != l->first.non_interactive)
        return FAIL_DATA(SHAPE, "", "%s, and sector 0 is not",
                         b->non_interactive ? "non-interactive" : "interactive");
    if (f->kind != l->kind || f->size != l->size || f->n_partitions != l->n_partitions ||
        f->n_public != l->n_public)
        return FAIL_DATA(SHAPE, "", "another circuit (%s-%s) than sector 0's (%s-%s)",
                         fil_kind_name(f->kind), f->size->name, fil_kind_name(l->kind),
                         l->size->name);
    if (b->group == l->first.group) return CUZK_OK;
    return FAIL_DATA(SHAPE, "",
                     "h is %u, and sector 0's %u: updates of one aggregate have the same", b->group,
                     l->first.group);
}

static cuzk_status add_partition(agg_list *l, const fil_job *f, size_t k, const uint8_t *proof)
{
    if (l->with_proofs) TRY(groth16_proof_read(&l->proofs[l->n], l->cv, proof));
    TRY(f->ops->public_inputs(f, k, l->pub + l->n * l->n_public));
    l->n++;
    return CUZK_OK;
}

static cuzk_status add(agg_list *l, const fil_job *f, const uint8_t *proofs, size_t size)
{
    fil_binding b;

    if (f->ops->binding == NULL)
        return FAIL_DATA(SHAPE, "", "proofs of kind %s are not aggregated", fil_kind_name(f->kind));
    f->ops->binding(f, &b);
    if (l->n_added == 0) TRY(begin(l, f, &b));
    TRY(check_alike(l, f, &b));
    if (l->with_proofs && size != l->n_partitions * GROTH16_PROOF_BYTES)
        return FAIL_DATA(SHAPE, "", "proof of %zu bytes, %zu partitions have %zu", size,
                         l->n_partitions, l->n_partitions * GROTH16_PROOF_BYTES);
    for (size_t k = 0; k < l->n_partitions; k++) {
        cuzk_status st =
            add_partition(l, f, k, l->with_proofs ? proofs + k * GROTH16_PROOF_BYTES : NULL);
        if (st != CUZK_OK) status_add_where("partition %zu", k);
        TRY(st);
    }
    sha256_update(&l->bound, b.bytes, b.size);
    l->n_added++;
    return CUZK_OK;
}

cuzk_status agg_list_add(agg_list *l, const fil_job *f, const uint8_t *proofs, size_t size)
{
    if (l->n_added == l->n_sectors)
        return FAIL(CUZK_EBUG, "more than the %zu sectors announced", l->n_sectors);
    cuzk_status st = add(l, f, proofs, size);
    if (st != CUZK_OK) status_add_where("sector %zu", l->n_added);
    return st;
}

uint64_t agg_list_size(size_t n, size_t n_public)
{
    const uint64_t output = aggregate_size(AGGREGATE_MAX);

    /* a verifying key has a point an input; growing output is there twice for a moment */
    return n * (sizeof(groth16_proof) + n_public * sizeof(fr)) +
           aggregate_prove_size(aggregate_padded(n)) + 2 * n_public * sizeof(g1_any) + 3 * output +
           SLACK;
}

static void bound_statement(const agg_list *l, uint8_t out[AGGREGATE_STATEMENT])
{
    sha256_ctx h = l->bound;

    sha256_final(&h, out);
}

/* ---- what is done with it ---- */

cuzk_status agg_list_check(const agg_list *l, dev_stream *s, const groth16_vk *vk)
{
    size_t from = 0, n = l->n;
    bool valid;

    TRY(groth16_verify_batch(s, vk, l->proofs, n, l->pub, &valid));
    if (valid) return CUZK_OK;
    while (n > 1) { /* the first that fails is in [from, from + n) */
        size_t half = n / 2;
        TRY(cancel_check(l->env->cancel));
        TRY(groth16_verify_batch(s, vk, l->proofs + from, half, l->pub + from * l->n_public,
                                 &valid));
        if (valid) from += half;
        n = valid ? n - half : half;
    }
    char where[64];
    (void)snprintf(where, sizeof where, "proof %zu", from);
    return FAIL_DATA(UNSATISFIED, where,
                     "proof %zu (sector %zu, partition %zu) does not verify: nothing is aggregated",
                     from, from / l->n_partitions, from % l->n_partitions);
}

static aggregate_run run_of(const agg_list *l, dev_stream *s)
{
    return (aggregate_run){.s = s, .p = l->env->pool, .stop = l->env->cancel, .m = l->env->m};
}

static cuzk_status complete(const agg_list *l, aggregate_version version)
{
    if (l->n_added != l->n_sectors || l->n == 0)
        return FAIL_DATA(SHAPE, "sectors", "nothing to aggregate");
    if (version == AGGREGATE_V1 &&
        (l->first.non_interactive ? l->n_sectors == 1 : l->kind == FIL_UPDATE))
        return FAIL_DATA(SHAPE, "version", "%s are aggregated by version 2 alone",
                         l->kind == FIL_UPDATE ? "updates" : "the circuits of one sector");
    return CUZK_OK;
}

cuzk_status agg_list_verify(bool *valid, const agg_list *l, const agg_powers *p, dev_stream *s,
                            aggregate_version version, const groth16_vk *vk, const uint8_t *proof,
                            size_t size)
{
    aggregate_run run = run_of(l, s);
    uint8_t statement[AGGREGATE_STATEMENT];
    aggregate_vk key;

    TRY(complete(l, version));
    bound_statement(l, statement);
    TRY(aggregate_vk_read(&key, p->srs));
    aggregate_claim claim = {.key = &key,
                             .vk = vk,
                             .pub = l->pub,
                             .n = l->n,
                             .statement = statement,
                             .version = version};
    return aggregate_verify(valid, &run, &claim, proof, size, NULL);
}

cuzk_status agg_list_prove(bytes_out *out, const agg_list *l, const agg_powers *p, dev_stream *s,
                           aggregate_version version, const groth16_vk *vk)
{
    const job_env *env = l->env;
    aggregate_run run = run_of(l, s);
    uint8_t statement[AGGREGATE_STATEMENT];
    size_t before = out->size;
    aggregate_key *key;
    bool valid = true;

    TRY(complete(l, version));
    bound_statement(l, statement);
    TRY(aggregate_key_new(&key, p->srs, aggregate_padded(l->n), p->trusted, env->pool, env->cancel,
                          env->m));
    cuzk_status st = aggregate_prove(out, &run, key, l->proofs, l->n, statement, version, NULL);
    aggregate_key_free(key);
    if (st == CUZK_OK && vk != NULL)
        st = agg_list_verify(&valid, l, p, s, version, vk, out->data + before, out->size - before);
    if (st == CUZK_OK && !valid)
        st = FAIL_DATA(INCONSISTENT, "srs",
                       "the aggregate does not verify, though every proof does: the srs does not "
                       "hold powers of two secrets");
    if (st != CUZK_OK) out->size = before;
    return st;
}

/* ---- one non-interactive PoRep ---- */

bool fil_is_ni(const fil_job *f)
{
    fil_binding b;

    if (f->ops->binding == NULL) return false;
    f->ops->binding(f, &b);
    return b.non_interactive;
}

cuzk_status fil_aggregate_ni(bytes_out *out, dev_stream *s, const fil_job *f, const agg_powers *p,
                             const bytes_out *parts)
{
    agg_list l;
    cuzk_status st;

    agg_list_init(&l, f->env, f->cv, 1, true);
    st = agg_list_add(&l, f, parts->data, parts->size);
    if (st == CUZK_OK) st = agg_list_prove(out, &l, p, s, AGGREGATE_V2, f->pk->vk);
    agg_list_clear(&l);
    return st;
}

cuzk_status fil_verify_ni(bool *valid, dev_stream *s, const fil_job *f, const agg_powers *p,
                          const groth16_vk *vk, const uint8_t *proof, size_t size)
{
    agg_list l;
    cuzk_status st;

    agg_list_init(&l, f->env, f->cv, 1, false);
    st = agg_list_add(&l, f, NULL, 0);
    if (st == CUZK_OK) st = agg_list_verify(valid, &l, p, s, AGGREGATE_V2, vk, proof, size);
    agg_list_clear(&l);
    return st;
}
