/*
 * circuit/filecoin/porep_impl.h - what the readers of C1 outputs share; not for other modules
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef CIRCUIT_FILECOIN_POREP_IMPL_H
#define CIRCUIT_FILECOIN_POREP_IMPL_H

#include "base/json.h"
#include "circuit/filecoin/porep.h"

/** The status, with an outer place put before `where` of the failure. */
static inline cuzk_status porep_at(cuzk_status st, const char *where)
{
    if (st != CUZK_OK) status_add_where("%s", where);
    return st;
}

/** Fixes what a C1 output is of, and makes room for n challenges. */
CUZK_STATUS porep_c1_begin(porep_c1 *c1, uint32_t registered, const porep_shape *shape, size_t n);
/** What must hold of the values beside the proofs: below the modulus, not zero. */
CUZK_STATUS porep_c1_check_values(const porep_c1 *c1);

/** The value that comes next is a challenge's proof: into its hashes and numbers. */
CUZK_STATUS porep_challenge_read(json_in *j, const porep_c1 *c1, uint8_t (*hashes)[32],
                                 uint64_t *numbers);

void porep_id_of(uint8_t out[32], uint32_t registered);

/** The s-th synthetic challenge; which of n_synth of them challenge j is. */
uint32_t porep_synthetic_node(const uint8_t generation_key[32], uint32_t s, uint32_t nodes_log);
uint32_t porep_synthetic_index(const uint8_t selection_key[32], uint32_t j, uint32_t n_synth);
void porep_synthetic_keys(porep_derived *d);

/** Some of a partition's challenges, with their parents in the layer below, which are worked out together. */
typedef struct porep_challenges {
    uint32_t n, node[32], exp[32][POREP_EXP_PARENTS];
} porep_challenges;
/** Those from `from` (below d->n_challenges) on, as many as there is room for. */
void porep_challenges_of(porep_challenges *out, const porep_derived *d, uint32_t partition,
                         uint32_t from);

#endif
