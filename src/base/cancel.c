/*
 * base/cancel.c - the token that asks work to stop, and the gate that makes it stand aside
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/cancel.h"
#include "base/clock.h"

/* How soon work that stands aside notices that it shall stop: cancel_request may come from a signal handler, which cannot
   wake anybody. */
#define POLL_NS 20000000

/* Relaxed everywhere: the flag carries nothing but itself. Lock-free, so a signal handler may set it. */
struct cancel {
    _Atomic bool requested;
    gate *gate; /* fixed after the first cancel_set_gate */
    _Atomic unsigned
        level; /* relaxed: work that reads an old one stands aside once too often, for 20 ms */
};

struct gate {
    /* relaxed: a hint before mu is taken, and a maximum */
    _Atomic unsigned top; /* highest level inside + 1; 0: nobody */
    _Atomic uint64_t longest;
    /* guarded by mu */
    pthread_mutex_t mu;
    pthread_cond_t opened;
    unsigned inside[GATE_LEVELS];
};

_Static_assert(ATOMIC_BOOL_LOCK_FREE == 2, "cancel_request is called from signal handlers");

cuzk_status cancel_new(cancel **out)
{
    cancel *c = calloc(1, sizeof *c);

    if (c == NULL) return FAIL(CUZK_ENOMEM, "cancel token: out of memory");
    *out = c;
    return CUZK_OK;
}

void cancel_free(cancel *c)
{
    free(c);
}

void cancel_request(cancel *c)
{
    atomic_store_explicit(&c->requested, true, memory_order_relaxed);
}

void cancel_reset(cancel *c)
{
    atomic_store_explicit(&c->requested, false, memory_order_relaxed);
}

bool cancel_requested(const cancel *c)
{
    return c != NULL && atomic_load_explicit(&c->requested, memory_order_relaxed);
}

cuzk_status cancel_check(const cancel *c)
{
    if (!pool_in_task()) cancel_stand_aside(c);
    return cancel_requested(c) ? FAIL(CUZK_ECANCELLED, "cancelled") : CUZK_OK;
}

/* ---- gates ---- */

cuzk_status gate_new(gate **out)
{
    pthread_condattr_t attr;
    gate *g = calloc(1, sizeof *g);

    if (g == NULL) return FAIL(CUZK_ENOMEM, "gate: out of memory");
    if (pthread_mutex_init(&g->mu, NULL) != 0) {
        free(g);
        return FAIL(CUZK_ENOMEM, "gate: no mutex");
    }
    (void)pthread_condattr_init(&attr); /* these cannot fail in glibc and musl */
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&g->opened, &attr);
    (void)pthread_condattr_destroy(&attr);
    *out = g;
    return CUZK_OK;
}

void gate_free(gate *g)
{
    if (g == NULL) return;
    (void)pthread_cond_destroy(&g->opened);
    (void)pthread_mutex_destroy(&g->mu);
    free(g);
}

static void set_top_locked(gate *g)
{
    unsigned top = GATE_LEVELS;

    while (top > 0 && g->inside[top - 1] == 0) top--;
    atomic_store_explicit(&g->top, top, memory_order_relaxed);
}

void gate_enter(gate *g, unsigned level)
{
    VERIFY(level < GATE_LEVELS);
    (void)pthread_mutex_lock(&g->mu);
    g->inside[level]++;
    set_top_locked(g);
    (void)pthread_mutex_unlock(&g->mu);
}

void gate_leave(gate *g, unsigned level)
{
    (void)pthread_mutex_lock(&g->mu);
    VERIFY(g->inside[level] > 0);
    g->inside[level]--;
    set_top_locked(g);
    (void)pthread_cond_broadcast(&g->opened);
    (void)pthread_mutex_unlock(&g->mu);
}

uint64_t gate_longest_step(gate *g)
{
    return atomic_exchange_explicit(&g->longest, 0, memory_order_relaxed);
}

void cancel_set_gate(cancel *c, gate *g, unsigned level)
{
    VERIFY(level < GATE_LEVELS && (c->gate == NULL || c->gate == g));
    if (c->gate == NULL) c->gate = g;
    atomic_store_explicit(&c->level, level, memory_order_relaxed);
}

bool cancel_must_stand_aside(const cancel *c)
{
    return c != NULL && c->gate != NULL &&
           atomic_load_explicit(&c->gate->top, memory_order_relaxed) >
               atomic_load_explicit(&c->level, memory_order_relaxed) + 1;
}

bool cancel_stand_aside(const cancel *c)
{
    span s;

    if (!cancel_must_stand_aside(c)) return false;
    s = span_open(SPAN_ASIDE);
    (void)pthread_mutex_lock(&c->gate->mu);
    while (cancel_must_stand_aside(c) && !cancel_requested(c)) {
        uint64_t until = clock_ns() + POLL_NS;
        struct timespec t = {.tv_sec = (time_t)(until / 1000000000u),
                             .tv_nsec = (long)(until % 1000000000u)};
        (void)pthread_cond_timedwait(&c->gate->opened, &c->gate->mu, &t);
    }
    (void)pthread_mutex_unlock(&c->gate->mu);
    span_close(&s);
    return true;
}

uint64_t cancel_step_begin(const cancel *c)
{
    return c == NULL || c->gate == NULL ? 0 : clock_ns();
}

void cancel_step_end(const cancel *c, uint64_t begin)
{
    uint64_t ns, seen;

    if (begin == 0) return;
    ns = clock_ns() - begin;
    seen = atomic_load_explicit(&c->gate->longest, memory_order_relaxed);
    while (ns > seen &&
           !atomic_compare_exchange_weak_explicit(&c->gate->longest, &seen, ns,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}
