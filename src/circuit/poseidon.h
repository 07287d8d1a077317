/*
 * circuit/poseidon.h - Poseidon as Filecoin uses it: constants of our own making, the plain hash, witness traces
 *
 * Arity 2, 4, 8, 11; x^5; standard strength. Source: spec/filecoin-circuits.md section 7.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef CIRCUIT_POSEIDON_H
#define CIRCUIT_POSEIDON_H

#include "algebra/curve.h"
#include "base/mem.h"

#define POSEIDON_MAX_T 12
#define POSEIDON_FULL_ROUNDS 8

/** Constants of one arity over BLS12-381's Fr. Fixed after poseidon_new; shared. */
typedef struct poseidon poseidon;

/** Makes the constants (some tens of ms for arity 11 at most). */
CUZK_STATUS poseidon_new(poseidon **out, const curve *cv, unsigned arity, mem *m);
void poseidon_free(poseidon *p);
unsigned poseidon_arity(const poseidon *p);
/** Merkle domain tag 2^arity - 1. */
void poseidon_merkle_tag(const poseidon *p, fr *tag);

/** out = hash of arity elements. */
void poseidon_hash(const poseidon *p, fr *out, const fr *in, const fr *tag);

/** The same, writing the values of all auxiliary variables of the circuit (gadget/poseidon_gadget.h) in allocation order
 *  to trace: poseidon_trace_len(p) elements, the last of them the hash. */
void poseidon_trace(const poseidon *p, fr *trace, const fr *in, const fr *tag);
uint32_t poseidon_trace_len(const poseidon *p);

#endif
