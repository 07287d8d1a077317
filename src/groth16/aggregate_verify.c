/*
 * groth16/aggregate_verify.c - the verifier of aggregates: one product of pairings for all equations
 *
 * Equations E1..E9 of the specification are raised to random powers rho_1..rho_9, E11 stands as it is, and all are one equation:
 * a product of eleven pairings, whose points of G2 are as they were sent or in the keys, equals a product of powers of the
 * values sent. What belongs to the same point of G2 is summed in G1:
 *
 *     v.k     rho_(1+k) (-g) + rho_(6+k) a + rho_(8+k) c
 *     pi_v.k  rho_(1+k) (g.k - zeta g)
 *     b       rho_5 a + rho_6 w.0 + rho_7 w.1
 *     h       (rho_1 + rho_2) f_v g - sum of rho_(3+k) (w.k - f_w g + zeta pi_w.k)
 *     h.k     rho_(3+k) pi_w.k
 *     beta, gamma, delta   R alpha, S, agg_c
 *
 * E10 is checked in G1, apart. A wrong proof passes with probability 2^-250.
 *
 * Source: spec/filecoin-aggregate.md section 7.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <string.h>

#include "groth16/aggregate_int.h"

#define POW_TASK 5      /* powers of a task: what shares squarings in batch.h */
#define COLUMN_TASK 16u /* public inputs of a task */
#define PAIRS 11
#define RHOS 9
#define SUMMANDS 17 /* multiples of points that the pairings need */
#define BASES (5 + 10 * AGGREGATE_MAX_LOG)

typedef struct verifier {
    const aggregate_run *run;
    const aggregate_claim *claim;
    const curve *cv;
    const batch_ops *b;
    agg_proof *p; /* owned, as all below */
    agg_transcript t;
    fr c[AGGREGATE_MAX_LOG];
    fr rho[1 + RHOS]; /* from 1 */
    fr *r;  /* weights of the statements: powers of r; the last's has those of the padding too */
    fr *ic; /* scalars of IC */
    g1_any left_p[PAIRS];
    g2_any left_q[PAIRS];
    gt_any *base; /* right side */
    fr *exponent;
    size_t n_bases;
    gt_any *parts; /* [0]: left; then right, by tasks */
} verifier;

/* ---- the statements ---- */

/** Weight of each statement; *sum: R. */
static void weigh(verifier *x, fr *sum)
{
    const curve *cv = x->cv;
    size_t last = x->claim->n - 1;
    fr t = cv->fr_one;

    cv->fr_from_u64(sum, 0);
    for (size_t j = 0; j < x->p->n; j++) {
        if (j <= last)
            x->r[j] = t;
        else
            cv->fr_add(&x->r[last], &x->r[last], &t);
        cv->fr_add(sum, sum, &t);
        cv->fr_mul(&t, &t, &x->t.c.r);
    }
}

/** ic[i + 1] = sum over statements of weight times input i, for some i. */
static cuzk_status column_task(void *ctx, size_t task, unsigned worker)
{
    verifier *x = ctx;
    const curve *cv = x->cv;
    uint32_t n_pub = x->claim->vk->n_ic - 1;
    uint32_t from = (uint32_t)task * COLUMN_TASK;
    uint32_t to = n_pub - from < COLUMN_TASK ? n_pub : from + COLUMN_TASK;
    fr t;
    (void)worker;

    for (size_t j = 0; j < x->claim->n; j++) {
        const fr *row = x->claim->pub + j * n_pub;
        for (uint32_t i = from; i < to; i++) {
            cv->fr_mul(&t, &x->r[j], &row[i]);
            cv->fr_add(&x->ic[i + 1], &x->ic[i + 1], &t);
        }
    }
    return CUZK_OK;
}

/** S */
static cuzk_status input_sum(verifier *x, const fr *sum, g1_any *out)
{
    const groth16_vk *vk = x->claim->vk;
    dev_points ic = {.data = vk->ic, .n = vk->n_ic, .enc = POINT_LEM, .trusted = true};
    dev_scalars sc = {.n = vk->n_ic, .elems = x->ic};

    x->ic[0] = *sum;
    TRY(pool_run(x->run->p, x->run->stop, (vk->n_ic - 1 + COLUMN_TASK - 1) / COLUMN_TASK,
                 column_task, x));
    span sp = span_open(SPAN_MSM_IC);
    cuzk_status st = dev_msm_g1(x->run->s, out, x->cv->id, &ic, 0, &sc);
    span_close(&sp);
    return st;
}

/* ---- challenges ---- */

static void challenges(verifier *x)
{
    agg_challenge_r(&x->t, x->p);
    agg_challenge_first(&x->t, x->p);
    for (unsigned i = 0; i < x->p->log_n; i++) {
        agg_challenge_round(&x->t, x->p, i);
        x->cv->fr_inv(&x->c[i], &x->t.c.x[i]);
    }
    agg_challenge_zeta(&x->t, x->p, &x->c[x->p->log_n - 1]);
}

static cuzk_status draw_rhos(verifier *x)
{
    for (unsigned i = 1; i <= RHOS; i++) {
        do {
            if (!x->cv->fr_random(&x->rho[i]))
                return FAIL(CUZK_EIO, "the system's random generator failed");
        } while (x->cv->fr_is_zero(&x->rho[i]));
    }
    return CUZK_OK;
}

/* ---- E10 ---- */

/** F(x, r; 1) c = agg_c + sum of c_i zc_l,i + x_i zc_r,i */
static bool sums_fold(const verifier *x)
{
    const curve *cv = x->cv;
    g1_any pts[1 + 2 * AGGREGATE_MAX_LOG];
    fr k[1 + 2 * AGGREGATE_MAX_LOG];
    unsigned l = x->p->log_n;
    g1_any sum = x->p->agg_c;

    pts[0] = x->p->c;
    agg_evaluate(&k[0], cv, x->t.c.x, l, &x->t.c.r, &cv->fr_one);
    for (unsigned i = 0; i < l; i++) {
        pts[1 + 2 * i] = x->p->round[i].zc_l;
        k[1 + 2 * i] = x->c[i];
        pts[2 + 2 * i] = x->p->round[i].zc_r;
        k[2 + 2 * i] = x->t.c.x[i];
    }
    x->b->g1_scale(pts, pts, k, 1 + 2 * (size_t)l);
    for (unsigned i = 1; i <= 2 * l; i++) cv->g1_add(&sum, &sum, &pts[i]);
    return cv->g1_eq(&sum, &pts[0]);
}

/* ---- the left side ---- */

/** Multiples of points, each for one of the pairs. */
typedef struct summands {
    g1_any p[SUMMANDS];
    fr k[SUMMANDS];
    unsigned pair[SUMMANDS];
    size_t n;
} summands;

static void summand(summands *s, unsigned pair, const g1_any *p, const fr *k)
{
    s->p[s->n] = *p;
    s->k[s->n] = *k;
    s->pair[s->n++] = pair;
}

/* which pair has which point of G2 */
enum {
    PAIR_V = 0,
    PAIR_PV = 2,
    PAIR_H = 4,
    PAIR_HT = 5,
    PAIR_B = 7,
    PAIR_BETA,
    PAIR_GAMMA,
    PAIR_DELTA
};

static void left_g2(verifier *x)
{
    const agg_proof *p = x->p;
    const aggregate_vk *key = x->claim->key;
    const groth16_vk *vk = x->claim->vk;

    for (unsigned k = 0; k < 2; k++) {
        x->left_q[PAIR_V + k] = p->v[k];
        x->left_q[PAIR_PV + k] = p->pv[k];
        x->left_q[PAIR_HT + k] = key->h_tau[k];
    }
    x->left_q[PAIR_H] = key->h;
    x->left_q[PAIR_B] = p->b;
    x->left_q[PAIR_BETA] = vk->beta_g2;
    x->left_q[PAIR_GAMMA] = vk->gamma_g2;
    x->left_q[PAIR_DELTA] = vk->delta_g2;
}

/** f_v(zeta) and f_w(zeta) */
static void key_values(const verifier *x, fr *fv, fr *fw)
{
    const curve *cv = x->cv;
    fr inv, t;

    agg_evaluate(fv, cv, x->t.c.x, x->p->log_n, &cv->fr_one, &x->t.c.zeta);
    cv->fr_inv(&inv, &x->t.c.r);
    agg_evaluate(fw, cv, x->c, x->p->log_n, &inv, &x->t.c.zeta);
    cv->fr_pow_var(&t, &x->t.c.zeta, x->p->n);
    cv->fr_mul(fw, fw, &t);
}

/** sum: R; inputs: S */
static void left_side(verifier *x, const fr *sum, const g1_any *inputs)
{
    const curve *cv = x->cv;
    const agg_proof *p = x->p;
    const aggregate_vk *key = x->claim->key;
    const fr *rho = x->rho, *zeta = &x->t.c.zeta;
    summands s = {.n = 0};
    fr fv, fw, g_v, g_w, t;

    left_g2(x);
    key_values(x, &fv, &fw);
    cv->fr_add(&g_v, &rho[1],
               &rho[2]); /* what h has of g: (rho_1 + rho_2) f_v + (rho_3 + rho_4) f_w */
    cv->fr_mul(&g_v, &g_v, &fv);
    cv->fr_add(&g_w, &rho[3], &rho[4]);
    cv->fr_mul(&g_w, &g_w, &fw);
    cv->fr_add(&g_v, &g_v, &g_w);
    summand(&s, PAIR_H, &key->g, &g_v);
    for (unsigned k = 0; k < 2; k++) {
        cv->fr_neg(&t, &rho[1 + k]);
        summand(&s, PAIR_V + k, &key->g, &t);
        summand(&s, PAIR_V + k, &p->a, &rho[6 + k]);
        summand(&s, PAIR_V + k, &p->c, &rho[8 + k]);
        summand(&s, PAIR_PV + k, &key->g_tau[k], &rho[1 + k]);
        cv->fr_mul(&t, &t, zeta);
        summand(&s, PAIR_PV + k, &key->g, &t);
        cv->fr_neg(&t, &rho[3 + k]);
        summand(&s, PAIR_H, &p->w[k], &t);
        summand(&s, PAIR_HT + k, &p->pw[k], &rho[3 + k]);
    }
    /* at most SUMMANDS */
    VERIFY(s.n <= SUMMANDS);
    x->b->g1_scale(s.p, s.p, s.k, s.n);
    memset(x->left_p, 0, sizeof x->left_p);
    for (size_t i = 0; i < s.n; i++)
        cv->g1_add(&x->left_p[s.pair[i]], &x->left_p[s.pair[i]], &s.p[i]);

    s.n = 0;
    for (unsigned k = 0; k < 2; k++) { /* - zeta rho pi_w to h, from the multiples that h.k has */
        cv->fr_neg(&t, zeta);
        summand(&s, PAIR_H, &x->left_p[PAIR_HT + k], &t);
        summand(&s, PAIR_B, &p->w[k], &rho[6 + k]);
    }
    summand(&s, PAIR_B, &p->a, &rho[5]);
    summand(&s, PAIR_BETA, &x->claim->vk->alpha_g1, sum);
    x->b->g1_scale(s.p, s.p, s.k, s.n);
    for (size_t i = 0; i < s.n; i++)
        cv->g1_add(&x->left_p[s.pair[i]], &x->left_p[s.pair[i]], &s.p[i]);
    x->left_p[PAIR_GAMMA] = *inputs;
    x->left_p[PAIR_DELTA] = p->agg_c;
}

/* ---- the right side ---- */

/** base^(rho) l_i^(c_i rho) r_i^(x_i rho) ... */
static void right_factor(verifier *x, const gt_any *a, const fr *rho, const fr *k)
{
    x->base[x->n_bases] = *a;
    x->exponent[x->n_bases] = *rho;
    if (k != NULL) x->cv->fr_mul(&x->exponent[x->n_bases], rho, k);
    x->n_bases++;
}

static void right_side(verifier *x)
{
    const agg_proof *p = x->p;
    const fr *rho = x->rho;
    fr ip;

    x->n_bases = 0;
    x->cv->fr_add(&ip, &rho[5], &x->cv->fr_one); /* E5 and E11 */
    right_factor(x, &p->ip_ab, &ip, NULL);
    for (unsigned k = 0; k < 2; k++) {
        right_factor(x, &p->com_ab[k], &rho[6 + k], NULL);
        right_factor(x, &p->com_c[k], &rho[8 + k], NULL);
    }
    for (unsigned i = 0; i < p->log_n; i++) {
        const agg_round *d = &p->round[i];
        const fr *c = &x->c[i], *xi = &x->t.c.x[i];
        for (unsigned k = 0; k < 2; k++) {
            right_factor(x, &d->tab_l[k], &rho[6 + k], c);
            right_factor(x, &d->tab_r[k], &rho[6 + k], xi);
            right_factor(x, &d->tuc_l[k], &rho[8 + k], c);
            right_factor(x, &d->tuc_r[k], &rho[8 + k], xi);
        }
        right_factor(x, &d->zab_l, &rho[5], c);
        right_factor(x, &d->zab_r, &rho[5], xi);
    }
}

/** Task 0: the left side; the others: parts of the right. */
static cuzk_status side_task(void *ctx, size_t i, unsigned worker)
{
    const verifier *x = ctx;
    const g1_any *left = x->left_p;
    (void)worker;

    if (i == 0) {
        x->b->miller(&x->parts[0], &left, 1, x->left_q, PAIRS);
        x->cv->final_exp(&x->parts[0], &x->parts[0]);
        return CUZK_OK;
    }
    size_t from = (i - 1) * POW_TASK;
    size_t n = x->n_bases - from < POW_TASK ? x->n_bases - from : POW_TASK;
    x->b->gt_pow_product(&x->parts[i], x->base + from, x->exponent + from, n);
    return CUZK_OK;
}

static cuzk_status sides_equal(verifier *x, bool *equal)
{
    size_t tasks = (x->n_bases + POW_TASK - 1) / POW_TASK;

    TRY(pool_run(x->run->p, x->run->stop, 1 + tasks, side_task, x));
    for (size_t i = 2; i <= tasks; i++) x->cv->gt_mul(&x->parts[1], &x->parts[1], &x->parts[i]);
    *equal = x->cv->gt_eq(&x->parts[0], &x->parts[1]);
    return CUZK_OK;
}

/* ---- all ---- */

static cuzk_status check_claim(const verifier *x)
{
    const aggregate_claim *c = x->claim;

    if (aggregate_padded(c->n) != x->p->n)
        return FAIL_DATA(SHAPE, "statements",
                         "%zu statements are padded to %u, the aggregate has %u proofs", c->n,
                         aggregate_padded(c->n), x->p->n);
    if (x->p->n <= c->key->capacity) return CUZK_OK;
    return FAIL_DATA(LIMIT, "srs", "the srs reaches to %u proofs, the aggregate has %u",
                     c->key->capacity, x->p->n);
}

static cuzk_status take_memory(verifier *x)
{
    mem *m = x->run->m;
    cuzk_status st;

    x->r = mem_new(m, x->claim->n, sizeof *x->r, &st);
    if (x->r == NULL) return st;
    x->ic = mem_new(m, x->claim->vk->n_ic, sizeof *x->ic, &st);
    if (x->ic == NULL) return st;
    x->base = mem_new(m, BASES, sizeof *x->base, &st);
    if (x->base == NULL) return st;
    x->exponent = mem_new(m, BASES, sizeof *x->exponent, &st);
    if (x->exponent == NULL) return st;
    x->parts = mem_new(m, 1 + (BASES + POW_TASK - 1) / POW_TASK, sizeof *x->parts, &st);
    return x->parts == NULL ? st : CUZK_OK;
}

static cuzk_status verify(verifier *x, const uint8_t *proof, size_t size, bool *valid)
{
    fr sum;
    g1_any inputs;
    bool equal;

    TRY(agg_proof_read(x->p, proof, size, x->cv, x->run->p, x->run->stop));
    TRY(check_claim(x));
    TRY(take_memory(x));
    challenges(x);
    TRY(draw_rhos(x));
    weigh(x, &sum);
    TRY(input_sum(x, &sum, &inputs));
    left_side(x, &sum, &inputs);
    right_side(x);
    TRY(sides_equal(x, &equal));
    *valid = equal && sums_fold(x);
    return CUZK_OK;
}

cuzk_status aggregate_verify(bool *valid, const aggregate_run *run, const aggregate_claim *claim,
                             const uint8_t *proof, size_t size, aggregate_challenges *seen)
{
    mem *m = run->m;
    const curve *cv = claim->key->cv;
    cuzk_status st;
    verifier *x;

    if (claim->version != AGGREGATE_V1 && claim->version != AGGREGATE_V2)
        return FAIL(CUZK_EINVAL, "aggregate version %d, known: 0 (V1), 1 (V2)",
                    (int)claim->version);
    x = mem_new(m, 1, sizeof *x, &st);
    if (x == NULL) return st;
    x->run = run;
    x->claim = claim;
    x->cv = cv;
    x->b = batch_get(cv->table);
    x->t = (agg_transcript){
        .cv = cv, .b = x->b, .statement = claim->statement, .version = claim->version};
    span sp = span_open(SPAN_AGG_VERIFY);
    x->p = mem_new(m, 1, sizeof *x->p, &st);
    if (x->p != NULL) st = verify(x, proof, size, valid);
    span_close(&sp);
    if (st == CUZK_OK && seen != NULL) *seen = x->t.c;
    mem_free(m, x->parts);
    mem_free(m, x->exponent);
    mem_free(m, x->base);
    mem_free(m, x->ic);
    mem_free(m, x->r);
    mem_free(m, x->p);
    mem_free(m, x);
    return st;
}
