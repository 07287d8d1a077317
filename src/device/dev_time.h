/*
 * device/dev_time.h - what a GPU did with its time, from stretches that its backend measured by the device's own clock
 *
 * A proof on a stream has a lane. Its stretches of work come after it, or in parts, as host times; an instant is settled, once and
 * for all, when no proof that is still there can say more about it. Within the window of a proof (its first kernel to its last) an
 * instant is busy when any lane works, else it is a gap, whose cause is what the host was at meanwhile.
 *
 * Locks: `mu`, a leaf. Spans are noted without it.
 * Source: design section 6.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_DEV_TIME_H
#define DEVICE_DEV_TIME_H

#include <pthread.h>

#include "device/device.h"

#define DEV_LANES 8u
#define DEV_TIME_WORK 8192u
#define DEV_TIME_HOST 2048u
#define DEV_TIME_WINDOWS 64u /* of proofs that ended while another one was there from before */

/* A proof, or a share of one that has another stream. */
typedef struct dev_lane {
    bool taken, share;
    uint64_t begun;       /* clock_ns; nothing of it is earlier */
    uint64_t first, last; /* of its work so far; last 0: none */
    uint64_t idle_from;   /* the device had nothing from there on until it came; 0: it had */
    span_kind idle;       /* why; SPAN_KINDS: others tell */
} dev_lane;

typedef struct dev_time {
    /* fixed after init */
    char name[24]; /* of its tracks: "cuda:0", further lanes "cuda:0.1", "cuda:0 idle" */
    pthread_mutex_t mu;
    /* guarded by mu */
    dev_lane lanes[DEV_LANES];
    uint64_t settled, last; /* the sums hold what came before; the end of the last work of all */
    span_noted work[DEV_TIME_WORK], host[DEV_TIME_HOST], window[DEV_TIME_WINDOWS + DEV_LANES];
    size_t n_work, n_host, n_windows;
    dev_times sums;
} dev_time;

CUZK_STATUS dev_time_init(dev_time *t, const char *name);
void dev_time_clear(dev_time *t);
/** The calling thread begins a proof now (clock_ns). -1: all lanes are taken, this one is not measured. */
int dev_time_begin(dev_time *t, uint64_t now);
/** What this lane has is a share: its work and gaps count, but neither as a proof nor does its end as one's. */
void dev_time_share(dev_time *t, int lane);
/** Stretches of its work that have ended, by their begin, none of which overlaps the next, and what the host was at (kinds
 *  SPAN_GPU_IDLE_*). Work is cut in place where it seems to be before the proof or before what was told. On the thread that began. */
void dev_time_add(dev_time *t, int lane, span_noted *work, size_t n_work, const span_noted *host,
                  size_t n_host);
/** All is told; the proof's call returns now. */
void dev_time_end(dev_time *t, int lane, uint64_t now);
void dev_time_get(dev_time *t, dev_times *out);

#endif
