/*
 * circuit/filecoin/post_impl.h - what the files of FallbackPoSt share; not for other modules
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef CIRCUIT_FILECOIN_POST_IMPL_H
#define CIRCUIT_FILECOIN_POST_IMPL_H

#include "circuit/filecoin/bincode.h"
#include "circuit/filecoin/element.h"
#include "circuit/filecoin/post.h"

/** Challenges of one sector's vanilla proof: 10, or Winning's 66. */
uint32_t post_proofs_per_sector(const post_statement *st);

struct post_vanilla {
    mem *m;
    const post_statement *st;
    const poseidon_set *ps;
    size_t first, n_sectors; /* of the statement's, those that have an input */
    uint32_t n_proofs;       /* of a sector */
    bincode_proof path;
    const uint8_t **data; /* one a sector, all of one checked size and form */
    /* offsets in a sector's bytes */
    size_t proofs, comm_c, comm_r_last;
};

/* Instances of a circuit sector (post_circuit.c): the head, then for each challenge its leaf, its path elements, the index,
   the root. */
static inline size_t post_challenge_instances(unsigned n_levels)
{
    return 1 + (size_t)n_levels + 2;
}
static inline size_t post_sector_instances(uint32_t n_challenges, unsigned n_levels)
{
    return 1 + n_challenges * post_challenge_instances(n_levels);
}

#endif
