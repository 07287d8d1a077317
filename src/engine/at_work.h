/*
 * engine/at_work.h - which jobs were at work when the process died, and how often: a small file beside the store
 *
 * Each piece of work (a job while it is decoded and while it waits for its key, a partition from its synthesis to its check) has
 * a row while it goes on. A row is written without a sync: it outlives the process, not the machine. The next process finds the
 * rows that are left and counts a strike for their jobs. Where the system killed the process for want of memory, or it died of a
 * signal that it could still write down, that is a whole strike; where somebody killed it, a quarter: nobody is to blame then,
 * but a job that comes to no end in a dozen lives is no good either.
 *
 * Who was at work with others may have been beside the one to blame: from one whole strike on a job is suspected and runs alone
 * (ledger.h), and then it is the only one that is counted whole. A partition that gets done takes all but the suspicion away; a
 * job that ends, that too.
 *
 * Locks: one, a leaf; no file is touched while it is held. What cannot be written is not counted.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ENGINE_AT_WORK_H
#define ENGINE_AT_WORK_H

#include "base/mem.h"

#define AT_WORK_STRIKE 4u /* quarters */
#define AT_WORK_NONE 0u

typedef struct at_work at_work;

/** How the process before this one ended. */
typedef enum work_end {
    WORK_ENDED,         /* nothing was at work, or the machine was started anew since */
    WORK_KILLED,        /* from outside, for no reason that can be seen */
    WORK_OUT_OF_MEMORY, /* the kernel has killed something since it started */
    WORK_CRASHED        /* by a signal of its own: at_work_crashed was called */
} work_end;
const char *work_end_name(work_end e); /* "killed", "out of memory", "crashed", "" */

typedef struct work_before {
    work_end end;
    int signal;    /* of WORK_CRASHED */
    unsigned jobs; /* that were at work */
} work_before;

/** Reads PATH as the process before left it, counts, and begins it anew; a file that is not there or not one of these is as an
 *  empty one. One process at a time. CUZK_EIO, CUZK_ENOMEM. */
CUZK_STATUS at_work_open(at_work **out, const char *path, mem *m, work_before *before);
void at_work_close(at_work *w); /* NULL is fine, here and below */

/** Work for a job begins; what is returned names it for at_work_end. AT_WORK_NONE: it is not counted. outside: another process
 *  does it, and who is at work here is to blame before it. */
uint32_t at_work_begin(at_work *w, const char *job_id, bool outside);
/** Once; AT_WORK_NONE is fine. */
void at_work_end(at_work *w, uint32_t row);

typedef struct work_strikes {
    unsigned quarters, deaths; /* deaths since it last got further */
    work_end last;
    int signal;
} work_strikes;
/** All 0: nothing is held against it. */
work_strikes at_work_strikes(at_work *w, const char *job_id);
/** What is held against it is at most so much from now on; 0: nothing. */
void at_work_forgive(at_work *w, const char *job_id, unsigned quarters);

/** The process dies of this signal. Async-signal-safe. */
void at_work_crashed(const at_work *w, int signal);

#endif
