/*
 * device/cuda/cuda_copy.c - copies between host and device through pinned halves, one filled while the other travels
 *
 * The driver copies pageable memory at a sixth of the bus's speed. Stages are kept by the device, since pinning memory is
 * slow; a stream takes one when it first needs it.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <cuda_runtime_api.h>
#include <string.h>

#include "base/clock.h"
#include "device/cuda/cuda_int.h"

#define SMALL ((size_t)64 << 10) /* the driver takes these at once */
#define COPY_TASK ((size_t)1 << 20)

static void stage_clear(cu_stage *g)
{
    for (int i = 0; i < 2; i++) {
        if (g->half[i] != NULL) (void)cudaFreeHost(g->half[i]);
        if (g->done[i] != NULL) (void)cudaEventDestroy(g->done[i]);
    }
    *g = (cu_stage){0};
}

static cuzk_status stage_init(cu_device *cu, cu_stage *g)
{
    cuzk_status st = CUZK_OK;

    *g = (cu_stage){0};
    for (int i = 0; i < 2; i++) {
        cudaEvent_t e;
        CU_TRY_OUT(cu, cudaHostAlloc((void **)&g->half[i], CU_STAGE_HALF, cudaHostAllocDefault));
        CU_TRY_OUT(cu, cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
        g->done[i] = e;
    }
    return CUZK_OK;
out:
    stage_clear(g);
    return st;
}

static cuzk_status stage_take(cu_queue *q)
{
    cu_device *cu = q->cu;

    if (q->stage.half[0] != NULL) return CUZK_OK;
    (void)pthread_mutex_lock(&cu->mu);
    if (cu->n_stages != 0) q->stage = cu->stages[--cu->n_stages];
    (void)pthread_mutex_unlock(&cu->mu);
    return q->stage.half[0] != NULL ? CUZK_OK : stage_init(cu, &q->stage);
}

void cu_stage_return(cu_queue *q)
{
    cu_device *cu = q->cu;

    if (q->stage.half[0] == NULL) return;
    (void)pthread_mutex_lock(&cu->mu);
    if (cu->n_stages < CU_STAGES) {
        cu->stages[cu->n_stages++] = q->stage;
        q->stage = (cu_stage){0};
    }
    (void)pthread_mutex_unlock(&cu->mu);
    stage_clear(&q->stage);
}

void cu_stages_close(cu_device *cu)
{
    while (cu->n_stages != 0) stage_clear(&cu->stages[--cu->n_stages]);
}

/* ---- host to host ---- */

typedef struct copy_job {
    uint8_t *dst;
    const uint8_t *src;
    size_t size;
} copy_job;

static cuzk_status copy_task(void *ctx, size_t i, unsigned worker)
{
    const copy_job *j = ctx;
    size_t at = i * COPY_TASK, left = j->size - at;

    (void)worker;
    memcpy(j->dst + at, j->src + at, left < COPY_TASK ? left : COPY_TASK);
    return CUZK_OK;
}

void cu_copy_host(pool *p, void *dst, const void *src, size_t size)
{
    copy_job j = {dst, src, size};

    /* a task cannot fail, and nothing cancels */
    cuzk_status st = pool_run(p, NULL, (size + COPY_TASK - 1) / COPY_TASK, copy_task, &j);
    (void)st;
}

/* ---- host to device and back ---- */

cuzk_status cu_stage_next(dev_stream *s, uint8_t **out, unsigned *which)
{
    cu_queue *q = cu_queue_of(s);

    TRY(stage_take(q));
    *which = q->stage.turn;
    q->stage.turn ^= 1;
    CU_TRY(q->cu, cudaEventSynchronize(q->stage.done[*which]));
    *out = q->stage.half[*which];
    return CUZK_OK;
}

cuzk_status cu_stage_sent(dev_stream *s, unsigned which)
{
    cu_queue *q = cu_queue_of(s);

    CU_TRY(q->cu, cudaEventRecord(q->stage.done[which], q->s));
    return CUZK_OK;
}

cuzk_status cu_upload(dev_stream *s, void *dst, const void *src, size_t size)
{
    cu_queue *q = cu_queue_of(s);
    const uint8_t *from = src;
    uint8_t *to = dst;

    if (size == 0) return CUZK_OK;
    if (size <= SMALL) {
        cu_mark(s, SPAN_GPU_COPY_IN);
        CU_TRY(q->cu, cudaMemcpyAsync(dst, src, size, cudaMemcpyHostToDevice, q->s));
        return CUZK_OK;
    }
    while (size != 0) {
        size_t part = size < CU_STAGE_HALF ? size : CU_STAGE_HALF;
        uint64_t began = clock_ns();
        uint8_t *half;
        unsigned which;

        TRY(cu_stage_next(s, &half, &which));
        cu_copy_host(s->d->pool, half, from, part);
        cu_host_was(s, SPAN_GPU_IDLE_COPY, began);
        cu_mark(s, SPAN_GPU_COPY_IN);
        CU_TRY(q->cu, cudaMemcpyAsync(to, half, part, cudaMemcpyHostToDevice, q->s));
        TRY(cu_stage_sent(s, which));
        cu_mark(s, SPAN_KINDS);
        from += part;
        to += part;
        size -= part;
    }
    return CUZK_OK;
}

/* The copy out of half k travels while half k - 1 is emptied. */
cuzk_status cu_download(dev_stream *s, void *dst, const void *src, size_t size)
{
    cu_queue *q = cu_queue_of(s);
    uint8_t *to = dst, *half[2] = {NULL, NULL};
    const uint8_t *from = src;
    size_t sent[2] = {0, 0}, at = 0;
    unsigned which[2];

    cu_mark(s, SPAN_GPU_COPY_OUT);
    for (size_t k = 0; at < size || sent[(k + 1) & 1] != 0; k++) {
        size_t part = size - at < CU_STAGE_HALF ? size - at : CU_STAGE_HALF;
        unsigned now = k & 1, before = now ^ 1;

        if (part != 0) {
            TRY(cu_stage_next(s, &half[now], &which[now]));
            CU_TRY(q->cu,
                   cudaMemcpyAsync(half[now], from + at, part, cudaMemcpyDeviceToHost, q->s));
            TRY(cu_stage_sent(s, which[now]));
        }
        sent[now] = part;
        at += part;
        if (sent[before] == 0) continue;
        CU_TRY(q->cu, cudaEventSynchronize(q->stage.done[which[before]]));
        cu_copy_host(s->d->pool, to, half[before], sent[before]);
        to += sent[before];
        sent[before] = 0;
    }
    cu_mark(s, SPAN_KINDS);
    return CUZK_OK;
}
