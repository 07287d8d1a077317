/*
 * r1cs/system.c - a constraint system as a list of instances: making, appending, counting
 *
 * Templates come from builder.c and coeffs.c; r1cs_finish is in finish.c.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "r1cs/system.h"

#include <string.h>

#include "r1cs/coeff_table.h"
#include "r1cs/grow.h"
#include "r1cs/template.h"

cuzk_status r1cs_new(r1cs_system **out, const curve *cv, const char *name, mem *m)
{
    cuzk_status st = CUZK_OK;
    r1cs_system *sys = mem_new(m, 1, sizeof *sys, &st);
    fr minus_one;
    uint32_t index;

    if (sys == NULL) return st;
    sys->m = m;
    sys->cv = cv;
    memcpy(sys->name, name, strnlen(name, sizeof sys->name - 1));
    sys->n_inputs = 1;
    sys->input_rows = true;
    cv->fr_neg(&minus_one, &cv->fr_one);
    TRY_OUT(coeff_table_open(sys));
    TRY_OUT(coeff_table_intern(sys, &cv->fr_one, &index));
    TRY_OUT(coeff_table_intern(sys, &minus_one, &index));
    VERIFY(index == 1);
    *out = sys;
    return CUZK_OK;
out:
    r1cs_free(sys);
    return st;
}

static void matrix_clear(mem *m, r1cs_matrix *x)
{
    mem_free(m, x->row_start);
    mem_free(m, x->wire);
    mem_free(m, x->coeff);
    memset(x, 0, sizeof *x);
}

void r1cs_template_clear(mem *m, r1cs_template *t)
{
    matrix_clear(m, &t->a);
    matrix_clear(m, &t->b);
    matrix_clear(m, &t->c);
    mem_free(m, t->local_is_elem);
    mem_free(m, t->note);
    memset(t, 0, sizeof *t);
}

void r1cs_free(r1cs_system *sys)
{
    mem *m;

    if (sys == NULL) return;
    m = sys->m;
    for (size_t i = 0; i < sys->n_templates; i++) r1cs_template_clear(m, &sys->templates[i]);
    coeff_table_close(sys);
    mem_free(m, sys->templates);
    mem_free(m, sys->instances);
    mem_free(m, sys->wires);
    mem_free(m, sys->coeffs);
    mem_free(m, sys->is_elem);
    mem_free(m, sys->rank64);
    mem_free(m, sys->a_aux);
    mem_free(m, sys->b_aux);
    mem_free(m, sys->b_input);
    mem_free(m, sys);
}

cuzk_status r1cs_template_push(r1cs_system *sys, r1cs_template *t, uint32_t *index)
{
    cuzk_status st = CUZK_OK;
    r1cs_template *p;

    if (sys->n_templates >= R1CS_MAX_VARS) {
        return FAIL_DATA(LIMIT, sys->name, "more than %u templates", R1CS_MAX_VARS);
    }
    p = r1cs_grow(sys->m, sys->templates, sys->n_templates, &sys->cap_templates,
                  sys->n_templates + 1, sizeof *p, &st);
    if (p == NULL) return st;
    sys->templates = p;
    p[sys->n_templates] = *t;
    memset(t, 0, sizeof *t);
    *index = (uint32_t)sys->n_templates++;
    return CUZK_OK;
}

/* The instance's counts fit. */
static cuzk_status check_room(const r1cs_system *sys, const r1cs_template *t)
{
    if (t->n_local > R1CS_MAX_VARS - sys->n_aux) {
        return FAIL_DATA(LIMIT, sys->name, "%u + %u auxiliary variables, limit %u", sys->n_aux,
                         t->n_local, R1CS_MAX_VARS);
    }
    if (t->n_pub > R1CS_MAX_VARS - sys->n_inputs) {
        return FAIL_DATA(LIMIT, sys->name, "%u + %u public inputs, limit %u", sys->n_inputs,
                         t->n_pub, R1CS_MAX_VARS);
    }
    if (t->n_rows > R1CS_MAX_VARS - sys->n_rows) {
        return FAIL_DATA(LIMIT, sys->name, "%u + %u rows, limit %u", sys->n_rows, t->n_rows,
                         R1CS_MAX_VARS);
    }
    if (sys->n_wires > UINT32_MAX - (size_t)t->n_in) {
        return FAIL_DATA(LIMIT, sys->name, "%zu + %u passed-in wires, limit %u", sys->n_wires,
                         t->n_in, UINT32_MAX);
    }
    return CUZK_OK;
}

static cuzk_status check_wires(const r1cs_system *sys, const r1cs_template *t, const r1cs_wire *in)
{
    for (uint32_t k = 0; k < t->n_in; k++) {
        bool aux = (in[k] & R1CS_AUX) != 0;
        uint32_t i = in[k] & ~R1CS_AUX;
        uint32_t n = aux ? sys->n_aux : sys->n_inputs;

        if (i >= n) {
            return FAIL(CUZK_EINVAL, "template %s: passed-in wire %u is %s %u, there are %u",
                        t->name, k, aux ? "auxiliary" : "input", i, n);
        }
    }
    return CUZK_OK;
}

cuzk_status r1cs_add(r1cs_system *sys, uint32_t tmpl, const r1cs_wire *in, r1cs_wire *first_local,
                     r1cs_wire *first_pub)
{
    cuzk_status st = CUZK_OK;
    const r1cs_template *t;
    r1cs_instance *inst;
    r1cs_wire *w;

    if (sys->coeff_index == NULL) return FAIL(CUZK_EINVAL, "system %s is finished", sys->name);
    if (tmpl >= sys->n_templates) {
        return FAIL(CUZK_EINVAL, "template %u, there are %zu", tmpl, sys->n_templates);
    }
    t = &sys->templates[tmpl];
    TRY(check_room(sys, t));
    TRY(check_wires(sys, t, in));
    w = r1cs_grow(sys->m, sys->wires, sys->n_wires, &sys->cap_wires, sys->n_wires + t->n_in,
                  sizeof *w, &st);
    if (w == NULL) return st;
    sys->wires = w;
    inst = r1cs_grow(sys->m, sys->instances, sys->n_instances, &sys->cap_instances,
                     sys->n_instances + 1, sizeof *inst, &st);
    if (inst == NULL) return st;
    sys->instances = inst;

    inst[sys->n_instances++] = (r1cs_instance){
        .tmpl = tmpl,
        .aux_start = sys->n_aux,
        .pub_start = sys->n_inputs,
        .row_start = sys->n_rows,
        .wires = (uint32_t)sys->n_wires,
    };
    if (t->n_in > 0) memcpy(w + sys->n_wires, in, t->n_in * sizeof *in);
    sys->n_wires += t->n_in;
    if (first_local != NULL) *first_local = R1CS_AUX | sys->n_aux;
    if (first_pub != NULL) *first_pub = sys->n_inputs;
    sys->n_aux += t->n_local;
    sys->n_inputs += t->n_pub;
    sys->n_rows += t->n_rows;
    return CUZK_OK;
}

uint32_t r1cs_total_rows(const r1cs_system *sys)
{
    return sys->n_rows + (sys->input_rows ? sys->n_inputs : 0);
}

unsigned r1cs_log_domain(const r1cs_system *sys, unsigned min_log)
{
    uint32_t rows = r1cs_total_rows(sys);
    unsigned log_n = rows <= 1 ? 0 : u64_bits(rows - 1);

    return log_n < min_log ? min_log : log_n;
}
