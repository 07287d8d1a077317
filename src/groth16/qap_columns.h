/*
 * groth16/qap_columns.h - a template's matrices by columns
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef GROTH16_QAP_COLUMNS_H
#define GROTH16_QAP_COLUMNS_H

#include "r1cs/system.h"

/** Column w holds terms [start[w], start[w + 1]). */
typedef struct qap_matrix {
    uint32_t *start; /* template wires + 1 */
    uint32_t *row;
    uint32_t *coeff; /* as in r1cs_matrix */
} qap_matrix;

typedef struct qap_template {
    qap_matrix m[3]; /* A, B, C */
} qap_template;

/** After a failure *out is to be cleared too. */
CUZK_STATUS qap_template_init(qap_template *out, const r1cs_template *t, mem *m);
void qap_template_clear(qap_template *t, mem *m);

/** *out = sum over the terms of a column of coefficient * l[row]. */
void qap_column(fr *out, const r1cs_system *sys, const qap_matrix *c, uint32_t wire, const fr *l);

#endif
