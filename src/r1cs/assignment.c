/*
 * r1cs/assignment.c - values of a system's variables
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "r1cs/assignment.h"

#include <string.h>

#include "r1cs/values.h"

static size_t words_of(size_t bits)
{
    return (bits + 63) / 64;
}

static cuzk_status new_of(r1cs_assignment **out, const curve *cv, uint32_t n_inputs, uint32_t n_aux,
                          uint32_t n_elem, mem *m)
{
    cuzk_status st = CUZK_OK;
    r1cs_assignment *w;

    if (n_inputs == 0) return FAIL(CUZK_EINVAL, "an assignment without input 0, the constant one");
    w = mem_new(m, 1, sizeof *w, &st);
    if (w == NULL) return st;
    w->m = m;
    w->n_inputs = n_inputs;
    w->n_aux = n_aux;
    w->n_elems = n_elem;
    w->inputs = mem_new(m, n_inputs, sizeof *w->inputs, &st);
    if (w->inputs == NULL) goto out;
    w->elems = mem_new(m, n_elem, sizeof *w->elems, &st);
    if (w->elems == NULL) goto out;
    if (n_elem < n_aux) {
        w->bits = mem_new(m, words_of(n_aux - n_elem), sizeof *w->bits, &st);
        if (w->bits == NULL) goto out;
    }
    w->inputs[0] = cv->fr_one;
    *out = w;
    return CUZK_OK;
out:
    mem_free(m, w->inputs);
    mem_free(m, w->elems);
    mem_free(m, w);
    return st;
}

static bool is_finished(const r1cs_system *sys)
{
    return sys->a_aux != NULL;
}

cuzk_status r1cs_assignment_new(r1cs_assignment **out, const r1cs_system *sys, mem *m)
{
    if (!is_finished(sys)) return FAIL(CUZK_EINVAL, "system %s is not finished", sys->name);
    TRY(new_of(out, sys->cv, sys->n_inputs, sys->n_aux, sys->n_elem, m));
    (*out)->sys = sys;
    return CUZK_OK;
}

cuzk_status r1cs_assignment_new_plain(r1cs_assignment **out, const curve *cv, uint32_t n_inputs,
                                      uint32_t n_aux, mem *m)
{
    return new_of(out, cv, n_inputs, n_aux, n_aux, m);
}

size_t r1cs_assignment_size(const r1cs_system *sys)
{
    size_t bits = sys->n_aux - sys->n_elem;

    return mem_cost(sizeof(r1cs_assignment)) + mem_cost(sys->n_inputs * sizeof(fr)) +
           mem_cost(sys->n_elem * sizeof(fr)) +
           (bits == 0 ? 0 : mem_cost(words_of(bits) * sizeof(uint64_t)));
}

void r1cs_assignment_free(r1cs_assignment *w)
{
    if (w == NULL) return;
    explicit_bzero(w->inputs, w->n_inputs * sizeof *w->inputs);
    explicit_bzero(w->elems, w->n_elems * sizeof *w->elems);
    if (w->bits != NULL) explicit_bzero(w->bits, words_of(w->n_aux - w->n_elems) * sizeof *w->bits);
    mem_free(w->m, w->inputs);
    mem_free(w->m, w->elems);
    mem_free(w->m, w->bits);
    mem_free(w->m, w);
}

void r1cs_get(const r1cs_assignment *w, r1cs_wire wire, fr *out)
{
    *out = *r1cs_value(w, wire);
}

r1cs_place r1cs_place_of(const r1cs_system *sys, const r1cs_instance *inst)
{
    r1cs_place p = {.elem_start = r1cs_rank(sys, inst->aux_start)};

    p.bit_start = inst->aux_start - p.elem_start;
    return p;
}
