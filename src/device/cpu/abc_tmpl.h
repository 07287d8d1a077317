/*
 * device/cpu/abc_tmpl.h - rows of a constraint system: sums of coefficient times value; once for each curve and table
 *
 * Most coefficients are 1 or -1 and most values are bits, so a term is looked at before it is multiplied: only a
 * coefficient other than 1, -1 times an element is a product. Products of a row are summed before reduction and reduced
 * once.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

/* The value of template wire `wire`: NULL and *bit, or the element. */
U128_INLINE const fr *abc_value(const abc_scope *sc, uint32_t wire, bool *bit)
{
    uint32_t global, code;

    if (sc->code != NULL) {
        code = sc->code[wire];
        *bit = code == ABC_ONE;
        if (code <= ABC_ONE) return NULL;
        return (code & 1) != 0 ? &sc->inputs[code / 2 - 1] : &sc->aux->elems[code / 2 - 1];
    }
    *bit = true;
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
        fr sum = {{0}};
        fr_wide products = {{0}}, p;
        bool any = false;

        for (; t < end; t++) {
            uint32_t c = m->coeff[t];
            bool bit;
            const fr *v = abc_value(sc, m->wire[t], &bit);

            if (v == NULL) {
                if (bit) fr_add(&sum, &sum, &sc->coeffs[c]);
            } else if (c == 0) {
                fr_add(&sum, &sum, v);
            } else if (c == 1) {
                fr_sub(&sum, &sum, v);
            } else {
                fr_mul_wide(&p, v, &sc->coeffs[c]);
                if (any)
                    fr_wide_add(&products, &products, &p);
                else
                    products = p;
                any = true;
            }
        }
        if (any) {
            fr total;
            fr_redc_wide(&total, &products);
            fr_add(&sum, &sum, &total);
        }
        out[i] = sum;
    }
}
