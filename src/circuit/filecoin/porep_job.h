/*
 * circuit/filecoin/porep_job.h - what the writing and the checking of a PoRep partition share; not for other modules
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef CIRCUIT_FILECOIN_POREP_JOB_H
#define CIRCUIT_FILECOIN_POREP_JOB_H

#include "circuit/filecoin/climb.h"
#include "circuit/filecoin/porep_places.h"
#include "circuit/filecoin/porep_witness.h"

/* Paths of a challenge in trees C and R, in this order: its own column, the parents' columns, the replica. */
#define POREP_OWN_PATH 0
#define POREP_REPLICA_PATH (1 + POREP_COLUMNS)
#define POREP_CLIMBS (2 + POREP_COLUMNS)

/** What has been computed of a challenge. */
typedef struct porep_found {
    uint8_t d_root[32]; /* where the data path leads to */
    uint8_t label[POREP_MAX_LAYERS][32];
    fr column[1 + POREP_COLUMNS]; /* hashes: of the labels, of the parents' rows */
    fr encoded;
} porep_found;

typedef struct porep_job {
    /* fixed after init */
    const porep_c1 *c1;
    const porep_layout *l;
    uint32_t partition;
    const porep_run *run;
    const curve *cv;
    const r1cs_system *sys; /* NULL: check alone; so w */
    r1cs_assignment *w;
    porep_places places;
    uint32_t siblings_at[FIL_MAX_LEVELS]; /* of each level, after a path's first */
    /* written by tasks, one challenge's part each */
    porep_found *found;
    climb climb; /* path k of challenge i is path i * POREP_CLIMBS + k */
} porep_job;

static inline const porep_path_at *porep_path(const porep_job *j, unsigned k)
{
    return k == POREP_REPLICA_PATH ? &j->l->r : &j->l->columns[k].path;
}

/** Leaf that a path in tree C or R is of; that one in tree D is of. */
uint64_t porep_leaf(const porep_layout *l, const porep_path_at *at, const uint64_t *numbers);
uint64_t porep_data_leaf(const porep_layout *l, const uint64_t *numbers);
/** The challenge as the circuit reads it. */
static inline uint64_t porep_node(const porep_layout *l, const uint64_t *numbers)
{
    return numbers[l->nodes + 1];
}

/** What the circuit reads agrees; what it does not, or that is redundant. All values have been computed. */
CUZK_STATUS porep_check_found(const porep_job *j);
CUZK_STATUS porep_check_redundant(const porep_job *j);

#endif
