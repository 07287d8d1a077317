/*
 * device/cuda/cuda_abc.c - a, b, c of a system on the device: templates, instances and the compact witness go there
 *
 * Nothing of the size of the domain crosses the bus, and a system that has an id, only once: its arrays lie in one block, at
 * places that follow from the system alone. The same walk over it measures the block, fills it, and finds the places again.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <cuda_runtime_api.h>
#include <string.h>

#include "base/u128.h"
#include "device/cuda/cuda_int.h"

#define MATRICES 3
#define ALIGN ((size_t)256)

typedef struct abc_run {
    dev_stream *s;
    cu_device *cu;
    const dev_system *sys;
    cu_system dev;
    cu_template *tmp; /* of the host: as they lie on the device */
    /* the walk over the block */
    uint8_t *base; /* NULL: it is only measured */
    size_t at;
    bool fill;
    /* in use */
    cu_kept *kept;
    void *own, *own_aux; /* a block that is not kept; inputs, and what is not kept of the witness */
    cu_whole aux;
} abc_run;

/* The next n * size bytes of the block, from src when it is filled; *out is where they lie. NULL stays NULL. */
static cuzk_status place(abc_run *r, const void *out, const void *src, size_t n, size_t size)
{
    void *p = NULL;

    if (src != NULL) {
        if (r->base != NULL) p = r->base + r->at;
        if (r->fill) TRY(cu_upload(r->s, p, src, n * size));
        r->at += (n * size + ALIGN - 1) / ALIGN * ALIGN;
    }
    memcpy((void *)(uintptr_t)out, &p, sizeof p); /* whatever kind of pointer `out` is */
    return CUZK_OK;
}

static cuzk_status place_matrix(abc_run *r, cu_matrix *out, const dev_matrix *m, uint32_t n_rows)
{
    *out = (cu_matrix){0};
    if (m->row_start == NULL || n_rows == 0) return CUZK_OK;
    size_t terms = m->row_start[n_rows];
    TRY(place(r, &out->row_start, m->row_start, (size_t)n_rows + 1, 4));
    TRY(place(r, &out->wire, m->wire, terms, 4));
    return place(r, &out->coeff, m->coeff, terms, 4);
}

static cuzk_status place_templates(abc_run *r)
{
    for (size_t i = 0; i < r->sys->n_templates; i++) {
        const dev_template *t = &r->sys->templates[i];
        const dev_matrix *m[MATRICES] = {&t->a, &t->b, &t->c};
        r->tmp[i] = (cu_template){t->n_in, t->n_local, t->n_pub, t->n_rows, {{0}}};
        for (int k = 0; k < MATRICES; k++) TRY(place_matrix(r, &r->tmp[i].m[k], m[k], t->n_rows));
    }
    return place(r, &r->dev.templates, r->tmp, r->sys->n_templates, sizeof *r->tmp);
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

static cuzk_status place_instances(abc_run *r, size_t n_wires)
{
    const dev_system *sys = r->sys;
    uint32_t *first_row, row = 0;
    cuzk_status st;

    _Static_assert(sizeof(cu_instance) == sizeof(dev_instance), "the same five words");
    first_row = mem_new(r->s->d->m, sys->n_instances + 1, sizeof *first_row, &st);
    if (first_row == NULL) return st;
    for (size_t i = 0; r->fill && i < sys->n_instances; i++) {
        first_row[i] = row;
        row += sys->templates[sys->instances[i].tmpl].n_rows;
    }
    first_row[sys->n_instances] = row;
    st = place(r, &r->dev.first_row, first_row, sys->n_instances + 1, 4);
    if (st == CUZK_OK)
        st = place(r, &r->dev.instances, sys->instances, sys->n_instances, sizeof(cu_instance));
    if (st == CUZK_OK) st = place(r, &r->dev.wires, sys->wires, n_wires, 4);
    mem_free(r->s->d->m, first_row);
    return st;
}

static cuzk_status walk(abc_run *r, uint8_t *base, bool fill)
{
    r->base = base;
    r->fill = fill;
    r->at = 0;
    TRY(place_templates(r));
    TRY(place_instances(r, count_wires(r->sys)));
    TRY(place(r, &r->dev.coeffs, r->sys->coeffs, r->sys->n_coeffs, sizeof(fr)));
    /* the stage's last copies; and the templates' host memory may go */
    return fill ? cu_wait(r->s) : CUZK_OK;
}

static cuzk_status fill_block(void *ctx, dev_stream *s, uint8_t *data)
{
    (void)s; /* the run's */
    return walk(ctx, data, true);
}

/* The system on the device, kept when it has an id. */
static cuzk_status bring_system(abc_run *r)
{
    TRY(walk(r, NULL, false));
    size_t size = r->at;

    if (r->sys->shape_id != 0)
        TRY(cu_kept_get(&r->kept, r->s, CU_KEPT_SYSTEM, r->sys->shape_id, NULL, size, fill_block,
                        r));
    if (r->kept != NULL) return walk(r, r->kept->data, false);
    TRY(cu_alloc(r->cu, &r->own, size));
    return walk(r, r->own, true);
}

/* Inputs, and those parts of the witness that are not kept, in one block. */
static cuzk_status place_values(abc_run *r, uint8_t *base, const fr *inputs, const dev_scalars *aux)
{
    size_t words = (aux->n + 63) / 64, elems = cu_scalars_elems(aux);
    bool layout = aux->is_elem != NULL && aux->n != 0, values = r->aux.values == NULL;

    r->base = base;
    r->fill = base != NULL;
    r->at = 0;
    r->dev.aux = (cu_scalars){.elem = r->aux.elems,
                              .bits = r->aux.bits,
                              .is_elem = r->aux.is_elem,
                              .rank64 = r->aux.rank64};
    TRY(place(r, &r->dev.inputs, inputs, r->sys->n_inputs, sizeof(fr)));
    if (layout && r->aux.layout == NULL) {
        TRY(place(r, &r->dev.aux.is_elem, aux->is_elem, words, 8));
        TRY(place(r, &r->dev.aux.rank64, aux->rank64, words, 4));
    }
    if (layout && values) TRY(place(r, &r->dev.aux.bits, aux->bits, (aux->n - elems + 63) / 64, 8));
    return values ? place(r, &r->dev.aux.elem, aux->elems, elems, sizeof(fr)) : CUZK_OK;
}

static cuzk_status bring_all(abc_run *r, const fr *inputs, const dev_scalars *aux)
{
    dev_scalars k = *aux;

    k.select = NULL; /* ignored here */
    TRY(bring_system(r));
    TRY(cu_scalars_get(&r->aux, r->s, &k));
    TRY(place_values(r, NULL, inputs, aux));
    TRY(cu_alloc(r->cu, &r->own_aux, r->at));
    TRY(place_values(r, r->own_aux, inputs, aux));
    r->dev.n_rows = r->sys->n_rows;
    r->dev.n_instances = (uint32_t)r->sys->n_instances;
    return CUZK_OK;
}

/* One of a, b, c: its rows, then the inputs' rows (A alone), then zeros. */
static cuzk_status fill(abc_run *r, const dev_buf *b, int matrix, const fr *inputs)
{
    cu_queue *q = cu_queue_of(r->s);
    uint32_t *p = cu_buf_of(b)->p;
    size_t rows = r->sys->n_rows;

    TRY(cancel_check(r->s->cancel));
    cu_mark(r->s, SPAN_GPU_ABC);
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
    r.tmp = mem_new(s->d->m, sys->n_templates, sizeof *r.tmp, &st);
    if (r.tmp == NULL) return st;
    TRY_OUT(bring_all(&r, inputs, aux));
    TRY_OUT(fill(&r, a, 0, sys->input_rows ? inputs : NULL));
    TRY_OUT(fill(&r, b, 1, NULL));
    if (c != NULL) TRY_OUT(fill(&r, c, 2, NULL));
    TRY_OUT(cu_wait(s));
out:
    if (st != CUZK_OK) (void)cudaStreamSynchronize(cu_queue_of(s)->s);
    cu_scalars_put(r.cu, &r.aux);
    cu_kept_put(r.cu, r.kept);
    cu_release(r.cu, r.own);
    cu_release(r.cu, r.own_aux);
    mem_free(s->d->m, r.tmp);
    return st;
}
