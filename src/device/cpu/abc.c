/*
 * device/cpu/abc.c - a, b, c of a constraint system: its instances cut into tasks of equally many rows
 *
 * When variables are kept as bits and elements, the wires of an instance are looked up once and written down as codes
 * (kernels.h), 4 bytes each, which its terms then use; a worker keeps those of the instance it is at. A system that is
 * one instance has them made once, for all workers. When all variables are elements, wires say where they are.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "device/cpu/cpu.h"

#include "base/u128.h"

#include <string.h>

#define ROWS_PER_TASK ((size_t)2048)
#define CODE_GRAIN ((size_t)65536) /* a multiple of 64 */
#define ZERO_GRAIN ((size_t)65536)

/* A task goes from here to where the next one begins. */
typedef struct abc_task {
    uint32_t instance, row;
} abc_task;

typedef struct job {
    /* fixed after init */
    const cpu_kernels *kern;
    const dev_system *sys;
    const fr *inputs;
    const dev_scalars *aux;
    fr *a, *b, *c; /* c may be NULL */
    abc_task *tasks;
    size_t n_tasks;
    uint32_t *codes;  /* NULL: not used */
    size_t codes_len; /* for each worker; 0: one for all, complete */
    /* only the worker it belongs to */
    size_t *at; /* instance + 1 whose codes a worker has */
} job;

/* ---- codes ---- */

static uint32_t aux_code(const dev_scalars *aux, size_t i)
{
    uint64_t word = aux->is_elem[i / 64], below = word & ((UINT64_C(1) << i % 64) - 1);
    size_t rank = aux->rank64[i / 64] + (size_t)u64_popcount(below);

    if ((word >> i % 64 & 1) != 0) return ABC_ELEM(rank);
    i -= rank;
    return (aux->bits[i / 64] >> i % 64 & 1) != 0 ? ABC_ONE : ABC_ZERO;
}

/* Codes of auxiliary variables [from, to), one after the other: ranks are counted on. */
static void aux_codes(uint32_t *out, const dev_scalars *aux, size_t from, size_t to)
{
    size_t rank, bit;

    if (from == to) return;
    rank = aux->rank64[from / 64] +
           (size_t)u64_popcount(aux->is_elem[from / 64] & ((UINT64_C(1) << from % 64) - 1));
    bit = from - rank;
    for (size_t i = from; i < to; i++) {
        if ((aux->is_elem[i / 64] >> i % 64 & 1) != 0) {
            *out++ = ABC_ELEM(rank);
            rank++;
        } else {
            *out++ = (uint32_t)(aux->bits[bit / 64] >> bit % 64 & 1); /* ABC_ZERO, ABC_ONE */
            bit++;
        }
    }
}

static void fixed_codes(uint32_t *out, const job *w, const dev_instance *inst)
{
    const dev_template *t = &w->sys->templates[inst->tmpl];

    out[0] = ABC_ONE;
    for (size_t i = 0; i < t->n_in; i++) {
        uint32_t g = w->sys->wires[inst->wires + i];
        out[1 + i] = (g & DEV_WIRE_AUX) != 0 ? aux_code(w->aux, g & ~DEV_WIRE_AUX) : ABC_INPUT(g);
    }
    for (size_t i = 0; i < t->n_pub; i++)
        out[1 + (size_t)t->n_in + t->n_local + i] = ABC_INPUT(inst->pub_start + i);
}

static const uint32_t *codes_of(const job *w, size_t instance, unsigned worker)
{
    const dev_instance *inst = &w->sys->instances[instance];
    const dev_template *t = &w->sys->templates[inst->tmpl];
    uint32_t *codes = w->codes + worker * w->codes_len;

    if (w->codes == NULL || w->codes_len == 0 || w->at[worker] == instance + 1) return codes;
    fixed_codes(codes, w, inst);
    aux_codes(codes + 1 + t->n_in, w->aux, inst->aux_start, (size_t)inst->aux_start + t->n_local);
    w->at[worker] = instance + 1;
    return codes;
}

/* One instance: all workers make its codes, in ranges. */
static void shared_codes(void *ctx, size_t from, size_t to)
{
    const job *w = ctx;
    const dev_instance *inst = &w->sys->instances[0];
    uint32_t *own = w->codes + 1 + w->sys->templates[inst->tmpl].n_in;

    aux_codes(own + from, w->aux, inst->aux_start + from, inst->aux_start + to);
}

static size_t wires_of(const dev_template *t)
{
    return 1 + (size_t)t->n_in + t->n_local + t->n_pub;
}

static cuzk_status prepare_codes(dev_stream *s, job *w)
{
    cuzk_status st = CUZK_OK;
    const dev_system *sys = w->sys;
    size_t threads = pool_threads(s->d->pool), len = 0;

    if (w->aux->is_elem == NULL || sys->n_instances == 0) return CUZK_OK;
    for (size_t i = 0; i < sys->n_templates; i++)
        if (wires_of(&sys->templates[i]) > len) len = wires_of(&sys->templates[i]);
    if (len > ABC_MAX_INDEX || sys->n_aux > ABC_MAX_INDEX || sys->n_inputs > ABC_MAX_INDEX)
        return FAIL(CUZK_EINVAL, "a, b, c: %zu wires, limit %u", len, ABC_MAX_INDEX);
    w->codes = mem_new(s->d->m, sys->n_instances == 1 ? len : threads * len, sizeof *w->codes, &st);
    if (w->codes == NULL) return st;
    if (sys->n_instances == 1) {
        const dev_instance *inst = &sys->instances[0];
        fixed_codes(w->codes, w, inst);
        return cpu_for_ranges(s->d, s->cancel, sys->templates[inst->tmpl].n_local, CODE_GRAIN,
                              shared_codes, w);
    }
    w->codes_len = len;
    w->at = mem_new(s->d->m, threads, sizeof *w->at, &st);
    return st;
}

/* ---- rows ---- */

/* Cuts the rows of all instances, in order, into tasks; returns how many. out NULL: only counts. */
static size_t cut(const dev_system *sys, abc_task *out)
{
    size_t n = 0, filled = ROWS_PER_TASK;

    for (size_t i = 0; i < sys->n_instances; i++) {
        size_t rows = sys->templates[sys->instances[i].tmpl].n_rows, row = 0;
        while (row < rows) {
            size_t take;
            if (filled == ROWS_PER_TASK) {
                if (out != NULL) out[n] = (abc_task){(uint32_t)i, (uint32_t)row};
                n++;
                filled = 0;
            }
            take = rows - row < ROWS_PER_TASK - filled ? rows - row : ROWS_PER_TASK - filled;
            row += take;
            filled += take;
        }
    }
    return n;
}

static void rows_of(const job *w, size_t instance, size_t from, size_t to, unsigned worker)
{
    const dev_instance *inst = &w->sys->instances[instance];
    const dev_template *t = &w->sys->templates[inst->tmpl];
    size_t at = inst->row_start + from, n = to - from;
    abc_scope sc = {.inputs = w->inputs,
                    .coeffs = w->sys->coeffs,
                    .aux = w->aux,
                    .n_in = t->n_in,
                    .n_local = t->n_local,
                    .aux_start = inst->aux_start,
                    .pub_start = inst->pub_start};

    if (n == 0) return;
    if (t->n_in != 0) sc.in = w->sys->wires + inst->wires;
    if (w->codes != NULL) sc.code = codes_of(w, instance, worker);
    w->kern->abc_rows(w->a + at, &t->a, from, n, &sc);
    w->kern->abc_rows(w->b + at, &t->b, from, n, &sc);
    if (w->c != NULL && t->c.row_start != NULL) w->kern->abc_rows(w->c + at, &t->c, from, n, &sc);
}

static cuzk_status row_task(void *ctx, size_t i, unsigned worker)
{
    const job *w = ctx;
    abc_task end = {(uint32_t)w->sys->n_instances, 0};
    size_t row = w->tasks[i].row, inst = w->tasks[i].instance;

    if (i + 1 < w->n_tasks) end = w->tasks[i + 1];
    for (; inst < end.instance; inst++, row = 0)
        rows_of(w, inst, row, w->sys->templates[w->sys->instances[inst].tmpl].n_rows, worker);
    if (end.row != 0) rows_of(w, inst, row, end.row, worker);
    return CUZK_OK;
}

/* ---- what follows the rows ---- */

static void zero_range(void *ctx, size_t from, size_t to)
{
    memset((fr *)ctx + from, 0, (to - from) * sizeof(fr));
}

/* The buffer from `rows` on: the values of n inputs (NULL: zeros), then zeros. */
static cuzk_status fill_rest(dev_stream *s, dev_buf *b, size_t rows, const fr *inputs, size_t n)
{
    fr *rest = b->host + rows;

    if (inputs != NULL) {
        memcpy(rest, inputs, n * sizeof *rest);
        rest += n;
    }
    return cpu_for_ranges(s->d, s->cancel, (size_t)(b->host + b->n - rest), ZERO_GRAIN, zero_range,
                          rest);
}

/* ---- entry point ---- */

static cuzk_status run(dev_stream *s, job *w)
{
    cuzk_status st = CUZK_OK;

    w->n_tasks = cut(w->sys, NULL);
    w->tasks = mem_new(s->d->m, w->n_tasks, sizeof *w->tasks, &st);
    if (w->tasks == NULL) return st;
    (void)cut(w->sys, w->tasks); /* the same number */
    TRY(prepare_codes(s, w));
    return pool_run(s->d->pool, s->cancel, w->n_tasks, row_task, w);
}

cuzk_status cpu_abc(dev_stream *s, dev_buf *a, dev_buf *b, dev_buf *c, const dev_system *sys,
                    const fr *inputs, const dev_scalars *aux)
{
    cuzk_status st;
    job w = {.kern = cpu_kernels_of(s->d, sys->id),
             .sys = sys,
             .inputs = inputs,
             .aux = aux,
             .a = a->host,
             .b = b->host,
             .c = c == NULL ? NULL : c->host};
    bool more = sys->input_rows;

    st = run(s, &w);
    mem_free(s->d->m, w.tasks);
    mem_free(s->d->m, w.codes);
    mem_free(s->d->m, w.at);
    TRY(st);
    TRY(fill_rest(s, a, sys->n_rows, more ? inputs : NULL, sys->n_inputs));
    TRY(fill_rest(s, b, sys->n_rows, NULL, 0));
    return c == NULL ? CUZK_OK : fill_rest(s, c, sys->n_rows, NULL, 0);
}
