/*
 * engine/service_later.c - the books of the device's thread, written by others
 *
 * Between two proofs the device's thread must not wait: not for the service's lock either, which a thread may hold that the
 * system has put aside. What it has to say goes on a stack without a lock; whoever takes the lock next writes it into the
 * books first. If nobody holds the lock, that is the device's thread itself.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/service.h"

static void write_helpers_locked(service *s, const svc_later *r)
{
    if (r->helpers != 0 && !r->ended) s->counts.split++;
    for (int row = 0; row < (int)s->n_devices; row++) {
        if ((r->helpers >> row & 1) == 0) continue;
        if (r->ended)
            svc_device_left(s, row, false, r->at);
        else
            svc_device_taken(s, r->p, row, r->at);
    }
}

static void write_locked(service *s, const svc_later *r)
{
    svc_part *p = r->p;
    job_clock *c = &p->job->clock;

    write_helpers_locked(s, r);
    if (!r->ended) {
        p->device_from = r->at;
        p->at = AT_NOWHERE;
        p->state = PART_DEVICE;
        p->row = r->row;
        job_clock_leave(c, PHASE_QUEUE, r->at);
        job_clock_enter(c, PHASE_DEVICE, r->at);
        svc_device_taken(s, p, r->row, r->at);
        return;
    }
    p->device_to = r->at;
    p->at = AT_FINISH;
    job_clock_leave(c, PHASE_DEVICE, r->at);
    job_clock_enter(c, PHASE_QUEUE, r->at);
    svc_device_left(s, r->row, true, r->at);
    s->worker_wall_ns += r->wall_ns;
    s->worker_attributed_ns += r->attributed_ns;
    if (r->gap_ns != 0) svc_note_gap(s, "device", p->job->job_id, r->gap_ns, r->gap);
}

void svc_write_books_locked(service *s)
{
    svc_later *r = atomic_exchange_explicit(&s->later, NULL, memory_order_acquire),
              *in_order = NULL;

    while (r != NULL) { /* a stack: the last posted comes first */
        svc_later *next = r->next;

        r->next = in_order;
        in_order = r;
        r = next;
    }
    for (; in_order != NULL; in_order = in_order->next) write_locked(s, in_order);
}

void svc_post(service *s, svc_later *r)
{
    r->next = atomic_load_explicit(&s->later, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&s->later, &r->next, r, memory_order_release,
                                                  memory_order_relaxed))
        ;
    if (pthread_mutex_trylock(&s->mu) != 0) return;
    svc_write_books_locked(s);
    (void)pthread_mutex_unlock(&s->mu);
}
