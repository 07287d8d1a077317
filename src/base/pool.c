/*
 * base/pool.c - worker threads that help whoever calls pool_run
 *
 * A run lives on its caller's stack and stands in the pool's list while indices are left to take. Free workers join
 * the listed run with the fewest threads in it, so that runs which go on at the same time share the pool evenly.
 * Indices are handed out by one atomic counter. A thread looks whether to stop before it takes an index and never
 * after: so every index below a failed one has run, and which failure is reported does not depend on timing.
 * Between two indices lies a safe point: where work of a higher level is inside the run's gate, workers leave the run and
 * its caller waits; the caller calls them back when the gate opens.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/cancel.h"
#include "base/signals.h"

#include <stdatomic.h>
#include <stdio.h>

typedef struct run run;
struct run {
    /* fixed after init */
    const cancel *cancel;
    size_t n;
    pool_fn fn;
    void *ctx;
    span_place place;
    /* atomics: relaxed, since what tasks write reaches the caller through mu */
    _Atomic size_t next;
    _Atomic bool stop;
    /* guarded by mu */
    run *link;
    bool listed;
    unsigned inside; /* worker threads in this run */
    bool failed;
    size_t failed_at;
    cuzk_error error;
    pthread_cond_t empty; /* inside fell to 0 */
};

typedef struct worker {
    pool *p;
    unsigned index;
    pthread_t thread;
} worker;

struct pool {
    /* fixed after init */
    unsigned threads;
    span_rec *rec;
    worker *workers; /* threads - 1 */
    pthread_mutex_t mu;
    /* guarded by mu */
    pthread_cond_t work; /* a run was listed, or quit */
    pthread_cond_t born; /* ready went up */
    run *runs;
    unsigned idle;
    unsigned ready; /* workers that have started, well or not */
    bool quit;
    cuzk_error error; /* of a worker that could not start */
};

/* Set while this thread is in a task of a pool: a run from there stays on this thread. */
static _Thread_local bool in_task;

/* ---- one thread's part of a run ---- */

/* st as this thread's last failure, even if the task did not record it. */
static void note_failure(cuzk_status st, size_t i)
{
    if (cuzk_last_error()->status != st)
        (void)FAIL(st, "task %zu: %s", i, cuzk_status_text(st)); /* recorded, not returned */
}

static void fail_run(pool *p, run *r, size_t i, cuzk_status st)
{
    atomic_store_explicit(&r->stop, true, memory_order_relaxed);
    note_failure(st, i);
    (void)pthread_mutex_lock(&p->mu); /* cannot fail: a plain mutex, never held twice */
    if (!r->failed || i < r->failed_at) {
        r->failed = true;
        r->failed_at = i;
        r->error = *cuzk_last_error();
    }
    (void)pthread_mutex_unlock(&p->mu);
}

/* False: the thread was asked to stand aside, and indices may be left. */
static bool work(pool *p, run *r, unsigned index)
{
    while (!atomic_load_explicit(&r->stop, memory_order_relaxed) && !cancel_requested(r->cancel)) {
        size_t i;
        uint64_t begin;
        cuzk_status st;

        if (cancel_must_stand_aside(r->cancel)) return false;
        i = atomic_fetch_add_explicit(&r->next, 1, memory_order_relaxed);
        if (i >= r->n) return true;
        begin = cancel_step_begin(r->cancel);
        st = r->fn(r->ctx, i, index);
        cancel_step_end(r->cancel, begin);
        if (st != CUZK_OK) fail_run(p, r, i, st);
    }
    return true;
}

/* ---- the list of runs ---- */

static void unlist_locked(pool *p, run *r)
{
    if (!r->listed) return;
    r->listed = false;
    for (run **at = &p->runs; *at != NULL; at = &(*at)->link) {
        if (*at != r) continue;
        *at = r->link;
        return;
    }
}

static void list_locked(pool *p, run *r)
{
    run **at = &p->runs;

    while (*at != NULL) at = &(*at)->link;
    *at = r;
    r->listed = true;
}

/* Of the runs that need not stand aside. */
static run *neediest_locked(const pool *p)
{
    run *best = NULL;

    for (run *r = p->runs; r != NULL; r = r->link)
        if (!cancel_must_stand_aside(r->cancel) && (best == NULL || r->inside < best->inside))
            best = r;
    return best;
}

/* ---- workers ---- */

static bool help(pool *p, run *r, unsigned index)
{
    span s;
    bool done;

    span_context(r->place.job, r->place.partition);
    s = span_open(r->place.leaf);
    in_task = true;
    done = work(p, r, index);
    in_task = false;
    span_close(&s);
    return done;
}

static void worker_loop(pool *p, unsigned index)
{
    (void)pthread_mutex_lock(&p->mu);
    while (!p->quit) {
        run *r = neediest_locked(p);
        bool done;

        if (r == NULL) {
            p->idle++;
            (void)pthread_cond_wait(&p->work, &p->mu);
            p->idle--;
            continue;
        }
        r->inside++;
        (void)pthread_mutex_unlock(&p->mu);
        done = help(p, r, index);
        (void)pthread_mutex_lock(&p->mu);
        if (done) unlist_locked(p, r);
        if (--r->inside == 0) (void)pthread_cond_signal(&r->empty);
    }
    (void)pthread_mutex_unlock(&p->mu);
}

static void *worker_main(void *arg)
{
    worker *w = arg;
    pool *p = w->p;
    char name[16];
    cuzk_status st;

    (void)snprintf(name, sizeof name, "cuzk worker %u", w->index); /* cut to fit is fine */
    (void)pthread_setname_np(pthread_self(), name);                /* for top and gdb alone */
    (void)snprintf(name, sizeof name, "worker %u", w->index);
    st = span_attach(p->rec, name);

    (void)pthread_mutex_lock(&p->mu);
    if (st != CUZK_OK) p->error = *cuzk_last_error();
    p->ready++;
    (void)pthread_cond_signal(&p->born);
    (void)pthread_mutex_unlock(&p->mu);

    worker_loop(p, w->index);
    span_detach();
    return NULL;
}

/* Starts all workers, or returns a failure with p->threads cut to those that run. */
static cuzk_status start_workers(pool *p)
{
    cuzk_status st = CUZK_OK;
    unsigned want = p->threads;
    sigset_t old;

    signals_block(&old);
    for (p->threads = 1; p->threads < want; p->threads++) {
        worker *w = &p->workers[p->threads - 1];
        int err;

        w->p = p;
        w->index = p->threads;
        err = pthread_create(&w->thread, NULL, worker_main, w);
        if (err != 0) {
            st = FAIL(CUZK_ENOMEM, "thread pool: thread %u of %u does not start (error %d)",
                      p->threads, want, err);
            break;
        }
    }
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);

    (void)pthread_mutex_lock(&p->mu);
    while (p->ready < p->threads - 1) (void)pthread_cond_wait(&p->born, &p->mu);
    if (st == CUZK_OK && p->error.status != CUZK_OK) st = status_adopt(&p->error);
    (void)pthread_mutex_unlock(&p->mu);
    return st;
}

/* ---- entry points ---- */

cuzk_status pool_open(pool **out, unsigned threads, span_rec *rec)
{
    cuzk_status st;
    pool *p;

    if (threads == 0 || threads > POOL_MAX_THREADS)
        return FAIL(CUZK_EINVAL, "thread pool: %u threads, allowed 1..%u", threads,
                    POOL_MAX_THREADS);
    p = calloc(1, sizeof *p);
    if (p == NULL) return FAIL(CUZK_ENOMEM, "thread pool: out of memory");
    p->rec = rec;
    p->workers = calloc(threads, sizeof *p->workers);
    if (p->workers == NULL || pthread_mutex_init(&p->mu, NULL) != 0) {
        free(p->workers);
        free(p);
        return FAIL(CUZK_ENOMEM, "thread pool: out of memory");
    }
    (void)pthread_cond_init(&p->work, NULL); /* cannot fail in glibc and musl */
    (void)pthread_cond_init(&p->born, NULL);
    p->threads = threads;
    st = start_workers(p);
    if (st != CUZK_OK) {
        pool_close(p);
        return st;
    }
    *out = p;
    return CUZK_OK;
}

void pool_close(pool *p)
{
    if (p == NULL) return;
    (void)pthread_mutex_lock(&p->mu);
    VERIFY(p->runs == NULL);
    p->quit = true;
    (void)pthread_cond_broadcast(&p->work);
    (void)pthread_mutex_unlock(&p->mu);
    for (unsigned k = 1; k < p->threads; k++) (void)pthread_join(p->workers[k - 1].thread, NULL);
    (void)pthread_cond_destroy(&p->work);
    (void)pthread_cond_destroy(&p->born);
    (void)pthread_mutex_destroy(&p->mu);
    free(p->workers);
    free(p);
}

bool pool_in_task(void)
{
    return in_task;
}

unsigned pool_threads(const pool *p)
{
    return p == NULL ? 1 : p->threads;
}

static cuzk_status run_inline(const cancel *c, size_t n, pool_fn fn, void *ctx, bool outermost)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t begin;
        cuzk_status st;

        if (outermost) (void)cancel_stand_aside(c);
        TRY(cancel_check(c));
        begin = cancel_step_begin(c);
        st = fn(ctx, i, 0);
        cancel_step_end(c, begin);
        if (st == CUZK_OK) continue;
        note_failure(st, i);
        return st;
    }
    return CUZK_OK;
}

static void call_helpers_locked(pool *p, size_t helpers)
{
    if (helpers > p->idle) helpers = p->idle;
    for (; helpers > 0; helpers--) (void)pthread_cond_signal(&p->work);
}

/* Works on r with the workers, and waits until the last of them has left it. */
static void run_shared(pool *p, run *r)
{
    span s = {0, SPAN_POOL_WAIT};

    (void)pthread_mutex_lock(&p->mu);
    list_locked(p, r);
    call_helpers_locked(p, r->n - 1);
    (void)pthread_mutex_unlock(&p->mu);

    while (!work(p, r, 0)) {
        (void)cancel_stand_aside(r->cancel);
        (void)pthread_mutex_lock(&p->mu);
        call_helpers_locked(p, r->n - 1);
        (void)pthread_mutex_unlock(&p->mu);
    }

    (void)pthread_mutex_lock(&p->mu);
    unlist_locked(p, r);
    if (r->inside != 0) s = span_open(SPAN_POOL_WAIT);
    while (r->inside != 0) (void)pthread_cond_wait(&r->empty, &p->mu);
    (void)pthread_mutex_unlock(&p->mu);
    span_close(&s);
}

cuzk_status pool_run(pool *p, const cancel *c, size_t n, pool_fn fn, void *ctx)
{
    cuzk_status st = CUZK_OK;
    span_place place = span_here();
    span s = {0, SPAN_TASK};
    bool outer = in_task;

    if (!place.in_leaf) s = span_open(SPAN_TASK);
    in_task = in_task || p != NULL;
    if (p == NULL || outer || p->threads == 1 || n <= 1) {
        st = run_inline(c, n, fn, ctx, !outer);
    } else {
        run r = {.cancel = c, .n = n, .fn = fn, .ctx = ctx, .place = place};

        (void)pthread_cond_init(&r.empty, NULL); /* cannot fail in glibc and musl */
        run_shared(p, &r);
        (void)pthread_cond_destroy(&r.empty);
        if (r.failed)
            st = status_adopt(&r.error);
        else if (atomic_load_explicit(&r.next, memory_order_relaxed) < n)
            st = FAIL(CUZK_ECANCELLED, "cancelled");
    }
    in_task = outer;
    span_close(&s);
    return st;
}
