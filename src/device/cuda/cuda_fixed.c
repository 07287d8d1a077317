/*
 * device/cuda/cuda_fixed.c - many multiples of one point on the device: the table, and chunks of scalars through it
 *
 * Scalars go there through one half of the stream's stage and points come back through the other: while the host empties a
 * chunk's points, the device works on the next chunk. Points that are to stay on the device (dev_fixed_keep) never come back.
 * Scalars of setups are secret: the stage and the device's copy are wiped at the end.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <cuda_runtime_api.h>
#include <string.h>

#include "device/cuda/cuda_int.h"

#define FIXED_MAX_BYTES ((size_t)128 << 20)
#define MIN_C 4u
#define MAX_C 20u
#define ENTRY_COST 30              /* of a table's entry, in additions of a multiple */
#define PER_LANE 8                 /* points with one inversion, when there are many */
#define LANES_WANTED ((size_t)256) /* of a multiprocessor */

/* What dev_fixed->impl is; fixed after init. */
typedef struct cu_fixed {
    cu_digits digits;
    uint8_t *table; /* on the device: windows << (c - 1) points */
} cu_fixed;

/* One call: device memory for a chunk, and the chunk that is on its way back. */
typedef struct fixed_run {
    dev_stream *s;
    cu_queue *q;
    cu_device *cu;
    const cu_group_ops *g;
    const cu_fr_ops *f;
    const cu_fixed *t;
    size_t chunk;
    uint32_t *value;
    uint8_t *sums, *prefix, *out;
    uint64_t *none; /* on the device: number of the first that is infinity */
    int form;
    uint8_t *half; /* of the stage: where scalars went through last */
} fixed_run;

static void digits_init(cu_digits *d, unsigned fr_bits, unsigned c)
{
    *d = (cu_digits){.c = c, .windows = (fr_bits + c - 1) / c};
    for (unsigned w = 0; w + 1 < d->windows; w++) {
        unsigned bit = w * c + c - 1;
        d->bias[bit / 32] |= (uint32_t)1 << (bit % 32);
    }
}

static unsigned best_c(unsigned fr_bits, size_t point_size, size_t n)
{
    unsigned best = MIN_C;
    double least = 0;

    for (unsigned c = MIN_C; c <= MAX_C; c++) {
        size_t windows = (fr_bits + c - 1) / c, row = (size_t)1 << (c - 1);
        double cost = (double)windows * ((double)n + ENTRY_COST * (double)row);
        if (windows * row * point_size > FIXED_MAX_BYTES) break;
        if (c == MIN_C || cost < least) {
            best = c;
            least = cost;
        }
    }
    return best;
}

/* ---- device memory of a run ---- */

static cuzk_status take(fixed_run *r, size_t n, bool scalars)
{
    r->chunk = n;
    if (scalars) TRY(cu_alloc(r->cu, (void **)&r->value, n * sizeof(fr)));
    TRY(cu_alloc(r->cu, (void **)&r->sums, n * r->g->sum_size));
    TRY(cu_alloc(r->cu, (void **)&r->prefix, n * r->g->fe_size));
    TRY(cu_alloc(r->cu, (void **)&r->none, sizeof *r->none));
    CU_TRY(r->cu, cudaMemsetAsync(r->none, 0xff, sizeof *r->none, r->q->s));
    return CUZK_OK;
}

static void release_all(fixed_run *r)
{
    cu_release(r->cu, r->value);
    cu_release(r->cu, r->sums);
    cu_release(r->cu, r->prefix);
    cu_release(r->cu, r->none);
    cu_release(r->cu, r->out);
}

/* r->sums to n points at `out`, of which the first is number `first`. */
static cuzk_status write_out(const fixed_run *r, void *out, size_t n, size_t first, int form)
{
    size_t least = LANES_WANTED * r->cu->sms;
    cu_write w = {.out = out,
                  .none = (unsigned long long *)r->none,
                  .sums = r->sums,
                  .prefix = r->prefix,
                  .n = n,
                  .first = first,
                  .lanes = n / PER_LANE,
                  .form = form};

    if (w.lanes < least) w.lanes = least;
    if (w.lanes > n) w.lanes = n;
    CU_TRY(r->cu, r->g->write(r->q->s, &w));
    return CUZK_OK;
}

/* ---- the table ---- */

static void twice(const curve *cv, bool g2, uint8_t *p)
{
    size_t size = g2 ? cv->g2_size : cv->g1_size;
    g1_any a;
    g2_any b;

    if (g2) {
        memcpy(&b, p, size);
        cv->g2_add(&b, &b, &b);
        memcpy(p, &b, size);
    } else {
        memcpy(&a, p, size);
        cv->g1_add(&a, &a, &a);
        memcpy(p, &a, size);
    }
}

/* Row by row: 1 .. half times the row's point. */
static cuzk_status fill_table(fixed_run *r, const dev_fixed *f, const void *base)
{
    const cu_fixed *t = r->t;
    size_t size = r->g->point_size, half = (size_t)1 << (t->digits.c - 1);
    uint8_t point[sizeof(g2_any)];

    memcpy(point, base, size);
    for (size_t w = 0; w < t->digits.windows; w++) {
        uint8_t *row = t->table + w * half * size;
        TRY(cu_safe_point(r->s));
        for (unsigned i = 0; w != 0 && i < t->digits.c; i++)
            twice(r->s->d->curves[f->id], f->g2, point);
        /* pageable memory, so the copy has left `point` on return; the row's first place is its own result */
        CU_TRY(r->cu, cudaMemcpyAsync(row, point, size, cudaMemcpyHostToDevice, r->q->s));
        CU_TRY(r->cu, r->g->multiples(r->q->s, r->sums, row, (uint32_t)half));
        TRY(write_out(r, row, half, 0, CU_WRITE_LEM));
    }
    CU_TRY(r->cu, cudaStreamSynchronize(r->q->s));
    return CUZK_OK;
}

static fixed_run run_of(dev_stream *s, const dev_fixed *f)
{
    return (fixed_run){.s = s,
                       .q = cu_queue_of(s),
                       .cu = cu_of(s->d),
                       .g = cu_group_of(f->id, f->g2),
                       .f = cu_fr_of(f->id),
                       .t = f->impl};
}

void cu_fixed_free(dev_fixed *f)
{
    cu_fixed *t = f->impl;

    if (t == NULL) return;
    cu_release(cu_of(f->d), t->table); /* no call is going on, and each has waited for its end */
    mem_free(f->d->m, t);
    f->impl = NULL;
}

cuzk_status cu_fixed_new(dev_stream *s, dev_fixed *f, const void *base, size_t n)
{
    cuzk_status st = CUZK_OK;
    const curve *cv = s->d->curves[f->id];
    size_t size = cu_group_of(f->id, f->g2)->point_size, half;
    fixed_run r;
    cu_fixed *t;

    TRY(cu_enter(cu_of(s->d)));
    t = mem_new(s->d->m, 1, sizeof *t, &st);
    if (t == NULL) return st;
    f->impl = t;
    digits_init(&t->digits, cv->fr_bits, best_c(cv->fr_bits, size, n));
    half = (size_t)1 << (t->digits.c - 1);
    r = run_of(s, f);
    TRY_OUT(cu_alloc(r.cu, (void **)&t->table, t->digits.windows * half * size));
    TRY_OUT(take(&r, half, false));
    st = fill_table(&r, f, base);
out:
    if (st != CUZK_OK) (void)cudaStreamSynchronize(r.q->s);
    release_all(&r);
    if (st != CUZK_OK) cu_fixed_free(f);
    return st;
}

/* ---- multiples ---- */

/* Scalars k[at ..] to the device and their multiples, as points, to `out` there. */
static cuzk_status send_chunk(fixed_run *r, const fr *k, size_t at, size_t n, uint8_t *out)
{
    unsigned which;

    TRY(cu_safe_point(r->s));
    TRY(cu_stage_next(r->s, &r->half, &which));
    cu_copy_host(r->s->d->pool, r->half, k + at, n * sizeof *k);
    CU_TRY(r->cu,
           cudaMemcpyAsync(r->value, r->half, n * sizeof *k, cudaMemcpyHostToDevice, r->q->s));
    TRY(cu_stage_sent(r->s, which));
    CU_TRY(r->cu, r->f->values(r->q->s, r->value, r->value, &r->t->digits, n));
    CU_TRY(r->cu, r->g->fixed(r->q->s, r->sums, r->t->table, r->value, &r->t->digits, n));
    return write_out(r, out, n, at, r->form);
}

/* Each chunk's points travel after its kernels; they are emptied out of the stage while the next chunk is computed. */
static cuzk_status mul_to_host(fixed_run *r, uint8_t *out, size_t size, const fr *k, size_t n)
{
    uint8_t *back = NULL;
    unsigned which = 0;

    for (size_t at = 0, before = 0; at < n || before != 0;) {
        size_t part = n - at < r->chunk ? n - at : r->chunk;
        if (part != 0) TRY(send_chunk(r, k, at, part, r->out));
        if (before != 0) {
            CU_TRY(r->cu, cudaEventSynchronize(r->q->stage.done[which]));
            cu_copy_host(r->s->d->pool, out + (at - before) * size, back, before * size);
        }
        before = part;
        at += part;
        if (part == 0) break;
        TRY(cu_stage_next(r->s, &back, &which));
        CU_TRY(r->cu, cudaMemcpyAsync(back, r->out, part * size, cudaMemcpyDeviceToHost, r->q->s));
        TRY(cu_stage_sent(r->s, which));
    }
    return CUZK_OK;
}

static cuzk_status mul_to_device(fixed_run *r, uint8_t *out, const fr *k, size_t n)
{
    for (size_t at = 0; at < n; at += r->chunk)
        TRY(send_chunk(r, k, at, n - at < r->chunk ? n - at : r->chunk,
                       out + at * r->g->point_size));
    return CUZK_OK;
}

/* Nothing of the scalars is left, and nothing of the run goes on. */
static void end_run(fixed_run *r)
{
    if (r->value != NULL) (void)cudaMemsetAsync(r->value, 0, r->chunk * sizeof(fr), r->q->s);
    (void)cudaStreamSynchronize(r->q->s);
    for (int i = 0; i < 2 && r->half != NULL; i++)
        explicit_bzero(r->q->stage.half[i], r->chunk * sizeof(fr));
    release_all(r);
}

static cuzk_status first_none(const fixed_run *r, size_t *index)
{
    uint64_t none;

    CU_TRY(r->cu,
           cudaMemcpyAsync(r->q->words, r->none, sizeof none, cudaMemcpyDeviceToHost, r->q->s));
    CU_TRY(r->cu, cudaStreamSynchronize(r->q->s));
    memcpy(&none, r->q->words, sizeof none);
    if (index != NULL) *index = none == UINT64_MAX ? SIZE_MAX : (size_t)none;
    return CUZK_OK;
}

/* kept: where the points stay on the device; else they go to out, `size` bytes each. */
static cuzk_status multiply(fixed_run *r, uint8_t *kept, uint8_t *out, size_t size, const fr *k,
                            size_t n, size_t *infinity_index)
{
    size_t most = size > sizeof *k ? size : sizeof *k, chunk = CU_STAGE_HALF / most;
    cuzk_status st = CUZK_OK;

    TRY(cu_enter(r->cu));
    if (n == 0) {
        if (infinity_index != NULL) *infinity_index = SIZE_MAX;
        return CUZK_OK;
    }
    TRY_OUT(take(r, n < chunk ? n : chunk, true));
    if (kept == NULL) TRY_OUT(cu_alloc(r->cu, (void **)&r->out, r->chunk * size));
    TRY_OUT(kept != NULL ? mul_to_device(r, kept, k, n) : mul_to_host(r, out, size, k, n));
    st = first_none(r, infinity_index);
out:
    end_run(r);
    return st;
}

cuzk_status cu_fixed_mul(dev_stream *s, uint8_t *out, point_enc enc, const dev_fixed *f,
                         const fr *k, size_t n, size_t *infinity_index)
{
    fixed_run r = run_of(s, f);

    _Static_assert((int)POINT_LEM == CU_WRITE_LEM && (int)POINT_ZCASH == CU_WRITE_ZCASH &&
                       (int)POINT_ZCASH_COMPRESSED == CU_WRITE_ZCASH_COMPRESSED,
                   "one numbering of forms");
    r.form = (int)enc;
    return multiply(&r, NULL, out, s->d->curves[f->id]->point_size(f->g2, enc), k, n,
                    infinity_index);
}

cuzk_status cu_fixed_keep(dev_stream *s, const dev_points *p, size_t at, const dev_fixed *f,
                          const fr *k, size_t n, size_t *infinity_index)
{
    fixed_run r = run_of(s, f);
    uint8_t *to = cu_points_home(r.cu, p);

    if (to == NULL) return FAIL(CUZK_EINVAL, "%s: these points are not kept here", r.cu->name);
    r.form = CU_WRITE_LEM;
    return multiply(&r, to + at * r.g->point_size, NULL, 0, k, n, infinity_index);
}
