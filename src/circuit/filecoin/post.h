/*
 * circuit/filecoin/post.h - FallbackPoSt: WinningPoSt and WindowPoSt; statement, vanilla proofs, circuit, witness
 *
 * One partition's proof goes: statement -> post_vanilla_read -> post_synthesize (which checks while it writes the
 * assignment) -> the prover. post_vanilla_check alone is for --check-only.
 *
 * Source: spec/filecoin-circuits.md 9.1, 11.1; spec/filecoin-formats.md 3.4, 4. Formats: docs/formats/statement.md,
 * docs/formats/vanilla-post.md.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef CIRCUIT_FILECOIN_POST_H
#define CIRCUIT_FILECOIN_POST_H

#include "circuit/filecoin/catalog.h"
#include "circuit/poseidon.h"
#include "r1cs/assignment.h"

/* ---- circuit ---- */

/** The constraint system of one partition of n_sectors sectors (of the circuit: Winning has 66) with n_challenges
 *  each. Shared by all proofs of that shape. Levels as fil_levels gives them. */
CUZK_STATUS post_system_new(r1cs_system **out, const poseidon_set *ps, const char *name,
                            uint32_t n_sectors, uint32_t n_challenges, const uint32_t *levels,
                            unsigned n_levels, mem *m);
CUZK_STATUS post_system_of(r1cs_system **out, const poseidon_set *ps, fil_kind kind,
                           const fil_size *s, mem *m);

/* ---- statement ---- */

typedef enum fil_api { FIL_API_1_0_0, FIL_API_1_1_0, FIL_API_1_2_0 } fil_api;
const char *fil_api_name(fil_api a); /* "1.0.0" */

typedef struct post_sector_statement {
    uint64_t sector_number;
    uint8_t comm_r[32];
} post_sector_statement;

typedef struct post_statement {
    mem *m;
    fil_kind kind; /* FIL_WINNING or FIL_WINDOW */
    const fil_size *size;
    fil_api api;
    uint64_t miner_id;
    uint8_t randomness[32];
    post_sector_statement *sectors; /* all sectors of all partitions, in order */
    size_t n_sectors;
} post_statement;

/** From statement.json of the fixtures, or Curio's form (spec/cli.md). Checks what a statement alone can be wrong in:
 *  hashes below the modulus, no zero comm_r, kind, size and API version that agree. Errors: CUZK_EDATA; `where` is the
 *  field, "sectors[3].comm_r". */
CUZK_STATUS post_statement_read(post_statement **out, const uint8_t *json, size_t size,
                                fil_kind kind, mem *m);
void post_statement_free(post_statement *st);
size_t post_partitions(const post_statement *st);
/** The sectors of partition k, without those repeated to fill it up: sectors[*first .. *first + *n).
 *  None where there is no such partition. */
void post_partition_sectors(const post_statement *st, size_t partition, size_t *first, size_t *n);
/** Public inputs of a partition, without ONE: n = post_n_public(st) elements, derived from the statement alone. */
size_t post_n_public(const post_statement *st);
CUZK_STATUS post_public_inputs(const post_statement *st, size_t partition, const curve *cv,
                               fr *out);
/** Leaf challenge n of a sector that is the sector_index-th of all (formats 3.4). */
uint64_t post_challenge(const post_statement *st, uint64_t sector_number, uint64_t sector_index,
                        uint32_t n);

/* ---- vanilla proofs and witness ---- */

/** The decoded vanilla proofs of one partition: they stay where they are; this is where in them everything lies. */
typedef struct post_vanilla post_vanilla;

typedef struct post_input {
    const uint8_t *data; /* bincode FallbackPoStSectorProof; borrowed until post_vanilla_free */
    size_t size;
} post_input;

/** Decodes the sectors of a partition: one input a sector, in the statement's order. Classes malformed and shape;
 *  `where` of an error: "sector 0, challenge 3, path element 1" (the sector's place in the statement).
 *  st and ps are borrowed until post_vanilla_free. */
CUZK_STATUS post_vanilla_read(post_vanilla **out, const post_statement *st, size_t partition,
                              const post_input *inputs, size_t n_inputs, const poseidon_set *ps,
                              mem *m);
void post_vanilla_free(post_vanilla *v);

/** Checks natively against the statement: number, comm_r, challenges (class statement); Merkle paths, roots and
 *  comm_r's preimage (inconsistent). The first fault in the order of sectors and challenges is the one reported. */
CUZK_STATUS post_vanilla_check(const post_vanilla *v, pool *p, const cancel *c);
/** The same check, with the hashes it computes written into the assignment of the partition's circuit: sys is
 *  post_system_of the statement's kind and size. No assignment comes of proofs that do not hold.
 *  Takes r1cs_assignment_size(sys), and post_check_size(v, p) for a while, from m. */
CUZK_STATUS post_synthesize(r1cs_assignment **out, const r1cs_system *sys, const post_vanilla *v,
                            pool *p, const cancel *c, mem *m);
/** Bytes that a check takes while it runs (post_vanilla_check: from the budget of v). */
size_t post_check_size(const post_vanilla *v, const pool *p);

#endif
