/*
 * device/cuda/cuda_line.c - streams: of levels, kept by the device, never far ahead of it
 *
 * The device begins thread blocks of a stream of a higher priority before all others, but does not stop those that run. So what is urgent
 * waits for the rest of one block; as long as it is there, work of lower levels stands aside at its safe points (base/pool.h). What that
 * has enqueued by then still goes first wherever the urgent proof leaves a gap between two kernels: therefore no thread is more than
 * CU_AHEAD safe points ahead of the device, which is enough for it to have work always.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <cuda_runtime_api.h>

#include "device/cuda/cuda_int.h"

static void line_clear(cu_line *l)
{
    if (l->s != NULL) (void)cudaStreamDestroy(l->s);
    if (l->words != NULL) (void)cudaFreeHost(l->words);
    for (unsigned i = 0; i < CU_AHEAD; i++)
        if (l->past[i] != NULL) (void)cudaEventDestroy(l->past[i]);
    *l = (cu_line){0};
}

/* The device has fewer priorities than we have levels, or more: the highest level has its highest. */
static cuzk_status make_stream(cu_device *cu, cu_stream *out, unsigned level)
{
    int least = 0, greatest = 0;
    cudaStream_t s;

    CU_TRY(cu, cudaDeviceGetStreamPriorityRange(&least, &greatest));
    int priority = greatest + (int)(DEV_LEVELS - 1 - level); /* lower numbers first */
    CU_TRY(cu, cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking,
                                            priority < least ? priority : least));
    *out = s;
    return CUZK_OK;
}

static cuzk_status line_init(cu_device *cu, cu_line *l, unsigned level)
{
    cuzk_status st;

    *l = (cu_line){.level = level};
    TRY(make_stream(cu, &l->s, level));
    CU_TRY_OUT(
        cu, cudaHostAlloc((void **)&l->words, CU_WORDS * sizeof *l->words, cudaHostAllocDefault));
    return CUZK_OK;
out:
    line_clear(l);
    return st;
}

/* One of this level that no stream has. */
static bool take_kept(cu_device *cu, cu_line *out, unsigned level)
{
    bool found = false;

    (void)pthread_mutex_lock(&cu->mu);
    for (unsigned i = 0; i < cu->n_lines && !found; i++) {
        if (cu->lines[i].level != level) continue;
        *out = cu->lines[i];
        cu->lines[i] = cu->lines[--cu->n_lines];
        found = true;
    }
    (void)pthread_mutex_unlock(&cu->mu);
    return found;
}

/* Nothing is under way on it. */
static void keep(cu_device *cu, cu_line *l)
{
    (void)pthread_mutex_lock(&cu->mu);
    if (cu->n_lines < CU_LINES) {
        cu->lines[cu->n_lines++] = *l;
        *l = (cu_line){0};
    }
    (void)pthread_mutex_unlock(&cu->mu);
    line_clear(l);
}

void cu_lines_close(cu_device *cu)
{
    while (cu->n_lines != 0) line_clear(&cu->lines[--cu->n_lines]);
    if (cu->clearing != NULL) (void)cudaStreamDestroy(cu->clearing);
    cu->clearing = NULL;
}

cuzk_status cu_line_clearing(cu_device *cu)
{
    return make_stream(cu, &cu->clearing, DEV_LEVELS - 1);
}

cuzk_status cu_stream_open(dev_stream *s)
{
    cu_device *cu = cu_of(s->d);
    cuzk_status st = CUZK_OK;
    cu_queue *q;

    TRY(cu_enter(cu));
    q = mem_new(s->d->m, 1, sizeof *q, &st);
    if (q == NULL) return st;
    q->cu = cu;
    if (!take_kept(cu, &q->line, s->level)) st = line_init(cu, &q->line, s->level);
    if (st != CUZK_OK) {
        mem_free(s->d->m, q);
        return st;
    }
    q->s = q->line.s;
    q->words = q->line.words;
    s->impl = q;
    return CUZK_OK;
}

void cu_stream_close(dev_stream *s)
{
    cu_queue *q = s->impl;

    if (q == NULL) return;
    (void)cudaSetDevice(q->cu->index);
    cu_work_end(s);
    bool calm = cudaStreamSynchronize(q->s) == cudaSuccess;
    cu_stage_return(q);
    if (calm)
        keep(q->cu, &q->line);
    else
        line_clear(&q->line);
    mem_free(s->d->m, q);
    s->impl = NULL;
}

cuzk_status cu_safe_point(dev_stream *s)
{
    cu_queue *q = cu_queue_of(s);
    cu_line *l = &q->line;
    void **past = &l->past[l->turn];

    if (s->level == DEV_LEVELS - 1) return cancel_check(s->cancel); /* nobody is before it */
    if (*past == NULL) {
        cudaEvent_t e;
        CU_TRY(q->cu, cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
        *past = e;
    } else {
        CU_TRY(q->cu, cudaEventSynchronize(*past));
    }
    CU_TRY(q->cu, cudaEventRecord(*past, q->s));
    l->turn = (l->turn + 1) % CU_AHEAD;
    return cancel_check(s->cancel);
}
