/*
 * engine/stage.c - a heap of items, and threads that take the first one that may start
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/stage.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/signals.h"

struct stage {
    /* fixed after init */
    char name[24];
    unsigned max_width, n_threads;
    span_rec *rec;
    stage_fn fn;
    void *ctx;
    pthread_t *threads;
    pthread_mutex_t mu;
    /* guarded by mu */
    pthread_cond_t work;
    stage_item **heap;
    size_t n, cap;
    unsigned width, active, running[STAGE_LEVELS], started;
    uint64_t sticky_ns, last_group;
    bool held, quit;
    unsigned
        held_below; /* items of lower levels are not started, but for those that are to be alone */
};

/* ---- the heap; item->place is its position + 1, 0 when it is in none ---- */

static bool is_in(const stage *s, stage_item *it)
{
    return atomic_load_explicit(&it->in, memory_order_relaxed) == s;
}

static bool before(const stage_item *a, const stage_item *b)
{
    if (a->level != b->level) return a->level > b->level;
    if (a->age != b->age) return a->age < b->age;
    return a->index < b->index;
}

static void put(stage *s, size_t at, stage_item *it)
{
    s->heap[at] = it;
    it->place = at + 1;
}

static void sift_up(stage *s, size_t at)
{
    stage_item *it = s->heap[at];

    while (at > 0 && before(it, s->heap[(at - 1) / 2])) {
        put(s, at, s->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    put(s, at, it);
}

static void sift_down(stage *s, size_t at)
{
    stage_item *it = s->heap[at];

    for (;;) {
        size_t child = 2 * at + 1;

        if (child >= s->n) break;
        if (child + 1 < s->n && before(s->heap[child + 1], s->heap[child])) child++;
        if (!before(s->heap[child], it)) break;
        put(s, at, s->heap[child]);
        at = child;
    }
    put(s, at, it);
}

static void take_out(stage *s, stage_item *it)
{
    size_t at = it->place - 1;
    stage_item *last = s->heap[--s->n];

    it->place = 0;
    atomic_store_explicit(&it->in, NULL, memory_order_relaxed);
    if (last == it) return;
    put(s, at, last);
    sift_up(s, at);
    sift_down(s, last->place - 1);
}

/* ---- choosing ---- */

/* It may start: there is room, or all that run are of lower levels. */
static bool may_start(const stage *s, const stage_item *it)
{
    if (s->held || (it->level < s->held_below && !it->alone)) return false;
    if (it->alone) return s->active == 0;
    if (s->active < s->width) return true;
    for (unsigned l = it->level; l < STAGE_LEVELS; l++)
        if (s->running[l] != 0) return false;
    return true;
}

/* The first item, or one of its level and nearly its age whose group was served last. */
static stage_item *choose(const stage *s)
{
    stage_item *first = s->heap[0], *best = NULL;

    if (s->sticky_ns == 0 || first->group == s->last_group || first->alone) return first;
    for (size_t i = 0; i < s->n; i++) {
        stage_item *it = s->heap[i];

        if (it->level != first->level || it->group != s->last_group) continue;
        if (it->since > first->since + s->sticky_ns) continue;
        if (best == NULL || before(it, best)) best = it;
    }
    return best == NULL ? first : best;
}

static void serve_locked(stage *s)
{
    stage_item *it = choose(s);
    unsigned level = it->level;

    take_out(s, it);
    s->last_group = it->group;
    s->active++;
    s->running[level]++;
    /* Another may be able to start beside it. */
    if (s->n > 0 && may_start(s, s->heap[0])) (void)pthread_cond_signal(&s->work);
    (void)pthread_mutex_unlock(&s->mu);
    s->fn(s->ctx, it);
    span_context(0, -1);
    (void)pthread_mutex_lock(&s->mu);
    s->running[level]--;
    s->active--;
}

static void loop(stage *s)
{
    (void)pthread_mutex_lock(&s->mu);
    while (!s->quit) {
        span idle;

        if (s->n > 0 && may_start(s, s->heap[0])) {
            serve_locked(s);
            continue;
        }
        idle = span_open(SPAN_IDLE);
        (void)pthread_cond_wait(&s->work, &s->mu);
        span_close(&idle);
    }
    (void)pthread_mutex_unlock(&s->mu);
}

static void *thread_main(void *arg)
{
    stage *s = arg;
    char name[32];
    unsigned k;

    (void)pthread_mutex_lock(&s->mu);
    k = s->started++;
    (void)pthread_mutex_unlock(&s->mu);
    (void)snprintf(name, sizeof name, "%s %u", s->name, k);
    if (span_attach(s->rec, name) != CUZK_OK)
        span_detach(); /* it works without being accounted for */
    name[15] = 0;
    (void)pthread_setname_np(pthread_self(), name); /* for top and gdb alone */
    loop(s);
    span_detach();
    return NULL;
}

/* ---- entry points ---- */

static cuzk_status start_threads(stage *s, unsigned n)
{
    sigset_t old;
    cuzk_status st = CUZK_OK;

    signals_block(&old);
    for (; s->n_threads < n; s->n_threads++) {
        int err = pthread_create(&s->threads[s->n_threads], NULL, thread_main, s);

        if (err == 0) continue;
        st = FAIL(CUZK_ENOMEM, "stage %s: thread %u does not start (error %d)", s->name,
                  s->n_threads, err);
        break;
    }
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    return st;
}

cuzk_status stage_open(stage **out, const stage_config *c)
{
    stage *s = calloc(1, sizeof *s);
    unsigned n = c->width + STAGE_LEVELS - 1;
    cuzk_status st;

    if (s == NULL) return FAIL(CUZK_ENOMEM, "stage %s: out of memory", c->name);
    (void)snprintf(s->name, sizeof s->name, "%s", c->name);
    s->max_width = s->width = c->width;
    s->rec = c->rec;
    s->fn = c->fn;
    s->ctx = c->ctx;
    s->threads = calloc(n, sizeof *s->threads);
    if (s->threads == NULL || pthread_mutex_init(&s->mu, NULL) != 0) {
        free(s->threads);
        free(s);
        return FAIL(CUZK_ENOMEM, "stage %s: out of memory", c->name);
    }
    (void)pthread_cond_init(&s->work, NULL); /* cannot fail in glibc and musl */
    st = start_threads(s, n);
    if (st != CUZK_OK) {
        stage_stop(s);
        stage_free(s);
        return st;
    }
    *out = s;
    return CUZK_OK;
}

void stage_stop(stage *s)
{
    if (s == NULL) return;
    (void)pthread_mutex_lock(&s->mu);
    s->quit = true;
    (void)pthread_cond_broadcast(&s->work);
    (void)pthread_mutex_unlock(&s->mu);
    for (unsigned i = 0; i < s->n_threads; i++) (void)pthread_join(s->threads[i], NULL);
    s->n_threads = 0;
}

void stage_free(stage *s)
{
    if (s == NULL) return;
    (void)pthread_cond_destroy(&s->work);
    (void)pthread_mutex_destroy(&s->mu);
    free(s->heap);
    free(s->threads);
    free(s);
}

static cuzk_status grow_locked(stage *s)
{
    size_t cap = s->cap == 0 ? 64 : 2 * s->cap;
    stage_item **heap;

    if (s->n < s->cap) return CUZK_OK;
    heap = realloc(s->heap, cap * sizeof *heap);
    if (heap == NULL)
        return FAIL(CUZK_ENOMEM, "stage %s: queue of %zu: out of memory", s->name, cap);
    s->heap = heap;
    s->cap = cap;
    return CUZK_OK;
}

cuzk_status stage_push(stage *s, stage_item *it)
{
    cuzk_status st;

    (void)pthread_mutex_lock(&s->mu);
    st = grow_locked(s);
    if (st == CUZK_OK) {
        it->since = clock_ns();
        atomic_store_explicit(&it->in, s, memory_order_relaxed);
        put(s, s->n++, it);
        sift_up(s, s->n - 1);
        (void)pthread_cond_signal(&s->work);
    }
    (void)pthread_mutex_unlock(&s->mu);
    return st;
}

bool stage_remove(stage *s, stage_item *it)
{
    bool there;

    (void)pthread_mutex_lock(&s->mu);
    there = is_in(s, it);
    if (there) take_out(s, it);
    (void)pthread_mutex_unlock(&s->mu);
    return there;
}

void stage_raise(stage *s, stage_item *it, unsigned level)
{
    (void)pthread_mutex_lock(&s->mu);
    if (is_in(s, it) && level > it->level) {
        it->level = level;
        sift_up(s, it->place - 1);
        (void)pthread_cond_signal(&s->work);
    }
    (void)pthread_mutex_unlock(&s->mu);
}

void stage_set_width(stage *s, unsigned width)
{
    (void)pthread_mutex_lock(&s->mu);
    s->width = width == 0 || width > s->max_width ? s->max_width : width;
    (void)pthread_cond_broadcast(&s->work);
    (void)pthread_mutex_unlock(&s->mu);
}

void stage_set_sticky(stage *s, uint64_t window_ns)
{
    (void)pthread_mutex_lock(&s->mu);
    s->sticky_ns = window_ns;
    (void)pthread_mutex_unlock(&s->mu);
}

void stage_hold(stage *s, bool held)
{
    (void)pthread_mutex_lock(&s->mu);
    s->held = held;
    (void)pthread_cond_broadcast(&s->work);
    (void)pthread_mutex_unlock(&s->mu);
}

void stage_hold_below(stage *s, unsigned level)
{
    (void)pthread_mutex_lock(&s->mu);
    s->held_below = level;
    (void)pthread_cond_broadcast(&s->work);
    (void)pthread_mutex_unlock(&s->mu);
}

void stage_get(stage *s, stage_state *out)
{
    (void)pthread_mutex_lock(&s->mu);
    *out = (stage_state){s->name, (unsigned)s->n, s->active, s->width};
    (void)pthread_mutex_unlock(&s->mu);
}
