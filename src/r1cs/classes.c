/*
 * r1cs/classes.c - how large the values of an assignment are
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "r1cs/classes.h"

#include "base/u128.h"

static void count_elements(r1cs_classes *c, const curve *cv, const fr *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        scalar s;
        uint64_t low;

        cv->fr_to_scalar(&s, &v[i]);
        low = load_u64le(s.b);
        if ((load_u64le(s.b + 8) | load_u64le(s.b + 16) | load_u64le(s.b + 24)) != 0) {
            c->full++;
        } else if (low > 1) {
            *(low < 256 ? &c->below_2_8 : &c->below_2_64) += 1;
        } else {
            *(low == 0 ? &c->zero : &c->one) += 1;
        }
    }
}

void r1cs_classes_of(r1cs_classes *out, const r1cs_assignment *w)
{
    const r1cs_system *sys = w->sys;
    uint32_t n_bits = sys->n_aux - sys->n_elem;
    uint64_t ones = 0;

    *out = (r1cs_classes){0};
    count_elements(out, sys->cv, w->inputs, sys->n_inputs);
    count_elements(out, sys->cv, w->elems, sys->n_elem);
    for (size_t i = 0; i < (n_bits + 63u) / 64; i++) ones += u64_popcount(w->bits[i]);
    out->one += ones;
    out->zero += n_bits - ones;
}
