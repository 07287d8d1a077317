/*
 * circuit/gadget/poseidon_gadget.c - Poseidon as rows
 *
 * The state is t linear combinations. A wire is allocated only where an S-box needs one; matrices act on the
 * combinations. In partial rounds all but the first combination grow by one wire a round.
 *
 * Source: spec/filecoin-circuits.md section 7.2
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit/gadget/poseidon_gadget.h"

#include "circuit/poseidon_impl.h"

#define ONE 0u /* wire of the constant */
#define HALF (POSEIDON_FULL_ROUNDS / 2)

typedef struct state {
    const gadget *g;
    const poseidon *p;
    r1cs_lc *e[POSEIDON_MAX_T];
} state;

static r1cs_lc *wire(const state *s, uint32_t x)
{
    return r1cs_lc_wire(s->g->b, x);
}

static r1cs_lc *constant(const state *s, const fr *k)
{
    r1cs_lc *lc = r1cs_lc_new(s->g->b);

    r1cs_lc_add(s->g->b, lc, ONE, k);
    return lc;
}

/* x^5 + post as a wire, x a linear combination of a wire and perhaps a constant. */
static uint32_t power5(const state *s, const r1cs_lc *x, const fr *post)
{
    r1cs_builder *b = s->g->b;
    uint32_t x2, x4, x5;
    r1cs_lc *result;

    x2 = r1cs_alloc(b);
    r1cs_enforce(b, x, x, wire(s, x2));
    x4 = r1cs_alloc(b);
    r1cs_enforce(b, wire(s, x2), wire(s, x2), wire(s, x4));
    x5 = r1cs_alloc(b);
    result = wire(s, x5);
    if (post != NULL) {
        fr minus;

        s->g->cv->fr_neg(&minus, post);
        r1cs_lc_add(b, result, ONE, &minus);
    }
    r1cs_enforce(b, x, wire(s, x4), result);
    return x5;
}

static uint32_t ensure_allocated(const state *s, const r1cs_lc *lc)
{
    uint32_t x = r1cs_alloc(s->g->b);

    r1cs_enforce(s->g->b, lc, wire(s, ONE), wire(s, x));
    return x;
}

static void sbox(state *s, unsigned i, const fr *post)
{
    s->e[i] = wire(s, power5(s, wire(s, ensure_allocated(s, s->e[i])), post));
}

/* The tag's S-box is computed now: it stays a constant. */
static void first_sboxes(state *s, const uint32_t *in, const fr *tag)
{
    const poseidon *p = s->p;
    const curve *cv = s->g->cv;
    fr x, x4;

    cv->fr_add(&x, tag, &p->keys[0]);
    cv->fr_mul(&x4, &x, &x);
    cv->fr_mul(&x4, &x4, &x4);
    cv->fr_mul(&x, &x, &x4);
    cv->fr_add(&x, &x, &p->keys[p->t]);
    s->e[0] = constant(s, &x);
    for (unsigned i = 1; i < p->t; i++) {
        r1cs_lc *lc = wire(s, in[i - 1]);

        r1cs_lc_add(s->g->b, lc, ONE, &p->keys[i]);
        s->e[i] = wire(s, power5(s, lc, &p->keys[p->t + i]));
    }
}

static void mix_dense(state *s, const fr *matrix)
{
    size_t t = s->p->t;
    r1cs_lc *out[POSEIDON_MAX_T];

    for (size_t j = 0; j < t; j++) {
        out[j] = r1cs_lc_new(s->g->b);
        for (size_t i = 0; i < t; i++) r1cs_lc_add_lc(s->g->b, out[j], s->e[i], &matrix[i * t + j]);
    }
    for (size_t j = 0; j < t; j++) s->e[j] = out[j];
}

/* w: w_hat (t), v_rest (t - 1) */
static void mix_sparse(state *s, const fr *w)
{
    unsigned t = s->p->t;
    r1cs_lc *first = r1cs_lc_new(s->g->b);

    for (unsigned i = 0; i < t; i++) r1cs_lc_add_lc(s->g->b, first, s->e[i], &w[i]);
    for (unsigned j = 1; j < t; j++) r1cs_lc_add_lc(s->g->b, s->e[j], s->e[0], &w[t + j - 1]);
    s->e[0] = first;
}

uint32_t poseidon_gadget(const gadget *g, const poseidon *p, const uint32_t *in, const fr *tag)
{
    state s = {.g = g, .p = p};
    unsigned t = p->t;
    const fr *key = p->keys + 2 * (size_t)t;

    first_sboxes(&s, in, tag);
    mix_dense(&s, p->mds);
    for (unsigned r = 1; r < HALF; r++, key += t) {
        for (unsigned i = 0; i < t; i++) sbox(&s, i, &key[i]);
        mix_dense(&s, r + 1 < HALF ? p->mds : p->pre_sparse);
    }
    for (unsigned r = 0; r < p->n_partial; r++, key++) {
        sbox(&s, 0, key);
        mix_sparse(&s, &p->sparse[(size_t)r * (2 * t - 1)]);
    }
    for (unsigned r = 1; r < HALF; r++, key += t) {
        for (unsigned i = 0; i < t; i++) sbox(&s, i, &key[i]);
        mix_dense(&s, p->mds);
    }
    for (unsigned i = 0; i < t; i++) sbox(&s, i, NULL);
    mix_dense(&s, p->mds);
    return ensure_allocated(&s, s.e[1]);
}
