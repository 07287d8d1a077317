/*
 * groth16/aggregate_srs.c - the powers behind aggregates: read, checked, cut to a count, made from secrets
 *
 * Four vectors, each u32 big-endian count and compressed points. A key keeps what a prover of its count uses, decoded.
 *
 * Source: spec/filecoin-aggregate.md section 2.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/u128.h"
#include "groth16/aggregate.h"
#include "groth16/internal.h"

#define KEY_CHUNK 64
#define MAKE_CHUNK 4096

static const char *const names[4] = {"g alpha", "g beta", "h alpha", "h beta"};

/* ---- the file ---- */

static cuzk_status take_vector(bytes_in *in, dev_points *out, unsigned i, const curve *cv)
{
    bool g2 = i >= 2;
    size_t size = cv->point_size(g2, POINT_ZCASH_COMPRESSED);
    const uint8_t *data;
    uint32_t n;

    TRY(bytes_get_u32be(in, &n));
    if (n < 2 || n > AGGREGATE_SRS_MAX)
        return FAIL_DATA(LIMIT, names[i], "srs %s: %u points announced, allowed 2..%u", names[i], n,
                         AGGREGATE_SRS_MAX);
    if (n > bytes_left(in) / size)
        return FAIL_DATA(MALFORMED, names[i],
                         "srs %s: %u points announced, %zu fit in what is left of the file",
                         names[i], n, bytes_left(in) / size);
    TRY(bytes_view(in, &data, n * size));
    *out = (dev_points){.data = data, .n = n, .enc = POINT_ZCASH_COMPRESSED, .g2 = g2};
    return CUZK_OK;
}

static cuzk_status read_vectors(aggregate_srs *srs, const uint8_t *data, size_t size)
{
    bytes_in in = bytes_in_of(data, size);

    for (unsigned i = 0; i < 4; i++) TRY(take_vector(&in, &srs->power[i], i, srs->cv));
    if (bytes_left(&in) != 0)
        return FAIL_DATA(MALFORMED, "srs", "srs: %zu bytes behind its four vectors",
                         bytes_left(&in));
    return CUZK_OK;
}

/** NULL, and *st says why. */
static aggregate_srs *srs_new(const curve *cv, mem *m, cuzk_status *st)
{
    aggregate_srs *srs;

    if (cv->id != CURVE_ID_BLS12_381) {
        *st = FAIL(CUZK_EINVAL, "aggregates are of BLS12-381, not of %s", cv->name);
        return NULL;
    }
    srs = mem_new(m, 1, sizeof *srs, st);
    if (srs == NULL) return NULL;
    srs->cv = cv;
    srs->m = m;
    *st = CUZK_OK;
    return srs;
}

cuzk_status aggregate_srs_read(aggregate_srs **out, const uint8_t *data, size_t size,
                               const curve *cv, mem *m)
{
    cuzk_status st;
    aggregate_srs *srs = srs_new(cv, m, &st);

    if (srs == NULL) return st;
    TRY_OUT(read_vectors(srs, data, size));
    *out = srs;
    srs = NULL;
out:
    aggregate_srs_free(srs);
    return st;
}

cuzk_status aggregate_srs_open(aggregate_srs **out, const char *path, const curve *cv, mem *m)
{
    cuzk_status st;
    aggregate_srs *srs = srs_new(cv, m, &st);

    if (srs == NULL) return st;
    TRY_OUT(file_map_open(&srs->file, path));
    TRY_OUT(read_vectors(srs, srs->file.data, srs->file.size));
    *out = srs;
    srs = NULL;
out:
    aggregate_srs_free(srs);
    return st;
}

void aggregate_srs_free(aggregate_srs *srs)
{
    if (srs == NULL) return;
    file_map_close(&srs->file);
    mem_free(srs->m, srs);
}

uint64_t aggregate_srs_points(const aggregate_srs *srs)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < 4; i++) n += srs->power[i].n;
    return n;
}

/** Powers that every vector has. */
static size_t least_powers(const aggregate_srs *srs)
{
    size_t n = srs->power[0].n;

    for (unsigned i = 1; i < 4; i++)
        if (srs->power[i].n < n) n = srs->power[i].n;
    return n;
}

uint32_t aggregate_srs_capacity(const aggregate_srs *srs)
{
    size_t n = least_powers(srs) / 2;

    if (n < 2) return 0;
    if (n > AGGREGATE_MAX) n = AGGREGATE_MAX;
    return UINT32_C(1) << (u64_bits(n) - 1);
}

cuzk_status aggregate_srs_check(const aggregate_srs *srs, const groth16_key_check *o, pool *p)
{
    uint64_t skip = o->from, done = o->from, total = aggregate_srs_points(srs);
    span sp = span_open(SPAN_READ_KEY);
    cuzk_status st = CUZK_OK;

    for (unsigned i = 0; i < 4 && st == CUZK_OK; i++) {
        key_list l = {.cv = srs->cv, .pts = &srs->power[i], .name = names[i], .infinity_ok = true};
        size_t from = skip < l.pts->n ? (size_t)skip : l.pts->n;
        skip -= from;
        st = key_list_check(&l, from, o, p, &done, total);
    }
    span_close(&sp);
    return st;
}

/* ---- cut to a count ---- */

uint32_t aggregate_padded(size_t n)
{
    if (n == 0 || n > AGGREGATE_MAX) return 0;
    if (n == 1) return 2;
    return UINT32_C(1) << u64_bits(n - 1);
}

static cuzk_status power_g1(g1_any *out, const aggregate_srs *srs, unsigned v, size_t i,
                            bool trusted)
{
    const curve *cv = srs->cv;
    const dev_points *p = &srs->power[v];
    size_t size = cv->point_size(false, p->enc);
    point_err e = cv->g1_read(out, p->data + i * size, p->enc);

    if (e != POINT_OK)
        return FAIL_DATA(MALFORMED, names[v], "srs %s[%zu]: %s", names[v], i, point_err_text(e));
    if (trusted || cv->g1_in_subgroup(out)) return CUZK_OK;
    return FAIL_DATA(MALFORMED, names[v], "srs %s[%zu] is not in the subgroup of order r", names[v],
                     i);
}

static cuzk_status power_g2(g2_any *out, const aggregate_srs *srs, unsigned v, size_t i,
                            bool trusted)
{
    const curve *cv = srs->cv;
    const dev_points *p = &srs->power[v];
    size_t size = cv->point_size(true, p->enc);
    point_err e = cv->g2_read(out, p->data + i * size, p->enc);

    if (e != POINT_OK)
        return FAIL_DATA(MALFORMED, names[v], "srs %s[%zu]: %s", names[v], i, point_err_text(e));
    if (trusted || cv->g2_in_subgroup(out)) return CUZK_OK;
    return FAIL_DATA(MALFORMED, names[v], "srs %s[%zu] is not in the subgroup of order r", names[v],
                     i);
}

typedef struct key_load {
    aggregate_key *key;
    const aggregate_srs *srs;
    bool trusted;
} key_load;

/** A chunk: of G1 first (two vectors of 2n), then of G2 (two of n). */
static cuzk_status load_chunk(void *ctx, size_t chunk, unsigned worker)
{
    const key_load *l = ctx;
    size_t n = l->key->n, at = chunk * KEY_CHUNK;
    (void)worker;

    for (size_t i = at; i < at + KEY_CHUNK && i < 6 * n; i++) {
        if (i < 4 * n) {
            unsigned v = i >= 2 * n;
            TRY(power_g1(&l->key->g[v][i - 2 * n * v], l->srs, v, i - 2 * n * v, l->trusted));
        } else {
            unsigned v = i >= 5 * n;
            size_t k = i - 4 * n - n * v;
            TRY(power_g2(&l->key->h[v][k], l->srs, 2 + v, k, l->trusted));
        }
    }
    return CUZK_OK;
}

static cuzk_status check_reach(const aggregate_srs *srs, uint32_t n)
{
    if (least_powers(srs) >= 2 * (size_t)n) return CUZK_OK;
    return FAIL_DATA(LIMIT, "srs", "the srs has %zu powers: aggregating %u proofs takes %u",
                     least_powers(srs), n, 2 * n);
}

cuzk_status aggregate_key_new(aggregate_key **out, const aggregate_srs *srs, uint32_t n,
                              bool trusted, pool *p, const cancel *stop, mem *m)
{
    cuzk_status st;
    aggregate_key *key;

    if (n < 2 || n > AGGREGATE_MAX || (n & (n - 1)) != 0)
        return FAIL(CUZK_EINVAL, "aggregation key of %u proofs: a power of two in 2..%u", n,
                    AGGREGATE_MAX);
    TRY(check_reach(srs, n));
    key = mem_new(m, 1, sizeof *key, &st);
    if (key == NULL) return st;
    key->m = m;
    key->cv = srs->cv;
    key->n = n;
    for (unsigned k = 0; k < 2; k++) {
        key->g[k] = mem_new(m, 2 * (size_t)n, sizeof *key->g[k], &st);
        if (key->g[k] == NULL) goto out;
        key->h[k] = mem_new(m, n, sizeof *key->h[k], &st);
        if (key->h[k] == NULL) goto out;
    }
    key_load l = {key, srs, trusted};
    span sp = span_open(SPAN_READ_KEY);
    st = pool_run(p, stop, (6 * (size_t)n + KEY_CHUNK - 1) / KEY_CHUNK, load_chunk, &l);
    span_close(&sp);
    if (st != CUZK_OK) goto out;
    *out = key;
    key = NULL;
out:
    aggregate_key_free(key);
    return st;
}

void aggregate_key_free(aggregate_key *key)
{
    if (key == NULL) return;
    for (unsigned k = 0; k < 2; k++) {
        mem_free(key->m, key->g[k]);
        mem_free(key->m, key->h[k]);
    }
    mem_free(key->m, key);
}

cuzk_status aggregate_vk_read(aggregate_vk *out, const aggregate_srs *srs)
{
    aggregate_vk v = {.cv = srs->cv, .capacity = aggregate_srs_capacity(srs)};

    TRY(power_g1(&v.g, srs, 0, 0, false));
    TRY(power_g2(&v.h, srs, 2, 0, false));
    for (unsigned k = 0; k < 2; k++) {
        TRY(power_g1(&v.g_tau[k], srs, k, 1, false));
        TRY(power_g2(&v.h_tau[k], srs, 2 + k, 1, false));
    }
    *out = v;
    return CUZK_OK;
}

/* ---- made ---- */

/** What a vector is made with. */
typedef struct making {
    dev_stream *s;
    const curve *cv;
    file_out *f;
    dev_fixed *base[2]; /* of the generators of G1, G2 */
    fr *k;
    uint8_t *buf; /* MAKE_CHUNK scalars, and points */
} making;

/** count, then 1, tau, tau^2, ... of the generator. */
static cuzk_status make_vector(const making *x, bool g2, const fr *tau, uint32_t n)
{
    size_t size = x->cv->point_size(g2, POINT_ZCASH_COMPRESSED);
    uint8_t count[4];
    fr t = x->cv->fr_one;

    store_u32be(count, n);
    TRY(file_out_write(x->f, count, sizeof count));
    for (uint32_t at = 0; at < n; at += MAKE_CHUNK) {
        uint32_t part = n - at < MAKE_CHUNK ? n - at : MAKE_CHUNK;
        for (uint32_t i = 0; i < part; i++) {
            x->k[i] = t;
            x->cv->fr_mul(&t, &t, tau);
        }
        TRY(dev_fixed_mul(x->s, x->buf, POINT_ZCASH_COMPRESSED, x->base[g2], x->k, part, NULL));
        TRY(file_out_write(x->f, x->buf, part * size));
    }
    explicit_bzero(&t, sizeof t);
    return CUZK_OK;
}

cuzk_status aggregate_srs_make(dev_stream *s, const char *path, const curve *cv, const fr *alpha,
                               const fr *beta, uint32_t n, mem *m)
{
    making x = {.s = s, .cv = cv};
    cuzk_status st = CUZK_OK;

    if (cv->id != CURVE_ID_BLS12_381 || n < 2 || n > AGGREGATE_SRS_MAX)
        return FAIL(CUZK_EINVAL, "srs of %u powers on %s: 2..%u on bls12-381", n, cv->name,
                    AGGREGATE_SRS_MAX);
    x.k = mem_new(m, MAKE_CHUNK, sizeof *x.k, &st);
    if (x.k == NULL) goto out;
    x.buf = mem_new(m, MAKE_CHUNK, cv->point_size(true, POINT_ZCASH_COMPRESSED), &st);
    if (x.buf == NULL) goto out;
    TRY_OUT(dev_fixed_new(&x.base[0], s, cv->id, false, &cv->g1_gen, 2 * (size_t)n));
    TRY_OUT(dev_fixed_new(&x.base[1], s, cv->id, true, &cv->g2_gen, 2 * (size_t)n));
    TRY_OUT(file_out_open(&x.f, path));
    for (unsigned i = 0; i < 4; i++) TRY_OUT(make_vector(&x, i >= 2, i % 2 == 0 ? alpha : beta, n));
    st = file_out_commit(x.f);
    x.f = NULL;
out:
    file_out_abort(x.f);
    dev_fixed_free(x.base[1]);
    dev_fixed_free(x.base[0]);
    mem_free(m, x.buf);
    if (x.k != NULL) explicit_bzero(x.k, MAKE_CHUNK * sizeof *x.k);
    mem_free(m, x.k);
    return st;
}
