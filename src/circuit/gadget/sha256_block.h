/*
 * circuit/gadget/sha256_block.h - one compression as a template, for messages of many blocks
 *
 *   in: the running hash (256 wires, in the order of sha256_hash) unless it is the initial one; the block's wires by number
 *   own: the compression's bits, the next hash among them
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef CIRCUIT_GADGET_SHA256_BLOCK_H
#define CIRCUIT_GADGET_SHA256_BLOCK_H

#include "circuit/gadget/sha256.h"
#include "r1cs/assignment.h"

/** A block of constants and wires: the bits of byte k under wire[k] are passed in, the others are those of value[k]. */
typedef struct sha256_pattern {
    bool initial; /* the running hash is the initial one */
    uint8_t wire[64], value[64];
} sha256_pattern;

/** Adds the template of a pattern. CUZK_EINVAL: nothing is passed in. */
CUZK_STATUS sha256_block_template(uint32_t *tmpl, r1cs_system *sys, const char *name,
                                  const sha256_pattern *p);

/** Appends an instance; block: the wires that the pattern asks for. h: the running hash, which becomes the next one; where the
 *  pattern says that it is the initial one, it is not read. */
CUZK_STATUS sha256_block_add(r1cs_system *sys, uint32_t tmpl, r1cs_wire h[256],
                             const r1cs_wire *block);

/** Writes the values of such an instance; h as for sha256_compress_values. Other threads may write other instances' meanwhile. */
void sha256_block_values(r1cs_assignment *w, const r1cs_instance *inst, uint32_t h[8],
                         const uint8_t block[64]);

#endif
