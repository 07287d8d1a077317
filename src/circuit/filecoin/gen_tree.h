/*
 * circuit/filecoin/gen_tree.h - Merkle trees of which no more is made than is asked for
 *
 * Three kinds behind one function: regions of equal leaves, each hashed once; sparse, along known leaves; whole.
 * Level 0 is the leaves; arity[l] children of level l make a node of level l + 1. At most 2^31 leaves.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef CIRCUIT_FILECOIN_GEN_TREE_H
#define CIRCUIT_FILECOIN_GEN_TREE_H

#include "base/bytes.h"
#include "base/pool.h"
#include "circuit/poseidon.h"

#define GEN_MAX_LEVELS 32

typedef struct gen_tree {
    const poseidon_set *ps; /* for elements; nodes of SHA-256 trees (sha) are elements too */
    bool sha;
    mem *m;
    unsigned n_levels;
    uint32_t arity[GEN_MAX_LEVELS];
    unsigned span[GEN_MAX_LEVELS + 1]; /* log2 of the leaves below a node of a level */
    unsigned region_log;               /* log2 of the leaves of a region; whole trees: 0 */
    size_t n[GEN_MAX_LEVELS + 1];      /* nodes kept of a level */
    fr *nodes[GEN_MAX_LEVELS + 1];
    uint64_t *groups[GEN_MAX_LEVELS]; /* sparse: whose children are kept, ascending; else NULL */
    fr root;
} gen_tree;

/** Random siblings of a sparse tree: node i of a level. */
typedef void (*gen_sibling)(void *ctx, unsigned level, uint64_t i, fr *out);

/** Shape alone: of Poseidon, and of SHA-256 over pairs (ps then only gives the curve). */
void gen_tree_init(gen_tree *t, const poseidon_set *ps, const uint32_t *arity, unsigned n_levels,
                   mem *m);
void gen_tree_init_sha(gen_tree *t, const poseidon_set *ps, unsigned n_levels, mem *m);
/** Regions of 2^region_log leaves; leaves: one a region. region_log 0: a whole tree. */
CUZK_STATUS gen_tree_regions(gen_tree *t, unsigned region_log, const fr *leaves, pool *p,
                             const cancel *c);
/** n leaves at ascending indices. */
CUZK_STATUS gen_tree_sparse(gen_tree *t, const uint64_t *at, const fr *leaves, size_t n,
                            gen_sibling sibling, void *ctx);
void gen_tree_clear(gen_tree *t);

/** A node that is known: in a sparse tree, a child of a group on a path of its leaves. */
const fr *gen_tree_node(const gen_tree *t, unsigned level, uint64_t i);
/** Siblings on the path of leaf i, level after level, arity - 1 each; indices, one a level. Either may be NULL. */
void gen_tree_path(const gen_tree *t, uint64_t i, uint8_t (*siblings)[32], uint64_t *indices);
/** The element as 32 little-endian bytes. */
void gen_tree_bytes(const gen_tree *t, uint8_t out[32], const fr *a);
/** A bincode MerkleProof of leaf i, the last n_tops levels being a sub and a top tree (formats section 4). */
void gen_tree_put_proof(const gen_tree *t, bytes_out *o, uint64_t i, unsigned n_tops);

#endif
