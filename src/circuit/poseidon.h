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

/** Makes the constants (a few milliseconds for arity 11), for a CPU table that this machine runs. CUZK_EINVAL: another arity. */
CUZK_STATUS poseidon_new(poseidon **out, cpu_table table, unsigned arity, mem *m);
void poseidon_free(poseidon *p);
unsigned poseidon_arity(const poseidon *p);
const curve *poseidon_curve(const poseidon *p);
/** Merkle domain tag 2^arity - 1. */
void poseidon_merkle_tag(const poseidon *p, fr *tag);

/** out = hash of arity elements. */
void poseidon_hash(const poseidon *p, fr *out, const fr *in, const fr *tag);

/** The same, writing the values of all auxiliary variables of the circuit (gadget/poseidon_gadget.h) in allocation order
 *  to trace: poseidon_trace_len(p) elements, the last of them the hash. trace and in do not overlap. */
void poseidon_trace(const poseidon *p, fr *trace, const fr *in, const fr *tag);
uint32_t poseidon_trace_len(const poseidon *p);

/** The same for n inputs under one tag, n from 0 to POSEIDON_LANES: as many at a time as the CPU table has lanes. A full batch is
 *  cheapest; two inputs already cost less so than one by one. Inputs may be the same; outputs do not overlap inputs. */
#define POSEIDON_LANES 8
void poseidon_hash_many(const poseidon *p, unsigned n, fr *const *out, const fr *const *in,
                        const fr *tag);
void poseidon_trace_many(const poseidon *p, unsigned n, fr *const *traces, const fr *const *in,
                         const fr *tag);

/** One of each arity: made once a process, then shared by all circuits and their inputs. */
typedef struct poseidon_set poseidon_set;

CUZK_STATUS poseidon_set_new(poseidon_set **out, cpu_table table, mem *m);
/** Of these arities alone, bit a for arity a: constants of arity 11 take 2 ms to make. */
CUZK_STATUS poseidon_set_new_of(poseidon_set **out, cpu_table table, uint32_t arities, mem *m);
void poseidon_set_free(poseidon_set *ps);
const curve *poseidon_set_curve(const poseidon_set *ps);
/** NULL for an arity that does not exist or is not in the set. */
const poseidon *poseidon_of(const poseidon_set *ps, unsigned arity);

#endif
