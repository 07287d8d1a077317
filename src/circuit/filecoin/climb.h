/*
 * circuit/filecoin/climb.h - the values of many inclusions in Poseidon Merkle trees, computed together
 *
 * Level by level for all paths: what one level's nodes hash to is the next level's input, as many nodes at a time as Poseidon
 * has lanes; and a node that lies on several paths is hashed once (its trace is copied, some 16 KiB). With an
 * assignment, siblings, picks and traces go right into their places; without, the same walk hashes alone.
 *
 * Bits (of indices, and insertion's products) are not written: they share words with other variables' bits.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef CIRCUIT_FILECOIN_CLIMB_H
#define CIRCUIT_FILECOIN_CLIMB_H

#include "base/pool.h"
#include "circuit/gadget/insert.h"
#include "circuit/poseidon.h"

/** What a path has at a level. */
typedef struct climb_step {
    const uint8_t *siblings; /* 32 bytes each, found to be below the modulus */
    unsigned index;          /* of the node among them */
    fr *siblings_to;         /* where in the assignment; NULL: nowhere */
    fr *picks_to;            /* insertion's picks, then the hash's trace; NULL: nowhere */
} climb_step;
typedef void (*climb_step_fn)(const void *ctx, uint32_t path, unsigned level, climb_step *out);

typedef struct climb {
    /* fixed after climb_init */
    const poseidon_set *ps;
    const uint32_t *levels; /* arities, from the leaf upward; borrowed */
    unsigned n_levels;
    climb_step_fn step;
    /* in: paths, at most climb_init's n; leaves, and their indices (equal nodes have equal ones); out: what the paths lead to */
    uint32_t n;
    fr *node;
    uint64_t *position;
    /* of each path: its node's children; the first path with the same list */
    fr (*list)[INSERT_MAX_SIZE];
    uint32_t *like;
    uint32_t *todo; /* paths whose list is to be hashed */
    uint32_t n_todo;
} climb;

/** Bytes that climb_init takes, aligned as an fr. */
size_t climb_workspace(uint32_t n);
void climb_init(climb *c, void *workspace, const poseidon_set *ps, const uint32_t *levels,
                unsigned n_levels, uint32_t n, climb_step_fn step);
/** Climbs to the roots. All paths have places in an assignment, or none has. The nodes of a level are spread over p. */
CUZK_STATUS climb_run(climb *c, const void *ctx, pool *p, const cancel *stop);

#endif
