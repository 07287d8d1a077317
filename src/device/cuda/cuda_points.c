/*
 * device/cuda/cuda_points.c - a key's points in device memory: checked and decoded there once, kept while there is room
 *
 * Kept under dev_points.id, which names bytes that never change (cuda_kept.c). Points without an id, or too many of them,
 * are brought in for one call.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <cuda_runtime_api.h>
#include <string.h>

#include "base/clock.h"
#include "device/cuda/cuda_int.h"

/* ---- decoding ---- */

typedef struct host_decode {
    const curve *cv;
    const dev_points *b;
    size_t from, n, in_size, out_size;
    uint8_t *out;
} host_decode;

#define DECODE_TASK ((size_t)64)

/* Compressed points: a root each, which keys never ask for, so the host does it. */
static cuzk_status decode_task(void *ctx, size_t task, unsigned worker)
{
    const host_decode *j = ctx;
    size_t end = (task + 1) * DECODE_TASK < j->n ? (task + 1) * DECODE_TASK : j->n;

    (void)worker;
    for (size_t i = task * DECODE_TASK; i < end; i++) {
        const uint8_t *in = j->b->data + (j->from + i) * j->in_size;
        uint8_t *out = j->out + i * j->out_size;
        g2_any p;
        g1_any q;
        point_err e;

        if (j->b->g2) {
            e = j->cv->g2_read(&p, in, j->b->enc);
            memcpy(out, &p, j->out_size);
        } else {
            e = j->cv->g1_read(&q, in, j->b->enc);
            memcpy(out, &q, j->out_size);
        }
        if (e != POINT_OK)
            return FAIL_DATA(MALFORMED, "", "point %zu: %s", j->from + i, point_err_text(e));
    }
    return CUZK_OK;
}

typedef struct load {
    dev_stream *s;
    const curve *cv;
    const cu_group_ops *g;
    const dev_points *b;
    size_t from, to, in_size;
    uint8_t *out;
    uint8_t *raw[2]; /* encoded points on the device, one half of the stage each */
    uint64_t *bad;   /* on the device: as cu_group_ops.decode says */
} load;

/* The next n points from `at` on: to a half of the stage, to the device, decoded. */
static cuzk_status load_part(const load *l, size_t at, size_t n)
{
    cu_queue *q = cu_queue_of(l->s);
    const dev_points *b = l->b;
    bool host = b->enc == POINT_ZCASH_COMPRESSED;
    size_t size = n * (host ? l->g->point_size : l->in_size);
    uint64_t began = clock_ns();
    uint8_t *half;
    unsigned which;

    /* not a safe point: urgent work may come to wait for these points */
    if (cancel_requested(l->s->cancel)) return FAIL(CUZK_ECANCELLED, "cancelled");
    TRY(cu_stage_next(l->s, &half, &which));
    if (host) {
        host_decode j = {l->cv, b, at, n, l->in_size, l->g->point_size, half};
        TRY(pool_run(l->s->d->pool, NULL, (n + DECODE_TASK - 1) / DECODE_TASK, decode_task, &j));
    } else {
        cu_copy_host(l->s->d->pool, half, b->data + at * l->in_size, size);
    }
    cu_host_was(l->s, SPAN_GPU_IDLE_KEY, began);
    cu_mark(l->s, SPAN_GPU_COPY_IN);
    CU_TRY(q->cu, cudaMemcpyAsync(l->raw[which], half, size, cudaMemcpyHostToDevice, q->s));
    TRY(cu_stage_sent(l->s, which));
    cu_mark(l->s, SPAN_GPU_POINTS);
    CU_TRY(q->cu, l->g->decode(q->s, l->out + (at - l->from) * l->g->point_size,
                               (unsigned long long *)l->bad, l->raw[which], n, at,
                               b->enc == POINT_ZCASH, host || b->trusted));
    cu_mark(l->s, SPAN_KINDS);
    return CUZK_OK;
}

static cuzk_status load_all(load *l)
{
    cu_queue *q = cu_queue_of(l->s);
    size_t per = CU_STAGE_HALF / (l->in_size > l->g->point_size ? l->in_size : l->g->point_size);
    uint64_t bad = UINT64_MAX;

    CU_TRY(q->cu, cudaMemsetAsync(l->bad, 0xff, sizeof bad, q->s));
    for (size_t at = l->from; at < l->to; at += per)
        TRY(load_part(l, at, l->to - at < per ? l->to - at : per));
    CU_TRY(q->cu, cudaMemcpyAsync(q->words, l->bad, sizeof bad, cudaMemcpyDeviceToHost, q->s));
    TRY(cu_wait(l->s));
    memcpy(&bad, q->words, sizeof bad);
    if (bad != UINT64_MAX)
        return FAIL_DATA(MALFORMED, "", "point %zu: %s", (size_t)(bad / 4),
                         point_err_text((point_err)(bad % 4)));
    return CUZK_OK;
}

static cuzk_status load_points(uint8_t *out, dev_stream *s, curve_id id, const dev_points *b,
                               size_t from, size_t to)
{
    cu_device *cu = cu_of(s->d);
    cuzk_status st = CUZK_OK;
    load l = {.s = s,
              .cv = s->d->curves[id],
              .g = cu_group_of(id, b->g2),
              .b = b,
              .from = from,
              .to = to,
              .out = out};

    l.in_size = l.cv->point_size(b->g2, b->enc);
    for (int i = 0; i < 2; i++) TRY_OUT(cu_alloc(cu, (void **)&l.raw[i], CU_STAGE_HALF + 256));
    TRY_OUT(cu_alloc(cu, (void **)&l.bad, sizeof *l.bad));
    TRY_OUT(load_all(&l));
out:
    if (st != CUZK_OK) (void)cudaStreamSynchronize(cu_queue_of(s)->s);
    for (int i = 0; i < 2; i++) cu_release(cu, l.raw[i]);
    cu_release(cu, l.bad);
    return st;
}

/* ---- what is kept ---- */

typedef struct load_list {
    curve_id id;
    const dev_points *b;
} load_list;

static cuzk_status load_list_all(void *ctx, dev_stream *s, uint8_t *data)
{
    const load_list *l = ctx;
    return load_points(data, s, l->id, l->b, 0, l->b->n);
}

cuzk_status cu_points_get(cu_points *out, dev_stream *s, curve_id id, const dev_points *b,
                          size_t from, size_t to, bool may_keep)
{
    cu_device *cu = cu_of(s->d);
    size_t size = cu_group_of(id, b->g2)->point_size;
    load_list l = {id, b};
    cuzk_status st;

    *out = (cu_points){0};
    if (b->id != 0) {
        out->kept = cu_kept_find(cu, CU_KEPT_POINTS, b->id);
        if (out->kept == NULL && may_keep)
            TRY(cu_kept_get(&out->kept, s, CU_KEPT_POINTS, b->id, b->n * size, load_list_all, &l));
    }
    if (out->kept != NULL) {
        out->data = out->kept->data + from * size;
        return CUZK_OK;
    }
    TRY(cu_alloc(cu, &out->own, (to - from) * size));
    st = load_points(out->own, s, id, b, from, to);
    if (st != CUZK_OK) {
        cu_release(cu, out->own);
        out->own = NULL;
    }
    out->data = out->own;
    return st;
}

void cu_points_put(cu_device *cu, cu_points *p)
{
    cu_release(cu, p->own);
    cu_kept_put(cu, p->kept);
    *p = (cu_points){0};
}

/* ---- points that live here alone ---- */

static cuzk_status clear(void *ctx, dev_stream *s, uint8_t *data)
{
    cu_device *cu = cu_of(s->d);

    CU_TRY(cu, cudaMemset(data, 0, *(const size_t *)ctx));
    CU_TRY(cu, cudaStreamSynchronize(0));
    return CUZK_OK;
}

cuzk_status cu_points_new(dev_points *p, device *d, curve_id id)
{
    cu_device *cu = cu_of(d);
    size_t size = p->n * cu_group_of(id, p->g2)->point_size;
    dev_stream here = {.d = d};
    cu_kept *k;

    TRY(cu_enter(cu));
    /* in use from here on: nobody can bring them back */
    TRY(cu_kept_get(&k, &here, CU_KEPT_POINTS, p->id, size, clear, &size));
    return k != NULL ? CUZK_OK
                     : FAIL(CUZK_EBUDGET, "%s: %d lists of points are in use", cu->name, CU_KEPT);
}

void cu_points_free(dev_points *p)
{
    cu_device *cu = cu_of(p->home);
    cu_kept *k = cu_kept_find(cu, CU_KEPT_POINTS, p->id);

    if (k == NULL) return;
    (void)cudaSetDevice(cu->index);
    cu_kept_put(cu, k);
    cu_kept_put(cu, k); /* the use that cu_points_new began */
    cu_kept_drop(cu, CU_KEPT_POINTS, p->id);
}

uint8_t *cu_points_home(cu_device *cu, const dev_points *p)
{
    cu_kept *k = p->home == cu->d ? cu_kept_find(cu, CU_KEPT_POINTS, p->id) : NULL;

    cu_kept_put(cu, k);
    return k != NULL ? k->data : NULL;
}
