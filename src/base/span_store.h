/*
 * base/span_store.h - the recorder's inside: tracks, their rings, the bounded store; not for other rooms
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef BASE_SPAN_STORE_H
#define BASE_SPAN_STORE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/span.h"

/* 128 KiB a thread; a full ring is emptied by its thread, some 5 us every 4096 spans */
#define SPAN_RING 4096u
/* 1 MiB a chunk, 32 MiB of store where nobody sets another bound: about a million spans */
#define SPAN_CHUNK 32768u
#define SPAN_CHUNKS 32u
#define SPAN_MAX_CHUNKS 16384u
#define SPAN_MAX_TRACKS 4096u
#define SPAN_MAX_DEPTH 64u

typedef struct span_entry {
    uint64_t start, end; /* ns */
    uint64_t job;
    int32_t partition;
    uint16_t track;
    uint8_t kind;         /* span_kind */
    uint8_t overlaps : 1; /* not nested in its track: a wait that no thread spent */
    uint8_t within : 7;   /* span_kind + 1; 0: none */
} span_entry;

_Static_assert(sizeof(span_entry) == 32, "half a cache line");
_Static_assert(SPAN_KINDS < 128, "a kind fits seven bits, with one more for none");

/** One named line of the trace: at most one thread at a time produces into its ring. */
typedef struct span_track {
    /* fixed after init */
    span_rec *rec;
    uint16_t id;
    char name[48];
    /* guarded by mu */
    bool attached;
    /* what its thread is in now, relaxed: a look from outside. start / 16 in the upper 56 bits, kind below; 0: nothing */
    _Atomic uint64_t now, now_job;
    /* ring: the producer writes entries and then head (release), who empties it reads head (acquire), copies
     * and then writes tail (release), which the producer reads (acquire) before it writes over an entry.
     * Emptying is done with mu held, so there is one consumer at a time. */
    _Alignas(64) _Atomic uint64_t head;
    _Alignas(64) _Atomic uint64_t tail;
    _Alignas(64) span_entry ring[SPAN_RING];
} span_track;

struct span_rec {
    /* fixed after init */
    uint64_t epoch; /* ns; traces count from here */
    pthread_mutex_t mu;
    /* guarded by mu */
    unsigned n_tracks;
    span_track *tracks[SPAN_MAX_TRACKS];
    uint64_t n,
        dropped;   /* spans ever stored; of them the oldest `dropped`, whole chunks, are gone */
    uint64_t lost; /* for want of memory */
    uint64_t track_bytes, most_bytes; /* the bound: a track, in all; 0: SPAN_CHUNKS in all */
    span_entry
        *chunks[SPAN_MAX_CHUNKS]; /* span number i is in chunks[i / SPAN_CHUNK % SPAN_MAX_CHUNKS] */
};

/** Moves what is in the ring into the store. */
void span_drain_locked(span_rec *r, span_track *t);
/** Span number i of the store, dropped <= i < n. */
static inline const span_entry *span_at_locked(const span_rec *r, uint64_t i)
{
    return &r->chunks[i / SPAN_CHUNK % SPAN_MAX_CHUNKS][i % SPAN_CHUNK];
}

/** Copies at most n spans from number *i on, up to `end`, skipping what was dropped meanwhile; returns how many. */
unsigned span_take(span_rec *r, span_entry *batch, unsigned n, uint64_t *i, uint64_t end);
/** Empties all rings; the spans then stored are *from .. *to, of *n_tracks tracks, whose pointers never change. */
void span_gather(span_rec *r, uint64_t *from, uint64_t *to, unsigned *n_tracks);

/** The calling thread. */
typedef struct span_thread {
    span_track *track; /* NULL: detached */
    uint64_t job;
    int32_t partition;
    unsigned depth; /* open spans */
    span open[SPAN_MAX_DEPTH];
} span_thread;

span_thread *span_self(void);

#endif
