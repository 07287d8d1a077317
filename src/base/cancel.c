/*
 * base/cancel.c - the token that asks work to stop
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdatomic.h>

#include "base/pool.h"

/* Relaxed everywhere: the flag carries nothing but itself. Lock-free, so a signal handler may set it. */
struct cancel {
    _Atomic bool requested;
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
    return cancel_requested(c) ? FAIL(CUZK_ECANCELLED, "cancelled") : CUZK_OK;
}
