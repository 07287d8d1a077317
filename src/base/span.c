/*
 * base/span.c - recording: threads, their rings, and the store that the rings are emptied into
 *
 * The hot path is span_open and span_close: two clock readings and one 32-byte entry.
 * What is made of the entries is in span_report.c and span_trace.c.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/span.h"

#include "base/clock.h"
#include "base/span_memory.h"
#include "base/span_store.h"

#include <stdio.h>
#include <string.h>

#define SPAN_NAME(kind, name, group) name,
#define SPAN_GROUP(kind, name, group) group,
static const char *const names[] = {SPAN_LIST(SPAN_NAME)};
static const char groups[] = {SPAN_LIST(SPAN_GROUP)};
#undef SPAN_NAME
#undef SPAN_GROUP

static _Thread_local span_thread self = {.partition = -1};

span_thread *span_self(void)
{
    return &self;
}

const char *span_name(span_kind k)
{
    return (unsigned)k < SPAN_KINDS ? names[k] : "?";
}

char span_group(span_kind k)
{
    if ((unsigned)k >= SPAN_KINDS) return 'P';
    return groups[k];
}

bool span_counts(span_kind k)
{
    return span_group(k) != 'P' && span_group(k) != 'D';
}

/* ---- recorder and store ---- */

cuzk_status span_rec_open(span_rec **out)
{
    span_rec *r = calloc(1, sizeof *r);

    if (r == NULL) return FAIL(CUZK_ENOMEM, "span recorder: out of memory");
    if (pthread_mutex_init(&r->mu, NULL) != 0) {
        free(r);
        return FAIL(CUZK_ENOMEM, "span recorder: no lock");
    }
    r->epoch = clock_ns();
    *out = r;
    return CUZK_OK;
}

void span_rec_close(span_rec *r)
{
    if (r == NULL) return;
    if (self.track != NULL && self.track->rec == r) span_detach();
    for (unsigned i = 0; i < r->n_tracks; i++) {
        VERIFY(!r->tracks[i]->attached);
        free(r->tracks[i]);
    }
    for (unsigned i = 0; i < SPAN_MAX_CHUNKS; i++) free(r->chunks[i]);
    (void)pthread_mutex_destroy(&r->mu); /* nobody holds it: see the header */
    free(r);
}

static uint64_t max_chunks_locked(const span_rec *r)
{
    bool all = r->n_tracks != 0 && r->track_bytes > r->most_bytes / r->n_tracks;
    uint64_t bytes = all ? r->most_bytes : r->track_bytes * r->n_tracks;
    uint64_t chunks = bytes / (SPAN_CHUNK * sizeof(span_entry));

    if (r->track_bytes == 0) return SPAN_CHUNKS;
    return chunks < 2 ? 2 : chunks > SPAN_MAX_CHUNKS ? SPAN_MAX_CHUNKS : chunks;
}

/* Takes the oldest chunk, whose spans go, out of the store. */
static span_entry *take_oldest_locked(span_rec *r)
{
    span_entry **at = &r->chunks[r->dropped / SPAN_CHUNK % SPAN_MAX_CHUNKS], *chunk = *at;

    *at = NULL;
    r->dropped += SPAN_CHUNK;
    return chunk;
}

/* For the spans from r->n on: a new one, or the oldest at the bound. */
static bool add_chunk_locked(span_rec *r)
{
    uint64_t most = max_chunks_locked(r);
    span_entry *chunk = NULL;

    while ((r->n - r->dropped) / SPAN_CHUNK >= most) {
        free(chunk);
        chunk = take_oldest_locked(r);
    }
    if (chunk == NULL) chunk = malloc(SPAN_CHUNK * sizeof *chunk);
    r->chunks[r->n / SPAN_CHUNK % SPAN_MAX_CHUNKS] = chunk;
    return chunk != NULL;
}

/* Stores the first of n > 0 spans that follow each other, as many as fit the chunk; returns how many. */
static uint64_t store_locked(span_rec *r, const span_entry *e, uint64_t n)
{
    uint64_t at = r->n % SPAN_CHUNK;

    if (at == 0 && !add_chunk_locked(r)) {
        r->lost += n;
        return n;
    }
    if (n > SPAN_CHUNK - at) n = SPAN_CHUNK - at;
    memcpy(r->chunks[r->n / SPAN_CHUNK % SPAN_MAX_CHUNKS] + at, e, n * sizeof *e);
    r->n += n;
    return n;
}

void span_drain_locked(span_rec *r, span_track *t)
{
    uint64_t tail = atomic_load_explicit(&t->tail, memory_order_relaxed); /* written under mu */
    uint64_t head = atomic_load_explicit(&t->head, memory_order_acquire); /* see span_track */

    while (tail != head) {
        uint64_t at = tail % SPAN_RING, n = head - tail;

        if (n > SPAN_RING - at) n = SPAN_RING - at;
        tail += store_locked(r, &t->ring[at], n);
    }
    atomic_store_explicit(&t->tail, tail, memory_order_release); /* see span_track */
}

uint64_t span_dropped(span_rec *r)
{
    uint64_t n;

    (void)pthread_mutex_lock(&r->mu); /* cannot fail: a plain mutex, never held twice */
    n = r->dropped + r->lost;
    (void)pthread_mutex_unlock(&r->mu);
    return n;
}

void span_gather(span_rec *r, uint64_t *from, uint64_t *to, unsigned *n_tracks)
{
    (void)pthread_mutex_lock(&r->mu);
    *n_tracks = r->n_tracks;
    for (unsigned k = 0; k < r->n_tracks; k++) span_drain_locked(r, r->tracks[k]);
    *from = r->dropped;
    *to = r->n;
    (void)pthread_mutex_unlock(&r->mu);
}

unsigned span_take(span_rec *r, span_entry *batch, unsigned max, uint64_t *i, uint64_t end)
{
    unsigned n = 0;

    (void)pthread_mutex_lock(&r->mu);
    if (*i < r->dropped) *i = r->dropped;
    for (; n < max && *i < end; n++, ++*i) batch[n] = *span_at_locked(r, *i);
    (void)pthread_mutex_unlock(&r->mu);
    return n;
}

uint64_t span_memory(span_rec *r)
{
    uint64_t bytes = sizeof *r, chunks;

    (void)pthread_mutex_lock(&r->mu);
    chunks = (r->n - r->dropped + SPAN_CHUNK - 1) / SPAN_CHUNK;
    bytes += r->n_tracks * sizeof(span_track) + chunks * SPAN_CHUNK * sizeof(span_entry);
    (void)pthread_mutex_unlock(&r->mu);
    return bytes;
}

void span_limit(span_rec *r, uint64_t bytes_a_track, uint64_t most)
{
    (void)pthread_mutex_lock(&r->mu);
    r->track_bytes = bytes_a_track;
    r->most_bytes = most;
    (void)pthread_mutex_unlock(&r->mu);
}

void span_expire(span_rec *r, uint64_t before_ns)
{
    for (;;) {
        span_entry *chunk = NULL;

        (void)pthread_mutex_lock(&r->mu);
        if (r->n - r->dropped >= SPAN_CHUNK &&
            span_at_locked(r, r->dropped + SPAN_CHUNK - 1)->end < before_ns)
            chunk = take_oldest_locked(r);
        (void)pthread_mutex_unlock(&r->mu);
        if (chunk == NULL) return;
        free(chunk);
    }
}

/* ---- threads ---- */

/* What this thread is in, for those who look from outside. */
static void show(span_track *t)
{
    uint64_t now = 0;

    if (self.depth > 0)
        now = self.open[self.depth - 1].start >> 4 << 8 | self.open[self.depth - 1].kind;
    atomic_store_explicit(&t->now, now, memory_order_relaxed);
    atomic_store_explicit(&t->now_job, self.job, memory_order_relaxed);
}

static span_track *find_track_locked(span_rec *r, const char *name)
{
    for (unsigned i = 0; i < r->n_tracks; i++)
        if (!r->tracks[i]->attached && strcmp(r->tracks[i]->name, name) == 0) return r->tracks[i];
    return NULL;
}

static void init_track(span_track *t, span_rec *r, const char *name)
{
    t->rec = r;
    t->id = (uint16_t)r->n_tracks;
    memcpy(t->name, name, sizeof t->name);
    atomic_init(&t->now, 0);
    atomic_init(&t->now_job, 0);
    atomic_init(&t->head, 0);
    atomic_init(&t->tail, 0);
}

/* The track of this name that no thread has, or `fresh`, which is NULL then. attach: a thread has it from now on. */
static span_track *take_track_locked(span_rec *r, const char *name, span_track **fresh, bool attach)
{
    span_track *t = find_track_locked(r, name);

    if (t == NULL && *fresh != NULL && r->n_tracks < SPAN_MAX_TRACKS) {
        t = *fresh;
        *fresh = NULL;
        init_track(t, r, name);
        r->tracks[r->n_tracks++] = t;
    }
    if (t != NULL) t->attached = attach;
    return t;
}

static cuzk_status take_track(span_rec *r, const char *name, bool attach, span_track **out)
{
    char cut[sizeof((span_track *)0)->name];
    span_track *t, *fresh = NULL;

    memset(cut, 0, sizeof cut);
    (void)snprintf(cut, sizeof cut, "%s", name); /* cut to fit is fine */
    (void)pthread_mutex_lock(&r->mu);
    t = take_track_locked(r, cut, &fresh, attach);
    (void)pthread_mutex_unlock(&r->mu);
    if (t == NULL) {
        fresh = aligned_alloc(_Alignof(span_track), sizeof *fresh);
        if (fresh == NULL) return FAIL(CUZK_ENOMEM, "track %s: out of memory", name);
        (void)pthread_mutex_lock(&r->mu);
        t = take_track_locked(r, cut, &fresh, attach);
        (void)pthread_mutex_unlock(&r->mu);
        free(fresh);
    }
    if (t == NULL)
        return FAIL(CUZK_ENOMEM, "track %s: %u tracks are open, limit %u", name, SPAN_MAX_TRACKS,
                    SPAN_MAX_TRACKS);
    *out = t;
    return CUZK_OK;
}

cuzk_status span_attach(span_rec *r, const char *name)
{
    span_track *t;

    span_detach();
    if (r == NULL) return CUZK_OK;
    TRY(take_track(r, name, true, &t));
    self.track = t;
    return CUZK_OK;
}

void span_note_wait(span_rec *r, span_kind kind, uint64_t from_ns, uint64_t to_ns, uint64_t job,
                    int32_t partition)
{
    span_entry e = {.start = from_ns,
                    .end = to_ns,
                    .job = job,
                    .partition = partition,
                    .kind = (uint8_t)kind,
                    .overlaps = 1};
    span_track *t;

    if (r == NULL || to_ns <= from_ns || take_track(r, "waits", false, &t) != CUZK_OK) return;
    e.track = t->id;
    (void)pthread_mutex_lock(&r->mu);
    (void)store_locked(r, &e, 1);
    (void)pthread_mutex_unlock(&r->mu);
}

void span_note(const char *track, const span_noted *s, size_t n, bool overlap)
{
    span_rec *r = span_recorder();
    span_track *t;

    if (r == NULL || n == 0 || take_track(r, track, false, &t) != CUZK_OK) return;
    (void)pthread_mutex_lock(&r->mu);
    for (size_t i = 0; i < n; i++) {
        unsigned within = s[i].within < SPAN_KINDS ? s[i].within + 1u : 0;
        span_entry e = {.start = s[i].from,
                        .end = s[i].to,
                        .job = self.job,
                        .partition = self.partition,
                        .track = t->id,
                        .kind = (uint8_t)s[i].kind,
                        .overlaps = overlap,
                        .within = within & 127u};

        if (e.end > e.start) (void)store_locked(r, &e, 1);
    }
    (void)pthread_mutex_unlock(&r->mu);
}

void span_detach(void)
{
    span_track *t = self.track;

    self.track = NULL;
    self.depth = 0;
    span_context(0, -1);
    if (t == NULL) return;
    show(t);
    (void)pthread_mutex_lock(&t->rec->mu);
    span_drain_locked(t->rec, t);
    t->attached = false;
    (void)pthread_mutex_unlock(&t->rec->mu);
}

span_rec *span_recorder(void)
{
    return self.track == NULL ? NULL : self.track->rec;
}

void span_context(uint64_t job, int32_t partition)
{
    self.job = job;
    self.partition = partition;
}

span_place span_here(void)
{
    span_place p = {self.job, self.partition, SPAN_TASK, false};

    for (unsigned i = self.depth; i-- > 0 && !p.in_leaf;) {
        if (!span_counts(self.open[i].kind)) continue;
        p.leaf = self.open[i].kind;
        p.in_leaf = true;
    }
    return p;
}

/* ---- spans ---- */

span span_open(span_kind kind)
{
    span s = {0, kind};

    /* deeper than any real nesting: not recorded, so that reports need no heap */
    if (self.track == NULL || self.depth == SPAN_MAX_DEPTH) return s;
    s.start = clock_ns();
    self.open[self.depth++] = s;
    show(self.track);
    return s;
}

void span_close(const span *s)
{
    span_track *t = self.track;
    span_entry *e;
    uint64_t head;

    if (s->start == 0 || t == NULL) return;
    if (self.depth > 0) self.depth--;
    show(t);
    head = atomic_load_explicit(&t->head, memory_order_relaxed); /* ours to write */
    if (head - atomic_load_explicit(&t->tail, memory_order_acquire) == SPAN_RING) {
        (void)pthread_mutex_lock(&t->rec->mu);
        span_drain_locked(t->rec, t);
        (void)pthread_mutex_unlock(&t->rec->mu);
    }
    e = &t->ring[head % SPAN_RING];
    e->start = s->start;
    e->end = clock_ns();
    e->job = self.job;
    e->partition = self.partition;
    e->track = t->id;
    e->kind = (uint8_t)s->kind;
    e->overlaps = 0;
    e->within = 0;
    atomic_store_explicit(&t->head, head + 1, memory_order_release); /* see span_track */
}
