/*
 * groth16/derive_columns.c - l_j + sum over rows k of C[k, j] w_k over points, by ranges of variables
 *
 * C is sparse, and a range's work is a small part of a derivation: each task goes through all instances that have one of
 * its variables, so that nothing is kept between ranges.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "groth16/derive.h"

#include <string.h>

#define TASKS 256u /* in all, so that the passes over the instances do not count */
#define LEAST 4096u
#define TASKS_OF_CALL 8u
#define PENDING 32u

void point_columns_init(point_columns *x, const groth16_pk *pk, const r1cs_system *sys)
{
    *x = (point_columns){.pk = pk,
                         .sys = sys,
                         .ops = batch_get(pk->cv->table),
                         .n = (size_t)pk->n_inputs + pk->n_aux};
    x->task = x->n / TASKS < LEAST ? LEAST : x->n / TASKS;
    x->cap = x->task * TASKS_OF_CALL;
}

/** The variables [from, to) of a task, and products that wait for their turn. */
typedef struct column_task {
    const point_columns *x;
    const uint8_t *w;
    g1_any *out;
    size_t from, to, n_pending;
    g1_any point[PENDING];
    fr factor[PENDING];
    size_t var[PENDING];
} column_task;

static void flush(column_task *t)
{
    const curve *cv = t->x->pk->cv;

    t->x->ops->g1_scale(t->point, t->point, t->factor, t->n_pending);
    for (size_t i = 0; i < t->n_pending; i++)
        cv->g1_add(&t->out[t->var[i]], &t->out[t->var[i]], &t->point[i]);
    t->n_pending = 0;
}

static void add_term(column_task *t, size_t var, size_t row, uint32_t coeff)
{
    const curve *cv = t->x->pk->cv;
    g1_any p = {{0}};

    memcpy(&p, t->w + row * cv->g1_size, cv->g1_size);
    if (coeff <= 1) {
        if (coeff == 1) cv->g1_neg(&p, &p);
        cv->g1_add(&t->out[var - t->from], &t->out[var - t->from], &p);
        return;
    }
    t->point[t->n_pending] = p;
    t->factor[t->n_pending] = t->x->sys->coeffs[coeff];
    t->var[t->n_pending] = var - t->from;
    if (++t->n_pending == PENDING) flush(t);
}

static size_t var_of(const r1cs_system *sys, r1cs_wire g)
{
    return (g & R1CS_AUX) != 0 ? (size_t)sys->n_inputs + (g & ~R1CS_AUX) : g;
}

/** The variable that a template's wire is in an instance. */
static size_t var_of_wire(const r1cs_system *sys, const r1cs_instance *inst, uint32_t wire)
{
    const r1cs_template *t = &sys->templates[inst->tmpl];

    if (wire == 0) return 0;
    if (wire <= t->n_in) return var_of(sys, sys->wires[inst->wires + wire - 1]);
    wire -= 1 + t->n_in;
    if (wire < t->n_local) return (size_t)sys->n_inputs + inst->aux_start + wire;
    return (size_t)inst->pub_start + (wire - t->n_local);
}

static bool meets(const column_task *t, size_t from, size_t n)
{
    return from < t->to && from + n > t->from;
}

static bool has_any(const column_task *t, const r1cs_instance *inst)
{
    const r1cs_system *sys = t->x->sys;
    const r1cs_template *tmpl = &sys->templates[inst->tmpl];

    if (t->from == 0 || meets(t, (size_t)sys->n_inputs + inst->aux_start, tmpl->n_local) ||
        meets(t, inst->pub_start, tmpl->n_pub))
        return true;
    for (uint32_t i = 0; i < tmpl->n_in; i++)
        if (meets(t, var_of(sys, sys->wires[inst->wires + i]), 1)) return true;
    return false;
}

static void add_instance(column_task *t, const r1cs_instance *inst)
{
    const r1cs_system *sys = t->x->sys;
    const r1cs_template *tmpl = &sys->templates[inst->tmpl];
    const r1cs_matrix *c = &tmpl->c;

    for (uint32_t row = 0; row < tmpl->n_rows; row++)
        for (uint32_t k = c->row_start[row]; k < c->row_start[row + 1]; k++) {
            size_t var = var_of_wire(sys, inst, c->wire[k]);
            if (var >= t->from && var < t->to)
                add_term(t, var, (size_t)inst->row_start + row, c->coeff[k]);
        }
}

/** l_j; infinity for inputs, which have none. */
static cuzk_status load_l(const column_task *t)
{
    const groth16_pk *pk = t->x->pk;
    size_t size = pk->cv->point_size(false, pk->l.enc);

    memset(t->out, 0, (t->to - t->from) * sizeof *t->out);
    for (size_t v = t->from < pk->n_inputs ? pk->n_inputs : t->from; v < t->to; v++) {
        size_t j = v - pk->n_inputs;
        point_err e = pk->cv->g1_read(&t->out[v - t->from], pk->l.data + j * size, pk->l.enc);
        if (e != POINT_OK) return FAIL_DATA(MALFORMED, "l", "key l[%zu]: %s", j, point_err_text(e));
    }
    return CUZK_OK;
}

typedef struct columns_run {
    const point_columns *x;
    const uint8_t *w;
    g1_any *out;
    size_t from, to;
} columns_run;

static cuzk_status run_task(void *ctx, size_t task, unsigned worker)
{
    const columns_run *r = ctx;
    const r1cs_system *sys = r->x->sys;
    column_task t = {.x = r->x, .w = r->w, .from = r->from + task * r->x->task};
    (void)worker;

    t.to = r->to - t.from < r->x->task ? r->to : t.from + r->x->task;
    t.out = r->out + (t.from - r->from);
    TRY(load_l(&t));
    for (size_t i = 0; i < sys->n_instances; i++)
        if (has_any(&t, &sys->instances[i])) add_instance(&t, &sys->instances[i]);
    flush(&t);
    return CUZK_OK;
}

cuzk_status point_columns_range(const point_columns *x, g1_any *out, const uint8_t *w, size_t from,
                                size_t n, pool *p, const cancel *c)
{
    columns_run r = {x, w, out, from, from + n};

    return pool_run(p, c, (n + x->task - 1) / x->task, run_task, &r);
}
