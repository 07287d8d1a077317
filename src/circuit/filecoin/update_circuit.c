/*
 * circuit/filecoin/update_circuit.c - EmptySectorUpdate as a constraint system
 *
 * One partition is, in this order, instances of
 *
 *   "head"            public inputs, commitments, phi, apex leafs, the partition's path
 *   "sha256 pair"     one for each node of the apex tree, row by row; then a step for each level of the partition's path, "root"
 *   "draw J", "draw"  for each digest: its number; the digest and its bits
 *   and for each challenge
 *   "challenge"       high bits, rho, leafs, siblings of r_old; then a step a level, "root"
 *   "siblings"        of r_new; then a step a level, "root"
 *   "apex leaf"       selection of it, siblings of d_new; then a step a level, "root"
 *
 * The Poseidon variant has no apex tree, and "siblings" and the steps of tree R for d_new.
 *
 * Source: spec/filecoin-circuits.md sections 11.2 and 11.3
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdio.h>

#include "circuit/filecoin/update_impl.h"
#include "circuit/gadget/merkle.h"
#include "circuit/gadget/select.h"
#include "circuit/gadget/sha256_node.h"

/* What the parts are built with. */
typedef struct build {
    r1cs_system *sys;
    const poseidon_set *ps;
    const update_shape *s;
    update_layout at;
    uint32_t challenge, siblings, apex_leaf, draw, pair; /* templates */
    merkle_steps r, d, partition;
} build;

/* ---- templates ---- */

static uint32_t poseidon2(const gadget *g, const build *x, uint32_t a, uint32_t b, const fr *tag)
{
    return poseidon_gadget(g, poseidon_of(x->ps, 2), (const uint32_t[]){a, b}, tag);
}

static uint32_t random2(const gadget *g, const build *x, uint32_t a, uint32_t b)
{
    fr tag = update_random_tag(g->cv);

    return poseidon2(g, x, a, b, &tag);
}

static uint32_t alloc_public(const gadget *g)
{
    uint32_t v = r1cs_alloc(g->b);

    num_inputize(g, v);
    return v;
}

static void alloc_many(const gadget *g, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) (void)r1cs_alloc(g->b);
}

/* The order is that of update_layout. */
static void head_rows(const gadget *g, const build *x, uint32_t unused)
{
    const update_shape *s = x->s;
    unsigned n_bits = s->partition_bits + UPDATE_HIGH_CHOICES;
    uint32_t bits[UPDATE_MAX_PARTITION_BITS + UPDATE_HIGH_CHOICES], selector, comm_r_old;
    uint32_t comm_r_new, comm_d_new, comm_c, root_r_old, root_r_new;
    r1cs_lc *sum = r1cs_lc_new(g->b);
    fr tag;

    (void)unused;
    selector = alloc_public(g);
    for (unsigned i = 0; i < n_bits; i++) bits[i] = bit_alloc(g);
    gadget_add_number(g, sum, bits, n_bits);
    gadget_row(g, sum, r1cs_lc_wire(g->b, 0), r1cs_lc_wire(g->b, selector));
    if (s->kind == FIL_UPDATE) (void)num_pack(g, bits, s->partition_bits);
    comm_r_old = alloc_public(g);
    comm_d_new = alloc_public(g);
    comm_r_new = alloc_public(g);
    (void)random2(g, x, comm_d_new, comm_r_old); /* phi */
    comm_c = r1cs_alloc(g->b);
    root_r_old = r1cs_alloc(g->b);
    root_r_new = r1cs_alloc(g->b);
    alloc_many(g, s->n_apex + s->partition_bits);
    poseidon_merkle_tag(poseidon_of(x->ps, 2), &tag);
    num_equal(g, poseidon2(g, x, comm_c, root_r_old, &tag), comm_r_old);
    num_equal(g, poseidon2(g, x, comm_c, root_r_new, &tag), comm_r_new);
    if (s->kind == FIL_UPDATE_POSEIDON)
        (void)r1cs_alloc(g->b); /* the partition: not bound to be 0 */
}

/* in: the partition. The number of digest j. */
static void draw_number_rows(const gadget *g, const build *x, uint32_t j)
{
    uint32_t number = r1cs_alloc(g->b);
    r1cs_lc *sum = r1cs_lc_new(g->b);
    fr k;

    g->cv->fr_from_u64(&k, x->s->n_digests);
    r1cs_lc_add(g->b, sum, r1cs_in(g->b, 0), &k);
    g->cv->fr_from_u64(&k, j);
    r1cs_lc_add(g->b, sum, 0, &k);
    gadget_row(g, sum, r1cs_lc_wire(g->b, 0), r1cs_lc_wire(g->b, number));
}

/* in: comm_r_new, the digest's number. */
static void draw_rows(const gadget *g, const build *x, uint32_t unused)
{
    uint32_t digest = random2(g, x, r1cs_in(g->b, 0), r1cs_in(g->b, 1)), bits[NUM_BITS];
    r1cs_lc *sum = r1cs_lc_new(g->b);

    (void)unused;
    for (unsigned i = 0; i < NUM_BITS; i++) bits[i] = bit_alloc(g);
    gadget_add_number(g, sum, bits, NUM_BITS);
    gadget_row(g, sum, r1cs_lc_wire(g->b, 0), r1cs_lc_wire(g->b, digest));
}

/* in: phi, the bits that choose h, the highest bits of the challenge, as many as h may be. */
static void challenge_rows(const gadget *g, const build *x, uint32_t unused)
{
    const update_shape *s = x->s;
    uint32_t n_top = update_top_bits(s), top[64], part[UPDATE_HIGH_CHOICES], rho, sum[2],
             leaf_d_new;

    (void)unused;
    for (uint32_t i = 0; i < n_top; i++) top[i] = r1cs_in(g->b, 1 + UPDATE_HIGH_CHOICES + i);
    for (uint32_t k = 0; k < UPDATE_HIGH_CHOICES; k++) {
        uint32_t high = num_pack(g, top + n_top - s->high[k], s->high[k]);

        part[k] = num_mul(g, high, r1cs_in(g->b, 1 + k));
    }
    rho = random2(g, x, r1cs_in(g->b, 0), num_sum(g, part, UPDATE_HIGH_CHOICES));
    sum[0] = r1cs_alloc(g->b); /* leaf_r_old */
    leaf_d_new = r1cs_alloc(g->b);
    sum[1] = num_mul(g, leaf_d_new, rho);
    (void)num_sum(g, sum, 2); /* leaf_r_new */
    alloc_many(g, x->at.r_siblings);
}

static void siblings_rows(const gadget *g, const build *x, uint32_t unused)
{
    (void)unused;
    alloc_many(g, x->at.r_siblings);
}

/* in: the bits that choose, the apex leafs. */
static void apex_leaf_rows(const gadget *g, const build *x, uint32_t unused)
{
    const update_shape *s = x->s;
    uint32_t bits[SELECT_MAX_BITS], from[UPDATE_MAX_APEX_LEAFS];

    (void)unused;
    for (uint32_t i = 0; i < s->apex_bits; i++) bits[i] = r1cs_in(g->b, i);
    for (uint32_t i = 0; i < s->n_apex; i++) from[i] = r1cs_in(g->b, s->apex_bits + i);
    (void)select_gadget(g, from, bits, s->apex_bits);
    alloc_many(g, x->at.d_siblings);
}

typedef void (*rows_fn)(const gadget *g, const build *x, uint32_t arg);

static cuzk_status add_template(uint32_t *tmpl, const build *x, const char *name, uint32_t n_in,
                                rows_fn rows, uint32_t arg)
{
    r1cs_builder *b = NULL;
    cuzk_status st;
    gadget g;

    TRY(r1cs_builder_new(&b, x->sys, name, n_in));
    g = gadget_of(b, x->sys->cv);
    rows(&g, x, arg);
    st = r1cs_builder_finish(b, tmpl);
    r1cs_builder_free(b);
    return st;
}

/* Steps in trees of Poseidon; a template for each arity. */
static cuzk_status add_r_steps(build *x)
{
    merkle_steps *t = &x->r;

    t->n_levels = fil_levels(x->s->size, t->levels);
    for (unsigned l = 0; l < t->n_levels; l++) {
        unsigned same = 0;

        while (t->levels[same] != t->levels[l]) same++;
        t->step[l] = t->step[same];
        if (same == l)
            TRY(merkle_step_template(&t->step[l], x->sys, poseidon_of(x->ps, t->levels[l])));
    }
    return CUZK_OK;
}

/* Steps in the binary tree of SHA-256: n levels. */
static merkle_steps sha256_steps(const build *x, uint32_t tmpl, unsigned n)
{
    merkle_steps t = {.n_levels = n, .root = x->r.root};

    for (unsigned l = 0; l < n; l++) {
        t.levels[l] = 2;
        t.step[l] = tmpl;
    }
    return t;
}

static cuzk_status add_d_templates(build *x)
{
    const update_shape *s = x->s;
    uint32_t step;

    if (s->kind == FIL_UPDATE_POSEIDON) {
        x->d = x->r;
        return CUZK_OK;
    }
    TRY(sha256_node_template(&x->pair, x->sys, SHA256_NODE_PAIR));
    TRY(sha256_node_template(&step, x->sys, SHA256_NODE_STEP));
    x->d = sha256_steps(x, step, x->at.d_levels);
    x->partition = sha256_steps(x, step, s->partition_bits);
    return add_template(&x->apex_leaf, x, "apex leaf", s->apex_bits + s->n_apex, apex_leaf_rows, 0);
}

static cuzk_status add_templates(build *x)
{
    uint32_t n_in = 1 + UPDATE_HIGH_CHOICES + update_top_bits(x->s);

    TRY(merkle_root_template(&x->r.root, x->sys));
    TRY(add_r_steps(x));
    TRY(add_d_templates(x));
    TRY(add_template(&x->draw, x, "draw", 2, draw_rows, 0));
    TRY(add_template(&x->siblings, x, "siblings", 0, siblings_rows, 0));
    return add_template(&x->challenge, x, "challenge", n_in, challenge_rows, 0);
}

/* ---- instances ---- */

/* Global wires of the head. */
typedef struct head {
    r1cs_wire partition_bits, high_bits, apex; /* the first of them */
    r1cs_wire partition_siblings, partition, comm_r_new, comm_d_new, phi, root_r_old, root_r_new;
} head;

static cuzk_status add_head(head *out, build *x)
{
    uint32_t n_bits = x->s->partition_bits + UPDATE_HIGH_CHOICES, tmpl;
    r1cs_wire first, elem;

    TRY(add_template(&tmpl, x, "head", 0, head_rows, 0));
    TRY(r1cs_add(x->sys, tmpl, NULL, &first, NULL));
    elem = first + n_bits; /* wire of element 0, were it not before the bits */
    *out = (head){.partition_bits = first + 1,
                  .high_bits = first + 1 + x->s->partition_bits,
                  .partition = elem + x->at.partition,
                  .comm_d_new = elem + x->at.comm_d_new,
                  .comm_r_new = elem + x->at.comm_r_new,
                  .phi = elem + x->at.phi,
                  .root_r_old = elem + x->at.root_r_old,
                  .root_r_new = elem + x->at.root_r_new,
                  .apex = elem + x->at.apex,
                  .partition_siblings = elem + x->at.partition_siblings};
    return CUZK_OK;
}

/* The tree over the apex leafs, then the partition's path up to comm_d_new. */
static cuzk_status add_apex(const build *x, const head *h)
{
    r1cs_wire row[UPDATE_MAX_APEX_LEAFS], bits[UPDATE_MAX_PARTITION_BITS], own;

    if (x->s->n_apex == 0) return CUZK_OK;
    for (uint32_t i = 0; i < x->s->n_apex; i++) row[i] = h->apex + i;
    for (uint32_t n = x->s->n_apex / 2; n > 0; n /= 2)
        for (uint32_t i = 0; i < n; i++) {
            TRY(r1cs_add(x->sys, x->pair, row + (size_t)2 * i, &own, NULL));
            row[i] = sha256_node_result(x->sys, x->pair, own);
        }
    for (uint32_t i = 0; i < x->s->partition_bits; i++) bits[i] = h->partition_bits + i;
    return merkle_steps_add(x->sys, &x->partition, row[0], bits, h->partition_siblings,
                            h->comm_d_new);
}

/* digest_bits[j]: the first bit of digest j; its number's row has coefficients of its own, so a template of its own. */
static cuzk_status add_draws(build *x, const head *h, r1cs_wire *digest_bits)
{
    uint32_t trace = poseidon_trace_len(poseidon_of(x->ps, 2));

    for (uint32_t j = 0; j < x->s->n_digests; j++) {
        r1cs_wire in[2] = {h->comm_r_new};
        char name[32];
        uint32_t tmpl;

        (void)snprintf(name, sizeof name, "draw %u", j);
        TRY(add_template(&tmpl, x, name, 1, draw_number_rows, j));
        TRY(r1cs_add(x->sys, tmpl, &h->partition, &in[1], NULL));
        TRY(r1cs_add(x->sys, x->draw, in, &digest_bits[j], NULL));
        digest_bits[j] += trace;
    }
    return CUZK_OK;
}

static cuzk_status add_d_path(const build *x, const head *h, const r1cs_wire *bits, r1cs_wire leaf)
{
    const update_shape *s = x->s;
    r1cs_wire in[SELECT_MAX_BITS + UPDATE_MAX_APEX_LEAFS], own;

    if (s->kind == FIL_UPDATE_POSEIDON) {
        TRY(r1cs_add(x->sys, x->siblings, NULL, &own, NULL));
        return merkle_steps_add(x->sys, &x->d, leaf, bits, own, h->comm_d_new);
    }
    for (uint32_t i = 0; i < s->apex_bits; i++) in[i] = bits[x->at.d_levels + i];
    for (uint32_t i = 0; i < s->n_apex; i++) in[s->apex_bits + i] = h->apex + i;
    TRY(r1cs_add(x->sys, x->apex_leaf, in, &own, NULL));
    own += s->n_apex - 1; /* after the picks, the last of which is the apex leaf */
    return merkle_steps_add(x->sys, &x->d, leaf, bits, own, own - 1);
}

/* bits: of the challenge, lowest first, the partition's above those drawn. */
static cuzk_status add_challenge(const build *x, const head *h, const r1cs_wire *bits)
{
    uint32_t n_top = update_top_bits(x->s), n = 0;
    r1cs_wire in[1 + UPDATE_HIGH_CHOICES + 64], own, siblings;

    in[n++] = h->phi;
    for (uint32_t i = 0; i < UPDATE_HIGH_CHOICES; i++) in[n++] = h->high_bits + i;
    for (uint32_t i = 0; i < n_top; i++) in[n++] = bits[x->s->size->nodes_log - n_top + i];
    TRY(r1cs_add(x->sys, x->challenge, in, &own, NULL));
    TRY(merkle_steps_add(x->sys, &x->r, own + x->at.leaf_r_old, bits,
                         own + x->at.challenge_siblings, h->root_r_old));
    TRY(r1cs_add(x->sys, x->siblings, NULL, &siblings, NULL));
    TRY(merkle_steps_add(x->sys, &x->r, own + x->at.leaf_r_new, bits, siblings, h->root_r_new));
    return add_d_path(x, h, bits, own + x->at.leaf_d_new);
}

static cuzk_status add_challenges(const build *x, const head *h, const r1cs_wire *digest_bits)
{
    const update_shape *s = x->s;
    r1cs_wire bits[64];

    for (uint32_t n = 0; n < s->n_challenges; n++) {
        r1cs_wire drawn = digest_bits[n / s->per_digest] + n % s->per_digest * s->drawn_bits;

        for (uint32_t i = 0; i < s->drawn_bits; i++) bits[i] = drawn + i;
        for (uint32_t i = 0; i < s->partition_bits; i++)
            bits[s->drawn_bits + i] = h->partition_bits + i;
        TRY(add_challenge(x, h, bits));
    }
    return CUZK_OK;
}

static cuzk_status build_system(build *x)
{
    cuzk_status st = CUZK_OK;
    r1cs_wire *digest_bits;
    head h;

    digest_bits = mem_new(x->sys->m, x->s->n_digests, sizeof *digest_bits, &st);
    if (digest_bits == NULL) return st;
    TRY_OUT(add_templates(x));
    TRY_OUT(add_head(&h, x));
    TRY_OUT(add_apex(x, &h));
    TRY_OUT(add_draws(x, &h, digest_bits));
    TRY_OUT(add_challenges(x, &h, digest_bits));
    st = r1cs_finish(x->sys);
out:
    mem_free(x->sys->m, digest_bits);
    return st;
}

cuzk_status update_system_of(r1cs_system **out, const poseidon_set *ps, fil_kind kind,
                             const fil_size *s, mem *m)
{
    update_shape shape;
    build x = {.ps = ps, .s = &shape};
    char name[UPDATE_NAME_MAX];
    cuzk_status st;

    TRY(update_shape_of(&shape, kind, s));
    update_layout_of(&x.at, &shape, ps);
    update_system_name(name, &shape);
    TRY(r1cs_new(&x.sys, poseidon_set_curve(ps), name, m));
    st = build_system(&x);
    if (st != CUZK_OK) {
        r1cs_free(x.sys);
        return st;
    }
    *out = x.sys;
    return CUZK_OK;
}
