/*
 * circuit/filecoin/bincode.h - what the bincode vanilla proofs of all kinds are made of: counts, elements, Merkle proofs
 *
 * Every count has one right value, so a Merkle proof of one shape is a struct with known offsets: the reader compares, and
 * nothing is copied. Counts are compared with the bytes that are left before anything else.
 *
 * Source: spec/filecoin-formats.md section 4; docs/formats/vanilla-post.md
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef CIRCUIT_FILECOIN_BINCODE_H
#define CIRCUIT_FILECOIN_BINCODE_H

#include "base/bytes.h"
#include "circuit/filecoin/catalog.h"

#define BINCODE_MAX_LEVELS 32 /* a binary tree over 2^31 nodes has 31 */
#define BINCODE_HASH_SIZE 32u
#define BINCODE_PROOF_MIN \
    76u /* bytes of the smallest Merkle proof: variant, root, leaf, one count */

/** Merkle proofs of one shape: levels from the leaf upward, and offsets from a proof's first byte. */
typedef struct bincode_proof {
    unsigned n_levels;
    uint32_t
        variant; /* 0 Single, 1 Sub, 2 Top: how many of the last levels are trees of their own */
    uint32_t levels[BINCODE_MAX_LEVELS]; /* arity of each */
    uint32_t root, leaf;
    uint32_t siblings[BINCODE_MAX_LEVELS]; /* of arity - 1 hashes */
    uint32_t index[BINCODE_MAX_LEVELS];    /* u64 */
    uint32_t size;
} bincode_proof;

/** Proofs in trees C and R of a size; in its binary tree D. */
void bincode_proof_r(bincode_proof *out, const fil_size *s);
void bincode_proof_d(bincode_proof *out, const fil_size *s);

/* Readers. Errors: CUZK_EDATA, malformed or shape; a value's offset is in the message. */

/** A count that must be `want`; each of the things counted has at least min_size bytes. */
CUZK_STATUS bincode_count(bytes_in *in, uint64_t want, size_t min_size, const char *what);
/** 32 bytes below the modulus. */
CUZK_STATUS bincode_fr(bytes_in *in, const char *what);
/** A Merkle proof of this shape; `where` gets "path element 3". */
CUZK_STATUS bincode_read_proof(bytes_in *in, const bincode_proof *p);
/** Nothing follows. */
CUZK_STATUS bincode_end(const bytes_in *in);

/** Index at a level of the proof at `proof`; a file that changes meanwhile cannot make it reach the arity. */
static inline unsigned bincode_index(const bincode_proof *p, const uint8_t *proof, unsigned level)
{
    return (unsigned)load_u64le(proof + p->index[level]) & (p->levels[level] - 1);
}
/** Leaf index that the index fields say. */
uint64_t bincode_leaf_index(const bincode_proof *p, const uint8_t *proof);

#endif
