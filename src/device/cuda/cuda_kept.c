/*
 * device/cuda/cuda_kept.c - what stays on the device beyond a call: keys' points, circuits, a proof's witness
 *
 * One table. What nobody uses can be given up for other memory: what may go, and which first, says device/residency.h.
 * A record is filled by the thread that asked first; who asks meanwhile waits, so that no key is brought in twice.
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

/* Of those that are held no firmer than this, the one that goes first. */
static cu_kept *first_to_go(cu_device *cu, residency_hold hold)
{
    cu_kept *first = NULL;

    for (cu_kept *k = cu->kept; k < cu->kept + CU_KEPT; k++) {
        if (k->id == 0 || residency_hold_of(&k->r) > hold) continue;
        if (first == NULL || residency_goes_before(&k->r, &first->r)) first = k;
    }
    return first;
}

void cu_kept_evict_locked(cu_device *cu, size_t size, residency_hold hold)
{
    while (cu->used > cu->limit || cu->limit - cu->used < size) {
        cu_kept *k = first_to_go(cu, hold);
        if (k == NULL) return;
        give_up_locked(cu, k);
    }
}

residency_hold cu_kept_work_hold_locked(const cu_device *cu)
{
    return cu->proofs > 1 ? RESIDENCY_IDLE : RESIDENCY_WANTED;
}

void cu_kept_close(cu_device *cu)
{
    for (cu_kept *k = cu->kept; k < cu->kept + CU_KEPT; k++)
        if (k->id != 0 && k->r.users == 0) give_up_locked(cu, k);
}

size_t cu_kept_room(cu_device *cu, residency_hold hold)
{
    size_t room = 0;

    (void)pthread_mutex_lock(&cu->mu);
    cu_limit_locked(cu);
    if (cu->limit > cu->used) room = cu->limit - cu->used;
    for (const cu_kept *k = cu->kept; k < cu->kept + CU_KEPT; k++)
        if (k->id != 0 && k->data != NULL && residency_hold_of(&k->r) <= hold) room += k->r.size;
    (void)pthread_mutex_unlock(&cu->mu);
    return room;
}

/* ---- what is wanted ---- */

static cu_wanted *wanted_locked(cu_device *cu, uint64_t set)
{
    for (cu_wanted *w = cu->wanted; w < cu->wanted + CU_WANTED; w++)
        if (w->set == set) return w;
    return NULL;
}

void cu_kept_want(device *d, uint64_t set, dev_want what, bool begins)
{
    cu_device *cu = cu_of(d);
    bool any = begins;

    (void)pthread_mutex_lock(&cu->mu);
    cu_wanted *w = wanted_locked(cu, set);
    if (w == NULL && begins)
        w = wanted_locked(cu, 0); /* NULL: so many keys at once go by use alone */
    if (what == DEV_WANT_NOW && begins) cu->proofs++;
    if (what == DEV_WANT_NOW && !begins && cu->proofs != 0) cu->proofs--;
    if (w != NULL) {
        w->set = set;
        if (begins) w->n[what]++;
        if (!begins && w->n[what] != 0) w->n[what]--;
        any = w->n[DEV_WANT_QUEUED] != 0 || w->n[DEV_WANT_NOW] != 0;
        if (!any) *w = (cu_wanted){0};
        for (cu_kept *k = cu->kept; k < cu->kept + CU_KEPT; k++)
            if (k->id != 0 && k->r.set == set) k->r.wanted = any;
    }
    (void)pthread_mutex_unlock(&cu->mu);
}

/* ---- uses ---- */

static void use_locked(cu_device *cu, cu_kept *k)
{
    k->r.users++;
    k->r.last_use = k->r.set_use = ++cu->uses;
    if (k->r.set == 0) return;
    for (cu_kept *o = cu->kept; o < cu->kept + CU_KEPT; o++)
        if (o->id != 0 && o->r.set == k->r.set) o->r.set_use = cu->uses;
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
    VERIFY(k->r.users != 0);
    k->r.users--;
    (void)pthread_mutex_unlock(&cu->mu);
}

void cu_kept_drop(cu_device *cu, cu_kept_kind kind, uint64_t id)
{
    (void)pthread_mutex_lock(&cu->mu);
    cu_kept *k = find_locked(cu, kind, id);
    if (k != NULL && k->r.users == 0) give_up_locked(cu, k);
    (void)pthread_mutex_unlock(&cu->mu);
}

void cu_kept_wait_locked(cu_device *cu)
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

static cu_kept *new_record_locked(cu_device *cu, cu_kept_kind kind, uint64_t id,
                                  const cu_keep *keep)
{
    cu_kept *k = find_locked(cu, CU_KEPT_POINTS, 0); /* a free record is all zero */

    if (k == NULL && (k = first_to_go(cu, RESIDENCY_WANTED)) != NULL) give_up_locked(cu, k);
    if (k == NULL) return NULL;
    *k = (cu_kept){.id = id, .kind = kind};
    if (keep == NULL) return k;
    k->first = keep->first;
    k->n = keep->n;
    k->r.set = keep->how.set;
    k->r.always = keep->how.always;
    k->r.wanted = k->r.set != 0 && wanted_locked(cu, k->r.set) != NULL;
    return k;
}

/* The record, in use: ready, or to be filled by the caller (*fill). NULL: none is free. */
static cuzk_status claim(cu_kept **out, bool *fill, dev_stream *s, cu_kept_kind kind, uint64_t id,
                         const cu_keep *keep)
{
    cu_device *cu = cu_of(s->d);
    cuzk_status st = CUZK_OK;
    cu_kept *k;

    *fill = false;
    (void)pthread_mutex_lock(&cu->mu);
    for (;;) {
        k = find_locked(cu, kind, id);
        if (k == NULL || k->ready) break;
        cu_kept_wait_locked(cu);
        (void)pthread_mutex_unlock(&cu->mu);
        st = cancel_check(s->cancel);
        (void)pthread_mutex_lock(&cu->mu);
        if (st != CUZK_OK) break;
    }
    if (st == CUZK_OK && k == NULL) {
        k = new_record_locked(cu, kind, id, keep);
        *fill = k != NULL;
    }
    if (st == CUZK_OK && k != NULL) use_locked(cu, k);
    (void)pthread_mutex_unlock(&cu->mu);
    *out = k;
    return st;
}

cuzk_status cu_kept_get(cu_kept **out, dev_stream *s, cu_kept_kind kind, uint64_t id,
                        const cu_keep *keep, size_t size, cu_fill fill, void *ctx)
{
    cu_device *cu = cu_of(s->d);
    uint64_t began = clock_ns();
    void *data = NULL;
    cuzk_status st;
    bool mine;
    cu_kept *k;

    TRY(claim(&k, &mine, s, kind, id, keep));
    cu_host_was(s, kind == CU_KEPT_POINTS ? SPAN_GPU_IDLE_KEY : SPAN_GPU_IDLE_LOCK, began);
    *out = k;
    if (!mine) return CUZK_OK;
    st = keep != NULL ? cu_alloc_kept(cu, &data, size) : cu_alloc(cu, &data, size);
    if (st == CUZK_OK) st = fill(ctx, s, data);
    if (st != CUZK_OK &&
        s->impl != NULL) /* before its memory is another's: copies into it may be under way */
        (void)cudaStreamSynchronize(cu_queue_of(s)->s);
    (void)pthread_mutex_lock(&cu->mu);
    if (st == CUZK_OK) {
        k->data = data;
        k->r.size = size;
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
