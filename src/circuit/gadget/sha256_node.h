/*
 * circuit/gadget/sha256_node.h - SHA-256 as the hash of a Merkle node, and an element of a path in such a tree
 *
 * A node is a field element below 2^254: the hash of its two children's 32 bytes with the two highest bits cleared. A node hash is one
 * instance of one template; its last own variable is the node (sha256_node_result). Three forms:
 *
 *   SHA256_NODE_PAIR  in: left, right               own: bits of both, two compressions, the node
 *   SHA256_NODE_STEP  in: the node below, its index bit, its sibling        own: the two picks first
 *   SHA256_NODE_PATH  in: the node below            own: its index bit and its sibling first, then as STEP
 *
 * Source: spec/filecoin-circuits.md sections 6, 8, 9.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef CIRCUIT_GADGET_SHA256_NODE_H
#define CIRCUIT_GADGET_SHA256_NODE_H

#include "circuit/gadget/sha256.h"
#include "r1cs/assignment.h"

typedef enum sha256_node_form {
    SHA256_NODE_PAIR,
    SHA256_NODE_STEP,
    SHA256_NODE_PATH
} sha256_node_form;

/** Adds the template of a form (2.3 MB); r1cs_add takes it with the wires above. */
CUZK_STATUS sha256_node_template(uint32_t *tmpl, r1cs_system *sys, sha256_node_form form);
/** The node of an instance whose first own variable is first_local. */
r1cs_wire sha256_node_result(const r1cs_system *sys, uint32_t tmpl, r1cs_wire first_local);

/** The hash alone: out may be one of the others. All are canonical little-endian bytes. */
void sha256_node_hash(uint8_t out[32], const uint8_t left[32], const uint8_t right[32]);
/** The hash, with the values of all own variables of the instance written: the left child is `node` when index is 0, else
 *  `sibling` (PAIR: index 0). out may be one of the others. Other threads may write other instances' meanwhile. */
void sha256_node_values(r1cs_assignment *w, const r1cs_instance *inst, uint8_t out[32],
                        const uint8_t node[32], const uint8_t sibling[32], unsigned index);

#endif
