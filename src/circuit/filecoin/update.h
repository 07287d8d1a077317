/*
 * circuit/filecoin/update.h - EmptySectorUpdate (SnapDeals): statement, vanilla proofs, circuit, witness
 *
 * One partition's proof goes: statement -> update_vanilla_read -> update_synthesize (which checks while it writes the
 * assignment) -> the prover. update_vanilla_check alone is for --check-only. The variant with a Poseidon tree over the data
 * (FIL_UPDATE_POSEIDON) goes the same way; it has one partition.
 *
 * Source: spec/filecoin-circuits.md 9.2, 11.2, 11.3; spec/filecoin-formats.md 3.5, 4. Formats: docs/formats/statement.md,
 * docs/formats/vanilla-update.md.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef CIRCUIT_FILECOIN_UPDATE_H
#define CIRCUIT_FILECOIN_UPDATE_H

#include "circuit/filecoin/catalog.h"
#include "circuit/filecoin/redundant.h"
#include "circuit/poseidon.h"
#include "r1cs/assignment.h"

/* ---- shape ---- */

#define UPDATE_HIGH_CHOICES \
    6 /* values that h, the bits of a challenge that choose its rho, can have */
#define UPDATE_MAX_APEX_LEAFS 128
#define UPDATE_MAX_PARTITION_BITS 4

/** The circuit of one partition. Poseidon: partition_bits, apex_bits and n_apex are 0. */
typedef struct update_shape {
    fil_kind kind; /* FIL_UPDATE or FIL_UPDATE_POSEIDON */
    const fil_size *size;
    uint32_t n_partitions, partition_bits;
    uint32_t n_challenges;
    uint32_t n_apex, apex_bits;         /* leafs of the apex tree, which stands on tree D's rows */
    uint32_t high[UPDATE_HIGH_CHOICES]; /* what h may be */
    uint32_t high_choice;               /* which of them it is */
    uint32_t drawn_bits;                /* of a challenge; its upper bits are the partition's */
    uint32_t per_digest,
        n_digests; /* challenges drawn from a digest, the last one's may be fewer */
} update_shape;

/** CUZK_EINVAL: not an update, or there is none of this size. */
CUZK_STATUS update_shape_of(update_shape *out, fil_kind kind, const fil_size *s);

/* ---- circuit ---- */

/** The constraint system of one partition; shared by all proofs of its shape. */
CUZK_STATUS update_system_of(r1cs_system **out, const poseidon_set *ps, fil_kind kind,
                             const fil_size *s, mem *m);

/* ---- statement ---- */

typedef struct update_statement {
    update_shape shape;
    uint8_t comm_r_old[32], comm_r_new[32], comm_d_new[32];
} update_statement;

/** From statement.json of the fixtures (spec/cli.md): the commitments below the modulus and not zero; sector_size and
 *  registered_update_proof agree, one of them suffices. Errors: CUZK_EDATA; `where` is the field. */
CUZK_STATUS update_statement_read(update_statement *out, const uint8_t *json, size_t size,
                                  fil_kind kind);

/** Public inputs of a partition, without ONE: which partition and h, comm_r_old, comm_d_new, comm_r_new. */
#define UPDATE_N_PUBLIC 4
CUZK_STATUS update_public_inputs(const update_statement *st, size_t partition, const curve *cv,
                                 fr out[UPDATE_N_PUBLIC]);
/** The leafs that partition k is challenged at: st->shape.n_challenges. Poseidon of arity 2 as poseidon_set_new made it. */
void update_challenges(const update_statement *st, size_t partition, const poseidon_set *ps,
                       uint64_t *out);
/** phi; and the factor that new data is multiplied with at a challenge. */
void update_phi(const update_statement *st, const poseidon_set *ps, fr *phi);
void update_rho(const update_statement *st, const poseidon_set *ps, const fr *phi,
                uint64_t challenge, fr *rho);

/* ---- vanilla proofs and witness ---- */

/** The decoded vanilla proof of one partition: it stays where it is; this is where in it everything lies. */
typedef struct update_vanilla update_vanilla;

/** Decodes a bincode PartitionProof, borrowed until update_vanilla_free as are st and ps. Classes malformed and shape;
 *  `where` of an error: "partition 0, challenge 3, r_old, path element 1". CUZK_EINVAL: no such partition. */
CUZK_STATUS update_vanilla_read(update_vanilla **out, const update_statement *st, size_t partition,
                                const uint8_t *data, size_t size, const poseidon_set *ps, mem *m);
void update_vanilla_free(update_vanilla *v);

/** Checks natively against the statement: comm_r_old and comm_r_new are hashes of comm_c and the roots (class statement);
 *  apex tree, paths, encoding (inconsistent). The first fault in the order of challenges is the one reported. Then what the
 *  circuit does not read: index and root fields, siblings of d_new in the apex tree (redundant, by r). */
CUZK_STATUS update_vanilla_check(const update_vanilla *v, const fil_redundant *r, pool *p,
                                 const cancel *c);
/** The same check, with the hashes it computes written into the assignment of the partition's circuit: sys is
 *  update_system_of the statement's kind and size. No assignment comes of a proof that does not hold.
 *  Takes r1cs_assignment_size(sys), and update_check_size(v) for a while, from m. */
CUZK_STATUS update_synthesize(r1cs_assignment **out, const r1cs_system *sys,
                              const update_vanilla *v, const fil_redundant *r, pool *p,
                              const cancel *c, mem *m);
/** Bytes that a check takes while it runs (update_vanilla_check: from the budget of v). */
size_t update_check_size(const update_vanilla *v);

#endif
