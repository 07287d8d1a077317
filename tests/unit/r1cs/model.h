/*
 * unit/r1cs/model.h - random systems of random templates, and beside them the plain rows that they stand for
 *
 * The model keeps every row as dense vectors over all variables and knows nothing of templates, merging, densities or
 * packed values; what r1cs makes of the same system is compared with it.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef UNIT_R1CS_MODEL_H
#define UNIT_R1CS_MODEL_H

#include "support.h"

#define MODEL_MAX_INPUTS 48u
#define MODEL_MAX_AUX 320u
#define MODEL_MAX_ROWS 320u
#define MODEL_VARS (MODEL_MAX_INPUTS + MODEL_MAX_AUX) /* inputs, then auxiliary */

typedef struct model_row {
    fr lc[3][MODEL_VARS];
} model_row;

typedef struct model {
    const curve *cv;
    mem *m;
    r1cs_system *sys; /* finished */
    uint32_t n_inputs, n_aux, n_rows;
    bool is_elem[MODEL_MAX_AUX];
    model_row *rows;
    fr value[MODEL_VARS]; /* satisfies every row */
} model;

/** A random system. `bits`: some variables are bits (with no row that says so). */
model *model_new(const curve *cv, bool bits);
void model_free(model *k);
static inline size_t model_var(r1cs_wire wire)
{
    return (wire & R1CS_AUX) != 0 ? MODEL_MAX_INPUTS + (wire & ~R1CS_AUX) : wire;
}
/** First row that the values do not satisfy; n_rows: none. */
uint32_t model_check(const model *k, const fr *value);
/** The values as an assignment of k->sys. */
r1cs_assignment *model_assign(const model *k, const fr *value);

#endif
