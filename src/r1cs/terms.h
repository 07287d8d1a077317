/*
 * r1cs/terms.h - linear combinations as sorted keys: order, merge, drop zeros; rows over global wires
 *
 * A key is a wire in the upper 32 bits and the index of a coefficient in the lower 32. Global wires sort as the
 * reference orders them: inputs by index, then auxiliary variables by index.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef R1CS_TERMS_H
#define R1CS_TERMS_H

#include "r1cs/system.h"

/** Sorts keys by wire; true when some wire occurs twice. Linear time for keys nearly in order. */
bool terms_sort(uint64_t *keys, size_t n);

/** A merged term. */
typedef struct term {
    uint32_t wire;
    uint32_t coeff; /* index of its coefficient; TERM_SUM: *k is a sum that no index has */
    const fr *k;    /* never zero */
    fr sum;         /* storage of k for a sum */
} term;
#define TERM_SUM UINT32_MAX

/** The next term of sorted keys from *pos on, merged, over the coefficients k; false: no more. */
bool terms_next(term *t, const curve *cv, const fr *k, const uint64_t *keys, size_t n, size_t *pos);

/** Terms of one row: how many, and their keys with global wires (unsorted, unmerged). */
static inline size_t terms_row_len(const r1cs_matrix *x, uint32_t row)
{
    return x->row_start[row + 1] - x->row_start[row];
}
void terms_row(uint64_t *keys, const r1cs_system *sys, const r1cs_instance *inst,
               const r1cs_matrix *x, uint32_t row);
/** The longest row of any template, in any matrix that is known. */
size_t terms_longest_row(const r1cs_system *sys);

/** Global wire of a template's wire in an instance. */
static inline r1cs_wire terms_global(const r1cs_system *sys, const r1cs_template *t,
                                     const r1cs_instance *inst, uint32_t wire)
{
    if (wire == 0) return 0;
    wire--;
    if (wire < t->n_in) return sys->wires[(size_t)inst->wires + wire];
    wire -= t->n_in;
    if (wire < t->n_local) return R1CS_AUX | (inst->aux_start + wire);
    return inst->pub_start + (wire - t->n_local);
}

#endif
