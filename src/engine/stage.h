/*
 * engine/stage.h - a queue of work ordered by (level, age), and the threads that do it
 *
 * `width` items run at once; an item of a higher level than all that run starts beyond the width at once, so that urgent
 * work never waits behind a slower kind of work, at no stage. Knows no job: an item says its order, the stage's function
 * does the rest and hands it on.
 *
 * Locks: each stage has one, a leaf. The function runs without it.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ENGINE_STAGE_H
#define ENGINE_STAGE_H

#include <stdatomic.h>

#include "base/span.h"

#define STAGE_LEVELS 4u /* 0..3: LOW..CRITICAL */

typedef struct stage stage;

/** Embedded in what is worked on. */
typedef struct stage_item {
    unsigned level; /* higher first */
    uint64_t age;   /* then lower first */
    uint64_t group; /* with `sticky`: among the eldest, items of the group served last go first */
    uint32_t index; /* then lower first */
    bool alone;     /* starts when nothing else runs; until then nothing behind it does */
    /* the stage's */
    _Atomic(stage *)
        in; /* the stage whose lock guards the rest; relaxed: it matters under that lock alone */
    size_t place;
    uint64_t since; /* clock_ns when it was pushed */
} stage_item;

/** Sets the order of an item that is in no stage; it need not be alone. */
static inline void stage_order(stage_item *it, unsigned level, uint64_t age, uint64_t group,
                               uint32_t index)
{
    it->level = level;
    it->age = age;
    it->group = group;
    it->index = index;
    it->alone = false;
}
typedef void (*stage_fn)(void *ctx, stage_item *it);

typedef struct stage_config {
    const char *name;
    unsigned width; /* 1.. */
    span_rec *rec;  /* threads are tracks "NAME 0", ... */
    stage_fn fn;
    void *ctx;
} stage_config;

CUZK_STATUS stage_open(stage **out, const stage_config *c);
/** Threads end when they have done what they are at; what is still queued stays its owner's. */
void stage_stop(stage *s);
void stage_free(stage *s); /* stopped; NULL is fine */

/** From any thread; never waits. CUZK_ENOMEM: the queue could not grow (it->place is untouched). */
CUZK_STATUS stage_push(stage *s, stage_item *it);
/** True: it was still queued and is the caller's again. False: it runs, has run, or was never there. */
bool stage_remove(stage *s, stage_item *it);
/** Moves a queued item to another level. */
void stage_raise(stage *s, stage_item *it, unsigned level);
void stage_set_width(stage *s, unsigned width); /* at most what it was opened with */
/** Among equal levels and ages within `window_ns`, keep to the group that was served last. 0: no. */
void stage_set_sticky(stage *s, uint64_t window_ns);
/** Nothing is started any more until `false`; what runs goes on. */
void stage_hold(stage *s, bool held);
/** Items of lower levels are not started, but for those that are to be alone; 0: all are. */
void stage_hold_below(stage *s, unsigned level);

typedef struct stage_state {
    const char *name;
    unsigned waiting, active, width;
} stage_state;
void stage_get(stage *s, stage_state *out);

#endif
