/*
 * circuit/gadget/insert.h - puts a node at its index among its siblings: rows, and the values of their variables
 *
 * One plan a size drives both, so that they cannot part ways. Sizes 2, 4 and 8.
 * Source: spec/filecoin-circuits.md section 8.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef CIRCUIT_GADGET_INSERT_H
#define CIRCUIT_GADGET_INSERT_H

#include "circuit/gadget/number.h"

#define INSERT_MAX_SIZE 8
#define INSERT_MAX_PICKS 20
#define INSERT_MAX_BITS 5 /* three of the index, and two products of them */

/** One selection: cond names a bit (index bits first, then the products), x and y an operand: 0 the node, 1.. the siblings,
 *  INSERT_MAX_SIZE + k the k-th pick's result. */
typedef struct insert_pick {
    uint8_t cond, x, y;
} insert_pick;

typedef struct insert_plan {
    uint8_t size, index_bits;
    uint8_t n_bits; /* index bits, then for size 8: neither of the two lowest; both of them */
    uint8_t n_picks;
    insert_pick picks[INSERT_MAX_PICKS];
    uint8_t result[INSERT_MAX_SIZE]; /* which picks are the list */
} insert_plan;

/** NULL for a size that has none. */
const insert_plan *insert_plan_of(uint32_t size);

/** Rows and variables; out: size wires. bits: the index bits, allocated already. */
void insert_gadget(const gadget *g, const insert_plan *p, uint32_t *out, uint32_t node,
                   const uint32_t *bits, const uint32_t *siblings);

/** Values of the picks, in allocation order, for the node at `index`. */
void insert_values(const insert_plan *p, fr *picks, const fr *node, const fr *siblings,
                   unsigned index);
/** Values of the n_bits bits, lowest first. */
unsigned insert_bits(const insert_plan *p, unsigned index);

#endif
