/*
 * device/cuda/cuda_abc.c - a, b, c of a system on the device: templates, instances and the compact witness go there
 *
 * Nothing of the size of the domain crosses the bus. Scratch lives until the rows are enqueued and done.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <cuda_runtime_api.h>
#include <string.h>

#include "base/u128.h"
#include "device/cuda/cuda_int.h"

#define MATRICES 3

/* Device memory of one call, in the order it was had. */
typedef struct abc_run {
    dev_stream *s;
    cu_device *cu;
    const dev_system *sys;
    void **held;
    size_t n_held, max_held;
    cu_system dev;
} abc_run;

static cuzk_status hold(abc_run *r, void **out, size_t size)
{
    TRY(cu_alloc(r->cu, out, size));
    VERIFY(r->n_held < r->max_held);
    r->held[r->n_held++] = *out;
    return CUZK_OK;
}

/* n * size bytes at src on the device; NULL stays NULL. */
static cuzk_status send(abc_run *r, const void *out, const void *src, size_t n, size_t size)
{
    void *p = NULL;

    if (src != NULL) {
        TRY(hold(r, &p, n * size));
        TRY(cu_upload(r->s, p, src, n * size));
    }
    memcpy((void *)(uintptr_t)out, &p, sizeof p); /* whatever kind of pointer `out` is */
    return CUZK_OK;
}

static cuzk_status send_matrix(abc_run *r, cu_matrix *out, const dev_matrix *m, uint32_t n_rows)
{
    *out = (cu_matrix){0};
    if (m->row_start == NULL || n_rows == 0) return CUZK_OK;
    size_t terms = m->row_start[n_rows];
    TRY(send(r, &out->row_start, m->row_start, (size_t)n_rows + 1, 4));
    TRY(send(r, &out->wire, m->wire, terms, 4));
    return send(r, &out->coeff, m->coeff, terms, 4);
}

static cuzk_status send_templates(abc_run *r, cu_template *tmp)
{
    for (size_t i = 0; i < r->sys->n_templates; i++) {
        const dev_template *t = &r->sys->templates[i];
        const dev_matrix *m[MATRICES] = {&t->a, &t->b, &t->c};
        tmp[i] = (cu_template){t->n_in, t->n_local, t->n_pub, t->n_rows, {{0}}};
        for (int k = 0; k < MATRICES; k++) TRY(send_matrix(r, &tmp[i].m[k], m[k], t->n_rows));
    }
    return send(r, &r->dev.templates, tmp, r->sys->n_templates, sizeof *tmp);
}

/* How many global wires the instances name. */
static size_t count_wires(const dev_system *sys)
{
    size_t n = 0;

    for (size_t i = 0; i < sys->n_instances; i++) {
        size_t end = (size_t)sys->instances[i].wires + sys->templates[sys->instances[i].tmpl].n_in;
        if (sys->templates[sys->instances[i].tmpl].n_in != 0 && end > n) n = end;
    }
    return n;
}

static cuzk_status send_instances(abc_run *r, uint32_t *first_row)
{
    const dev_system *sys = r->sys;
    uint32_t row = 0;

    _Static_assert(sizeof(cu_instance) == sizeof(dev_instance), "the same five words");
    for (size_t i = 0; i < sys->n_instances; i++) {
        first_row[i] = row;
        row += sys->templates[sys->instances[i].tmpl].n_rows;
    }
    first_row[sys->n_instances] = row;
    TRY(send(r, &r->dev.first_row, first_row, sys->n_instances + 1, 4));
    TRY(send(r, &r->dev.instances, sys->instances, sys->n_instances, sizeof(cu_instance)));
    return send(r, &r->dev.wires, sys->wires, count_wires(sys), 4);
}

static cuzk_status send_values(abc_run *r, const fr *inputs, const dev_scalars *aux)
{
    size_t n = aux->n, words = (n + 63) / 64, elems = n, last = words == 0 ? 0 : words - 1;

    if (aux->is_elem != NULL && n != 0) {
        elems = aux->rank64[last] +
                (size_t)u64_popcount(aux->is_elem[last] & UINT64_MAX >> (63 - (n - 1) % 64));
        TRY(send(r, &r->dev.aux.is_elem, aux->is_elem, words, 8));
        TRY(send(r, &r->dev.aux.rank64, aux->rank64, words, 4));
        TRY(send(r, &r->dev.aux.bits, aux->bits, (n - elems + 63) / 64, 8));
    }
    TRY(send(r, &r->dev.aux.elem, aux->elems, elems, sizeof(fr)));
    return send(r, &r->dev.inputs, inputs, r->sys->n_inputs, sizeof(fr));
}

static cuzk_status send_all(abc_run *r, const fr *inputs, const dev_scalars *aux)
{
    const dev_system *sys = r->sys;
    mem *m = r->s->d->m;
    cuzk_status st = CUZK_OK;
    cu_template *tmp = mem_new(m, sys->n_templates, sizeof *tmp, &st);
    uint32_t *first_row = st != CUZK_OK ? NULL : mem_new(m, sys->n_instances + 1, 4, &st);

    if (st == CUZK_OK) st = send_templates(r, tmp);
    if (st == CUZK_OK) st = send_instances(r, first_row);
    if (st == CUZK_OK) st = send(r, &r->dev.coeffs, sys->coeffs, sys->n_coeffs, sizeof(fr));
    if (st == CUZK_OK) st = send_values(r, inputs, aux);
    mem_free(m, first_row);
    mem_free(m, tmp);
    r->dev.n_rows = sys->n_rows;
    r->dev.n_instances = (uint32_t)sys->n_instances;
    return st;
}

/* One of a, b, c: its rows, then the inputs' rows (A alone), then zeros. */
static cuzk_status fill(abc_run *r, const dev_buf *b, int matrix, const fr *inputs)
{
    cu_queue *q = cu_queue_of(r->s);
    uint32_t *p = cu_buf_of(b)->p;
    size_t rows = r->sys->n_rows;

    TRY(cancel_check(r->s->cancel));
    CU_TRY(r->cu, cudaMemsetAsync(p + 8 * rows, 0, (b->n - rows) * sizeof(fr), q->s));
    if (r->sys->n_instances != 0)
        CU_TRY(r->cu, cu_fr_of(r->sys->id)->rows(q->s, p, &r->dev, matrix));
    if (inputs != NULL) TRY(cu_upload(r->s, p + 8 * rows, inputs, r->sys->n_inputs * sizeof(fr)));
    return cu_buf_used(r->s, b);
}

cuzk_status cu_abc(dev_stream *s, dev_buf *a, dev_buf *b, dev_buf *c, const dev_system *sys,
                   const fr *inputs, const dev_scalars *aux)
{
    abc_run r = {.s = s, .cu = cu_of(s->d), .sys = sys};
    cuzk_status st = CUZK_OK;

    TRY(cu_enter(r.cu));
    if (sys->n_instances > UINT32_MAX)
        return FAIL(CUZK_EINVAL, "a, b, c: %zu instances", sys->n_instances);
    r.max_held = sys->n_templates * MATRICES * 3 + 16;
    r.held = mem_new(s->d->m, r.max_held, sizeof *r.held, &st);
    if (r.held == NULL) return st;
    TRY_OUT(send_all(&r, inputs, aux));
    TRY_OUT(fill(&r, a, 0, sys->input_rows ? inputs : NULL));
    TRY_OUT(fill(&r, b, 1, NULL));
    if (c != NULL) TRY_OUT(fill(&r, c, 2, NULL));
    CU_TRY_OUT(r.cu, cudaStreamSynchronize(cu_queue_of(s)->s));
out:
    if (st != CUZK_OK) (void)cudaStreamSynchronize(cu_queue_of(s)->s);
    for (size_t i = 0; i < r.n_held; i++) cu_release(r.cu, r.held[i]);
    mem_free(s->d->m, r.held);
    return st;
}
