/*
 * device/cpu/abc_tmpl.h - rows of a constraint system: sums of coefficient times value; once for each curve and table
 *
 * Most coefficients are 1 or -1 and most values are bits, so a term is looked at before it is multiplied: only a
 * coefficient other than 1, -1 times an element is a product. The sum of a row is reduced once.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#include "device/cpu/abc_acc_inl.h"

/* The value of template wire `wire`: an element; or NULL, and *mask: all ones for 1, none for 0. */
U128_INLINE const fr *abc_value(const abc_scope *sc, uint32_t wire, uint64_t *mask)
{
    uint32_t global, code;

    if (sc->code != NULL) {
        code = sc->code[wire];
        *mask = 0 - (uint64_t)code;
        if (code <= ABC_ONE) return NULL;
        return (code & 1) != 0 ? &sc->inputs[code / 2 - 1] : &sc->aux->elems[code / 2 - 1];
    }
    *mask = UINT64_MAX;
    if (wire == 0) return NULL;
    wire--;
    if (wire < sc->n_in) {
        global = sc->in[wire];
        if ((global & DEV_WIRE_AUX) == 0) return &sc->inputs[global];
        return &sc->aux->elems[global & ~DEV_WIRE_AUX];
    }
    wire -= sc->n_in;
    if (wire < sc->n_local) return &sc->aux->elems[sc->aux_start + wire];
    return &sc->inputs[sc->pub_start + (wire - sc->n_local)];
}

static void abc_rows(fr *out, const dev_matrix *m, size_t first, size_t n, const abc_scope *sc)
{
    uint32_t t = m->row_start[first];

    for (size_t i = 0; i < n; i++) {
        uint32_t end = m->row_start[first + i + 1];
        abc_acc acc = {{0}, {0}};

        for (; t < end; t++) {
            uint32_t c = m->coeff[t];
            uint64_t mask;
            const fr *v = abc_value(sc, m->wire[t], &mask);

            if (v == NULL)
                abc_add(&acc, &sc->coeffs[c], mask); /* bits are random: no branch on one */
            else if (c == 0)
                abc_add(&acc, v, UINT64_MAX);
            else if (c == 1)
                abc_sub(&acc, v);
            else
                abc_mac(&acc, v, &sc->coeffs[c]);
        }
        abc_end(&out[i], &acc);
    }
}
