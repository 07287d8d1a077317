/*
 * circuit/filecoin/porep.h - StackedDRG PoRep: statement, C1 outputs, circuit, witness
 *
 * A proof goes: statement -> porep_c1_read (or _read_bincode) -> porep_c1_check or, partition by partition, porep_synthesize
 * (which checks while it writes the assignment) -> the prover.
 *
 * Source: spec/filecoin-circuits.md section 10; spec/filecoin-formats.md sections 1, 2, 3.1 to 3.3.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef CIRCUIT_FILECOIN_POREP_H
#define CIRCUIT_FILECOIN_POREP_H

#include "circuit/filecoin/catalog.h"
#include "circuit/poseidon.h"
#include "r1cs/assignment.h"

#define POREP_DRG_PARENTS 6
#define POREP_EXP_PARENTS 8
#define POREP_PARENTS 37 /* of a label, repetitions counted */
#define POREP_MAX_LAYERS 11

/* ---- circuit ---- */

/** The constraint system of one partition of n_challenges challenges over `layers` layers. Shared by all proofs of that
 *  shape; from m. */
CUZK_STATUS porep_system_new(r1cs_system **out, const poseidon_set *ps, const char *name,
                             const fil_size *s, uint32_t layers, uint32_t n_challenges, mem *m);

/** What a proof is of. */
typedef struct porep_shape {
    const fil_size *size;
    uint32_t layers;
} porep_shape;

/* ---- what a C1 output is ---- */

typedef enum porep_feature {
    POREP_INTERACTIVE,
    POREP_SYNTHETIC,
    POREP_NON_INTERACTIVE
} porep_feature;

/** One inclusion path of a challenge: places in its hashes and numbers. Siblings: level after level from the leaf upward,
 *  arity - 1 each; indices: one a level. */
typedef struct porep_path_at {
    uint32_t root, leaf, siblings; /* in hashes */
    uint32_t indices;              /* in numbers */
} porep_path_at;

typedef struct porep_column_at {
    uint32_t rows;  /* `layers` hashes, layer 1 first */
    uint32_t index; /* the column's node, in numbers; the circuit does not read it */
    porep_path_at path;
} porep_column_at;

/** The same for all challenges of a shape. Columns: c_x, then the DRG parents, then the expander parents. */
typedef struct porep_layout {
    uint32_t layers;
    uint32_t levels[FIL_MAX_LEVELS]; /* arities of a path in trees C and R */
    unsigned n_levels;
    unsigned d_levels; /* of a path in tree D, all of arity 2 */
    porep_path_at d, r;
    porep_column_at columns[1 + POREP_DRG_PARENTS + POREP_EXP_PARENTS];
    uint32_t labels; /* in hashes: POREP_PARENTS for each layer, then encoding_proof's */
    uint32_t nodes;  /* in numbers: layer_index and node for each layer, then encoding_proof's */
    uint32_t n_hashes, n_numbers; /* of a challenge */
} porep_layout;

/** Fills the layout of a size with this many layers. */
void porep_layout_of(porep_layout *out, const fil_size *s, uint32_t layers);

/* Registered seal proofs: blocks of five, a size of the network each. Sizes that the network has not use the blocks' first. */
#define POREP_REGISTERED 20
/** "StackedDrg32GiBV1_1"; registered < POREP_REGISTERED. Only its block counts, the size is s. */
void porep_name(char out[64], uint32_t registered, const fil_size *s);
porep_feature porep_feature_of(uint32_t registered);
uint32_t porep_partitions(const fil_size *s, porep_feature f);

/** A decoded C1 output. Hashes that are field elements are below the modulus and indices below their arity, as the reader checked. */
typedef struct porep_c1 {
    mem *m;
    const fil_size *size;
    uint32_t registered; /* RegisteredSealProof; for sizes the network has not: that of 2 KiB */
    porep_feature feature;
    bool
        drg_predecessor_last; /* API 1.0.0: the predecessor is the last DRG parent, and expander parents are truncated */
    porep_layout layout;
    uint32_t n_partitions, n_challenges; /* n_challenges: of a partition */
    uint8_t comm_r[32], comm_d[32], replica_id[32], seed[32], ticket[32];
    bool wrapped; /* sector_number is the wrapper's */
    uint64_t sector_number;
    uint8_t (*hashes)
        [32]; /* of partition k, challenge i: n_hashes from (k * n_challenges + i) * n_hashes */
    uint64_t *numbers;
} porep_c1;

static inline const uint8_t (*porep_hashes(const porep_c1 *c1, uint32_t partition,
                                           uint32_t challenge))[32]
{
    return (const uint8_t(*)[32])(c1->hashes + ((size_t)partition * c1->n_challenges + challenge) *
                                                   c1->layout.n_hashes);
}
static inline const uint64_t *porep_numbers(const porep_c1 *c1, uint32_t partition,
                                            uint32_t challenge)
{
    return c1->numbers + ((size_t)partition * c1->n_challenges + challenge) * c1->layout.n_numbers;
}

/** Decodes what seal_commit_phase1 returns, or the wrapper of Lotus and Curio around it (docs/formats/c1.md). Without an
 *  expected shape (NULL) the C1's own names say its size, which then has its usual layers. Errors: CUZK_EDATA, classes
 *  malformed and shape; `where`: "partition 0, challenge 1, drg parent 3, path element 2". Takes at most 32/65 of the
 *  document and one challenge; with a wrapper, 3/4 of the file more while it reads. The data is not needed after. */
CUZK_STATUS porep_c1_read(porep_c1 **out, const uint8_t *data, size_t size,
                          const porep_shape *expected, mem *m);
/** The same from bincode, the form that supraseal writes: it has no names, so the registered number and the shape are
 *  given. Takes what the result takes, less than the data; `where`: "partition 0, challenge 1, drg parent 3". */
CUZK_STATUS porep_c1_read_bincode(porep_c1 **out, const uint8_t *data, size_t size,
                                  uint32_t registered, const porep_shape *shape, mem *m);
void porep_c1_free(porep_c1 *c1);

/* ---- statement ---- */

typedef struct porep_statement {
    porep_shape shape;
    uint32_t registered;
    uint64_t miner_id, sector_number;
    uint8_t ticket[32], seed[32], comm_d[32], comm_r[32]; /* comm_d, comm_r: elements, not zero */
} porep_statement;

/** From statement.json (spec/cli.md). Errors: CUZK_EDATA; `where` is the field. */
CUZK_STATUS porep_statement_read(porep_statement *out, const uint8_t *json, size_t size);

/** The graph of a size under a registered proof: whose nodes a node's label is made of. */
typedef struct porep_graph {
    uint32_t nodes_log;
    bool predecessor_last; /* API 1.0.0 */
    uint8_t drg_seed[28];
    uint64_t feistel_keys[3];
} porep_graph;

void porep_graph_init(porep_graph *g, const fil_size *s, uint32_t registered);
/** Parents in the node's layer, in the order of the graph; those in the layer below. node < 2^nodes_log. */
void porep_drg_parents(const porep_graph *g, uint32_t node, uint32_t out[POREP_DRG_PARENTS]);
void porep_exp_parents(const porep_graph *g, uint32_t node, uint32_t out[POREP_EXP_PARENTS]);
/** The latter of n nodes; many take an eighth of the time each. */
void porep_exp_parents_many(const porep_graph *g, const uint32_t *nodes, size_t n,
                            uint32_t (*out)[POREP_EXP_PARENTS]);

/** What follows from a statement, made once for all its challenges. */
typedef struct porep_derived {
    porep_statement st;
    porep_feature feature;
    uint32_t n_partitions, n_challenges; /* n_challenges: of a partition */
    uint8_t replica_id[32];
    porep_graph graph;
    uint8_t generation_key[32], selection_key[32]; /* of synthetic challenges */
} porep_derived;

void porep_derive(porep_derived *out, const porep_statement *st);
/** Challenge i of partition k: a node, never 0. */
uint32_t porep_challenge(const porep_derived *d, uint32_t partition, uint32_t i);
/** Public inputs of a partition, without ONE: porep_n_public of them, in the circuit's order. */
size_t porep_n_public(const porep_derived *d);
CUZK_STATUS porep_public_inputs(const porep_derived *d, size_t partition, const curve *cv, fr *out);

/** Whether a C1 output is the statement's: its values (class statement), the nodes that its paths are of (inconsistent; a
 *  challenge that all of its proof agrees on, but not the derived one: statement). The first fault is the one reported.
 *  Does not hash paths: see the witness. */
CUZK_STATUS porep_check_statement(const porep_c1 *c1, const porep_derived *d);

#endif
