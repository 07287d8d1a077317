/*
 * unit/circuit/support.h - what the tests of circuits share: a budget that must come back empty, constants, expectations
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef UNIT_CIRCUIT_SUPPORT_H
#define UNIT_CIRCUIT_SUPPORT_H

#include "harness/harness.h"

#include "circuit/filecoin/post.h"
#include "circuit/gadget/number.h"

/** A budget without limit; support_close fails the test when something is still allocated from it. */
mem *support_mem(void);
void support_close(mem *m);

/** BLS12-381 with the best table of this machine; its Poseidon constants, made once, freed at exit. */
const curve *support_curve(void);
const poseidon_set *support_poseidon(void);

fr support_u64(uint64_t v);
/** 64 hexadecimal digits, most significant first. */
fr support_fr(const char *big_endian_hex);
void support_random_fr(fr *out);

/** What spec/filecoin-expected.md says of a constraint system. */
typedef struct expected_system {
    const char *name;
    uint32_t n_inputs, n_aux, n_rows, n_a_aux, n_b_aux;
    const char *hash;
} expected_system;

/** Counts, densities and hash of a finished system. */
void support_check_system(const r1cs_system *sys, const expected_system *want);
/** Terms of A, B, C without the input rows'; 0: not known. */
void support_check_terms(const r1cs_system *sys, const uint64_t want[3]);

/** A system of one template that takes nothing in, from rows(g, n); finished. */
r1cs_system *support_system_of(const char *name, void (*rows)(const gadget *g, unsigned n),
                               unsigned n, mem *m);
/** Allocates n numbers, n bits. */
void support_numbers(const gadget *g, uint32_t *out, unsigned n);
void support_bits(const gadget *g, uint32_t *out, unsigned n);

/** One gadget and what is expected of its rows. */
typedef struct recipe {
    expected_system want;
    void (*rows)(const gadget *g, unsigned n);
    unsigned n;
} recipe;
void support_check_recipes(const recipe *r, size_t n);

/** Systems of several templates: a new one; a template that takes nothing in, and an instance of it (its first variable); n
 *  numbers or n bits as such. */
r1cs_system *support_system_new(const char *name, mem *m);
r1cs_wire support_add_own(r1cs_system *sys, void (*rows)(const gadget *g, unsigned n), unsigned n);
void support_rows_number(const gadget *g, unsigned n);
void support_rows_bits(const gadget *g, unsigned n);
/** All rows hold; any bit that is turned breaks one. */
void support_holds(const r1cs_system *sys, const r1cs_assignment *w);
void support_bits_matter(const r1cs_system *sys, r1cs_assignment *w);
/** The bytes of a random number below the modulus, and the number of such bytes. */
void support_random_node(uint8_t node[32]);
fr support_fr_of(const uint8_t node[32]);

/** A case folder of fixtures/filecoin. */
typedef struct post_case {
    const char *folder; /* "2kib/window-v1" */
    fil_kind kind;
    post_statement *st;
    uint8_t **files; /* one a sector */
    post_input *inputs;
} post_case;

void post_case_open(post_case *c, const char *folder, fil_kind kind, mem *m);
void post_case_close(post_case *c);
/** The decoded proofs of a partition. */
post_vanilla *post_case_read(const post_case *c, size_t partition, mem *m);

/** assignment[partition] of the case's statement.json. */
typedef struct expected_assignment {
    uint64_t n_inputs, n_aux, n_zero, n_one;
    char sha256_all[65], sha256_inputs[65];
    char *chunks; /* 16 digits each, one after the other */
    size_t n_chunks;
    char *public_inputs; /* 64 digits each; n_public may be 0: left out */
    size_t n_public;
} expected_assignment;

void expected_assignment_read(expected_assignment *e, const char *folder, size_t partition);
void expected_assignment_clear(expected_assignment *e);
/** Reads, checks, synthesises and compares every partition of a case; the rows hold, and the public inputs are those that
 *  follow from the statement. */
void support_check_case(const char *folder, fil_kind kind, pool *p);

/** Compares all of it; of the chunks, the first that differs is named. */
void support_check_assignment(const r1cs_system *sys, const r1cs_assignment *w,
                              const expected_assignment *want);

#endif
