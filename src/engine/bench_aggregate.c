/*
 * engine/bench_aggregate.c - `cuzk bench aggregate`: proofs aggregated, and the aggregate verified
 *
 * The proofs are distinct and valid, under a key whose secrets are known here: A and B are random, C is what makes the equation
 * hold. Public inputs are as many as a 32 GiB PoRep's partition has. Keys of powers are made before the clock runs, as a
 * process that aggregates more than once has them.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "engine/bench.h"
#include "groth16/aggregate.h"

#define PUBLIC_INPUTS 327u
#define REPS 3u

typedef struct agg_bench {
    job *j;
    const curve *cv;
    mem *m;
    uint32_t n;
    aggregate_key key; /* n, g, h: owned */
    aggregate_vk ck;
    groth16_vk vk; /* ic: owned */
    groth16_proof *proofs;
    fr *pub, *scratch;
    bench_row row;
} agg_bench;

/* ---- inputs ---- */

/** Points in memory form: k[i] times the generator. */
static cuzk_status multiples(agg_bench *b, bool g2, void *out, const fr *k, size_t n)
{
    dev_stream *s = job_setup_stream(b->j);

    return g2 ? dev_fixed_base_g2(s, out, POINT_LEM, b->cv->id, &b->cv->g2_gen, k, n, NULL)
              : dev_fixed_base_g1(s, out, POINT_LEM, b->cv->id, &b->cv->g1_gen, k, n, NULL);
}

static cuzk_status make_powers(agg_bench *b)
{
    cuzk_status st;
    size_t n = b->n;
    fr tau[2];

    bench_random(b->cv, tau, 2, 11);
    b->key.cv = b->ck.cv = b->cv;
    b->key.m = b->m;
    b->key.n = b->ck.capacity = b->n;
    b->ck.g = b->cv->g1_gen;
    b->ck.h = b->cv->g2_gen;
    for (unsigned k = 0; k < 2; k++) {
        fr t = b->cv->fr_one;
        for (size_t i = 0; i < 2 * n; i++) {
            b->scratch[i] = t;
            b->cv->fr_mul(&t, &t, &tau[k]);
        }
        b->key.g[k] = mem_new(b->m, 2 * n, sizeof(g1_any), &st);
        if (b->key.g[k] == NULL) return st;
        b->key.h[k] = mem_new(b->m, n, sizeof(g2_any), &st);
        if (b->key.h[k] == NULL) return st;
        TRY(multiples(b, false, b->key.g[k], b->scratch, 2 * n));
        TRY(multiples(b, true, b->key.h[k], b->scratch, n));
        b->ck.g_tau[k] = b->key.g[k][1];
        b->ck.h_tau[k] = b->key.h[k][1];
    }
    return CUZK_OK;
}

/** alpha, beta, gamma, delta, then the scalars of IC. */
static cuzk_status make_vk(agg_bench *b, fr secret[4 + PUBLIC_INPUTS + 1])
{
    cuzk_status st;
    const curve *cv = b->cv;

    bench_random(cv, secret, 4 + PUBLIC_INPUTS + 1, 12);
    b->vk.cv = cv;
    b->vk.m = b->m;
    b->vk.n_ic = PUBLIC_INPUTS + 1;
    cv->g1_mul(&b->vk.alpha_g1, &cv->g1_gen, &secret[0]);
    cv->g2_mul(&b->vk.beta_g2, &cv->g2_gen, &secret[1]);
    cv->g2_mul(&b->vk.gamma_g2, &cv->g2_gen, &secret[2]);
    cv->g2_mul(&b->vk.delta_g2, &cv->g2_gen, &secret[3]);
    b->vk.ic = mem_new(b->m, b->vk.n_ic, sizeof(g1_any), &st);
    if (b->vk.ic == NULL) return st;
    return multiples(b, false, b->vk.ic, secret + 4, b->vk.n_ic);
}

/** C = (a b - alpha beta - gamma sum of x_i ic_i) / delta */
static void third_scalar(const agg_bench *b, fr *c, const fr *a, const fr *bb, const fr *secret,
                         const fr *pub)
{
    const curve *cv = b->cv;
    fr t, sum, inv;

    cv->fr_dot(&sum, pub, secret + 5, PUBLIC_INPUTS);
    cv->fr_add(&sum, &sum, &secret[4]);
    cv->fr_mul(&sum, &sum, &secret[2]);
    cv->fr_mul(&t, a, bb);
    cv->fr_sub(&t, &t, &sum);
    cv->fr_mul(&sum, &secret[0], &secret[1]);
    cv->fr_sub(&t, &t, &sum);
    cv->fr_inv(&inv, &secret[3]);
    cv->fr_mul(c, &t, &inv);
}

static cuzk_status make_proofs(agg_bench *b)
{
    fr secret[4 + PUBLIC_INPUTS + 1], *k = b->scratch; /* a, b, c: n each */
    cuzk_status st;
    size_t n = b->n;
    g1_any *g1 = NULL;
    g2_any *g2 = NULL;

    TRY(make_vk(b, secret));
    bench_random(b->cv, b->pub, n * PUBLIC_INPUTS, 13);
    bench_random(b->cv, k, 2 * n, 14);
    for (size_t i = 0; i < n; i++)
        third_scalar(b, &k[2 * n + i], &k[i], &k[n + i], secret, b->pub + i * PUBLIC_INPUTS);
    g1 = mem_new(b->m, n, sizeof *g1, &st);
    if (g1 == NULL) goto out;
    g2 = mem_new(b->m, n, sizeof *g2, &st);
    if (g2 == NULL) goto out;
    TRY_OUT(multiples(b, false, g1, k, n));
    TRY_OUT(multiples(b, true, g2, k + n, n));
    for (size_t i = 0; i < n; i++) {
        b->proofs[i].a = g1[i];
        b->proofs[i].b = g2[i];
    }
    TRY_OUT(multiples(b, false, g1, k + 2 * n, n));
    for (size_t i = 0; i < n; i++) b->proofs[i].c = g1[i];
out:
    mem_free(b->m, g2);
    mem_free(b->m, g1);
    return st;
}

static cuzk_status prepare(agg_bench *b)
{
    cuzk_status st;

    b->scratch = mem_new(b->m, 3 * (size_t)b->n, sizeof *b->scratch, &st);
    if (b->scratch == NULL) return st;
    b->proofs = mem_new(b->m, b->n, sizeof *b->proofs, &st);
    if (b->proofs == NULL) return st;
    b->pub = mem_new(b->m, b->n, PUBLIC_INPUTS * sizeof *b->pub, &st);
    if (b->pub == NULL) return st;
    TRY(make_powers(b));
    return make_proofs(b);
}

static void clear(agg_bench *b)
{
    for (unsigned k = 0; k < 2; k++) {
        mem_free(b->m, b->key.g[k]);
        mem_free(b->m, b->key.h[k]);
    }
    mem_free(b->m, b->vk.ic);
    mem_free(b->m, b->pub);
    mem_free(b->m, b->proofs);
    mem_free(b->m, b->scratch);
}

/* ---- what is timed ---- */

static void begin_row(agg_bench *b, const char *what)
{
    b->row.n = b->n;
    b->row.peak = mem_used(b->m);
    mem_reset_peak(b->m);
    (void)snprintf(b->row.name, sizeof b->row.name, "aggregate %s", what);
}

static void end_row(agg_bench *b, bench_report *r)
{
    b->row.peak = mem_peak(b->m) - b->row.peak;
    bench_report_row(r, &b->row);
}

static cuzk_status measure(agg_bench *b, bench_report *r)
{
    static const uint8_t statement[AGGREGATE_STATEMENT] = "benchmark";
    const cuzk_engine *e = b->j->e;
    aggregate_run run = {.s = b->j->host, .p = e->pool, .stop = e->cancel, .m = b->m};
    aggregate_claim claim = {&b->ck, &b->vk, b->pub, b->n, statement, AGGREGATE_V2};
    cuzk_status st = CUZK_OK;
    bytes_out o;
    bool valid = false;

    bytes_out_init(&o, b->m);
    begin_row(b, "prove");
    for (unsigned i = 0; i <= b->row.reps; i++) {
        uint64_t from = clock_ns();
        o.size = 0;
        TRY_OUT(aggregate_prove(&o, &run, &b->key, b->proofs, b->n, statement, AGGREGATE_V2, NULL));
        if (i > 0) b->row.ns[i - 1] = clock_ns() - from;
    }
    end_row(b, r);
    begin_row(b, "verify");
    for (unsigned i = 0; i <= b->row.reps; i++) {
        uint64_t from = clock_ns();
        TRY_OUT(aggregate_verify(&valid, &run, &claim, o.data, o.size, NULL));
        if (i > 0) b->row.ns[i - 1] = clock_ns() - from;
    }
    end_row(b, r);
    if (!valid) st = FAIL(CUZK_EBUG, "aggregate benchmark: the aggregate does not verify");
out:
    bytes_out_clear(&o);
    return st;
}

static cuzk_status bench_one(job *j, unsigned log_n, unsigned reps, bench_report *r)
{
    agg_bench b = {.j = j,
                   .cv = curve_get(CURVE_ID_BLS12_381, j->e->table),
                   .m = j->e->m,
                   .n = UINT32_C(1) << log_n};
    span sp = span_open(SPAN_BENCH);
    cuzk_status st = prepare(&b);

    span_close(&sp);
    b.row.reps = reps == 0 ? REPS : reps;
    if (st == CUZK_OK) st = measure(&b, r);
    clear(&b);
    return st;
}

cuzk_status bench_aggregate(job *j, const cuzk_bench_args *a, bench_report *r)
{
    static const unsigned usual[] = {4, 7, 10};

    if (a->group != NULL || a->circuit != NULL ||
        (a->curve != NULL && strcmp(a->curve, "bls12-381") != 0))
        return FAIL(CUZK_EINVAL, "bench aggregate takes --log-n and --reps");
    if (a->log_n > AGGREGATE_MAX_LOG)
        return FAIL(CUZK_EINVAL, "--log-n %u, limit %u", a->log_n, AGGREGATE_MAX_LOG);
    if (a->log_n != 0) return bench_one(j, a->log_n, a->reps, r);
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        TRY(bench_one(j, usual[i], a->reps, r));
    return CUZK_OK;
}
