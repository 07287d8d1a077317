/*
 * device/cuda/cuda_points.c - a key's points in device memory: checked and decoded there once, kept while there is room
 *
 * Kept under dev_points.id, which names bytes that never change; the list is in order of use, and what nobody uses can be
 * given up for other memory. Points without an id, or too many of them, are brought in for one call.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <cuda_runtime_api.h>
#include <string.h>

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
    CU_TRY(q->cu, cudaMemcpyAsync(l->raw[which], half, size, cudaMemcpyHostToDevice, q->s));
    TRY(cu_stage_sent(l->s, which));
    CU_TRY(q->cu, l->g->decode(q->s, l->out + (at - l->from) * l->g->point_size,
                               (unsigned long long *)l->bad, l->raw[which], n, at,
                               b->enc == POINT_ZCASH, host || b->trusted));
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
    CU_TRY(q->cu, cudaStreamSynchronize(q->s));
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

static cu_kept *take_kept(cu_device *cu, uint64_t id)
{
    cu_kept *found = NULL;

    (void)pthread_mutex_lock(&cu->mu);
    for (cu_kept *k = cu->kept; k < cu->kept + CU_KEPT && found == NULL; k++)
        if (k->id == id) found = k;
    if (found != NULL) {
        found->users++;
        found->last_use = ++cu->uses;
    }
    (void)pthread_mutex_unlock(&cu->mu);
    return found;
}

size_t cu_points_room(cu_device *cu, uint64_t id)
{
    size_t room = 0;

    (void)pthread_mutex_lock(&cu->mu);
    if (cu->limit > cu->used) room = cu->limit - cu->used;
    for (const cu_kept *k = cu->kept; k < cu->kept + CU_KEPT; k++)
        if (k->id != 0 && (k->users == 0 || k->id == id)) room += k->size;
    (void)pthread_mutex_unlock(&cu->mu);
    return room;
}

static void give_up_locked(cu_device *cu, cu_kept *k)
{
    cu_release_locked(cu, k->data);
    *k = (cu_kept){0};
}

static cu_kept *oldest_unused(cu_device *cu)
{
    cu_kept *oldest = NULL;

    for (cu_kept *k = cu->kept; k < cu->kept + CU_KEPT; k++)
        if (k->id != 0 && k->users == 0 && (oldest == NULL || k->last_use < oldest->last_use))
            oldest = k;
    return oldest;
}

void cu_points_evict_locked(cu_device *cu, size_t size)
{
    while (cu->used > cu->limit || cu->limit - cu->used < size) {
        cu_kept *k = oldest_unused(cu);
        if (k == NULL) return;
        give_up_locked(cu, k);
    }
}

void cu_points_close(cu_device *cu)
{
    cu_points_evict_locked(cu, SIZE_MAX);
}

/* The record's place in the table, and NULL when all are in use. */
static cu_kept *record_locked(cu_device *cu)
{
    cu_kept *k;

    for (k = cu->kept; k < cu->kept + CU_KEPT; k++)
        if (k->id == 0) return k;
    k = oldest_unused(cu);
    if (k != NULL) give_up_locked(cu, k);
    return k;
}

/* *out stays NULL when the table is full of points in use. */
static cuzk_status keep(cu_kept **out, dev_stream *s, curve_id id, const dev_points *b)
{
    cu_device *cu = cu_of(s->d);
    cuzk_status st = CUZK_OK;
    cu_kept *k, x = {.id = b->id, .users = 1};

    x.size = b->n * cu_group_of(id, b->g2)->point_size;
    TRY(cu_alloc(cu, (void **)&x.data, x.size));
    st = load_points(x.data, s, id, b, 0, b->n);
    (void)pthread_mutex_lock(&cu->mu);
    k = st == CUZK_OK ? record_locked(cu) : NULL;
    if (k != NULL) {
        x.last_use = ++cu->uses;
        *k = x;
    } else {
        cu_release_locked(cu, x.data);
    }
    (void)pthread_mutex_unlock(&cu->mu);
    *out = k;
    return st;
}

cuzk_status cu_points_get(cu_points *out, dev_stream *s, curve_id id, const dev_points *b,
                          size_t from, size_t to, bool may_keep)
{
    cu_device *cu = cu_of(s->d);
    size_t size = cu_group_of(id, b->g2)->point_size;
    cuzk_status st;

    *out = (cu_points){0};
    if (b->id != 0) {
        out->kept = take_kept(cu, b->id);
        if (out->kept == NULL && may_keep) TRY(keep(&out->kept, s, id, b));
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
    if (p->kept != NULL) {
        (void)pthread_mutex_lock(&cu->mu);
        p->kept->users--;
        (void)pthread_mutex_unlock(&cu->mu);
    }
    *p = (cu_points){0};
}
