/*
 * base/span_report.c - attribution: which leaf step each instant of a thread belongs to
 *
 * One track's spans are stored by their ends, and they nest. Read backwards they are therefore a walk from the
 * latest instant to the earliest that meets each span before those inside it: a stack of the spans open at the
 * cursor is all the memory it takes, and nothing has to be sorted.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/clock.h"
#include "base/span_store.h"

#include <stdio.h>
#include <string.h>

_Static_assert(SPAN_KINDS <= sizeof((cuzk_attribution *)0)->steps / sizeof(cuzk_step),
               "every kind has its step");

typedef struct walk {
    uint64_t from, cursor; /* what lies after the cursor is attributed */
    span stack[SPAN_MAX_DEPTH + 1];
    unsigned depth;
    const char *right; /* name of the span that starts at the cursor, or "the end" */
    uint64_t n[SPAN_KINDS], total[SPAN_KINDS];
    uint64_t worst_gap;
    const char *gap_left, *gap_right;
} walk;

/* [at, cursor) belongs to the innermost open span. */
static void move_inside(walk *w, uint64_t at)
{
    if (at >= w->cursor) return;
    w->total[w->stack[w->depth - 1].kind] += w->cursor - at;
    w->cursor = at;
}

/* [at, cursor) belongs to nobody. */
static void move_gap(walk *w, uint64_t at, const char *left)
{
    if (at >= w->cursor) return;
    if (w->cursor - at > w->worst_gap) {
        w->worst_gap = w->cursor - at;
        w->gap_left = left;
        w->gap_right = w->right;
    }
    w->cursor = at;
}

/* Leaves the spans that lie wholly at or after `at`. */
static void leave(walk *w, uint64_t at)
{
    while (w->depth > 0 && w->stack[w->depth - 1].start >= at) {
        move_inside(w, w->stack[w->depth - 1].start);
        w->right = span_name(w->stack[w->depth - 1].kind);
        w->depth--;
    }
}

/* The next span, going back in time. */
static void meet(walk *w, span_kind kind, uint64_t start, uint64_t end)
{
    if (!span_counts(kind)) return;
    if (start < w->from) start = w->from;
    leave(w, end);
    if (w->depth > 0)
        move_inside(w, end);
    else
        move_gap(w, end, span_name(kind));
    w->n[kind]++;
    if (w->depth == sizeof w->stack / sizeof w->stack[0])
        return; /* only by spans that do not nest */
    w->stack[w->depth].start = start;
    w->stack[w->depth++].kind = kind;
}

static void walk_track_locked(walk *w, const span_rec *r, const span_track *t, uint64_t to)
{
    for (uint64_t i = r->n; i > r->dropped; i--) {
        const span_entry *e = span_at_locked(r, i - 1);

        if (e->track != t->id || e->start >= to) continue;
        if (e->end <= w->from) break; /* and so did all before it */
        meet(w, (span_kind)e->kind, e->start, e->end);
    }
}

/* Insertion by total, largest first. */
static void add_step(cuzk_attribution *out, span_kind k, uint64_t n, uint64_t total)
{
    size_t i = out->n_steps++;

    for (; i > 0 && out->steps[i - 1].total_ns < total; i--) out->steps[i] = out->steps[i - 1];
    out->steps[i].name = span_name(k);
    out->steps[i].n = n;
    out->steps[i].total_ns = total;
    out->attributed_ns += total;
}

void span_attribution(span_rec *r, uint64_t from_ns, uint64_t to_ns, cuzk_attribution *out)
{
    span_thread *self = span_self();
    span_track *t = self->track;
    walk w = {.from = from_ns, .cursor = to_ns, .right = "the end"};

    memset(out, 0, sizeof *out);
    if (to_ns <= from_ns) return;
    out->wall_ns = to_ns - from_ns;
    if (r != NULL && t != NULL && t->rec == r) {
        for (unsigned i = 0; i < self->depth; i++)
            if (self->open[i].start < to_ns)
                meet(&w, self->open[i].kind, self->open[i].start, to_ns);
        (void)pthread_mutex_lock(&r->mu);
        span_drain_locked(r, t);
        walk_track_locked(&w, r, t, to_ns);
        (void)pthread_mutex_unlock(&r->mu);
    }
    leave(&w, from_ns);
    move_gap(&w, from_ns, "the start");

    for (unsigned k = 0; k < SPAN_KINDS; k++)
        if (w.n[k] != 0) add_step(out, (span_kind)k, w.n[k], w.total[k]);
    out->worst_gap_ns = w.worst_gap;
    if (w.worst_gap != 0)
        (void)snprintf(out->worst_gap, sizeof out->worst_gap, "between %s and %s", w.gap_left,
                       w.gap_right); /* cut to fit is fine */
}

/* ---- all threads' spans of a job ---- */

typedef struct job_steps {
    uint64_t job, n[SPAN_KINDS], total[SPAN_KINDS];
    /* of each track, the leaf spans met last, to take what lies inside others away from them */
    struct job_track {
        span done[SPAN_MAX_DEPTH];
        uint64_t ends[SPAN_MAX_DEPTH];
        unsigned n;
    } * tracks[SPAN_MAX_TRACKS];
} job_steps;

/* Spans of a track come by their ends: one that begins before those kept holds them, and its time is without theirs. */
static void add_nested(job_steps *j, const span_seen *s)
{
    struct job_track *t = j->tracks[s->track_id];
    uint64_t inside = 0;

    if (t == NULL) t = j->tracks[s->track_id] = calloc(1, sizeof *t);
    if (t == NULL) return;
    while (t->n > 0 && t->done[t->n - 1].start >= s->start) {
        t->n--;
        inside += t->ends[t->n] - t->done[t->n].start;
    }
    if (s->end - s->start > inside) j->total[s->kind] += s->end - s->start - inside;
    if (t->n == SPAN_MAX_DEPTH) t->n--;
    t->done[t->n] = (span){s->start, s->kind};
    t->ends[t->n++] = s->end;
}

static void see(void *ctx, const span_seen *s)
{
    job_steps *j = ctx;

    if (s->job != j->job || !span_counts(s->kind)) return;
    j->n[s->kind]++;
    if (strcmp(s->track, "waits") == 0)
        j->total[s->kind] += s->end - s->start;
    else
        add_nested(j, s);
}

void span_job_steps(span_rec *r, uint64_t job, cuzk_attribution *out)
{
    job_steps *j = calloc(1, sizeof *j);

    memset(out, 0, sizeof *out);
    if (j == NULL) return;
    j->job = job;
    span_each(r, 0, see, j);
    for (unsigned k = 0; k < SPAN_KINDS; k++)
        if (j->n[k] != 0) add_step(out, (span_kind)k, j->n[k], j->total[k]);
    for (unsigned i = 0; i < SPAN_MAX_TRACKS; i++) free(j->tracks[i]);
    free(j);
}
