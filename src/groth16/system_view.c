/*
 * groth16/system_view.c - r1cs's blocks and templates as the plain arrays that device takes
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "groth16/internal.h"

_Static_assert(R1CS_AUX == DEV_WIRE_AUX, "one encoding of global wires");
_Static_assert(sizeof(r1cs_instance) == sizeof(dev_instance),
               "instances are handed over as they are");
_Static_assert(offsetof(r1cs_instance, tmpl) == offsetof(dev_instance, tmpl) &&
                   offsetof(r1cs_instance, aux_start) == offsetof(dev_instance, aux_start) &&
                   offsetof(r1cs_instance, pub_start) == offsetof(dev_instance, pub_start) &&
                   offsetof(r1cs_instance, row_start) == offsetof(dev_instance, row_start) &&
                   offsetof(r1cs_instance, wires) == offsetof(dev_instance, wires),
               "instances are handed over as they are");

static dev_matrix matrix_view(const r1cs_matrix *m)
{
    dev_matrix v = {.row_start = m->row_start, .wire = m->wire, .coeff = m->coeff};
    return v;
}

cuzk_status system_view(dev_system *out, dev_template **tmpl, const r1cs_system *sys, mem *m)
{
    cuzk_status st;
    dev_template *t = mem_new(m, sys->n_templates, sizeof *t, &st);
    if (t == NULL) return st;
    for (size_t i = 0; i < sys->n_templates; i++) {
        const r1cs_template *from = &sys->templates[i];
        t[i].n_in = from->n_in;
        t[i].n_local = from->n_local;
        t[i].n_pub = from->n_pub;
        t[i].n_rows = from->n_rows;
        t[i].a = matrix_view(&from->a);
        t[i].b = matrix_view(&from->b);
        t[i].c = matrix_view(&from->c);
    }
    *out = (dev_system){
        .id = sys->cv->id,
        .n_inputs = sys->n_inputs,
        .n_aux = sys->n_aux,
        .n_rows = sys->n_rows,
        .input_rows = sys->input_rows,
        .templates = t,
        .n_templates = sys->n_templates,
        .instances = (const dev_instance *)(const void *)sys->instances,
        .n_instances = sys->n_instances,
        .wires = sys->wires,
        .coeffs = sys->coeffs,
        .n_coeffs = sys->n_coeffs,
        .shape_id = system_part_id(sys, PART_SHAPE),
    };
    *tmpl = t;
    return CUZK_OK;
}
