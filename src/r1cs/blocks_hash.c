/*
 * r1cs/blocks_hash.c - a quick digest of a system as it is built: templates, instances, wires, coefficients
 *
 * Tells whether two runs of one program on one machine have the same circuit. Not the network's digest (hash.c), which
 * is over all rows written out.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/hash.h"
#include "r1cs/system.h"

static void put_u32(blake2b_ctx *c, uint32_t v)
{
    blake2b_update(c, &v, sizeof v);
}

static void put_matrix(blake2b_ctx *c, const r1cs_matrix *m, uint32_t n_rows)
{
    uint32_t terms = m->row_start == NULL ? 0 : m->row_start[n_rows];

    put_u32(c, m->row_start == NULL);
    if (m->row_start == NULL) return;
    blake2b_update(c, m->row_start, ((size_t)n_rows + 1) * sizeof *m->row_start);
    blake2b_update(c, m->wire, (size_t)terms * sizeof *m->wire);
    blake2b_update(c, m->coeff, (size_t)terms * sizeof *m->coeff);
}

static void put_template(blake2b_ctx *c, const r1cs_template *t)
{
    put_u32(c, t->n_in);
    put_u32(c, t->n_local);
    put_u32(c, t->n_pub);
    put_u32(c, t->n_rows);
    put_matrix(c, &t->a, t->n_rows);
    put_matrix(c, &t->b, t->n_rows);
    put_matrix(c, &t->c, t->n_rows);
}

void r1cs_blocks_hash(const r1cs_system *sys, uint8_t out[32])
{
    blake2b_ctx c;

    blake2b_init(&c, 32, NULL, 0);
    put_u32(&c, (uint32_t)sys->cv->id);
    put_u32(&c, sys->n_inputs);
    put_u32(&c, sys->n_aux);
    put_u32(&c, sys->n_rows);
    put_u32(&c, sys->input_rows);
    for (size_t i = 0; i < sys->n_templates; i++) put_template(&c, &sys->templates[i]);
    for (size_t i = 0; i < sys->n_instances; i++) {
        put_u32(&c, sys->instances[i].tmpl);
        put_u32(&c, sys->instances[i].wires);
    }
    blake2b_update(&c, sys->wires, sys->n_wires * sizeof *sys->wires);
    blake2b_update(&c, sys->coeffs, sys->n_coeffs * sizeof *sys->coeffs);
    blake2b_final(&c, out);
}
