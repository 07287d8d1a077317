/*
 * base/pool.h - a thread pool that is passed around, and the token that asks work to stop
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include "base/mem.h"
#include "base/span.h"

typedef struct cancel cancel;
CUZK_STATUS cancel_new(cancel **out);
void cancel_free(cancel *c);
void cancel_request(cancel *c); /* async-signal-safe */
void cancel_reset(cancel *c);
bool cancel_requested(const cancel *c); /* false for NULL */
/** CUZK_ECANCELLED (recorded) when asked to stop. */
CUZK_STATUS cancel_check(const cancel *c);

/** Who is at work where several share a device: while somebody of a higher level is inside, work of lower levels stands
 *  aside at its safe points, with its state kept: between the tasks of a pool_run, and in cancel_check. */
typedef struct gate gate;
#define GATE_LEVELS 8u
CUZK_STATUS gate_new(gate **out);
void gate_free(gate *g); /* nobody is inside or waits; NULL is fine */
void gate_enter(gate *g, unsigned level);
void gate_leave(gate *g, unsigned level);
/** The longest time that work passed between two safe points since the last call, in ns. */
uint64_t gate_longest_step(gate *g);
/** Work under c is of this level; g outlives its use. The first time before c is used; again, with the same g, at any time. */
void cancel_set_gate(cancel *c, gate *g, unsigned level);

typedef struct pool pool;

/** One task: index i of a run; `worker` < pool_threads(p) is unique among tasks running at the same time in one
 *  pool_run, so per-worker scratch needs no lock. */
typedef cuzk_status (*pool_fn)(void *ctx, size_t i, unsigned worker);

/** `threads` workers in all, 1..POOL_MAX_THREADS, the calling thread of a run included (threads = 1 starts none).
 *  Worker threads attach to `rec` (may be NULL; outlives the pool) as "worker K"; all signals are blocked in them. */
#define POOL_MAX_THREADS 1024u
CUZK_STATUS pool_open(pool **out, unsigned threads, span_rec *rec);
/** No run may be going on. NULL is fine. */
void pool_close(pool *p);
unsigned pool_threads(const pool *p); /* 1 for NULL */

/** Runs fn(ctx, 0..n-1), indices taken in order by whoever is free; the caller works too. Returns the failure of the
 *  lowest index that failed (copied to this thread), after all started tasks have ended; after a failure or a cancel
 *  no new task starts. CUZK_ECANCELLED when the cancel kept a task from starting and none failed.
 *  Several threads may call at once; a call from inside a task runs its tasks on that thread alone. p = NULL: inline.
 *  Worker threads show the caller's innermost leaf span as their own, with its job and partition; a caller outside any
 *  leaf is in SPAN_TASK, and its wait for the last tasks of others is SPAN_POOL_WAIT. */
CUZK_STATUS pool_run(pool *p, const cancel *c, size_t n, pool_fn fn, void *ctx);

#endif
