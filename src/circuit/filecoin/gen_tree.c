/*
 * circuit/filecoin/gen_tree.c - Merkle trees of which no more is made than is asked for
 *
 * Source: spec/filecoin-circuits.md sections 6, 7, 9; spec/filecoin-formats.md section 4 (MerkleProof)
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit/filecoin/gen_tree.h"

#include <string.h>

#include "base/u128.h"
#include "circuit/gadget/sha256_node.h"

#define MAX_ARITY 8
#define SHARE 256 /* nodes of one task */

void gen_tree_init(gen_tree *t, const poseidon_set *ps, const uint32_t *arity, unsigned n_levels,
                   mem *m)
{
    *t = (gen_tree){.ps = ps, .m = m, .n_levels = n_levels};
    for (unsigned l = 0; l < n_levels; l++) {
        t->arity[l] = arity[l];
        t->span[l + 1] = t->span[l] + u64_bits(arity[l]) - 1;
    }
}

void gen_tree_init_sha(gen_tree *t, const poseidon_set *ps, unsigned n_levels, mem *m)
{
    *t = (gen_tree){.ps = ps, .sha = true, .m = m, .n_levels = n_levels};
    for (unsigned l = 0; l < n_levels; l++) {
        t->arity[l] = 2;
        t->span[l + 1] = l + 1;
    }
}

void gen_tree_clear(gen_tree *t)
{
    for (unsigned l = 0; l <= t->n_levels; l++) {
        mem_free(t->m, t->nodes[l]);
        t->nodes[l] = NULL;
        if (l == t->n_levels) break;
        mem_free(t->m, t->groups[l]);
        t->groups[l] = NULL;
    }
}

void gen_tree_bytes(const gen_tree *t, uint8_t out[32], const fr *a)
{
    scalar s;

    poseidon_set_curve(t->ps)->fr_to_scalar(&s, a);
    memcpy(out, s.b, 32);
}

static void hash_pair(const gen_tree *t, fr *out, const fr *children)
{
    uint8_t left[32], right[32];
    scalar s;

    gen_tree_bytes(t, left, &children[0]);
    gen_tree_bytes(t, right, &children[1]);
    sha256_node_hash(s.b, left, right);
    (void)poseidon_set_curve(t->ps)->fr_from_scalar(out, &s); /* 254 bits: below the modulus */
}

/* n <= POSEIDON_LANES nodes of the level above `level`. */
static void hash_nodes(const gen_tree *t, unsigned level, unsigned n, fr *const *out,
                       const fr *const *children)
{
    const poseidon *p;
    fr tag;

    if (t->sha) {
        for (unsigned i = 0; i < n; i++) hash_pair(t, out[i], children[i]);
        return;
    }
    p = poseidon_of(t->ps, t->arity[level]);
    poseidon_merkle_tag(p, &tag);
    poseidon_hash_many(p, n, out, children, &tag);
}

/* ---- regions ---- */

/* Which of the kept nodes is node i of a level. */
static size_t region_key(const gen_tree *t, unsigned level, uint64_t i)
{
    unsigned leaves_log = t->span[level];

    return (size_t)(leaves_log < t->region_log ? i >> (t->region_log - leaves_log) : i);
}

/* Node i of a level whose key is k: the first one. */
static uint64_t first_of_key(const gen_tree *t, unsigned level, size_t k)
{
    unsigned leaves_log = t->span[level];

    return leaves_log < t->region_log ? (uint64_t)k << (t->region_log - leaves_log) : k;
}

typedef struct level_job {
    gen_tree *t;
    unsigned level; /* of the results */
} level_job;

static cuzk_status hash_share(void *ctx, size_t i, unsigned worker)
{
    const level_job *j = ctx;
    gen_tree *t = j->t;
    unsigned below = j->level - 1;
    size_t end = (i + 1) * SHARE < t->n[j->level] ? (i + 1) * SHARE : t->n[j->level];
    fr children[POSEIDON_LANES][MAX_ARITY], *out[POSEIDON_LANES] = {NULL};
    const fr *in[POSEIDON_LANES] = {NULL};

    (void)worker;
    for (size_t k = i * SHARE; k < end;) {
        unsigned n = 0;

        for (; n < POSEIDON_LANES && k < end; n++, k++) {
            uint64_t node = first_of_key(t, j->level, k);

            for (uint32_t c = 0; c < t->arity[below]; c++)
                children[n][c] = t->nodes[below][region_key(t, below, node * t->arity[below] + c)];
            in[n] = children[n];
            out[n] = &t->nodes[j->level][k];
        }
        hash_nodes(t, below, n, out, in);
    }
    return CUZK_OK;
}

cuzk_status gen_tree_regions(gen_tree *t, unsigned region_log, const fr *leaves, pool *p,
                             const cancel *c)
{
    unsigned total = t->span[t->n_levels];
    cuzk_status st = CUZK_OK;

    t->region_log = region_log;
    for (unsigned l = 0; l <= t->n_levels; l++) {
        unsigned leaves_log = t->span[l] > region_log ? t->span[l] : region_log;
        level_job j = {t, l};

        t->n[l] = (size_t)1 << (total - (leaves_log < total ? leaves_log : total));
        t->nodes[l] = mem_new(t->m, t->n[l], sizeof(fr), &st);
        if (t->nodes[l] == NULL) return st;
        if (l == 0)
            memcpy(t->nodes[0], leaves, t->n[0] * sizeof *leaves);
        else
            TRY(pool_run(p, c, (t->n[l] + SHARE - 1) / SHARE, hash_share, &j));
    }
    t->root = t->nodes[t->n_levels][0];
    return CUZK_OK;
}

/* ---- sparse ---- */

/* The children of all groups that the nodes at[] of a level lie in; those not given are drawn. */
static cuzk_status fill_groups(gen_tree *t, unsigned level, const uint64_t *at, const fr *values,
                               size_t n, gen_sibling sibling, void *ctx)
{
    uint32_t a = t->arity[level];
    size_t n_groups = 0;
    cuzk_status st = CUZK_OK;

    for (size_t i = 0; i < n; i++) n_groups += i == 0 || at[i] / a != at[i - 1] / a;
    t->n[level] = n_groups;
    t->groups[level] = mem_new(t->m, n_groups, sizeof(uint64_t), &st);
    if (t->groups[level] == NULL) return st;
    t->nodes[level] = mem_new(t->m, n_groups * a, sizeof(fr), &st);
    if (t->nodes[level] == NULL) return st;
    for (size_t i = 0, g = 0; i < n; g++) {
        uint64_t group = at[i] / a;

        t->groups[level][g] = group;
        for (uint32_t c = 0; c < a; c++) {
            fr *child = &t->nodes[level][g * a + c];
            if (i < n && at[i] == group * a + c)
                *child = values[i++];
            else
                sibling(ctx, level, group * a + c, child);
        }
    }
    return CUZK_OK;
}

/* The hashes of all groups of a level. */
static void hash_groups(const gen_tree *t, unsigned level, fr *up)
{
    fr *out[POSEIDON_LANES] = {NULL};
    const fr *in[POSEIDON_LANES] = {NULL};

    for (size_t g = 0; g < t->n[level];) {
        unsigned n = 0;

        for (; n < POSEIDON_LANES && g < t->n[level]; n++, g++) {
            in[n] = &t->nodes[level][g * t->arity[level]];
            out[n] = &up[g];
        }
        hash_nodes(t, level, n, out, in);
    }
}

cuzk_status gen_tree_sparse(gen_tree *t, const uint64_t *at, const fr *leaves, size_t n,
                            gen_sibling sibling, void *ctx)
{
    const uint64_t *here = at;
    const fr *values = leaves;
    fr *up[2] = {NULL, NULL}; /* values of the level's groups; those below are still read */
    cuzk_status st = CUZK_OK;

    for (unsigned l = 0; l < t->n_levels; l++) {
        TRY_OUT(fill_groups(t, l, here, values, n, sibling, ctx));
        n = t->n[l];
        mem_free(t->m, up[l & 1]);
        up[l & 1] = mem_new(t->m, n, sizeof(fr), &st);
        if (up[l & 1] == NULL) goto out;
        hash_groups(t, l, up[l & 1]);
        here = t->groups[l];
        values = up[l & 1];
    }
    t->root = values[0];
out:
    mem_free(t->m, up[0]);
    mem_free(t->m, up[1]);
    return st;
}

/* ---- reading ---- */

const fr *gen_tree_node(const gen_tree *t, unsigned level, uint64_t i)
{
    size_t lo = 0, hi;

    if (level == t->n_levels) return &t->root;
    if (t->groups[level] == NULL) return &t->nodes[level][region_key(t, level, i)];
    hi = t->n[level];
    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;
        if (t->groups[level][mid] <= i / t->arity[level])
            lo = mid;
        else
            hi = mid;
    }
    return &t->nodes[level][lo * t->arity[level] + i % t->arity[level]];
}

void gen_tree_path(const gen_tree *t, uint64_t i, uint8_t (*siblings)[32], uint64_t *indices)
{
    for (unsigned l = 0; l < t->n_levels; l++) {
        uint32_t a = t->arity[l];
        uint64_t first = i - i % a;

        for (uint32_t c = 0; siblings != NULL && c < a; c++)
            if (first + c != i) gen_tree_bytes(t, *siblings++, gen_tree_node(t, l, first + c));
        if (indices != NULL) indices[l] = i % a;
        i /= a;
    }
}

static void put_element(const gen_tree *t, bytes_out *o, const fr *a)
{
    uint8_t b[32];

    gen_tree_bytes(t, b, a);
    bytes_put(o, b, sizeof b);
}

/* An InclusionPath of levels [from, to); *i is the node's index at level `from`, then at `to`. */
static void put_path(const gen_tree *t, bytes_out *o, uint64_t *i, unsigned from, unsigned to)
{
    bytes_put_u64le(o, to - from);
    for (unsigned l = from; l < to; l++) {
        uint32_t a = t->arity[l];
        uint64_t first = *i - *i % a;

        bytes_put_u64le(o, a - 1);
        for (uint32_t c = 0; c < a; c++)
            if (first + c != *i) put_element(t, o, gen_tree_node(t, l, first + c));
        bytes_put_u64le(o, *i % a);
        *i /= a;
    }
}

void gen_tree_put_proof(const gen_tree *t, bytes_out *o, uint64_t i, unsigned n_tops)
{
    const fr *leaf = gen_tree_node(t, 0, i);
    unsigned base = t->n_levels - n_tops;

    bytes_put_u32le(o, n_tops);
    if (n_tops == 0) {
        put_element(t, o, &t->root);
        put_element(t, o, leaf);
    }
    put_path(t, o, &i, 0, base);
    for (unsigned l = base; l < t->n_levels; l++) put_path(t, o, &i, l, l + 1);
    if (n_tops > 0) {
        put_element(t, o, &t->root);
        put_element(t, o, leaf);
    }
}
