/*
 * circuit/filecoin/update_impl.h - what the files of sector updates share; not for other modules
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef CIRCUIT_FILECOIN_UPDATE_IMPL_H
#define CIRCUIT_FILECOIN_UPDATE_IMPL_H

#include "circuit/filecoin/bincode.h"
#include "circuit/filecoin/update.h"

/** The tag of randomness, and Poseidon of two elements under it. */
fr update_random_tag(const curve *cv);
void update_random(const poseidon_set *ps, fr *out, const fr *a, const fr *b);

/** Partition and choice of h in one number: the first public input. */
static inline uint64_t update_selector(const update_shape *s, size_t partition)
{
    return partition | (UINT64_C(1) << s->high_choice) << s->partition_bits;
}
/** The bits of a challenge that choose its rho. */
static inline uint64_t update_high(const update_shape *s, uint64_t challenge)
{
    return challenge >> (s->size->nodes_log - s->high[s->high_choice]);
}

/** How many of a challenge's highest bits may choose rho. */
static inline uint32_t update_top_bits(const update_shape *s)
{
    return s->high[UPDATE_HIGH_CHOICES - 1];
}

#define UPDATE_NAME_MAX 48
void update_system_name(char name[UPDATE_NAME_MAX], const update_shape *s); /* "update-2k" */

/** Where in an assignment things are; update_circuit.c allocates in this order. */
typedef struct update_layout {
    unsigned r_levels, d_levels;     /* of a path; in tree D up to the apex leaf */
    uint32_t r_siblings, d_siblings; /* all of a path together */
    /* elements of "head"; Poseidon's traces end with the hash, and these are the hashes. The one of number 0 is the selector,
       and between it and the others are the bits: the partition's, then those that choose h */
    uint32_t partition, comm_r_old, comm_d_new, comm_r_new, phi, comm_c, root_r_old, root_r_new,
        apex, partition_siblings, hash_r_old, hash_r_new;
    /* elements of "challenge": first a number and its product for each choice of h, and their sum */
    uint32_t rho, leaf_r_old, leaf_d_new, product, leaf_r_new, challenge_siblings;
    /* instances: the first of the apex tree, of the partition's path, of the draws (two each), of the challenges */
    size_t apex_tree, partition_path, draws, challenges;
    /* instances from a challenge's first: steps of r_old; "siblings"; its steps; what d_new has before its steps; its steps */
    size_t r_old_steps, r_new_siblings, r_new_steps, d_new_head, d_new_steps, per_challenge;
    size_t n_instances;
} update_layout;
void update_layout_of(update_layout *out, const update_shape *s, const poseidon_set *ps);

struct update_vanilla {
    mem *m;
    const update_statement *st;
    const poseidon_set *ps;
    size_t partition;
    const uint8_t *data; /* of checked size and form */
    bincode_proof r, d;  /* of r_old and r_new; of d_new */
    /* offsets: apex leafs; the first challenge; and in a challenge */
    size_t apex, challenges, challenge_size, r_old, d_new, r_new;
};

/** What the circuit does not read, judged by r: index fields, root fields but challenge 0's of r_old and r_new, and siblings of
 *  d_new in the apex tree (its rows, from the leafs on). */
CUZK_STATUS update_redundant(const update_vanilla *v, const uint64_t *challenges,
                             const uint8_t (*tree)[32], const fil_redundant *r);

#endif
