/*
 * base/span_trace.c - what was recorded as a Chrome trace
 *
 * Format: the JSON object form of the Trace Event Format; "X" events with microseconds, one "M" event a track.
 * Spans are copied out of the store in small batches, so that no recording thread waits for the writer.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/span_trace.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/span_store.h"

#define BATCH 128u

static const char *category(char group)
{
    switch (group) {
    case 'P': return "parent";
    case 'I': return "io";
    case 'W': return "wait";
    case 'D': return "device";
    default: return "cpu";
    }
}

static void put_job(bytes_out *out, const span_entry *e)
{
    if (e->job != 0 || e->within != 0) {
        bytes_printf(out, ",\"args\":{\"job\":%llu", (unsigned long long)e->job);
        if (e->partition >= 0) bytes_printf(out, ",\"partition\":%d", (int)e->partition);
        if (e->within != 0)
            bytes_printf(out, ",\"of\":\"%s\"", span_name((span_kind)(e->within - 1)));
        bytes_printf(out, "}");
    }
    bytes_printf(out, "}");
}

/* A span that may overlap others of its track: a pair of asynchronous events. */
static void put_overlapping(bytes_out *out, const span_entry *e, uint64_t epoch)
{
    const uint64_t at[] = {e->start < epoch ? 0 : e->start - epoch,
                           e->end < epoch ? 0 : e->end - epoch};

    for (unsigned k = 0; k < 2; k++) {
        bytes_printf(
            out,
            ",\n{\"ph\":\"%c\",\"name\":\"%s\",\"cat\":\"%s\",\"id\":\"%llu.%d\",\"pid\":1,"
            "\"tid\":%u,\"ts\":%llu.%03u",
            k == 0 ? 'b' : 'e', span_name((span_kind)e->kind),
            category(span_group((span_kind)e->kind)), (unsigned long long)e->job, (int)e->partition,
            e->track + 1u, (unsigned long long)(at[k] / 1000), (unsigned)(at[k] % 1000));
        put_job(out, e);
    }
}

static void put_entry(bytes_out *out, const span_entry *e, uint64_t epoch)
{
    uint64_t ts = e->start < epoch ? 0 : e->start - epoch, dur = e->end - e->start;

    if (e->overlaps) {
        put_overlapping(out, e, epoch);
        return;
    }

    bytes_printf(out,
                 ",\n{\"ph\":\"X\",\"name\":\"%s\",\"cat\":\"%s\",\"pid\":1,\"tid\":%u,"
                 "\"ts\":%llu.%03u,\"dur\":%llu.%03u",
                 span_name((span_kind)e->kind), category(span_group((span_kind)e->kind)),
                 e->track + 1u, (unsigned long long)(ts / 1000), (unsigned)(ts % 1000),
                 (unsigned long long)(dur / 1000), (unsigned)(dur % 1000));
    put_job(out, e);
}

/* ---- how much ---- */

#define MAX_EVENT 320u /* bytes of one event: 100 of fixed text, names of at most 31, six numbers */
#define MAX_TRACK (80u + 6 * sizeof((span_track *)NULL)->name)
#define MAX_FRAME 256u /* what stands around the events */

static size_t most_of(const span_entry *e)
{
    return e->overlaps ? 2 * MAX_EVENT : MAX_EVENT;
}

static bool is_wanted(const span_trace *t, const span_entry *e)
{
    return (t->job == 0 || e->job == t->job) && e->end > t->from_ns;
}

void span_trace_plan(span_trace *t, span_rec *r, uint64_t job, uint64_t from_ns, size_t max_bytes)
{
    span_entry batch[BATCH];
    uint64_t i;
    unsigned n;

    *t = (span_trace){.r = r, .job = job, .from_ns = from_ns, .max_bytes = max_bytes};
    span_gather(r, &t->i, &t->end, &t->n_tracks);
    i = t->i;
    while ((n = span_take(r, batch, BATCH, &i, t->end)) != 0)
        for (unsigned k = 0; k < n; k++)
            if (is_wanted(t, &batch[k])) {
                t->n++;
                t->total += most_of(&batch[k]);
            }
    t->bytes = t->total + MAX_FRAME + t->n_tracks * MAX_TRACK;
    if (max_bytes != 0 && t->bytes > max_bytes) t->bytes = max_bytes;
}

/* ---- the text ---- */

static void put_tracks(bytes_out *out, const span_trace *t)
{
    bytes_printf(out,
                 "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
                 "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"cuzk\"}}");
    for (unsigned k = 0; k < t->n_tracks; k++) { /* the first n_tracks pointers never change */
        bytes_printf(out, ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":%u,", k + 1);
        bytes_printf(out, "\"args\":{\"name\":");
        json_put_string(out, t->r->tracks[k]->name);
        bytes_printf(out, "}}");
    }
}

/* The newest of those wanted that fit; how many. */
static uint64_t put_newest(bytes_out *out, const span_trace *t, size_t room)
{
    span_entry batch[BATCH];
    uint64_t i = t->i, written = 0;
    size_t left = t->total;
    unsigned n;

    while ((n = span_take(t->r, batch, BATCH, &i, t->end)) != 0)
        for (unsigned k = 0; k < n; k++) {
            const span_entry *e = &batch[k];
            size_t before = out->size;

            if (!is_wanted(t, e)) continue;
            if (left <= room) {
                put_entry(out, e, t->r->epoch);
                VERIFY(out->size - before <= most_of(e));
                (void)before; /* elsewhere */
                written++;
            }
            left -= most_of(e);
        }
    return written;
}

cuzk_status span_trace_write(const span_trace *t, struct bytes_out *out)
{
    size_t from = out->size, room = SIZE_MAX, head;
    uint64_t written;

    put_tracks(out, t);
    head = out->size - from + MAX_FRAME;
    if (t->max_bytes != 0) room = t->max_bytes > head ? t->max_bytes - head : 0;
    written = put_newest(out, t, room);
    bytes_printf(out, "\n],\"otherData\":{\"dropped\":%llu,\"left_out\":%llu",
                 (unsigned long long)span_dropped(t->r), (unsigned long long)(t->n - written));
    if (t->max_bytes != 0) bytes_printf(out, ",\"limit_bytes\":%zu", t->max_bytes);
    bytes_printf(out, "}}\n");
    return bytes_out_status(out);
}

cuzk_status span_write_trace(span_rec *r, struct bytes_out *out)
{
    span_trace t;

    span_trace_plan(&t, r, 0, 0, 0);
    return span_trace_write(&t, out);
}

void span_each(span_rec *r, uint64_t from_ns, span_seen_fn fn, void *ctx)
{
    span_entry batch[BATCH];
    uint64_t i, end, now;
    unsigned n, n_tracks;

    span_gather(r, &i, &end, &n_tracks);
    while ((n = span_take(r, batch, BATCH, &i, end)) != 0)
        for (unsigned k = 0; k < n; k++) {
            const span_entry *e = &batch[k];
            span_seen s = {r->tracks[e->track]->name,
                           e->track,
                           (span_kind)e->kind,
                           e->start,
                           e->end,
                           e->job,
                           e->partition};

            if (e->end > from_ns && e->track < n_tracks) fn(ctx, &s);
        }
    now = clock_ns();
    for (unsigned k = 0; k < n_tracks; k++) {
        uint64_t in = atomic_load_explicit(&r->tracks[k]->now, memory_order_relaxed);
        span_seen s = {r->tracks[k]->name, k, (span_kind)(in & 0xff), in >> 8 << 4, now, 0, -1};

        s.job = atomic_load_explicit(&r->tracks[k]->now_job, memory_order_relaxed);
        if (in != 0) fn(ctx, &s);
    }
}
