/*
 * circuit/gadget/number.h - gadgets on bits and numbers: allocation, logic, selection, packing
 *
 * Wires are template wires of the builder. Rows and their order are the reference's (spec/filecoin-circuits.md sections
 * 2, 3 and 8). Failures stick in the builder.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef CIRCUIT_GADGET_NUMBER_H
#define CIRCUIT_GADGET_NUMBER_H

#include "r1cs/system.h"

/** What gadgets write to: a template's builder, and the constants they need. */
typedef struct gadget {
    r1cs_builder *b;
    const curve *cv;
    fr minus_one;
} gadget;

gadget gadget_of(r1cs_builder *b, const curve *cv);

/** The row a * bb = c, and frees the three; NULL: empty. */
void gadget_row(const gadget *g, r1cs_lc *a, r1cs_lc *bb, r1cs_lc *c);
/** lc += sum over i < n of 2^i wires[i]. */
void gadget_add_number(const gadget *g, r1cs_lc *lc, const uint32_t *wires, unsigned n);

/** A new bit, with its boolean row. */
uint32_t bit_alloc(const gadget *g);
/** x and y; a new bit, one row. */
uint32_t bit_and(const gadget *g, uint32_t x, uint32_t y);
/** Neither x nor y; a new bit, one row. */
uint32_t bit_nor(const gadget *g, uint32_t x, uint32_t y);

/** x where cond is 1, else y; a new number, one row. */
uint32_t num_pick(const gadget *g, uint32_t cond, uint32_t x, uint32_t y);
/** x y; a new number, one row. */
uint32_t num_mul(const gadget *g, uint32_t x, uint32_t y);
/** The sum of n numbers; a new one, one row. */
uint32_t num_sum(const gadget *g, const uint32_t *x, unsigned n);
/** x = y; one row. */
void num_equal(const gadget *g, uint32_t x, uint32_t y);
/** A new public input that equals x; one row. */
void num_inputize(const gadget *g, uint32_t x);
/** A new public input of the n bits, lowest first; one row. n <= 254. */
void num_pack_input(const gadget *g, const uint32_t *bits, unsigned n);
/** The same as a new number. */
uint32_t num_pack(const gadget *g, const uint32_t *bits, unsigned n);
/** x's bits as new bits, lowest first: NUM_BITS bits and one row more. Not proved to be below the modulus, as upstream. */
#define NUM_BITS 255
void num_to_bits(const gadget *g, uint32_t bits[NUM_BITS], uint32_t x);

#endif
