/*
 * r1cs/values.h - where a variable's value lies; for loops over rows
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef R1CS_VALUES_H
#define R1CS_VALUES_H

#include "base/u128.h"
#include "r1cs/assignment.h"

/** Elements among auxiliary variables 0..i-1, i <= n_aux, of a finished system. */
static inline uint32_t r1cs_rank(const r1cs_system *sys, uint32_t i)
{
    uint64_t below;

    if (sys->is_elem == NULL) return i;
    below = sys->is_elem[i / 64] & ((UINT64_C(1) << (i % 64)) - 1);
    return sys->rank64[i / 64] + u64_popcount(below);
}

/** The value of a wire that is there. */
static inline const fr *r1cs_value(const r1cs_assignment *w, r1cs_wire wire)
{
    const r1cs_system *sys = w->sys;
    uint32_t i = wire & ~R1CS_AUX, rank, bit;

    if ((wire & R1CS_AUX) == 0) {
        VERIFY(i < w->n_inputs);
        return &w->inputs[i];
    }
    VERIFY(i < w->n_aux);
    if (sys == NULL || sys->is_elem == NULL) return &w->elems[i];
    rank = r1cs_rank(sys, i);
    if ((sys->is_elem[i / 64] >> (i % 64) & 1) != 0) return &w->elems[rank];
    bit = i - rank;
    return (w->bits[bit / 64] >> (bit % 64) & 1) != 0 ? &sys->cv->fr_one : &sys->cv->fr_zero;
}

#endif
