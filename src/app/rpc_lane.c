/*
 * app/rpc_lane.c - threads for calls that take seconds: loading a key, writing a long document
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "app/rpc_int.h"
#include "base/signals.h"

#define MAX_THREADS 8
#define MAX_WAITING 256

typedef struct task {
    struct task *next;
    gcall_fn fn;
    void *ctx;
    gcall *call;
} task;

struct rpc_lane {
    /* fixed after init */
    struct span_rec *spans;
    char name[16];
    pthread_t threads[MAX_THREADS];
    unsigned n_threads;

    pthread_mutex_t mu;
    pthread_cond_t some; /* a task, or closing */
    /* guarded by mu */
    task *first, *last;
    size_t n;
    bool closing;
    unsigned started; /* threads that have taken their number */
};

static void *run(void *arg)
{
    rpc_lane *l = arg;
    char track[32];
    unsigned index;

    (void)pthread_mutex_lock(&l->mu);
    index = l->started++;
    (void)pthread_mutex_unlock(&l->mu);
    (void)snprintf(track, sizeof track, "%s %u", l->name, index);
    cuzk_status st = l->spans == NULL ? CUZK_OK : span_attach(l->spans, track);
    (void)st; /* without memory for its spans, it works without them */
    for (;;) {
        span sp = span_open(SPAN_IDLE);
        (void)pthread_mutex_lock(&l->mu);
        while (l->first == NULL && !l->closing) (void)pthread_cond_wait(&l->some, &l->mu);
        task *t = l->closing ? NULL : l->first;
        if (t != NULL) {
            l->first = t->next;
            if (l->first == NULL) l->last = NULL;
            l->n--;
        }
        (void)pthread_mutex_unlock(&l->mu);
        span_close(&sp);
        if (t == NULL) break;
        t->fn(t->ctx, t->call);
        gcall_unref(t->call);
        free(t);
    }
    span_detach();
    return NULL;
}

cuzk_status rpc_lane_open(rpc_lane **out, const char *name, unsigned threads,
                          struct span_rec *spans)
{
    rpc_lane *l = calloc(1, sizeof *l);
    sigset_t before;

    if (l == NULL || pthread_mutex_init(&l->mu, NULL) != 0 ||
        pthread_cond_init(&l->some, NULL) != 0) {
        free(l);
        return FAIL(CUZK_ENOMEM, "gRPC: out of memory");
    }
    l->spans = spans;
    (void)snprintf(l->name, sizeof l->name, "%s", name);
    signals_block(&before); /* signals are the program's own thread's */
    while (l->n_threads < threads && l->n_threads < MAX_THREADS &&
           pthread_create(&l->threads[l->n_threads], NULL, run, l) == 0)
        l->n_threads++;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (l->n_threads == 0) {
        rpc_lane_close(l);
        return FAIL(CUZK_ENOMEM, "gRPC: no thread for %s", name);
    }
    *out = l;
    return CUZK_OK;
}

void rpc_lane_put(rpc_lane *l, gcall_fn fn, void *ctx, gcall *c)
{
    task *t = calloc(1, sizeof *t);
    bool taken = false, closing;

    (void)pthread_mutex_lock(&l->mu);
    closing = l->closing;
    if (t != NULL && !l->closing && l->n < MAX_WAITING) {
        *t = (task){.fn = fn, .ctx = ctx, .call = c};
        gcall_ref(c);
        if (l->last == NULL)
            l->first = t;
        else
            l->last->next = t;
        l->last = t;
        l->n++;
        taken = true;
        (void)pthread_cond_signal(&l->some);
    }
    (void)pthread_mutex_unlock(&l->mu);
    if (taken) return;
    free(t);
    if (closing)
        gcall_fail(c, GCODE_UNAVAILABLE, "the service stops");
    else
        gcall_fail(c, GCODE_RESOURCE_EXHAUSTED, "%d calls of this kind wait already", MAX_WAITING);
}

void rpc_lane_stop(rpc_lane *l)
{
    if (l == NULL) return;
    (void)pthread_mutex_lock(&l->mu);
    l->closing = true;
    (void)pthread_cond_broadcast(&l->some);
    (void)pthread_mutex_unlock(&l->mu);
    for (unsigned i = 0; i < l->n_threads; i++) (void)pthread_join(l->threads[i], NULL);
    l->n_threads = 0;
    while (l->first != NULL) { /* nothing is put any more */
        task *t = l->first;

        l->first = t->next;
        gcall_fail(t->call, GCODE_UNAVAILABLE, "the service stops");
        gcall_unref(t->call);
        free(t);
    }
}

void rpc_lane_close(rpc_lane *l)
{
    if (l == NULL) return;
    rpc_lane_stop(l);
    (void)pthread_cond_destroy(&l->some);
    (void)pthread_mutex_destroy(&l->mu);
    free(l);
}
