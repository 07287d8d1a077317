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
#include "device/cuda/cuda_abc.h"
#include "device/cuda/cuda_int.h"

#define MATRICES 3
#define ALIGN ((size_t)256)
#define PIECE ((size_t)1 << 12) /* steps that are made and sent at once */

typedef struct abc_run {
    dev_stream *s;
    cu_device *cu;
    const dev_system *sys;
    cu_system dev;
    /* what follows from the system, of the host; per template: */
    uint32_t *n_inst, *first_inst;
    size_t n_wires;
    /* the walk over the block */
    uint8_t *base; /* NULL: it is only measured */
    size_t at;
    bool fill;
    const uint32_t *code; /* of coefficients, to fill */
    cu_sliced *parts;     /* as they will lie on the device */
    uint32_t *piece;
    /* in use */
    cu_kept *kept;
    void *own, *own_aux; /* a block that is not kept; inputs, and what is not kept of the witness */
    cu_whole aux;
} abc_run;

/* Room for n * size bytes in the block; *out is where it lies, NULL when it is only measured. */
static void reserve(abc_run *r, const void *out, size_t n, size_t size)
{
    void *p = r->base == NULL ? NULL : r->base + r->at;

    r->at += (n * size + ALIGN - 1) / ALIGN * ALIGN;
    memcpy((void *)(uintptr_t)out, &p, sizeof p); /* whatever kind of pointer `out` is */
}

/* The next n * size bytes of the block, from src when it is filled; *out is where they lie. NULL stays NULL. */
static cuzk_status place(abc_run *r, const void *out, const void *src, size_t n, size_t size)
{
    void *p = NULL;

    if (src != NULL) reserve(r, &p, n, size);
    if (src != NULL && r->fill) TRY(cu_upload(r->s, p, src, n * size));
    memcpy((void *)(uintptr_t)out, &p, sizeof p);
    return CUZK_OK;
}

/* ---- the rows ---- */

static const dev_matrix *matrix_of(const dev_template *t, unsigned k)
{
    return k == 0 ? &t->a : k == 1 ? &t->b : &t->c;
}

/* Whether template i has rows of matrix k in the system. */
static bool has_part(const abc_run *r, size_t i, unsigned k)
{
    const dev_template *t = &r->sys->templates[i];

    return r->n_inst[i] != 0 && t->n_rows != 0 && matrix_of(t, k)->row_start != NULL;
}

/* Instances of each template, wires that they name, parts and blocks. */
static cuzk_status count(abc_run *r)
{
    const dev_system *sys = r->sys;
    uint64_t blocks = 0;
    uint32_t first = 0;

    for (size_t i = 0; i < sys->n_instances; i++) {
        const dev_instance *x = &sys->instances[i];
        size_t n_in = sys->templates[x->tmpl].n_in, end = x->wires + n_in;
        if (n_in != 0 && end > r->n_wires) r->n_wires = end;
        r->n_inst[x->tmpl]++;
    }
    for (size_t i = 0; i < sys->n_templates; i++) {
        const dev_template *t = &sys->templates[i];
        uint32_t each = (cu_slices_of(t->n_rows) + CU_PART_SLICES - 1) / CU_PART_SLICES;
        r->first_inst[i] = first;
        first += r->n_inst[i];
        if ((uint64_t)t->n_in + t->n_local + t->n_pub > (uint64_t)1 << CU_WIRE_BITS)
            return FAIL(CUZK_EINVAL, "a, b, c: template %zu has more than 2^%u wires", i,
                        CU_WIRE_BITS);
        for (unsigned k = 0; k < MATRICES; k++) {
            if (!has_part(r, i, k)) continue;
            r->dev.n_parts++;
            blocks += (uint64_t)each * r->n_inst[i];
        }
    }
    if (blocks > INT32_MAX)
        return FAIL(CUZK_EINVAL, "a, b, c: %llu blocks of rows", (unsigned long long)blocks);
    r->dev.n_blocks = (uint32_t)blocks;
    return CUZK_OK;
}

/* All steps, some at a time. */
static cuzk_status send_terms(abc_run *r, const cu_sliced *part, const cu_rows *rows,
                              const dev_template *t)
{
    const dev_matrix *m = matrix_of(t, part->matrix);
    uint8_t *to = (uint8_t *)(uintptr_t)part->terms;
    size_t n = 0;

    for (uint32_t i = 0; i < rows->slices; i++)
        for (uint32_t k = 0; k < rows->start[i + 1] - rows->start[i]; k++) {
            cu_rows_step(r->piece + 64 * n, rows, t, m, r->code, i, k);
            if (++n < PIECE) continue;
            /* no safe point: urgent work of this circuit may come to wait for the record that this fills */
            if (cancel_requested(r->s->cancel)) return FAIL(CUZK_ECANCELLED, "cancelled");
            TRY(cu_upload(r->s, to, r->piece, n * 256));
            to += n * 256;
            n = 0;
        }
    return cu_upload(r->s, to, r->piece, n * 256);
}

static cuzk_status place_part(abc_run *r, size_t i, cu_sliced *part)
{
    const dev_template *t = &r->sys->templates[i];
    cu_rows rows;
    cuzk_status st =
        cu_rows_make(&rows, r->s->d->m, matrix_of(t, part->matrix)->row_start, t->n_rows);

    if (st != CUZK_OK) return st;
    part->slices = rows.slices;
    part->blocks = (rows.slices + CU_PART_SLICES - 1) / CU_PART_SLICES;
    part->first_instance = r->first_inst[i];
    st = place(r, &part->order, rows.order, (size_t)32 * rows.slices, 4);
    if (st == CUZK_OK) st = place(r, &part->start, rows.start, (size_t)rows.slices + 1, 4);
    reserve(r, &part->terms, rows.steps, 256);
    if (st == CUZK_OK && r->fill) st = send_terms(r, part, &rows, t);
    cu_rows_free(&rows);
    return st;
}

static cuzk_status place_parts(abc_run *r)
{
    uint32_t block = 0, n = 0;

    for (size_t i = 0; i < r->sys->n_templates; i++)
        for (unsigned k = 0; k < MATRICES; k++) {
            cu_sliced part = {.matrix = k, .first_block = block};
            if (!has_part(r, i, k)) continue;
            TRY(place_part(r, i, &part));
            block += part.blocks * r->n_inst[i];
            if (r->fill) r->parts[n++] = part;
        }
    if (!r->fill) return CUZK_OK;
    return cu_upload(r->s, (void *)(uintptr_t)r->dev.parts, r->parts, n * sizeof *r->parts);
}

/* ---- the block ---- */

static cuzk_status place_instances(abc_run *r)
{
    const dev_system *sys = r->sys;
    uint32_t *next = NULL;
    cu_instance *sorted;
    cuzk_status st;

    _Static_assert(sizeof(cu_instance) == sizeof(dev_instance), "the same five words");
    reserve(r, &r->dev.instances, sys->n_instances, sizeof *sorted);
    if (!r->fill) return CUZK_OK;
    sorted = mem_new(r->s->d->m, sys->n_instances, sizeof *sorted, &st);
    if (sorted != NULL) next = mem_new(r->s->d->m, sys->n_templates, sizeof *next, &st);
    if (next != NULL) {
        for (size_t i = 0; i < sys->n_instances; i++) {
            const dev_instance *x = &sys->instances[i];
            uint32_t at = r->first_inst[x->tmpl] + next[x->tmpl]++;
            sorted[at] = (cu_instance){x->tmpl, x->aux_start, x->pub_start, x->row_start, x->wires};
        }
        st = cu_upload(r->s, (void *)(uintptr_t)r->dev.instances, sorted,
                       sys->n_instances * sizeof *sorted);
    }
    mem_free(r->s->d->m, sorted);
    mem_free(r->s->d->m, next);
    return st;
}

static cuzk_status place_integers(abc_run *r)
{
    const curve *cv = r->s->d->curves[r->sys->id];
    fr v[2 * CU_INTS + 1];

    for (unsigned i = 0; i <= CU_INTS; i++) {
        cv->fr_from_u64(&v[CU_INTS + i], i);
        cv->fr_neg(&v[CU_INTS - i], &v[CU_INTS + i]);
    }
    return place(r, &r->dev.ints, v, 2 * CU_INTS + 1, sizeof *v);
}

/* Where all is but the rows; their places are in the parts, which are on the device. */
static cuzk_status walk_head(abc_run *r, uint8_t *base, bool fill)
{
    r->base = base;
    r->fill = fill;
    r->at = 0;
    reserve(r, &r->dev.parts, r->dev.n_parts, sizeof(cu_sliced));
    TRY(place_instances(r));
    TRY(place(r, &r->dev.wires, r->sys->wires, r->n_wires, 4));
    TRY(place(r, &r->dev.coeffs, r->sys->coeffs, r->sys->n_coeffs, sizeof(fr)));
    return place_integers(r);
}

static cuzk_status walk(abc_run *r, uint8_t *base, bool fill)
{
    TRY(walk_head(r, base, fill));
    return place_parts(r);
}

static cuzk_status fill_block(void *ctx, dev_stream *s, uint8_t *data)
{
    abc_run *r = ctx;
    const dev_system *sys = r->sys;
    uint32_t *code = NULL;
    mem *m = s->d->m;
    cuzk_status st = cu_coeff_codes(&code, m, s->d->curves[sys->id], sys->coeffs, sys->n_coeffs);

    r->code = code;
    if (st == CUZK_OK) r->piece = mem_new(m, PIECE, 256, &st);
    if (st == CUZK_OK) r->parts = mem_new(m, r->dev.n_parts, sizeof *r->parts, &st);
    if (st == CUZK_OK) st = walk(r, data, true);
    /* the stage's last copies; and the host's memory may go */
    if (st == CUZK_OK) st = cu_wait(s);
    if (st != CUZK_OK) (void)cudaStreamSynchronize(cu_queue_of(s)->s);
    mem_free(m, r->parts);
    mem_free(m, r->piece);
    mem_free(m, code);
    return st;
}

/* The system on the device, kept when it has an id. */
static cuzk_status bring_system(abc_run *r)
{
    uint64_t id = r->sys->shape_id;

    TRY(count(r));
    if (id != 0) r->kept = cu_kept_find(r->cu, CU_KEPT_SYSTEM, id);
    if (r->kept == NULL) {
        TRY(walk(r, NULL, false));
        size_t size = r->at;
        if (id != 0)
            TRY(cu_kept_get(&r->kept, r->s, CU_KEPT_SYSTEM, id, NULL, size, fill_block, r));
        if (r->kept == NULL) {
            TRY(cu_alloc(r->cu, &r->own, size));
            TRY(fill_block(r, r->s, r->own));
            return CUZK_OK;
        }
    }
    return walk_head(r, r->kept->data, false);
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
    return CUZK_OK;
}

/* One of a, b, c beyond its rows: the inputs' rows (A alone), then zeros. */
static cuzk_status fill_end(abc_run *r, const dev_buf *b, bool inputs)
{
    cu_queue *q = cu_queue_of(r->s);
    uint32_t *p = cu_buf_of(b)->p + 8 * (size_t)r->sys->n_rows;
    size_t n = b->n - r->sys->n_rows, n_in = inputs ? r->sys->n_inputs : 0;

    if (n_in != 0)
        CU_TRY(r->cu, cudaMemcpyAsync(p, r->dev.inputs, n_in * sizeof(fr), cudaMemcpyDeviceToDevice,
                                      q->s));
    CU_TRY(r->cu, cudaMemsetAsync(p + 8 * n_in, 0, (n - n_in) * sizeof(fr), q->s));
    return CUZK_OK;
}

static cuzk_status fill_all(abc_run *r, dev_buf *const b[MATRICES])
{
    cu_abc_out out = {{NULL}};

    TRY(cu_safe_point(r->s));
    cu_mark(r->s, SPAN_GPU_ABC);
    for (unsigned k = 0; k < MATRICES; k++) {
        if (b[k] == NULL) continue;
        out.m[k] = cu_buf_of(b[k])->p;
        TRY(fill_end(r, b[k], k == 0 && r->sys->input_rows));
    }
    CU_TRY(r->cu, cu_fr_of(r->sys->id)->rows(cu_queue_of(r->s)->s, &out, &r->dev));
    for (unsigned k = 0; k < MATRICES; k++)
        if (b[k] != NULL) TRY(cu_buf_used(r->s, b[k]));
    return CUZK_OK;
}

cuzk_status cu_abc(dev_stream *s, dev_buf *a, dev_buf *b, dev_buf *c, const dev_system *sys,
                   const fr *inputs, const dev_scalars *aux)
{
    abc_run r = {.s = s, .cu = cu_of(s->d), .sys = sys};
    dev_buf *const out_bufs[MATRICES] = {a, b, c};
    mem *m = s->d->m;
    cuzk_status st = CUZK_OK;

    TRY(cu_enter(r.cu));
    if (sys->n_instances > UINT32_MAX)
        return FAIL(CUZK_EINVAL, "a, b, c: %zu instances", sys->n_instances);
    r.n_inst = mem_new(m, sys->n_templates, sizeof *r.n_inst, &st);
    if (st == CUZK_OK) r.first_inst = mem_new(m, sys->n_templates, sizeof *r.first_inst, &st);
    if (st != CUZK_OK) goto out;
    TRY_OUT(bring_all(&r, inputs, aux));
    TRY_OUT(fill_all(&r, out_bufs));
    TRY_OUT(cu_wait(s));
out:
    if (st != CUZK_OK) (void)cudaStreamSynchronize(cu_queue_of(s)->s);
    cu_scalars_put(r.cu, &r.aux);
    cu_kept_put(r.cu, r.kept);
    cu_release(r.cu, r.own);
    cu_release(r.cu, r.own_aux);
    mem_free(m, r.first_inst);
    mem_free(m, r.n_inst);
    return st;
}
