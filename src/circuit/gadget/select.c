/*
 * circuit/gadget/select.c - one of 2^k numbers: halves of the list, by the highest bit first
 *
 * Source: spec/filecoin-circuits.md section 8
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit/gadget/select.h"

#include <string.h>

uint32_t select_gadget(const gadget *g, const uint32_t *from, const uint32_t *bits, unsigned n_bits)
{
    uint32_t list[1u << SELECT_MAX_BITS];

    VERIFY(n_bits <= SELECT_MAX_BITS);
    memcpy(list, from, ((size_t)1 << n_bits) * sizeof *list);
    while (n_bits-- > 0) {
        size_t half = (size_t)1 << n_bits;

        for (size_t i = 0; i < half; i++)
            list[i] = num_pick(g, bits[n_bits], list[half + i], list[i]);
    }
    return list[0];
}

void select_values(fr *picks, const fr *from, unsigned n_bits, unsigned index)
{
    while (n_bits-- > 0) {
        size_t half = (size_t)1 << n_bits;

        memcpy(picks, from + ((index >> n_bits & 1) != 0 ? half : 0), half * sizeof *picks);
        from = picks;
        picks += half;
    }
}
