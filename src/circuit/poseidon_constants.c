/*
 * circuit/poseidon_constants.c - makes Poseidon's round keys and matrices
 *
 * Grain LFSR, Cauchy matrix, sparse factorisation, compressed keys. The factorisation needs no matrix inversion a
 * round: with M^ the matrix without its first row and column, w its first column and v its first row, the bottom
 * right block after k steps is M^ to the k-th power, so that
 *
 *   step k:  w_hat rest = M^^-(k+1) w,  v_rest = v M^^k,  and at the end pre_sparse = M diag(1, M^^R_P).
 *
 * A test compares all of it with the published values.
 *
 * Source: spec/filecoin-circuits.md section 7.1
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit/poseidon_impl.h"

#include <string.h>

#include "base/u128.h"

#define HALF (POSEIDON_FULL_ROUNDS / 2)
#define MAX_T POSEIDON_MAX_T

/* ---- Grain ---- */

/* Bit k of s is the k-th oldest of the 80. Bits come out 16 at a time: the nearest tap is 18 from the end. */
typedef struct grain {
    u128 s;
    uint64_t ready; /* bits that have come out, the last one lowest */
    unsigned n_ready;
    uint8_t pick
        [256]; /* what comes out of a byte of generated bits, first one lowest; above 4 bits how many */
} grain;

static void grain_push(grain *g, unsigned *at, uint32_t v, unsigned n_bits)
{
    for (unsigned i = n_bits; i-- > 0; (*at)++) g->s |= (u128)(v >> i & 1) << *at;
}

static uint32_t grain_step16(grain *g)
{
    u128 s = g->s;
    uint32_t fresh = (uint32_t)(s >> 62 ^ s >> 51 ^ s >> 38 ^ s >> 23 ^ s >> 13 ^ s) & 0xffff;

    g->s = s >> 16 | (u128)fresh << 64;
    return fresh;
}

/* Of each pair of bits the second comes out when the first is 1. By a table: a branch would be guessed wrong half of the time. */
static void grain_pick_init(grain *g)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        unsigned out = 0, n = 0;
        for (unsigned pair = byte | 1u << 8; pair > 1; pair >>= 2) {
            out = (pair & 1) != 0 ? out << 1 | (pair >> 1 & 1) : out;
            n += pair & 1;
        }
        g->pick[byte] = (uint8_t)(n << 4 | out);
    }
}

static void grain_init(grain *g, unsigned t, unsigned n_partial)
{
    unsigned at = 0;

    *g = (grain){0};
    grain_push(g, &at, 1, 2);    /* a prime field */
    grain_push(g, &at, 1, 4);    /* S-box */
    grain_push(g, &at, 255, 12); /* bits of the field */
    grain_push(g, &at, t, 12);
    grain_push(g, &at, POSEIDON_FULL_ROUNDS, 10);
    grain_push(g, &at, n_partial, 10);
    grain_push(g, &at, (1u << 30) - 1, 30);
    for (unsigned i = 0; i < 160 / 16; i++) (void)grain_step16(g);
    grain_pick_init(g);
}

static void grain_take(grain *g, uint32_t byte)
{
    uint8_t pick = g->pick[byte];

    g->ready = g->ready << (pick >> 4) | (pick & 15u);
    g->n_ready += pick >> 4;
}

/* The next n <= 8 bits, the first one highest. */
static uint8_t grain_bits(grain *g, unsigned n)
{
    while (g->n_ready < n) {
        uint32_t fresh = grain_step16(g);
        grain_take(g, fresh & 0xff);
        grain_take(g, fresh >> 8);
    }
    g->n_ready -= n;
    return (uint8_t)(g->ready >> g->n_ready & ((1u << n) - 1));
}

void poseidon_round_constants(const curve *cv, fr *out, uint32_t n, unsigned t, unsigned n_partial)
{
    grain g;

    grain_init(&g, t, n_partial);
    for (uint32_t k = 0; k < n;) {
        scalar s = {{0}};

        s.b[31] = grain_bits(&g, 7); /* 255 bits */
        for (unsigned i = 31; i-- > 0;) s.b[i] = grain_bits(&g, 8);
        if (cv->fr_from_scalar(&out[k], &s)) k++;
    }
}

/* ---- matrices over the field, n x n, row-major ---- */

typedef struct square {
    size_t n;
    fr a[MAX_T * MAX_T];
} square;

/* r = v m (row vector) or m v (column vector) */
static void row_by_matrix(const curve *cv, fr *r, const fr *v, const square *m)
{
    fr out[MAX_T];

    for (size_t j = 0; j < m->n; j++) {
        fr sum = cv->fr_zero, x;

        for (size_t i = 0; i < m->n; i++) {
            cv->fr_mul(&x, &v[i], &m->a[i * m->n + j]);
            cv->fr_add(&sum, &sum, &x);
        }
        out[j] = sum;
    }
    memcpy(r, out, m->n * sizeof *r);
}

static void matrix_by_column(const curve *cv, fr *r, const square *m, const fr *v)
{
    fr out[MAX_T];

    for (size_t i = 0; i < m->n; i++) cv->fr_dot(&out[i], &m->a[i * m->n], v, m->n);
    memcpy(r, out, m->n * sizeof *r);
}

/* r = a b; r is neither of them */
static void matrix_mul(const curve *cv, square *r, const square *a, const square *b)
{
    r->n = a->n;
    for (size_t i = 0; i < a->n; i++) row_by_matrix(cv, &r->a[i * a->n], &a->a[i * a->n], b);
}

static void matrix_identity(const curve *cv, square *r, size_t n)
{
    r->n = n;
    for (size_t i = 0; i < n * n; i++) r->a[i] = cv->fr_zero;
    for (size_t i = 0; i < n; i++) r->a[i * n + i] = cv->fr_one;
}

/* row[j] -= k * from[j] */
static void row_sub(const curve *cv, fr *row, const fr *from, const fr *k, size_t n)
{
    for (size_t j = 0; j < n; j++) {
        fr x;

        cv->fr_mul(&x, &from[j], k);
        cv->fr_sub(&row[j], &row[j], &x);
    }
}

static void row_scale(const curve *cv, fr *row, const fr *k, size_t n)
{
    for (size_t j = 0; j < n; j++) cv->fr_mul(&row[j], &row[j], k);
}

/* r = a^-1, by elimination without pivoting: all leading minors of a Cauchy matrix are non-zero. a is spoilt. */
static void cauchy_inverse(const curve *cv, square *r, square *a)
{
    size_t n = a->n;

    matrix_identity(cv, r, n);
    for (size_t c = 0; c < n; c++) {
        fr k;

        cv->fr_inv(&k, &a->a[c * n + c]);
        row_scale(cv, &a->a[c * n], &k, n);
        row_scale(cv, &r->a[c * n], &k, n);
        for (size_t i = 0; i < n; i++) {
            if (i == c) continue;
            k = a->a[i * n + c];
            row_sub(cv, &a->a[i * n], &a->a[c * n], &k, n);
            row_sub(cv, &r->a[i * n], &r->a[c * n], &k, n);
        }
    }
}

/* ---- the pieces ---- */

typedef struct work {
    square mds, inverse, block, block_inverse, power, t1;
    fr *rc; /* t (R_F + R_P) */
} work;

/* mds[i][j] = 1 / (i + t + j) */
static void make_mds(const curve *cv, square *m, size_t t)
{
    fr inverse[2 * MAX_T - 1];

    m->n = t;
    for (size_t k = 0; k < 2 * t - 1; k++) {
        cv->fr_from_u64(&inverse[k], t + k);
        cv->fr_inv(&inverse[k], &inverse[k]);
    }
    for (size_t i = 0; i < t; i++)
        for (size_t j = 0; j < t; j++) m->a[i * t + j] = inverse[i + j];
}

static void block_of(square *r, const square *m)
{
    r->n = m->n - 1;
    for (size_t i = 0; i < r->n; i++)
        memcpy(&r->a[i * r->n], &m->a[(i + 1) * m->n + 1], r->n * sizeof r->a[0]);
}

/* The last step computed is the first used: sparse[n_partial - 1 - k] is step k's. */
static void make_sparse(poseidon *p, work *w)
{
    const curve *cv = p->cv;
    size_t t = p->t, n = t - 1;
    fr w_rest[MAX_T], v[MAX_T];

    for (size_t i = 0; i < n; i++) w_rest[i] = w->mds.a[(i + 1) * t];
    memcpy(v, &w->mds.a[1], n * sizeof v[0]);
    for (size_t k = 0; k < p->n_partial; k++) {
        fr *to = &p->sparse[(p->n_partial - 1 - k) * (t + n)];

        matrix_by_column(cv, w_rest, &w->block_inverse, w_rest);
        to[0] = w->mds.a[0];
        memcpy(&to[1], w_rest, n * sizeof *to);
        memcpy(&to[t], v, n * sizeof *to);
        row_by_matrix(cv, v, v, &w->block);
    }
}

/* power = block^e, by squaring from the top bit */
static void block_power(const curve *cv, work *w, unsigned e)
{
    matrix_identity(cv, &w->power, w->block.n);
    for (unsigned i = u64_bits(e); i-- > 0;) {
        matrix_mul(cv, &w->t1, &w->power, &w->power);
        w->power = w->t1;
        if ((e >> i & 1) == 0) continue;
        matrix_mul(cv, &w->t1, &w->power, &w->block);
        w->power = w->t1;
    }
}

/* pre_sparse = mds diag(1, power) */
static void make_pre_sparse(poseidon *p, const work *w)
{
    size_t t = p->t;

    for (size_t i = 0; i < t; i++) {
        p->pre_sparse[i * t] = w->mds.a[i * t];
        row_by_matrix(p->cv, &p->pre_sparse[i * t + 1], &w->mds.a[i * t + 1], &w->power);
    }
}

/* Round constants pushed back through the inverse matrix, so that a key is added right after an S-box. */
static void make_keys(poseidon *p, const work *w)
{
    const curve *cv = p->cv;
    size_t t = p->t, n_partial = p->n_partial;
    fr acc[MAX_T], *to = p->keys, *partial;

    memcpy(to, w->rc, t * sizeof *to);
    to += t;
    for (size_t i = 1; i < HALF; i++, to += t) matrix_by_column(cv, to, &w->inverse, &w->rc[i * t]);

    partial = to + t; /* the keys of the partial rounds, last one found first */
    memcpy(acc, &w->rc[(HALF + n_partial) * t], t * sizeof acc[0]);
    for (size_t i = 0; i < n_partial; i++) {
        const fr *rc = &w->rc[(HALF + n_partial - 1 - i) * t];

        matrix_by_column(cv, acc, &w->inverse, acc);
        partial[n_partial - 1 - i] = acc[0];
        acc[0] = cv->fr_zero;
        for (size_t j = 0; j < t; j++) cv->fr_add(&acc[j], &acc[j], &rc[j]);
    }
    matrix_by_column(cv, to, &w->inverse, acc);

    to = partial + n_partial;
    for (size_t i = 1; i < HALF; i++, to += t)
        matrix_by_column(cv, to, &w->inverse, &w->rc[(HALF + n_partial + i) * t]);
    VERIFY(to == p->keys + p->n_keys);
}

cuzk_status poseidon_make_constants(poseidon *p)
{
    const curve *cv = p->cv;
    cuzk_status st = CUZK_OK;
    unsigned t = p->t;
    uint32_t n_rc = t * (POSEIDON_FULL_ROUNDS + p->n_partial);
    work *w = mem_new(p->m, 1, sizeof *w, &st);

    if (w == NULL) return st;
    w->rc = mem_new(p->m, n_rc, sizeof *w->rc, &st);
    if (w->rc == NULL) goto out;
    poseidon_round_constants(cv, w->rc, n_rc, t, p->n_partial);

    make_mds(cv, &w->mds, t);
    memcpy(p->mds, w->mds.a, (size_t)t * t * sizeof *p->mds);
    w->t1 = w->mds;
    cauchy_inverse(cv, &w->inverse, &w->t1);
    block_of(&w->block, &w->mds);
    w->t1 = w->block;
    cauchy_inverse(cv, &w->block_inverse, &w->t1);

    make_sparse(p, w);
    block_power(cv, w, p->n_partial);
    make_pre_sparse(p, w);
    make_keys(p, w);
out:
    mem_free(p->m, w->rc);
    mem_free(p->m, w);
    return st;
}
