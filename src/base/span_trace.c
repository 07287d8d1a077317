/*
 * base/span_trace.c - everything recorded as a Chrome trace
 *
 * Format: the JSON object form of the Trace Event Format; "X" events with microseconds, one "M" event a track.
 * Spans are copied out of the store in small batches, so that no recording thread waits for the writer.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/json.h"
#include "base/span_store.h"

#define BATCH 128u

static const char *category(char group)
{
    switch (group) {
    case 'P': return "parent";
    case 'I': return "io";
    case 'W': return "wait";
    default: return "cpu";
    }
}

static void put_entry(bytes_out *out, const span_entry *e, uint64_t epoch)
{
    uint64_t ts = e->start < epoch ? 0 : e->start - epoch, dur = e->end - e->start;

    bytes_printf(out,
                 ",\n{\"ph\":\"X\",\"name\":\"%s\",\"cat\":\"%s\",\"pid\":1,\"tid\":%u,"
                 "\"ts\":%llu.%03u,\"dur\":%llu.%03u",
                 span_name((span_kind)e->kind), category(span_group((span_kind)e->kind)),
                 e->track + 1u, (unsigned long long)(ts / 1000), (unsigned)(ts % 1000),
                 (unsigned long long)(dur / 1000), (unsigned)(dur % 1000));
    if (e->job != 0) {
        bytes_printf(out, ",\"args\":{\"job\":%llu", (unsigned long long)e->job);
        if (e->partition >= 0) bytes_printf(out, ",\"partition\":%d", (int)e->partition);
        bytes_printf(out, "}");
    }
    bytes_printf(out, "}");
}

/* Copies at most BATCH spans from number *i on, skipping what was dropped meanwhile. */
static unsigned take(span_rec *r, span_entry *batch, uint64_t *i, uint64_t end)
{
    unsigned n = 0;

    (void)pthread_mutex_lock(&r->mu);
    if (*i < r->dropped) *i = r->dropped;
    for (; n < BATCH && *i < end; n++, ++*i) batch[n] = *span_at_locked(r, *i);
    (void)pthread_mutex_unlock(&r->mu);
    return n;
}

cuzk_status span_write_trace(span_rec *r, struct bytes_out *out)
{
    span_entry batch[BATCH];
    uint64_t i, end, dropped;
    unsigned n, n_tracks;

    (void)pthread_mutex_lock(&r->mu);
    n_tracks = r->n_tracks;
    for (unsigned k = 0; k < n_tracks; k++) span_drain_locked(r, r->tracks[k]);
    i = r->dropped;
    dropped = r->dropped + r->lost;
    end = r->n;
    (void)pthread_mutex_unlock(&r->mu);

    bytes_printf(out,
                 "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"dropped\":%llu},\"traceEvents\":[\n"
                 "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"cuzk\"}}",
                 (unsigned long long)dropped);
    for (unsigned k = 0; k < n_tracks; k++) { /* the first n_tracks pointers never change */
        bytes_printf(out, ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":%u,", k + 1);
        bytes_printf(out, "\"args\":{\"name\":");
        json_put_string(out, r->tracks[k]->name);
        bytes_printf(out, "}}");
    }
    while ((n = take(r, batch, &i, end)) != 0)
        for (unsigned k = 0; k < n; k++) put_entry(out, &batch[k], r->epoch);
    bytes_printf(out, "\n]}\n");
    return bytes_out_status(out);
}
