/*
 * device/cuda/cuda_time.c - the device's time: events at the seams of groups of kernels, converted to host time
 *
 * A mark is an event in the stream, and what begins there; the next mark ends it. When the stream has been waited for, marks are
 * converted: an event recorded then, on the stream that has nothing else, ties the device's clock to the host's, so no time is
 * measured over more than a proof (times are float milliseconds). Events are made once and kept with their lane.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <cuda_runtime_api.h>

#include "base/clock.h"
#include "device/cuda/cuda_int.h"

#define NOTHING SPAN_KINDS
#define TIES 3          /* times that the clocks are tied at most */
#define TIED_NS 40000u  /* it is good enough when the host took no longer */
#define SHORT_NS 2000u  /* what the host was at, not worth a note */
#define CONVERT_AT 128u /* marks, when the stream has been waited for anyway */

/* An error here is not this call's: the next one that the stream needs tells. */
static bool done(cudaError_t err)
{
    if (err != cudaSuccess) (void)cudaGetLastError();
    return err == cudaSuccess;
}

static bool record(cu_queue *q, void **event)
{
    cudaEvent_t e = *event;

    if (e == NULL && !done(cudaEventCreate(&e))) return false;
    *event = e;
    return done(cudaEventRecord(e, q->s));
}

/* *at: when, on the host's clock, the lane's `now` happened. */
static bool tie_clocks(cu_queue *q, uint64_t *at)
{
    uint64_t from, took, best = UINT64_MAX;

    for (int i = 0; i < TIES && best > TIED_NS; i++) {
        from = clock_ns();
        if (!record(q, &q->lane->now) || !done(cudaEventSynchronize(q->lane->now))) return false;
        took = clock_ns() - from;
        *at = from + took / 2; /* of the last time: `now` is that one's */
        best = took;
    }
    return true;
}

/* When mark i happened. */
static bool time_of(const cu_lane *l, unsigned i, uint64_t now, uint64_t *out)
{
    float ms = 0;

    if (!done(cudaEventElapsedTime(&ms, l->mark[i].event, l->now))) return false;
    *out = now - (uint64_t)(ms < 0 ? 0 : (double)ms * 1e6);
    return true;
}

/* The stream has been waited for and its last mark is NOTHING. */
static void convert(cu_queue *q)
{
    cu_lane *l = q->lane;
    uint64_t now, from = 0, to;
    unsigned n = 0;

    if (l->n != 0 && tie_clocks(q, &now))
        for (unsigned i = 0; i < l->n && time_of(l, i, now, &to); i++, from = to)
            if (i != 0 && l->mark[i - 1].kind != NOTHING)
                l->work[n++] = (span_noted){from, to, l->mark[i - 1].kind, l->mark[i - 1].within};
    dev_time_add(&q->cu->time, l->index, l->work, n, l->host, l->n_host);
    l->n = 0;
    l->n_host = 0;
}

void cu_mark(dev_stream *s, span_kind kind)
{
    cu_queue *q = cu_queue_of(s);
    cu_lane *l = q->lane;
    span_place here;

    if (l == NULL) return;
    if (kind == (l->n == 0 ? NOTHING : l->mark[l->n - 1].kind)) return;
    if (kind != NOTHING && l->n >= CU_MARKS - 1) { /* the last one is for the end */
        cu_mark(s, NOTHING);
        if (!done(cudaStreamSynchronize(q->s))) return;
        convert(q);
    }
    if (!record(q, &l->mark[l->n].event)) return;
    here = span_here();
    l->mark[l->n].kind = kind;
    l->mark[l->n++].within = here.in_leaf ? here.leaf : SPAN_KINDS;
}

cuzk_status cu_wait(dev_stream *s)
{
    cu_queue *q = cu_queue_of(s);

    cu_mark(s, NOTHING);
    CU_TRY(q->cu, cudaStreamSynchronize(q->s));
    if (q->lane != NULL && q->lane->n >= CONVERT_AT) convert(q);
    return CUZK_OK;
}

void cu_host_was(dev_stream *s, span_kind idle, uint64_t from)
{
    const cu_queue *q = cu_queue_of(s);
    cu_lane *l = q == NULL ? NULL : q->lane; /* NULL: of no stream */
    uint64_t now = clock_ns();

    if (l == NULL || l->n_host == CU_HOST_NOTES || now - from < SHORT_NS) return;
    l->host[l->n_host++] = (span_noted){from, now, idle, SPAN_KINDS};
}

/* ---- proofs ---- */

void cu_work_begin(dev_stream *s, bool share)
{
    cu_queue *q = cu_queue_of(s);
    int i;

    if (q->lane != NULL || cu_enter(q->cu) != CUZK_OK) return;
    i = dev_time_begin(&q->cu->time, clock_ns());
    if (i < 0) return;
    if (share) dev_time_share(&q->cu->time, i);
    q->lane = &q->cu->lanes[i];
    q->lane->index = i;
}

void cu_work_end(dev_stream *s)
{
    cu_queue *q = cu_queue_of(s);

    if (q->lane == NULL) return;
    cu_mark(s, NOTHING);
    if (done(cudaStreamSynchronize(q->s)))
        convert(q); /* the proof's own failure stays the thread's last */
    q->lane->n = q->lane->n_host = 0;
    dev_time_end(&q->cu->time, q->lane->index, clock_ns());
    q->lane = NULL;
}

void cu_times(const device *d, dev_times *out)
{
    dev_time_get(&cu_of(d)->time, out);
}

void cu_lanes_close(cu_device *cu)
{
    for (cu_lane *l = cu->lanes; l < cu->lanes + DEV_LANES; l++) {
        for (unsigned i = 0; i < CU_MARKS; i++)
            if (l->mark[i].event != NULL) (void)cudaEventDestroy(l->mark[i].event);
        if (l->now != NULL) (void)cudaEventDestroy(l->now);
    }
}
