/*
 * unit/r1cs/support.h - what the tests of r1cs share: budgets that must come back empty, curves, fixtures, gadgets
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef UNIT_R1CS_SUPPORT_H
#define UNIT_R1CS_SUPPORT_H

#include "harness/harness.h"

#include "r1cs/assignment.h"

/** A budget without limit; support_close fails the test when something is still allocated from it. */
mem *support_mem(void);
void support_close(mem *m);

/** The curve with the best table of this machine. */
const curve *support_curve(curve_id id);
void support_random_fr(const curve *cv, fr *out);
fr support_u64(const curve *cv, uint64_t v);
fr support_neg(const curve *cv, uint64_t v); /* -v */

/** Circuits under fixtures/circom/<curve name in files>. */
typedef struct support_circuit {
    curve_id id;
    const char *folder; /* "circom/bn128/mult3" */
} support_circuit;
extern const support_circuit support_circuits[];
extern const size_t support_n_circuits;
/** The whole file of a circuit; the caller frees it. */
uint8_t *support_read(const support_circuit *c, const char *name, size_t *size);

/** Rows of bits and numbers, added to a template: what filecoin-circuits.md sections 2 and 3 call them. */
uint32_t gadget_bit(r1cs_builder *b, const curve *cv);
/** lc of 2^k * bits[k]. */
r1cs_lc *gadget_pack(r1cs_builder *b, const curve *cv, const uint32_t *bits, size_t n);

#endif
