/*
 * device/cuda/cuda_kept.c - what stays on the device beyond a call: keys' points, circuits, a proof's witness
 *
 * One table in order of use. A record that nobody uses can be given up for other memory, the least recently used first.
 * It is filled by the thread that asked first; who asks meanwhile waits, so that no key is brought in twice.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <cuda_runtime_api.h>
#include <time.h>

#include "base/clock.h"
#include "device/cuda/cuda_int.h"

#define LOOK_NS 20000000 /* between two looks at the cancel token */

static cu_kept *find_locked(cu_device *cu, cu_kept_kind kind, uint64_t id)
{
    for (cu_kept *k = cu->kept; k < cu->kept + CU_KEPT; k++)
        if (k->id == id && k->kind == kind) return k;
    return NULL;
}

static void give_up_locked(cu_device *cu, cu_kept *k)
{
    cu_release_locked(cu, k->data);
    *k = (cu_kept){0};
}

static cu_kept *oldest_unused(cu_device *cu)
{
    cu_kept *oldest = NULL;

    for (cu_kept *k = cu->kept; k < cu->kept + CU_KEPT; k++)
        if (k->id != 0 && k->users == 0 && (oldest == NULL || k->last_use < oldest->last_use))
            oldest = k;
    return oldest;
}

void cu_kept_evict_locked(cu_device *cu, size_t size)
{
    while (cu->used > cu->limit || cu->limit - cu->used < size) {
        cu_kept *k = oldest_unused(cu);
        if (k == NULL) return;
        give_up_locked(cu, k);
    }
}

void cu_kept_close(cu_device *cu)
{
    cu_kept_evict_locked(cu, SIZE_MAX);
}

size_t cu_kept_room(cu_device *cu, uint64_t points_id)
{
    size_t room = 0;

    (void)pthread_mutex_lock(&cu->mu);
    if (cu->limit > cu->used) room = cu->limit - cu->used;
    for (const cu_kept *k = cu->kept; k < cu->kept + CU_KEPT; k++)
        if (k->id != 0 && k->data != NULL &&
            (k->users == 0 || (k->kind == CU_KEPT_POINTS && k->id == points_id)))
            room += k->size;
    (void)pthread_mutex_unlock(&cu->mu);
    return room;
}

static void use_locked(cu_device *cu, cu_kept *k)
{
    k->users++;
    k->last_use = ++cu->uses;
}

cu_kept *cu_kept_find(cu_device *cu, cu_kept_kind kind, uint64_t id)
{
    (void)pthread_mutex_lock(&cu->mu);
    cu_kept *k = find_locked(cu, kind, id);
    if (k != NULL && !k->ready) k = NULL;
    if (k != NULL) use_locked(cu, k);
    (void)pthread_mutex_unlock(&cu->mu);
    return k;
}

void cu_kept_put(cu_device *cu, cu_kept *k)
{
    if (k == NULL) return;
    (void)pthread_mutex_lock(&cu->mu);
    VERIFY(k->users != 0);
    k->users--;
    (void)pthread_mutex_unlock(&cu->mu);
}

void cu_kept_drop(cu_device *cu, cu_kept_kind kind, uint64_t id)
{
    (void)pthread_mutex_lock(&cu->mu);
    cu_kept *k = find_locked(cu, kind, id);
    if (k != NULL && k->users == 0) give_up_locked(cu, k);
    (void)pthread_mutex_unlock(&cu->mu);
}

/* Until something became ready or free, or it is time to look at the token. */
static void wait_locked(cu_device *cu)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += LOOK_NS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    (void)pthread_cond_timedwait(&cu->filled, &cu->mu, &until);
}

/* The record, in use: ready, or to be filled by the caller (*fill). NULL: none is free. */
static cuzk_status claim(cu_kept **out, bool *fill, dev_stream *s, cu_kept_kind kind, uint64_t id)
{
    cu_device *cu = cu_of(s->d);
    cuzk_status st = CUZK_OK;
    cu_kept *k;

    *fill = false;
    (void)pthread_mutex_lock(&cu->mu);
    for (;;) {
        k = find_locked(cu, kind, id);
        if (k == NULL || k->ready) break;
        wait_locked(cu);
        (void)pthread_mutex_unlock(&cu->mu);
        st = cancel_check(s->cancel);
        (void)pthread_mutex_lock(&cu->mu);
        if (st != CUZK_OK) break;
    }
    if (st == CUZK_OK && k == NULL) {
        k = find_locked(cu, CU_KEPT_POINTS, 0); /* a free record is all zero */
        if (k == NULL && (k = oldest_unused(cu)) != NULL) give_up_locked(cu, k);
        if (k != NULL) *k = (cu_kept){.id = id, .kind = kind};
        *fill = k != NULL;
    }
    if (st == CUZK_OK && k != NULL) use_locked(cu, k);
    (void)pthread_mutex_unlock(&cu->mu);
    *out = k;
    return st;
}

cuzk_status cu_kept_get(cu_kept **out, dev_stream *s, cu_kept_kind kind, uint64_t id, size_t size,
                        cu_fill fill, void *ctx)
{
    cu_device *cu = cu_of(s->d);
    uint64_t began = clock_ns();
    void *data = NULL;
    cuzk_status st;
    bool mine;
    cu_kept *k;

    TRY(claim(&k, &mine, s, kind, id));
    cu_host_was(s, kind == CU_KEPT_POINTS ? SPAN_GPU_IDLE_KEY : SPAN_GPU_IDLE_LOCK, began);
    *out = k;
    if (!mine) return CUZK_OK;
    st = cu_alloc(cu, &data, size);
    if (st == CUZK_OK) st = fill(ctx, s, data);
    if (st != CUZK_OK) /* before its memory is another's: copies into it may be under way */
        (void)cudaStreamSynchronize(cu_queue_of(s)->s);
    (void)pthread_mutex_lock(&cu->mu);
    if (st == CUZK_OK) {
        k->data = data;
        k->size = size;
        k->ready = true;
    } else {
        cu_release_locked(cu, data);
        *k = (cu_kept){0};
        *out = NULL;
    }
    (void)pthread_cond_broadcast(&cu->filled);
    (void)pthread_mutex_unlock(&cu->mu);
    return st;
}
