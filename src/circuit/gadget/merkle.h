/*
 * circuit/gadget/merkle.h - inclusion in a Merkle tree as instances of templates
 *
 * One inclusion is, in this order: a path element a level, from the leaf upward; the index; the root.
 *
 *   "path A"  in: the node below             own: index bits and insertion's products (bits), siblings, picks, Poseidon (elements)
 *   "index"   in: all index bits             own: a public input, the leaf's index
 *   "root"    in: the topmost node, the root
 *
 * In a tree of SHA-256 the path elements are of gadget/sha256_node.h's PATH form.
 *
 * Where index bits and siblings are allocated elsewhere, an inclusion is a step a level, then the root:
 *
 *   "step A"  in: the node below, its index bits, its siblings      own: insertion's products (bits), picks, Poseidon (elements)
 *
 * In a tree of SHA-256 the steps are of that file's STEP form.
 *
 * Source: spec/filecoin-circuits.md sections 9.1 and 9.2.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef CIRCUIT_GADGET_MERKLE_H
#define CIRCUIT_GADGET_MERKLE_H

#include "circuit/gadget/insert.h"
#include "circuit/gadget/poseidon_gadget.h"

#define MERKLE_MAX_LEVELS 36
#define MERKLE_MAX_INDEX_BITS 36

typedef struct merkle_templates {
    uint32_t levels[MERKLE_MAX_LEVELS]; /* arity of each, from the leaf upward */
    unsigned n_levels, n_index_bits;
    uint32_t path[INSERT_MAX_SIZE + 1]; /* by arity */
    uint32_t index, root;
} merkle_templates;

/** Adds the templates that paths of these levels need. CUZK_EINVAL: a level that is not 2, 4 or 8, or too many. */
CUZK_STATUS merkle_templates_add(merkle_templates *out, r1cs_system *sys, const poseidon_set *ps,
                                 const uint32_t *levels, unsigned n_levels);
/** The templates of a binary tree of SHA-256 that has as many leaves as t's tree; the index's and the root's are t's. */
CUZK_STATUS merkle_sha256_templates_add(merkle_templates *out, r1cs_system *sys,
                                        const merkle_templates *t);
/** Appends one inclusion of `leaf` under `root`. */
CUZK_STATUS merkle_add(r1cs_system *sys, const merkle_templates *t, r1cs_wire leaf, r1cs_wire root);

#define MERKLE_MAX_STEPS 32

/** The steps of one path: any templates with these wires passed in, whose last own variable is the node. */
typedef struct merkle_steps {
    uint32_t levels[MERKLE_MAX_STEPS]; /* arity of each, from the leaf upward */
    uint32_t step[MERKLE_MAX_STEPS];   /* its template */
    unsigned n_levels;
    uint32_t root;
} merkle_steps;

/** Adds "step A" for p's arity; "root". */
CUZK_STATUS merkle_step_template(uint32_t *tmpl, r1cs_system *sys, const poseidon *p);
CUZK_STATUS merkle_root_template(uint32_t *tmpl, r1cs_system *sys);
/** Appends one inclusion of `leaf` under `root`. bits: all index bits; first_sibling: the siblings follow one another from
 *  there, level after level. */
CUZK_STATUS merkle_steps_add(r1cs_system *sys, const merkle_steps *t, r1cs_wire leaf,
                             const r1cs_wire *bits, r1cs_wire first_sibling, r1cs_wire root);

/** How many elements of an assignment a path element of p's arity has: siblings, picks, Poseidon's trace, in this order. */
uint32_t merkle_path_elems(const poseidon *p);
/** Instances that merkle_add appends. */
unsigned merkle_instances(const merkle_templates *t);

#endif
