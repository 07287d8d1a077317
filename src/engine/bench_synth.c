/*
 * engine/bench_synth.c - `cuzk bench synth`: a Filecoin circuit's shape, inputs, witness and native check, and what they take
 *
 * Valid inputs of a whole proof are made in memory; its first partition is what is measured. At the end all rows of the circuit
 * are evaluated over the witness.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/bench.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "engine/bench_inputs.h"
#include "r1cs/classes.h"

#define REPS 3

typedef struct synth {
    job *j;
    bench_inputs in;
    const char *circuit;
    r1cs_assignment *w;
    bench_report *r;
    bench_row row;
} synth;

/* ---- what is measured: one step, and what makes it possible again ---- */

static void forget_shape(synth *s)
{
    r1cs_free(s->in.f.sys);
    s->in.f.sys = NULL;
}

static cuzk_status shape(synth *s)
{
    return s->in.f.ops->system(&s->in.f.sys, s->in.f.ps, s->in.f.kind, s->in.f.size, s->j->e->m);
}

static void forget_inputs(synth *s)
{
    bench_inputs_forget(&s->in);
}

static cuzk_status read_all(synth *s)
{
    return bench_inputs_read(&s->in);
}

static void forget_witness(synth *s)
{
    r1cs_assignment_free(s->w);
    s->w = NULL;
}

static cuzk_status synthesise(synth *s)
{
    return s->in.f.ops->synthesise(&s->in.f, 0, &s->w);
}

static void forget_nothing(synth *s)
{
    (void)s;
}

static cuzk_status check(synth *s)
{
    return s->in.f.ops->check(&s->in.f, 0);
}

/* The first run is warm-up; what the last one made stays. Steps of a job have spans of their own inside `kind`. */
static cuzk_status measure(synth *s, const char *what, span_kind kind, cuzk_status (*step)(synth *),
                           void (*forget)(synth *))
{
    mem *m = s->j->e->m;
    bench_row *row = &s->row;

    snprintf(row->name, sizeof row->name, "%s %s", what, s->circuit);
    row->peak = 0;
    row->n_facts = 0;
    for (unsigned i = 0; i <= row->reps; i++) {
        span sp = span_open(SPAN_FREE);
        forget(s);
        span_close(&sp);
        mem_reset_peak(m);
        size_t before = mem_used(m);
        uint64_t from = clock_ns();
        sp = span_open(kind);
        cuzk_status st = step(s);
        span_close(&sp);
        if (i > 0) row->ns[i - 1] = clock_ns() - from;
        TRY(st);
        if (mem_peak(m) - before > row->peak) row->peak = mem_peak(m) - before;
    }
    return CUZK_OK;
}

/* ---- what is told beside the times ---- */

static void fact(synth *s, const char *name, uint64_t value)
{
    VERIFY(s->row.n_facts < BENCH_MAX_FACTS);
    s->row.facts[s->row.n_facts++] = (bench_fact){name, value};
}

static void shape_facts(synth *s, size_t bytes)
{
    const r1cs_system *sys = s->in.f.sys;

    s->row.n = r1cs_total_rows(sys);
    fact(s, "rows", s->row.n);
    fact(s, "inputs", sys->n_inputs);
    fact(s, "aux", sys->n_aux);
    fact(s, "instances", sys->n_instances);
    fact(s, "templates", sys->n_templates);
    fact(s, "shape_bytes", bytes);
}

static void witness_facts(synth *s)
{
    const r1cs_system *sys = s->in.f.sys;
    span sp = span_open(SPAN_BENCH);
    r1cs_classes c;

    s->row.n = (uint64_t)sys->n_inputs + sys->n_aux;
    r1cs_classes_of(&c, s->w);
    fact(s, "zero", c.zero);
    fact(s, "one", c.one);
    fact(s, "below_2_8", c.below_2_8);
    fact(s, "below_2_64", c.below_2_64);
    fact(s, "full", c.full);
    fact(s, "bits", sys->n_aux - sys->n_elem);
    fact(s, "witness_bytes", r1cs_assignment_size(sys));
    span_close(&sp);
}

/* ---- the benchmark ---- */

static cuzk_status check_witness(synth *s)
{
    cuzk_engine *e = s->j->e;
    r1cs_fault fault;
    span sp = span_open(SPAN_CHECK_R1CS);
    cuzk_status st = r1cs_check(s->in.f.sys, s->w, e->pool, e->cancel, &fault);

    span_close(&sp);
    TRY(st);
    if (fault.found)
        return FAIL(CUZK_EBUG, "synthesis benchmark: constraint %u (%s) does not hold", fault.row,
                    fault.tmpl);
    return fil_compare_public(&s->in.f, 0, s->w);
}

static cuzk_status run(synth *s)
{
    mem *m = s->j->e->m;
    size_t before;

    TRY(bench_inputs_make(&s->in));
    before = mem_used(m);
    TRY(measure(s, "shape", SPAN_SHAPE, shape, forget_shape));
    shape_facts(s, mem_used(m) - before);
    bench_report_row(s->r, &s->row);
    TRY(measure(s, "read", SPAN_READ_INPUT, read_all, forget_inputs));
    s->row.n = s->in.input_bytes;
    if (s->in.f.ops->read_inputs != NULL) bench_report_row(s->r, &s->row);
    TRY(measure(s, "synth", SPAN_BENCH, synthesise, forget_witness));
    witness_facts(s);
    bench_report_row(s->r, &s->row);
    TRY(measure(s, "check", SPAN_BENCH, check, forget_nothing));
    s->row.n = s->in.input_bytes;
    bench_report_row(s->r, &s->row);
    return check_witness(s);
}

static void clear(synth *s)
{
    span sp = span_open(SPAN_FREE);

    forget_witness(s);
    bench_inputs_close(&s->in);
    span_close(&sp);
}

cuzk_status bench_synth(job *j, const cuzk_bench_args *a, bench_report *r)
{
    synth s = {
        .j = j, .circuit = a->circuit, .r = r, .row = {.reps = a->reps == 0 ? REPS : a->reps}};
    cuzk_status st;

    if (a->circuit == NULL)
        return FAIL(CUZK_EINVAL, "bench synth needs a circuit (--circuit porep-32g)");
    if (a->curve != NULL || a->group != NULL || a->log_n != 0)
        return FAIL(CUZK_EINVAL, "bench synth takes no curve, group and size of its own");
    st = bench_inputs_open(&s.in, j, a->circuit);
    if (st == CUZK_OK) st = run(&s);
    clear(&s);
    return st;
}
