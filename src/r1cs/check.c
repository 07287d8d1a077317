/*
 * r1cs/check.c - does an assignment satisfy a system, and if not, which row fails first
 *
 * Tasks take stretches of rows in order. The lowest failing row so far is shared, and a task that
 * can only find a higher one does nothing, so the answer does not depend on the threads.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdatomic.h>
#include <string.h>

#include "r1cs/terms.h"
#include "r1cs/values.h"

#define ROWS_PER_TASK 4096u
#define PRODUCTS 32 /* of a row, before they are summed */

typedef struct check {
    const r1cs_system *sys;
    const r1cs_assignment *w;
    _Atomic uint32_t bad; /* lowest failing row; n_rows: none. Relaxed: pool_run's end orders it */
} check;

static void eval_row(fr *out, const check *c, const r1cs_instance *inst, const r1cs_matrix *x,
                     uint32_t row)
{
    const r1cs_system *sys = c->sys;
    const curve *cv = sys->cv;
    const r1cs_template *t = &sys->templates[inst->tmpl];
    fr k[PRODUCTS], v[PRODUCTS], part;
    size_t n = 0;

    *out = cv->fr_zero;
    for (size_t i = x->row_start[row]; i < x->row_start[row + 1]; i++) {
        const fr *value = r1cs_value(c->w, terms_global(sys, t, inst, x->wire[i]));

        if (x->coeff[i] == 0) {
            cv->fr_add(out, out, value);
        } else if (x->coeff[i] == 1) {
            cv->fr_sub(out, out, value);
        } else {
            k[n] = sys->coeffs[x->coeff[i]];
            v[n++] = *value;
        }
        if (n == PRODUCTS) {
            cv->fr_dot(&part, k, v, n);
            cv->fr_add(out, out, &part);
            n = 0;
        }
    }
    if (n > 0) {
        cv->fr_dot(&part, k, v, n);
        cv->fr_add(out, out, &part);
    }
}

static bool holds(const check *c, const r1cs_instance *inst, uint32_t row)
{
    const r1cs_template *t = &c->sys->templates[inst->tmpl];
    const curve *cv = c->sys->cv;
    fr a, b, x;

    eval_row(&a, c, inst, &t->a, row);
    eval_row(&b, c, inst, &t->b, row);
    eval_row(&x, c, inst, &t->c, row);
    cv->fr_mul(&a, &a, &b);
    return cv->fr_eq(&a, &x);
}

/* The instance that row (below n_rows) belongs to: the last that starts at it or before. */
static size_t instance_of(const r1cs_system *sys, uint32_t row)
{
    size_t lo = 0, hi = sys->n_instances;

    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;

        if (sys->instances[mid].row_start <= row) {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    return lo;
}

static void lower(_Atomic uint32_t *bad, uint32_t row)
{
    uint32_t seen = atomic_load_explicit(bad, memory_order_relaxed);

    while (row < seen && !atomic_compare_exchange_weak_explicit(
                             bad, &seen, row, memory_order_relaxed, memory_order_relaxed)) {
    }
}

static cuzk_status check_rows(void *ctx, size_t task, unsigned worker)
{
    check *c = ctx;
    const r1cs_system *sys = c->sys;
    uint32_t row = (uint32_t)task * ROWS_PER_TASK;
    uint32_t end = sys->n_rows - row < ROWS_PER_TASK ? sys->n_rows : row + ROWS_PER_TASK;
    size_t i = instance_of(sys, row);

    (void)worker;
    for (; row < end; row++) {
        const r1cs_instance *inst = &sys->instances[i];

        if (row >= atomic_load_explicit(&c->bad, memory_order_relaxed)) break;
        while (row - inst->row_start >= sys->templates[inst->tmpl].n_rows) {
            inst = &sys->instances[++i];
        }
        if (!holds(c, inst, row - inst->row_start)) {
            lower(&c->bad, row);
            break;
        }
    }
    return CUZK_OK;
}

static cuzk_status check_shape(const r1cs_system *sys, const r1cs_assignment *w)
{
    if (w->sys != NULL && w->sys != sys) {
        return FAIL(CUZK_EINVAL, "an assignment of system %s, checked against %s", w->sys->name,
                    sys->name);
    }
    if (w->n_inputs != sys->n_inputs || w->n_aux != sys->n_aux) {
        return FAIL_DATA(SHAPE, "witness",
                         "%u inputs and %u auxiliary values, system %s has %u and %u", w->n_inputs,
                         w->n_aux, sys->name, sys->n_inputs, sys->n_aux);
    }
    if (!sys->cv->fr_eq(&w->inputs[0], &sys->cv->fr_one)) {
        return FAIL(CUZK_EINVAL, "input 0 of the assignment is not one");
    }
    for (size_t i = 0; i < sys->n_templates; i++) {
        if (sys->templates[i].c.row_start == NULL) {
            return FAIL(CUZK_EINVAL, "system %s: matrix C is not known", sys->name);
        }
    }
    return CUZK_OK;
}

cuzk_status r1cs_check(const r1cs_system *sys, const r1cs_assignment *w, pool *p, const cancel *c,
                       r1cs_fault *fault)
{
    check k = {.sys = sys, .w = w};
    size_t tasks = ((size_t)sys->n_rows + ROWS_PER_TASK - 1) / ROWS_PER_TASK;
    uint32_t bad;

    TRY(check_shape(sys, w));
    atomic_init(&k.bad, sys->n_rows);
    TRY(pool_run(p, c, tasks, check_rows, &k));
    memset(fault, 0, sizeof *fault);
    bad = atomic_load_explicit(&k.bad, memory_order_relaxed);
    if (bad < sys->n_rows) {
        size_t i = instance_of(sys, bad);
        const r1cs_instance *inst = &sys->instances[i];

        *fault = (r1cs_fault){.found = true,
                              .row = bad,
                              .tmpl = sys->templates[inst->tmpl].name,
                              .instance = i,
                              .row_in_tmpl = bad - inst->row_start};
    }
    return CUZK_OK;
}
