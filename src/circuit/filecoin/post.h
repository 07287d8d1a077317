/*
 * circuit/filecoin/post.h - FallbackPoSt: WinningPoSt and WindowPoSt; statement, vanilla proofs, circuit, witness
 *
 * Source: spec/filecoin-circuits.md 9.1, 11.1; spec/filecoin-formats.md 3.4, 4.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef CIRCUIT_FILECOIN_POST_H
#define CIRCUIT_FILECOIN_POST_H

#include "circuit/filecoin/catalog.h"
#include "r1cs/assignment.h"

/* ---- circuit ---- */

/** The constraint system of one partition. `n_sectors` 0: the catalogue's. Shared by all proofs of that shape. */
CUZK_STATUS post_system_new(r1cs_system **out, const curve *cv, uint32_t n_sectors, uint32_t n_challenges,
                            const uint32_t *levels, unsigned n_levels, mem *m);
CUZK_STATUS post_system_of(r1cs_system **out, const curve *cv, fil_kind kind, const fil_size *s, mem *m);

/* ---- statement ---- */

typedef enum fil_api { FIL_API_1_0_0, FIL_API_1_1_0, FIL_API_1_2_0 } fil_api;

typedef struct post_sector_statement {
    uint64_t sector_number;
    uint8_t comm_r[32];
} post_sector_statement;

typedef struct post_statement {
    mem *m;
    fil_kind kind;
    const fil_size *size;
    fil_api api;
    uint64_t miner_id;
    uint8_t randomness[32];
    post_sector_statement *sectors; /* all sectors of all partitions, in order */
    size_t n_sectors;
} post_statement;

/** From statement.json of the fixtures, or Curio's form (spec/cli.md). Checks what a statement alone can be wrong in. */
CUZK_STATUS post_statement_read(post_statement **out, const uint8_t *json, size_t size, fil_kind kind, mem *m);
void post_statement_free(post_statement *st);
size_t post_partitions(const post_statement *st);
/** Public inputs of partition k, without ONE: n = post_n_public(st) elements, derived from the statement alone. */
size_t post_n_public(const post_statement *st);
CUZK_STATUS post_public_inputs(const post_statement *st, size_t partition, const curve *cv, fr *out);
/** Leaf challenge n of a sector (formats 3.4). */
uint64_t post_challenge(const post_statement *st, uint64_t sector_number, uint64_t sector_index, uint32_t n);

/* ---- vanilla proofs and witness ---- */

/** A decoded, checked set of vanilla proofs of one partition, with the hash traces that the check computed. */
typedef struct post_vanilla post_vanilla;

typedef struct post_input {
    const uint8_t *data; /* bincode FallbackPoStSectorProof; borrowed until post_vanilla_free */
    size_t size;
} post_input;

/** Decodes and checks the sectors of partition k natively against the statement: lengths and forms (malformed, shape),
 *  challenges and commitments (statement), Merkle paths and roots (inconsistent). `where` of an error: "sector 0, challenge 3".
 *  inputs: one a sector of that partition, in the statement's order. */
CUZK_STATUS post_vanilla_check(post_vanilla **out, const post_statement *st, size_t partition, const post_input *inputs,
                               size_t n_inputs, const curve *cv, pool *p, const cancel *c, mem *m);
void post_vanilla_free(post_vanilla *v);
/** The assignment of the partition's circuit. sys from post_system_of with the statement's kind and size. */
CUZK_STATUS post_synthesize(r1cs_assignment **out, const r1cs_system *sys, const post_vanilla *v, pool *p,
                            const cancel *c, mem *m);

#endif
