/*
 * groth16/qap.c - columns at tau: u_i = sum over rows of A[row, i] L_row(tau), v_i from B, w_i from C
 *
 * A block's own variables are numbered one after another, and so are its rows. So a range of variables needs the
 * Lagrange values of the rows of its blocks alone, and a column is a sum over a template's column (qap_columns.h).
 * Other blocks add to a variable only when it is passed in to them, or is an input. Those sums, the sides, are made by
 * one pass over all blocks when the columns are opened, and are kept.
 *
 * Source: spec/filecoin-formats.md section 8.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "groth16/qap.h"

#include <string.h>

#include "base/u128.h"
#include "groth16/qap_columns.h"

#define ROWS_AT_ONCE ((uint32_t)1 << 17) /* of a batch of blocks in the pass for the sides */
#define VARS_OF_TASK 1024

struct qap {
    const r1cs_system *sys;
    const curve *cv;
    mem *m;
    lagrange lag;
    qap_template *tmpl; /* n_templates */

    /* sides: of inputs, then of passed-in auxiliary variables */
    uint64_t *passed; /* bitmap of those */
    uint32_t *rank64; /* how many before each word */
    size_t n_side;
    fr *side[3];

    /* Lagrange values of rows [l_from, l_to) */
    fr *l;
    size_t l_cap;
    uint32_t l_from, l_to;
};

/* ---- sides ---- */

static bool is_passed(const qap *q, uint32_t aux)
{
    return (q->passed[aux / 64] >> (aux % 64) & 1) != 0;
}

/** Which side a global wire has; an auxiliary one is passed in. */
static size_t side_of(const qap *q, r1cs_wire g)
{
    uint32_t a = g & ~R1CS_AUX;

    if ((g & R1CS_AUX) == 0) return g;
    return q->sys->n_inputs + q->rank64[a / 64] +
           u64_popcount(q->passed[a / 64] & (((uint64_t)1 << (a % 64)) - 1));
}

static cuzk_status new_sides(qap *q)
{
    const r1cs_system *sys = q->sys;
    size_t words = (size_t)sys->n_aux / 64 + 1;
    uint32_t rank = 0;
    cuzk_status st;

    q->passed = mem_new(q->m, words, sizeof *q->passed, &st);
    if (q->passed == NULL) return st;
    q->rank64 = mem_new(q->m, words, sizeof *q->rank64, &st);
    if (q->rank64 == NULL) return st;
    for (size_t i = 0; i < sys->n_wires; i++) {
        uint32_t a = sys->wires[i] & ~R1CS_AUX;
        if ((sys->wires[i] & R1CS_AUX) != 0) q->passed[a / 64] |= (uint64_t)1 << (a % 64);
    }
    for (size_t i = 0; i < words; i++) {
        q->rank64[i] = rank;
        rank += u64_popcount(q->passed[i]);
    }
    q->n_side = (size_t)sys->n_inputs + rank;
    for (unsigned x = 0; x < 3; x++) {
        q->side[x] = mem_new(q->m, q->n_side, sizeof *q->side[x], &st);
        if (q->side[x] == NULL) return st;
    }
    return CUZK_OK;
}

/* ---- rows ---- */

static void wipe(mem *m, fr *p, size_t n)
{
    if (p != NULL) explicit_bzero(p, n * sizeof *p);
    mem_free(m, p);
}

/** Lagrange values of rows [from, to) are in q->l; row `from` may not be the first there. */
static cuzk_status need_rows(qap *q, uint32_t from, uint32_t to)
{
    cuzk_status st;

    if (from >= to || (from >= q->l_from && to <= q->l_to)) return CUZK_OK;
    if (to - from > q->l_cap) {
        wipe(q->m, q->l, q->l_cap);
        q->l_cap = 0;
        q->l_from = q->l_to = 0;
        q->l = mem_new(q->m, to - from, sizeof *q->l, &st);
        if (q->l == NULL) return st;
        q->l_cap = to - from;
    }
    q->l_from = q->l_to = 0;
    TRY(lagrange_range(&q->lag, q->l, from, to));
    q->l_from = from;
    q->l_to = to;
    return CUZK_OK;
}

static const fr *rows_of(const qap *q, const r1cs_instance *inst)
{
    return q->l + (inst->row_start - q->l_from);
}

/* ---- the pass for the sides ---- */

typedef struct side_batch {
    qap *q;
    size_t first, end; /* instances */
    fr *sums;          /* of each instance: ONE, wires passed in, own inputs; three a wire */
    size_t cap;
} side_batch;

static uint32_t outside_wires(const r1cs_template *t)
{
    return 1 + t->n_in + t->n_pub;
}

/** Where an instance's sums begin in its batch; end: the number of wires of the batch. */
static size_t sums_start(const side_batch *b, size_t i)
{
    const r1cs_instance *first = &b->q->sys->instances[b->first], *inst = &b->q->sys->instances[i];

    return (i - b->first) + (inst->wires - first->wires) + (inst->pub_start - first->pub_start);
}

static cuzk_status sum_outside(void *ctx, size_t index, unsigned worker)
{
    const side_batch *b = ctx;
    const qap *q = b->q;
    const r1cs_instance *inst = &q->sys->instances[b->first + index];
    const r1cs_template *t = &q->sys->templates[inst->tmpl];
    fr *out = b->sums + 3 * sums_start(b, b->first + index);
    (void)worker;

    for (uint32_t k = 0; k < outside_wires(t); k++) {
        uint32_t wire = k <= t->n_in ? k : k + t->n_local;
        for (unsigned x = 0; x < 3; x++)
            qap_column(&out[3 * k + x], q->sys, &q->tmpl[inst->tmpl].m[x], wire, rows_of(q, inst));
    }
    return CUZK_OK;
}

static void add_sides(const side_batch *b)
{
    const qap *q = b->q;

    for (size_t i = b->first; i < b->end; i++) {
        const r1cs_instance *inst = &q->sys->instances[i];
        const r1cs_template *t = &q->sys->templates[inst->tmpl];
        const fr *sum = b->sums + 3 * sums_start(b, i);
        for (uint32_t k = 0; k < outside_wires(t); k++) {
            size_t side = 0;
            if (k > t->n_in)
                side = inst->pub_start + (k - 1 - t->n_in);
            else if (k > 0)
                side = side_of(q, q->sys->wires[inst->wires + k - 1]);
            for (unsigned x = 0; x < 3; x++)
                q->cv->fr_add(&q->side[x][side], &q->side[x][side], &sum[3 * k + x]);
        }
    }
}

/** Sums of the instances from b->first on, as many as ROWS_AT_ONCE rows have. */
static cuzk_status run_batch(side_batch *b)
{
    const r1cs_system *sys = b->q->sys;
    uint32_t from = sys->instances[b->first].row_start, to = from;
    size_t wires;
    cuzk_status st;

    for (b->end = b->first; b->end < sys->n_instances; b->end++) {
        const r1cs_instance *inst = &sys->instances[b->end];
        uint32_t end = inst->row_start + sys->templates[inst->tmpl].n_rows;
        if (b->end > b->first && end - from > ROWS_AT_ONCE) break;
        to = end;
    }
    wires =
        sums_start(b, b->end - 1) + outside_wires(&sys->templates[sys->instances[b->end - 1].tmpl]);
    if (wires > b->cap) {
        wipe(b->q->m, b->sums, 3 * b->cap);
        b->cap = 0;
        b->sums = mem_new(b->q->m, wires, 3 * sizeof *b->sums, &st);
        if (b->sums == NULL) return st;
        b->cap = wires;
    }
    TRY(need_rows(b->q, from, to));
    TRY(pool_run(b->q->lag.p, b->q->lag.c, b->end - b->first, sum_outside, b));
    add_sides(b);
    b->first = b->end;
    return CUZK_OK;
}

/** The rows Input(i) * 0 = 0. */
static cuzk_status add_input_rows(qap *q)
{
    const r1cs_system *sys = q->sys;

    for (uint32_t from = 0; from < sys->n_inputs; from += ROWS_AT_ONCE) {
        uint32_t to = sys->n_inputs - from > ROWS_AT_ONCE ? from + ROWS_AT_ONCE : sys->n_inputs;
        TRY(need_rows(q, sys->n_rows + from, sys->n_rows + to));
        for (uint32_t i = from; i < to; i++)
            q->cv->fr_add(&q->side[0][i], &q->side[0][i], &q->l[sys->n_rows + i - q->l_from]);
    }
    return CUZK_OK;
}

static cuzk_status fill_sides(qap *q)
{
    side_batch b = {.q = q};
    cuzk_status st = CUZK_OK;

    while (b.first < q->sys->n_instances && st == CUZK_OK) st = run_batch(&b);
    wipe(q->m, b.sums, 3 * b.cap);
    if (st == CUZK_OK && q->sys->input_rows) st = add_input_rows(q);
    return st;
}

/* ---- ranges ---- */

/** The instance that owns auxiliary variable `aux`. */
static size_t owner_of(const r1cs_system *sys, uint32_t aux)
{
    size_t
        lo = 0,
        hi =
            sys->n_instances; /* the last that starts at or below aux; those without variables lie before it */

    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;
        if (sys->instances[mid].aux_start <= aux)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

typedef struct range_run {
    const qap *q;
    fr *out[3];
    uint32_t from, to; /* auxiliary variables */
} range_run;

static cuzk_status fill_range(void *ctx, size_t task, unsigned worker)
{
    const range_run *r = ctx;
    const qap *q = r->q;
    uint32_t from = r->from + (uint32_t)task * VARS_OF_TASK;
    uint32_t to = r->to - from > VARS_OF_TASK ? from + VARS_OF_TASK : r->to;
    const r1cs_instance *inst = &q->sys->instances[owner_of(q->sys, from)];
    const r1cs_template *t = &q->sys->templates[inst->tmpl];
    (void)worker;

    for (uint32_t a = from; a < to; a++) {
        while (a - inst->aux_start >= t->n_local) t = &q->sys->templates[(++inst)->tmpl];
        for (unsigned x = 0; x < 3; x++) {
            fr *o = &r->out[x][a - r->from];
            qap_column(o, q->sys, &q->tmpl[inst->tmpl].m[x], 1 + t->n_in + (a - inst->aux_start),
                       rows_of(q, inst));
            if (is_passed(q, a)) q->cv->fr_add(o, o, &q->side[x][side_of(q, R1CS_AUX | a)]);
        }
    }
    return CUZK_OK;
}

static cuzk_status aux_range(qap *q, fr *const out[3], uint32_t from, uint32_t to)
{
    const r1cs_system *sys = q->sys;
    const r1cs_instance *first = &sys->instances[owner_of(sys, from)];
    const r1cs_instance *last = &sys->instances[owner_of(sys, to - 1)];
    range_run r = {q, {out[0], out[1], out[2]}, from, to};

    TRY(need_rows(q, first->row_start, last->row_start + sys->templates[last->tmpl].n_rows));
    return pool_run(q->lag.p, q->lag.c, (to - from + VARS_OF_TASK - 1) / VARS_OF_TASK, fill_range,
                    &r);
}

cuzk_status qap_range(qap *q, fr *u, fr *v, fr *w, size_t from, size_t to)
{
    size_t n_inputs = q->sys->n_inputs, at = to < n_inputs ? to : n_inputs;
    fr *out[3] = {u, v, w};

    if (from < at) {
        for (unsigned x = 0; x < 3; x++) {
            memcpy(out[x], q->side[x] + from, (at - from) * sizeof *out[x]);
            out[x] += at - from;
        }
        from = at;
    }
    if (from >= to) return CUZK_OK;
    return aux_range(q, out, (uint32_t)(from - n_inputs), (uint32_t)(to - n_inputs));
}

/* ---- open, close ---- */

void qap_close(qap *q)
{
    if (q == NULL) return;
    for (size_t i = 0; q->tmpl != NULL && i < q->sys->n_templates; i++)
        qap_template_clear(&q->tmpl[i], q->m);
    mem_free(q->m, q->tmpl);
    mem_free(q->m, q->passed);
    mem_free(q->m, q->rank64);
    for (unsigned x = 0; x < 3; x++) wipe(q->m, q->side[x], q->n_side);
    wipe(q->m, q->l, q->l_cap);
    wipe(q->m, q->lag.tmp, (size_t)pool_threads(q->lag.p) * LAGRANGE_CHUNK);
    explicit_bzero(&q->lag.tau, sizeof q->lag.tau);
    mem_free(q->m, q);
}

cuzk_status qap_open(qap **out, const r1cs_system *sys, const fr *tau, unsigned gen, unsigned log_n,
                     pool *p, const cancel *c, mem *m)
{
    cuzk_status st = CUZK_OK;
    qap *q;

    for (size_t i = 0; i < sys->n_templates; i++)
        if (sys->templates[i].c.row_start == NULL)
            return FAIL(CUZK_EINVAL, "a setup needs matrix C, template %s has none",
                        sys->templates[i].name);
    q = mem_new(m, 1, sizeof *q, &st);
    if (q == NULL) return st;
    q->sys = sys;
    q->cv = sys->cv;
    q->m = m;
    q->lag = (lagrange){.cv = sys->cv,
                        .tau = *tau,
                        .scale = sys->cv->fr_one,
                        .gen = gen,
                        .log_n = log_n,
                        .step = 1,
                        .p = p,
                        .c = c};
    q->lag.tmp = mem_new(m, (size_t)pool_threads(p) * LAGRANGE_CHUNK, sizeof *q->lag.tmp, &st);
    if (q->lag.tmp == NULL) goto out;
    q->tmpl = mem_new(m, sys->n_templates, sizeof *q->tmpl, &st);
    if (q->tmpl == NULL) goto out;
    for (size_t i = 0; i < sys->n_templates; i++)
        TRY_OUT(qap_template_init(&q->tmpl[i], &sys->templates[i], m));
    TRY_OUT(new_sides(q));
    TRY_OUT(fill_sides(q));
    *out = q;
    q = NULL;
out:
    qap_close(q);
    return st;
}
