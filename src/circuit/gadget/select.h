/*
 * circuit/gadget/select.h - one of 2^k numbers, chosen by k bits: rows, and the values of their variables
 *
 * Source: spec/filecoin-circuits.md section 8.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef CIRCUIT_GADGET_SELECT_H
#define CIRCUIT_GADGET_SELECT_H

#include "circuit/gadget/number.h"

#define SELECT_MAX_BITS 7

/** from[index], index by n_bits bits, lowest first: 2^n_bits - 1 picks, the last of them the result. */
uint32_t select_gadget(const gadget *g, const uint32_t *from, const uint32_t *bits,
                       unsigned n_bits);
/** Values of the picks, in allocation order. */
void select_values(fr *picks, const fr *from, unsigned n_bits, unsigned index);

#endif
