/*
 * groth16/qap_columns.c - a template's rows sorted into columns, and the sum over one
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "groth16/qap_columns.h"

static void fill(qap_matrix *out, const r1cs_matrix *in, uint32_t n_rows, size_t n_wires)
{
    size_t terms = in->row_start[n_rows];

    for (size_t k = 0; k < terms; k++) out->start[in->wire[k] + 1]++;
    for (size_t w = 0; w < n_wires; w++) out->start[w + 1] += out->start[w];
    /* start[w] runs through column w as it is filled, and ends where column w + 1 begins */
    for (uint32_t row = 0; row < n_rows; row++)
        for (uint32_t k = in->row_start[row]; k < in->row_start[row + 1]; k++) {
            uint32_t at = out->start[in->wire[k]]++;
            out->row[at] = row;
            out->coeff[at] = in->coeff[k];
        }
    for (size_t w = n_wires; w > 0; w--) out->start[w] = out->start[w - 1];
    out->start[0] = 0;
}

cuzk_status qap_template_init(qap_template *out, const r1cs_template *t, mem *m)
{
    const r1cs_matrix *in[3] = {&t->a, &t->b, &t->c};
    size_t n_wires = (size_t)1 + t->n_in + t->n_local + t->n_pub;
    cuzk_status st;

    for (unsigned x = 0; x < 3; x++) {
        size_t terms = in[x]->row_start[t->n_rows];
        qap_matrix *c = &out->m[x];
        c->start = mem_new(m, n_wires + 1, sizeof *c->start, &st);
        if (c->start == NULL) return st;
        c->row = mem_new(m, terms, sizeof *c->row, &st);
        if (c->row == NULL) return st;
        c->coeff = mem_new(m, terms, sizeof *c->coeff, &st);
        if (c->coeff == NULL) return st;
        fill(c, in[x], t->n_rows, n_wires);
    }
    return CUZK_OK;
}

void qap_template_clear(qap_template *t, mem *m)
{
    for (unsigned x = 0; x < 3; x++) {
        mem_free(m, t->m[x].start);
        mem_free(m, t->m[x].row);
        mem_free(m, t->m[x].coeff);
    }
}

void qap_column(fr *out, const r1cs_system *sys, const qap_matrix *c, uint32_t wire, const fr *l)
{
    const curve *cv = sys->cv;
    fr sum = cv->fr_zero, v;

    for (uint32_t k = c->start[wire]; k < c->start[wire + 1]; k++) {
        const fr *x = &l[c->row[k]];
        if (c->coeff[k] == 0) {
            cv->fr_add(&sum, &sum, x);
        } else if (c->coeff[k] == 1) {
            cv->fr_sub(&sum, &sum, x);
        } else {
            cv->fr_mul(&v, x, &sys->coeffs[c->coeff[k]]);
            cv->fr_add(&sum, &sum, &v);
        }
    }
    *out = sum;
}
