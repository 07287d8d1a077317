/*
 * r1cs/assignment.h - values of a system's variables: inputs and elements as fr, bits as packed bits
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef R1CS_ASSIGNMENT_H
#define R1CS_ASSIGNMENT_H

#include "base/pool.h"
#include "r1cs/system.h"

typedef struct r1cs_assignment {
    const r1cs_system *sys; /* borrowed; NULL: a plain witness (wtns), where all aux are elements */
    mem *m;
    uint32_t n_inputs, n_aux;
    uint32_t n_elems;
    fr *inputs;     /* n_inputs; [0] = 1 */
    fr *elems;      /* n_elems: the element variables in index order */
    uint64_t *bits; /* the bit variables in index order, packed; NULL when there are none */
} r1cs_assignment;

/** Zeroed but for inputs[0] = 1. */
CUZK_STATUS r1cs_assignment_new(r1cs_assignment **out, const r1cs_system *sys, mem *m);
CUZK_STATUS r1cs_assignment_new_plain(r1cs_assignment **out, const curve *cv, uint32_t n_inputs,
                                      uint32_t n_aux, mem *m);
void r1cs_assignment_free(r1cs_assignment *w); /* wipes */
/** Bytes that r1cs_assignment_new takes from its budget. */
size_t r1cs_assignment_size(const r1cs_system *sys);

void r1cs_get(const r1cs_assignment *w, r1cs_wire wire, fr *out);

/** Where an instance's own variables are stored: its elements begin at elems[elem_start], bits at bit number bit_start. */
typedef struct r1cs_place {
    uint32_t elem_start, bit_start;
} r1cs_place;
r1cs_place r1cs_place_of(const r1cs_system *sys, const r1cs_instance *inst);

/** First row that does not hold, or none. */
typedef struct r1cs_fault {
    bool found;
    uint32_t row;     /* global */
    const char *tmpl; /* gadget name */
    size_t instance;
    uint32_t row_in_tmpl;
} r1cs_fault;
/** Evaluates every row (A w * B w = C w), threaded. fault->found false: satisfied. */
CUZK_STATUS r1cs_check(const r1cs_system *sys, const r1cs_assignment *w, pool *p, const cancel *c,
                       r1cs_fault *fault);

#endif
