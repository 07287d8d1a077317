/*
 * circuit/gadget/boolean.h - truth values over wires: a bit, a bit negated, a constant; and their logic
 *
 * Rows and their order are the reference's: spec/filecoin-circuits.md sections 2.2 to 2.4. Which operands are constants decides
 * what is allocated, so circuits of different constants differ in shape.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef CIRCUIT_GADGET_BOOLEAN_H
#define CIRCUIT_GADGET_BOOLEAN_H

#include "circuit/gadget/number.h"

/** Twice a template wire, plus 1 when it is negated. The constants are wire 0 (ONE) and its negation. */
typedef struct boolean {
    uint32_t v;
} boolean;

static inline boolean boolean_is(uint32_t wire)
{
    return (boolean){wire << 1};
}
static inline boolean boolean_constant(bool value)
{
    return (boolean){value ? 0 : 1};
}
static inline bool boolean_is_constant(boolean x)
{
    return x.v < 2;
}
static inline bool boolean_is_negated(boolean x)
{
    return (x.v & 1) != 0;
}
static inline boolean boolean_not(boolean x)
{
    return (boolean){x.v ^ 1};
}

/** lc += k * x. */
void boolean_add_to(const gadget *g, r1cs_lc *lc, boolean x, const fr *k);

boolean boolean_xor(const gadget *g, boolean x, boolean y);
boolean boolean_and(const gadget *g, boolean x, boolean y);
/** SHA-256's functions: a ? b : c, and what two of three say. The latter allocates two bits when no operand is constant: its value,
 *  then b and c. */
boolean boolean_ch(const gadget *g, boolean a, boolean b, boolean c);
boolean boolean_maj(const gadget *g, boolean a, boolean b, boolean c);

#endif
