/*
 * circuit/gadget/poseidon_gadget.h - Poseidon as rows
 *
 * Allocates poseidon_trace_len(p) elements and as many rows; poseidon_trace gives their values in the same order.
 * Source: spec/filecoin-circuits.md section 7.2.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef CIRCUIT_GADGET_POSEIDON_GADGET_H
#define CIRCUIT_GADGET_POSEIDON_GADGET_H

#include "circuit/gadget/number.h"
#include "circuit/poseidon.h"

/** Wire of the hash of arity wires under a constant tag. */
uint32_t poseidon_gadget(const gadget *g, const poseidon *p, const uint32_t *in, const fr *tag);

#endif
