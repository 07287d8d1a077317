/*
 * groth16/aggregate_prove.c - the prover of aggregates
 *
 * Commitments, a random combination, then rounds that fold seven vectors of points (A, B, C and the keys v, w) to their halves,
 * then openings of the folded keys. Nearly all of the time goes into products of pairings and into multiples of points:
 *
 *     n proofs             pairs    lines made    multiples G1   multiples G2
 *     commitments, ip_ab   7 n      4 n           2 n            n
 *     rounds, all          14 n     6 n           4 n            3 n
 *
 * A pair costs more than half of what it does alone where two or three products meet the same point of G2: a job below is such
 * a vector of G2 with its partners.
 *
 * Source: spec/filecoin-aggregate.md section 5.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <string.h>

#include "base/u128.h"
#include "groth16/aggregate_int.h"

#define PAIRS_CHUNK 16 /* of a task of pairings: what shares squarings in batch.h */
#define PAIRS_LONG 48  /* the same for long vectors, whose partial products would take memory */
#define LONG_FROM 1024
#define POINTS_CHUNK 16 /* of a task of multiples */
#define JOBS 6
#define TARGETS 10

typedef struct prover {
    const aggregate_run *run;
    const aggregate_key *key;
    const curve *cv;
    const batch_ops *b;
    agg_proof *p; /* owned */
    agg_transcript t;
    fr c[AGGREGATE_MAX_LOG]; /* 1 / x_i */
    uint32_t n;              /* of the vectors now */
    g1_any *va, *vc, *w[2];
    g2_any *vb, *v[2];
    fr *r;         /* powers of r, folded */
    fr *k;         /* 2n: scalars of a step */
    gt_any *parts; /* partial products */
} prover;

/* ---- products of pairings ---- */

/** One vector of G2 with up to three of G1; product j goes to target to[j]. */
typedef struct pair_job {
    const g2_any *q;
    const g1_any *p[BATCH_MILLER];
    unsigned to[BATCH_MILLER];
    size_t n_p;
} pair_job;

typedef struct products {
    const prover *x;
    const pair_job *jobs;
    size_t n_jobs, len, chunk, chunks;
    gt_any **targets;
    size_t n_targets;
} products;

static size_t pairs_chunk(size_t len)
{
    return len < LONG_FROM ? PAIRS_CHUNK : PAIRS_LONG;
}

static cuzk_status pair_task(void *ctx, size_t i, unsigned worker)
{
    const products *x = ctx;
    const pair_job *j = &x->jobs[i / x->chunks];
    size_t from = i % x->chunks * x->chunk;
    size_t n = x->len - from < x->chunk ? x->len - from : x->chunk;
    const g1_any *p[BATCH_MILLER];
    (void)worker;

    for (size_t k = 0; k < j->n_p; k++) p[k] = j->p[k] + from;
    x->x->b->miller(x->x->parts + i * BATCH_MILLER, p, j->n_p, j->q + from, n);
    return CUZK_OK;
}

/** All partial products of target i, and the final exponentiation. */
static cuzk_status target_task(void *ctx, size_t i, unsigned worker)
{
    const products *x = ctx;
    const curve *cv = x->x->cv;
    bool first = true;
    gt_any f;
    (void)worker;

    memset(&f, 0, sizeof f);
    for (size_t k = 0; k < x->n_jobs; k++)
        for (size_t j = 0; j < x->jobs[k].n_p; j++) {
            if (x->jobs[k].to[j] != i) continue;
            for (size_t c = 0; c < x->chunks; c++) {
                const gt_any *part = &x->x->parts[(k * x->chunks + c) * BATCH_MILLER + j];
                if (first)
                    f = *part;
                else
                    cv->gt_mul(&f, &f, part);
                first = false;
            }
        }
    cv->final_exp(x->targets[i], &f);
    return CUZK_OK;
}

static cuzk_status run_products(const prover *x, const pair_job *jobs, size_t n_jobs, size_t len,
                                gt_any **targets, size_t n_targets)
{
    products ctx = {x, jobs, n_jobs, len, pairs_chunk(len), 0, targets, n_targets};

    ctx.chunks = (len + ctx.chunk - 1) / ctx.chunk;
    TRY(pool_run(x->run->p, x->run->stop, n_jobs * ctx.chunks, pair_task, &ctx));
    return pool_run(x->run->p, x->run->stop, n_targets, target_task, &ctx);
}

/** Partial products that the longest steps have. */
static size_t parts_needed(size_t n)
{
    size_t half = n / 2;
    size_t commit = 3 * ((n + pairs_chunk(n) - 1) / pairs_chunk(n));
    size_t round = JOBS * ((half + pairs_chunk(half) - 1) / pairs_chunk(half));

    return BATCH_MILLER * (commit > round ? commit : round);
}

/* ---- multiples of points ---- */

/** One vector: r[i] = k[i] a[i], or a[i] + k b[i]. Of G1, or else of G2. */
typedef struct point_job {
    g1_any *g1;
    g2_any *g2;
    const fr *k;
} point_job;

typedef struct multiples {
    const prover *x;
    const point_job *jobs;
    size_t len, chunks;
    bool fold; /* the second half, times k, onto the first; else each times its own */
} multiples;

static cuzk_status point_task(void *ctx, size_t i, unsigned worker)
{
    const multiples *x = ctx;
    const point_job *j = &x->jobs[i / x->chunks];
    const batch_ops *b = x->x->b;
    size_t from = i % x->chunks * POINTS_CHUNK;
    size_t n = x->len - from < POINTS_CHUNK ? x->len - from : POINTS_CHUNK;
    (void)worker;

    if (x->fold && j->g1 != NULL)
        b->g1_fold(j->g1 + from, j->g1 + from, j->g1 + x->len + from, j->k, n);
    else if (x->fold)
        b->g2_fold(j->g2 + from, j->g2 + from, j->g2 + x->len + from, j->k, n);
    else if (j->g1 != NULL)
        b->g1_scale(j->g1 + from, j->g1 + from, j->k + from, n);
    else
        b->g2_scale(j->g2 + from, j->g2 + from, j->k + from, n);
    return CUZK_OK;
}

static cuzk_status run_multiples(const prover *x, const point_job *jobs, size_t n_jobs, size_t len,
                                 bool fold)
{
    multiples ctx = {x, jobs, len, (len + POINTS_CHUNK - 1) / POINTS_CHUNK, fold};
    span sp = span_open(SPAN_AGG_FOLD);
    cuzk_status st = pool_run(x->run->p, x->run->stop, n_jobs * ctx.chunks, point_task, &ctx);

    span_close(&sp);
    return st;
}

/* ---- sums ---- */

static cuzk_status sum_g1(const prover *x, g1_any *r, const g1_any *p, const fr *k, size_t n)
{
    dev_points pts = {.data = (const uint8_t *)p, .n = n, .enc = POINT_LEM, .trusted = true};
    dev_scalars sc = {.n = n, .elems = k};

    return dev_msm_g1(x->run->s, r, x->cv->id, &pts, 0, &sc);
}

static cuzk_status sum_g2(const prover *x, g2_any *r, const g2_any *p, const fr *k, size_t n)
{
    dev_points pts = {
        .data = (const uint8_t *)p, .n = n, .enc = POINT_LEM, .g2 = true, .trusted = true};
    dev_scalars sc = {.n = n, .elems = k};

    return dev_msm_g2(x->run->s, r, x->cv->id, &pts, 0, &sc);
}

/* ---- steps ---- */

/** com_ab, com_c; then hcom and r. */
static cuzk_status commit(prover *x)
{
    agg_proof *p = x->p;
    const pair_job jobs[] = {
        {x->v[0], {x->va, x->vc}, {0, 2}, 2},
        {x->v[1], {x->va, x->vc}, {1, 3}, 2},
        {x->vb, {x->w[0], x->w[1]}, {0, 1}, 2},
    };
    gt_any *targets[] = {&p->com_ab[0], &p->com_ab[1], &p->com_c[0], &p->com_c[1]};

    TRY(run_products(x, jobs, 3, x->n, targets, 4));
    agg_challenge_r(&x->t, p);
    return CUZK_OK;
}

static void powers_of(const prover *x, fr *out, const fr *base)
{
    fr t = x->cv->fr_one;

    for (uint32_t i = 0; i < x->n; i++) {
        out[i] = t;
        x->cv->fr_mul(&t, &t, base);
    }
}

/** B and w scaled, ip_ab, agg_c; then x'. */
static cuzk_status combine(prover *x)
{
    fr inv;

    x->cv->fr_inv(&inv, &x->t.c.r);
    powers_of(x, x->r, &x->t.c.r);
    powers_of(x, x->k, &inv);
    const point_job b = {.g2 = x->vb, .k = x->r};
    const point_job w[] = {{.g1 = x->w[0], .k = x->k}, {.g1 = x->w[1], .k = x->k}};
    TRY(run_multiples(x, &b, 1, x->n, false));
    TRY(run_multiples(x, w, 2, x->n, false));

    const pair_job ab = {x->vb, {x->va}, {0}, 1};
    gt_any *target = &x->p->ip_ab;
    TRY(run_products(x, &ab, 1, x->n, &target, 1));
    TRY(sum_g1(x, &x->p->agg_c, x->vc, x->r, x->n));
    agg_challenge_first(&x->t, x->p);
    return CUZK_OK;
}

/** The values of round i; then x_i. h: half of the vectors. */
static cuzk_status round_values(prover *x, unsigned i, size_t h)
{
    agg_round *d = &x->p->round[i];
    gt_any *targets[TARGETS] = {&d->tab_l[0], &d->tab_l[1], &d->tab_r[0], &d->tab_r[1],
                                &d->tuc_l[0], &d->tuc_l[1], &d->tuc_r[0], &d->tuc_r[1],
                                &d->zab_l,    &d->zab_r};
    const pair_job jobs[JOBS] = {
        {x->v[0], {x->va + h, x->vc + h}, {0, 4}, 2},
        {x->v[1], {x->va + h, x->vc + h}, {1, 5}, 2},
        {x->v[0] + h, {x->va, x->vc}, {2, 6}, 2},
        {x->v[1] + h, {x->va, x->vc}, {3, 7}, 2},
        {x->vb, {x->w[0] + h, x->w[1] + h, x->va + h}, {0, 1, 8}, 3},
        {x->vb + h, {x->w[0], x->w[1], x->va}, {2, 3, 9}, 3},
    };

    TRY(run_products(x, jobs, JOBS, h, targets, TARGETS));
    TRY(sum_g1(x, &d->zc_l, x->vc + h, x->r, h));
    TRY(sum_g1(x, &d->zc_r, x->vc, x->r + h, h));
    agg_challenge_round(&x->t, x->p, i);
    x->cv->fr_inv(&x->c[i], &x->t.c.x[i]);
    return CUZK_OK;
}

static cuzk_status fold(prover *x, unsigned i, size_t h)
{
    const fr *c = &x->c[i], *xi = &x->t.c.x[i];
    const point_job jobs[] = {
        {.g2 = x->vb, .k = xi},  {.g2 = x->v[0], .k = xi}, {.g2 = x->v[1], .k = xi},
        {.g1 = x->va, .k = c},   {.g1 = x->vc, .k = c},    {.g1 = x->w[0], .k = c},
        {.g1 = x->w[1], .k = c},
    };
    fr t;

    TRY(run_multiples(x, jobs, sizeof jobs / sizeof jobs[0], h, true));
    for (size_t j = 0; j < h; j++) {
        x->cv->fr_mul(&t, &x->r[h + j], xi);
        x->cv->fr_add(&x->r[j], &x->r[j], &t);
    }
    x->n = (uint32_t)h;
    return CUZK_OK;
}

static void take_final(prover *x)
{
    agg_proof *p = x->p;

    p->a = x->va[0];
    p->b = x->vb[0];
    p->c = x->vc[0];
    for (unsigned k = 0; k < 2; k++) {
        p->v[k] = x->v[k][0];
        p->w[k] = x->w[k][0];
    }
    agg_challenge_zeta(&x->t, p, &x->c[p->log_n - 1]);
}

/** k = coefficients of product over j < l of 1 + y[l-1-j] (s X)^(2^j): 2^l of them */
static void coefficients(const prover *x, fr *k, const fr *y, const fr *s)
{
    const curve *cv = x->cv;
    unsigned l = x->p->log_n;
    fr t = *s, f;

    k[0] = cv->fr_one;
    for (unsigned j = 0; j < l; j++) {
        size_t m = (size_t)1 << j;
        cv->fr_mul(&f, &y[l - 1 - j], &t);
        for (size_t i = 0; i < m; i++) cv->fr_mul(&k[m + i], &k[i], &f);
        cv->fr_mul(&t, &t, &t);
    }
}

/** k of n coefficients becomes the n - 1 of (k(X) - k(z)) / (X - z), in place, from k[0] on. */
static void quotient(const curve *cv, fr *k, size_t n, const fr *z)
{
    fr carry = k[n - 1], t, next;

    for (size_t i = n - 1; i-- > 0;) {
        cv->fr_mul(&t, &carry, z);
        cv->fr_add(&next, &k[i], &t);
        k[i] = carry;
        carry = next;
    }
}

static cuzk_status open_keys(prover *x)
{
    const curve *cv = x->cv;
    agg_proof *p = x->p;
    size_t n = p->n;
    fr inv;

    coefficients(x, x->k, x->t.c.x, &cv->fr_one);
    quotient(cv, x->k, n, &x->t.c.zeta);
    for (unsigned k = 0; k < 2; k++) TRY(sum_g2(x, &p->pv[k], x->key->h[k], x->k, n - 1));

    cv->fr_inv(&inv, &x->t.c.r);
    memset(x->k, 0, n * sizeof *x->k);
    coefficients(x, x->k + n, x->c, &inv);
    quotient(cv, x->k, 2 * n, &x->t.c.zeta);
    for (unsigned k = 0; k < 2; k++) TRY(sum_g1(x, &p->pw[k], x->key->g[k], x->k, 2 * n - 1));
    return CUZK_OK;
}

static cuzk_status prove(prover *x)
{
    span sp = span_open(SPAN_AGG_COMMIT);
    cuzk_status st = commit(x);

    if (st == CUZK_OK) st = combine(x);
    span_close(&sp);
    TRY(st);
    for (unsigned i = 0; i < x->p->log_n; i++) {
        size_t h = x->n / 2;
        TRY(cancel_check(x->run->stop));
        sp = span_open(SPAN_AGG_ROUND);
        st = round_values(x, i, h);
        span_close(&sp);
        TRY(st);
        TRY(fold(x, i, h));
    }
    take_final(x);
    sp = span_open(SPAN_AGG_OPEN);
    st = open_keys(x);
    span_close(&sp);
    return st;
}

/* ---- the vectors ---- */

uint64_t aggregate_prove_size(uint32_t n)
{
    const uint64_t g1 = sizeof(g1_any), g2 = sizeof(g2_any);
    uint64_t key = 4 * g1 + 2 * g2, vectors = 4 * g1 + 3 * g2 + 3 * sizeof(fr);

    return n * (key + vectors) + parts_needed(n) * sizeof(gt_any) + sizeof(agg_proof) +
           sizeof(aggregate_key);
}

static cuzk_status take_vectors(prover *x, const groth16_proof *proofs, size_t n_proofs)
{
    mem *m = x->run->m;
    size_t n = x->n;
    g1_any **const g1[] = {&x->va, &x->vc, &x->w[0], &x->w[1]};
    g2_any **const g2[] = {&x->vb, &x->v[0], &x->v[1]};
    cuzk_status st;

    for (size_t i = 0; i < sizeof g1 / sizeof g1[0]; i++) {
        *g1[i] = mem_new(m, n, sizeof(g1_any), &st);
        if (*g1[i] == NULL) return st;
    }
    for (size_t i = 0; i < sizeof g2 / sizeof g2[0]; i++) {
        *g2[i] = mem_new(m, n, sizeof(g2_any), &st);
        if (*g2[i] == NULL) return st;
    }
    x->r = mem_new(m, n, sizeof *x->r, &st);
    if (x->r == NULL) return st;
    x->k = mem_new(m, 2 * n, sizeof *x->k, &st);
    if (x->k == NULL) return st;
    x->parts = mem_new(m, parts_needed(n), sizeof *x->parts, &st);
    if (x->parts == NULL) return st;
    for (size_t i = 0; i < n; i++) {
        const groth16_proof *p = &proofs[i < n_proofs ? i : n_proofs - 1];
        x->va[i] = p->a;
        x->vb[i] = p->b;
        x->vc[i] = p->c;
    }
    for (unsigned k = 0; k < 2; k++) {
        memcpy(x->v[k], x->key->h[k], n * sizeof *x->v[k]);
        memcpy(x->w[k], x->key->g[k] + n, n * sizeof *x->w[k]);
    }
    return CUZK_OK;
}

static void prover_clear(prover *x)
{
    mem *m = x->run->m;

    for (unsigned k = 0; k < 2; k++) {
        mem_free(m, x->w[k]);
        mem_free(m, x->v[k]);
    }
    mem_free(m, x->va);
    mem_free(m, x->vb);
    mem_free(m, x->vc);
    mem_free(m, x->r);
    mem_free(m, x->k);
    mem_free(m, x->parts);
    mem_free(m, x->p);
}

cuzk_status aggregate_prove(bytes_out *out, const aggregate_run *run, const aggregate_key *key,
                            const groth16_proof *proofs, size_t n, const uint8_t statement[32],
                            aggregate_version version, aggregate_challenges *seen)
{
    cuzk_status st;
    prover x = {.run = run,
                .key = key,
                .cv = key->cv,
                .b = batch_get(key->cv->table),
                .n = key->n,
                .t = {.cv = key->cv,
                      .b = batch_get(key->cv->table),
                      .statement = statement,
                      .version = version}};

    if (aggregate_padded(n) != key->n)
        return FAIL(CUZK_EINVAL, "aggregating %zu proofs with a key for %u", n, key->n);
    if (version != AGGREGATE_V1 && version != AGGREGATE_V2)
        return FAIL(CUZK_EINVAL, "aggregate version %d, known: 0 (V1), 1 (V2)", (int)version);
    x.p = mem_new(run->m, 1, sizeof *x.p, &st);
    if (x.p == NULL) return st;
    x.p->n = key->n;
    x.p->log_n = u64_bits(key->n) - 1;
    TRY_OUT(take_vectors(&x, proofs, n));
    TRY_OUT(prove(&x));
    span sp = span_open(SPAN_ENCODE);
    st = agg_proof_write(out, x.p, x.cv);
    span_close(&sp);
    if (st == CUZK_OK && seen != NULL) *seen = x.t.c;
out:
    prover_clear(&x);
    return st;
}
