/*
 * device/residency.h - which lists of points a device keeps: how much of each, and which go when memory is wanted
 *
 * Decisions alone, over sizes: no device and no memory. A device's memory belongs to work first (buffers, a sum's plan) and to
 * lists with what is left. Lists of one set, a key's, are used one after the other by each proof: giving one up for
 * another of the same set would bring in all of them for each proof, so the front of the set stays and the rest is
 * brought in each time.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_RESIDENCY_H
#define DEVICE_RESIDENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What is kept, as decisions see it. */
typedef struct residency {
    uint64_t set;      /* 0: alone */
    uint64_t last_use; /* in a count of all uses */
    uint64_t set_use;  /* the last of its set; its own when it is alone */
    size_t size;       /* bytes of device memory */
    unsigned users;
    bool always, wanted; /* as dev_keeping.always, dev_points_want */
} residency;

/** What it may be given up for: other lists or work; work; nothing. */
typedef enum residency_hold { RESIDENCY_IDLE, RESIDENCY_WANTED, RESIDENCY_HELD } residency_hold;
residency_hold residency_hold_of(const residency *r);
/** Of two that may go, whether a goes first: what is not wanted, then the set that was used longest ago, then of a set the list that
 *  was used last, since the next proof wants the others before it. */
bool residency_goes_before(const residency *a, const residency *b);

/** Of a device's memory, in bytes. */
typedef struct residency_room {
    size_t limit;
    size_t others;         /* kept, and not to be given up for this list; lists of its set apart */
    size_t of_set;         /* kept of its set, this list apart */
    size_t beside, during; /* as in dev_keeping */
    size_t plan;           /* that the longest sum takes when it is free to */
} residency_room;
/** How many of n points of `size` bytes each may stay, from the first on: as many as leave room for two proofs where these are
 *  content with 3/5 of the memory, else for one. A proof's sums are content with half of what its buffers leave. 0: so few that
 *  they are not worth a list. */
size_t residency_points(const residency_room *r, size_t n, size_t size);

#endif
