/*
 * device/cuda/cuda_copy.c - copies between host and device through pinned halves, one filled while the other travels
 *
 * The driver copies pageable memory at a sixth of the bus's speed, and so does one thread that copies to pinned memory; several
 * together are as fast as the bus (cu_upload_many). Stages and porters are kept by the device, since
 * pinning memory is slow; a stream takes a stage when it first needs it, a thread a porter while it copies.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <cuda_runtime_api.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* ---- by several threads at once ---- */

static void porter_clear(cu_porter *l)
{
    if (l->s != NULL) (void)cudaStreamDestroy(l->s);
    for (int i = 0; i < 2; i++) {
        if (l->half[i] != NULL) (void)cudaFreeHost(l->half[i]);
        if (l->done[i] != NULL) (void)cudaEventDestroy(l->done[i]);
    }
    *l = (cu_porter){0};
}

static cuzk_status porter_init(cu_device *cu, cu_porter *l)
{
    cuzk_status st = CUZK_OK;
    cudaStream_t s;

    *l = (cu_porter){0};
    CU_TRY_OUT(cu, cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    l->s = s;
    for (int i = 0; i < 2; i++) {
        cudaEvent_t e;
        CU_TRY_OUT(cu, cudaHostAlloc((void **)&l->half[i], CU_PORTER_HALF, cudaHostAllocDefault));
        /* who waits does not spin: others want the core */
        CU_TRY_OUT(cu,
                   cudaEventCreateWithFlags(&e, cudaEventDisableTiming | cudaEventBlockingSync));
        l->done[i] = e;
    }
    return CUZK_OK;
out:
    porter_clear(l);
    return st;
}

static cuzk_status porter_take(cu_device *cu, cu_porter *l)
{
    *l = (cu_porter){0};
    (void)pthread_mutex_lock(&cu->mu);
    if (cu->n_porters != 0) *l = cu->porters[--cu->n_porters];
    (void)pthread_mutex_unlock(&cu->mu);
    return l->s != NULL ? CUZK_OK : porter_init(cu, l);
}

static void porter_return(cu_device *cu, cu_porter *l)
{
    (void)pthread_mutex_lock(&cu->mu);
    if (cu->n_porters < CU_PORTERS) {
        cu->porters[cu->n_porters++] = *l;
        *l = (cu_porter){0};
    }
    (void)pthread_mutex_unlock(&cu->mu);
    porter_clear(l);
}

void cu_porters_close(cu_device *cu)
{
    while (cu->n_porters != 0) porter_clear(&cu->porters[--cu->n_porters]);
}

/* What the tasks of cu_upload_many share. */
typedef struct many_run {
    const cu_many *m;
    size_t first; /* task of the first porter */
    /* atomics: relaxed; what tasks write reaches the caller through the pool */
    _Atomic size_t next;   /* byte that nobody has taken */
    _Atomic bool stop;     /* one has failed */
    _Atomic uint64_t busy; /* the longest time that one took */
} many_run;

static cuzk_status porter_part(const cu_many *m, cu_porter *l, unsigned turn, size_t at)
{
    cu_device *cu = cu_of(m->s->d);
    size_t n = m->size - at < m->part ? m->size - at : m->part;

    CU_TRY(cu, cudaEventSynchronize(l->done[turn]));
    if (m->fill != NULL)
        TRY(m->fill(m->ctx, l->half[turn], at, n));
    else
        memcpy(l->half[turn], m->src + at, n);
    CU_TRY(cu, cudaMemcpyAsync(m->dst + at, l->half[turn], n, cudaMemcpyHostToDevice, l->s));
    CU_TRY(cu, cudaEventRecord(l->done[turn], l->s));
    return CUZK_OK;
}

static cuzk_status porter_parts(many_run *r, cu_porter *l)
{
    const cu_many *m = r->m;

    for (unsigned turn = 0;; turn ^= 1) {
        size_t at;

        /* not a safe point: urgent work may come to wait for these bytes */
        if (cancel_requested(m->s->cancel)) return FAIL(CUZK_ECANCELLED, "cancelled");
        if (atomic_load_explicit(&r->stop, memory_order_relaxed)) return CUZK_OK;
        at = atomic_fetch_add_explicit(&r->next, m->part, memory_order_relaxed);
        if (at >= m->size) return CUZK_OK;
        TRY(porter_part(m, l, turn, at));
    }
}

static cuzk_status run_porter(many_run *r)
{
    cu_device *cu = cu_of(r->m->s->d);
    uint64_t from = clock_ns(), took, most = 0;
    cuzk_status st;
    cu_porter l;

    TRY(cu_enter(cu));
    TRY(porter_take(cu, &l));
    st = porter_parts(r, &l);
    int err = (int)cudaStreamSynchronize(l.s); /* whatever went wrong: nothing is under way after */
    if (st == CUZK_OK && err != 0)
        st = cu_fail(cu, err, "cudaStreamSynchronize", __FILE__, __LINE__);
    porter_return(cu, &l);
    took = clock_ns() - from;
    while (took > most && !atomic_compare_exchange_weak_explicit(
                              &r->busy, &most, took, memory_order_relaxed, memory_order_relaxed))
        ;
    return st;
}

/* A hint: memory that is no mapping of a file is as good without. */
static void read_ahead(const cu_many *m)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), p = (uintptr_t)(m->src + m->size);

    (void)madvise((void *)(p & ~(page - 1)), m->ahead + (p & (page - 1)), MADV_WILLNEED);
}

static cuzk_status many_task(void *ctx, size_t i, unsigned worker)
{
    many_run *r = ctx;
    const cu_many *m = r->m;
    cuzk_status st = CUZK_OK;

    (void)worker;
    if (m->beside != NULL && i == 0)
        st = m->beside(m->beside_ctx);
    else if (m->ahead != 0 && i + 1 == r->first)
        read_ahead(m);
    else
        st = run_porter(r);
    if (st != CUZK_OK) atomic_store_explicit(&r->stop, true, memory_order_relaxed);
    return st;
}

cuzk_status cu_upload_many(const cu_many *m)
{
    cu_device *cu = cu_of(m->s->d);
    many_run r = {.m = m, .first = (m->beside != NULL) + (size_t)(m->ahead != 0)};
    unsigned porters = pool_threads(m->s->d->pool);
    size_t parts = (m->size + m->part - 1) / m->part;

    if (porters > CU_PORTERS_AT_ONCE) porters = CU_PORTERS_AT_ONCE;
    if (porters > parts) porters = (unsigned)parts;
    TRY(pool_run(m->s->d->pool, NULL, r.first + porters, many_task, &r));
    (void)pthread_mutex_lock(&cu->mu);
    cu->points_in += m->size;
    cu->points_ns += atomic_load_explicit(&r.busy, memory_order_relaxed);
    (void)pthread_mutex_unlock(&cu->mu);
    return CUZK_OK;
}
