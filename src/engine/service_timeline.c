/*
 * engine/service_timeline.c - what each worker and device did of late, in bins; and documents by path
 *
 * A bin shows what took most of its 200 ms. Spans come in the order of their ends, inner ones before the ones around them;
 * a bin's owner is therefore decided by time alone, and an outer span counts only what its inner ones have left.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/span_trace.h"
#include "engine/service.h"

#define MS ((uint64_t)1000000)
#define BIN (200 * MS)
#define MAX_BINS 3000u /* ten minutes */
#define MAX_TRACKS 64u
#define TRACE_MIB 64u /* of a trace, where its request asks for nothing else */
#define TRACE_MAX_MIB 512u

typedef struct bin {
    uint32_t taken; /* us of it that belong to somebody */
    uint32_t best;  /* us of its owner */
    int16_t step;
    int32_t partition;
    uint64_t job;
} bin;

typedef struct track {
    const char *name;
    unsigned id;
    bin *bins;
} track;

typedef struct timeline {
    uint64_t from; /* clock_ns of bin 0 */
    uint32_t n_bins;
    track tracks[MAX_TRACKS];
    unsigned n_tracks;
} timeline;

static track *track_of(timeline *t, const span_seen *s)
{
    track *k;

    for (unsigned i = 0; i < t->n_tracks; i++)
        if (t->tracks[i].id == s->track_id) return &t->tracks[i];
    if (t->n_tracks == MAX_TRACKS) return NULL;
    k = &t->tracks[t->n_tracks];
    k->bins = calloc(t->n_bins, sizeof *k->bins);
    if (k->bins == NULL) return NULL;
    for (uint32_t b = 0; b < t->n_bins; b++) k->bins[b].step = -1;
    k->name = s->track;
    k->id = s->track_id;
    t->n_tracks++;
    return k;
}

static void paint(bin *b, const span_seen *s, uint64_t ns)
{
    uint32_t us = (uint32_t)(ns / 1000), left = (uint32_t)(BIN / 1000) - b->taken;

    if (us > left) us = left; /* the rest of it is its inner spans' */
    b->taken += us;
    if (us <= b->best) return;
    b->best = us;
    b->step = (int16_t)s->kind;
    b->partition = s->partition;
    b->job = s->job;
}

static void see(void *ctx, const span_seen *s)
{
    timeline *t = ctx;
    uint64_t start = s->start < t->from ? t->from : s->start, end = t->from + t->n_bins * BIN;
    track *k;

    if (span_group(s->kind) == 'P' || strcmp(s->track, "waits") == 0) return;
    if (end > s->end) end = s->end;
    if (start >= end) return;
    k = track_of(t, s);
    if (k == NULL) return;
    for (uint64_t at = start; at < end;) {
        uint32_t b = (uint32_t)((at - t->from) / BIN);
        uint64_t next = t->from + (b + 1) * BIN;

        if (next > end) next = end;
        paint(&k->bins[b], s, next - at);
        at = next;
    }
}

static bool same(const bin *a, const bin *b)
{
    return a->step == b->step && a->job == b->job && a->partition == b->partition;
}

/* Ids of the jobs that bins name: the list of jobs is walked once, however many bins there are. */
#define ID_CUT 128
typedef struct job_names {
    uint64_t *numbers; /* largest first, each once */
    char (*ids)[ID_CUT];
    size_t n;
} job_names;

static int largest_first(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x < y) - (x > y);
}

/* Numbers of jobs where runs begin: into out, when it is not NULL; how many. */
static size_t job_numbers(const timeline *t, uint64_t *out)
{
    size_t n = 0;

    for (unsigned i = 0; i < t->n_tracks; i++)
        for (uint32_t b = 0; b < t->n_bins; b++) {
            const bin *at = &t->tracks[i].bins[b];

            if (at->job == 0 || (b > 0 && at[-1].job == at->job)) continue;
            if (out != NULL) out[n] = at->job;
            n++;
        }
    return n;
}

/* Without memory there are no names. */
static void read_names(service *s, const timeline *t, job_names *out)
{
    size_t all = job_numbers(t, NULL);
    const svc_job *j;

    memset(out, 0, sizeof *out);
    out->numbers = calloc(all + 1, sizeof *out->numbers);
    if (out->numbers == NULL) return;
    (void)job_numbers(t, out->numbers);
    qsort(out->numbers, all, sizeof *out->numbers, largest_first);
    for (size_t i = 0; i < all; i++)
        if (i == 0 || out->numbers[i] != out->numbers[out->n - 1])
            out->numbers[out->n++] = out->numbers[i];
    out->ids = calloc(out->n + 1, sizeof *out->ids);
    if (out->ids == NULL) return;
    svc_lock(s);
    j = s->newest; /* numbers grow with each job: both lists have the largest first */
    for (size_t i = 0; i < out->n; i++) {
        while (j != NULL && j->number > out->numbers[i]) j = j->older;
        if (j != NULL && j->number == out->numbers[i])
            (void)snprintf(out->ids[i], ID_CUT, "%s", j->job_id); /* cut is fine */
    }
    svc_unlock(s);
}

static void clear_names(job_names *k)
{
    free(k->numbers);
    free(k->ids);
}

static void put_job_id(const job_names *k, bytes_out *o, uint64_t number)
{
    const uint64_t *at = NULL;
    const char *id = "";

    if (k->ids != NULL) at = bsearch(&number, k->numbers, k->n, sizeof *k->numbers, largest_first);
    if (at != NULL) id = k->ids[at - k->numbers];
    if (id[0] == 0)
        bytes_printf(o, "null");
    else
        json_put_string(o, id);
}

static void put_track(const job_names *names, bytes_out *o, const timeline *t, const track *k)
{
    bool first = true;

    bytes_printf(o, "{\"name\":");
    json_put_string(o, k->name);
    bytes_printf(o, ",\"runs\":[");
    for (uint32_t b = 0; b < t->n_bins;) {
        uint32_t n = 1;
        const bin *at = &k->bins[b];

        while (b + n < t->n_bins && same(at, &k->bins[b + n])) n++;
        bytes_printf(o, "%s[%" PRIu32 ",%" PRIu32 ",%d,", first ? "" : ",", b, n, at->step);
        put_job_id(names, o, at->job);
        bytes_printf(o, ",%d]", (int)at->partition);
        first = false;
        b += n;
    }
    bytes_printf(o, "]}");
}

cuzk_status svc_timeline_json(service *s, bytes_out *o, uint64_t since_ms)
{
    uint64_t now = clock_ns(), from = s->epoch + since_ms * MS;
    timeline t = {.from = from};
    job_names names;

    if (now - from > MAX_BINS * BIN || from > now)
        t.from = now > MAX_BINS * BIN + s->epoch ? now - MAX_BINS * BIN : s->epoch;
    if (from > now) t.from = now;
    t.n_bins = (uint32_t)((now - t.from) / BIN) + 1;
    span_each(s->e->rec, t.from, see, &t);
    bytes_printf(o, "{\"now_ms\":%" PRIu64 ",\"from_ms\":%" PRIu64 ",\"step_ms\":200,\"steps\":[",
                 (now - s->epoch) / MS, (t.from - s->epoch) / MS);
    for (unsigned k = 0; k < SPAN_KINDS; k++) {
        bytes_printf(o, k == 0 ? "" : ",");
        json_put_string(o, span_name((span_kind)k));
    }
    bytes_printf(o, "],\"tracks\":[");
    read_names(s, &t, &names);
    for (unsigned i = 0; i < t.n_tracks; i++) {
        bytes_printf(o, i == 0 ? "" : ",");
        put_track(&names, o, &t, &t.tracks[i]);
        free(t.tracks[i].bins);
    }
    clear_names(&names);
    bytes_printf(o, "]}\n");
    return bytes_out_status(o);
}

/* ---- trace ---- */

static void percent_decode(char *s)
{
    char *to = s;
    uint8_t b;

    for (; *s != 0; s++) {
        if (*s == '%' && s[1] != 0 && s[2] != 0 && hex_decode(&b, 1, s + 1, 2)) {
            *to++ = (char)b;
            s += 2;
        } else {
            *to++ = *s;
        }
    }
    *to = 0;
}

static cuzk_status number_of(service *s, const char *job_id, uint64_t *number)
{
    const svc_job *j;

    TRY(svc_recall(s, job_id, NULL));
    svc_lock(s);
    j = svc_find_born_locked(s, job_id);
    *number = j == NULL ? 0 : j->number;
    svc_unlock(s);
    if (j != NULL) return CUZK_OK;
    return status_fail(__FILE__, __LINE__, CUZK_EINVAL, CUZK_CLASS_NONE, "job_id",
                       "no job %.200s is known", job_id),
           CUZK_EINVAL;
}

cuzk_status svc_trace_json(service *s, bytes_out *o, const char *query)
{
    char id[CUZK_JOB_ID_MAX];
    uint64_t number = 0, seconds = svc_query_u64(query, "seconds", 0), now = clock_ns();
    uint64_t mib = svc_query_u64(query, "limit_mib", TRACE_MIB);
    span_trace t;
    cuzk_status st;
    uint64_t keep = s->c.trace_keep_ms == 0 ? 1800 : s->c.trace_keep_ms / 1000;

    svc_query_text(id, sizeof id, query, "job");
    percent_decode(id);
    if (id[0] != 0) TRY(number_of(s, id, &number));
    if (seconds == 0 || seconds > keep) seconds = keep;
    if (mib == 0 || mib > TRACE_MAX_MIB) mib = TRACE_MAX_MIB;
    span_trace_plan(&t, s->e->rec, number,
                    now / (1000 * MS) > seconds ? now - seconds * 1000 * MS : 0, (size_t)mib << 20);
    /* the text, and its copy; a request's, since it goes by itself: work waits for it and is not refused */
    ledger_charge(s->ledger, LEDGER_REQUESTS, 2 * (int64_t)t.bytes);
    st = span_trace_write(&t, o);
    ledger_charge(s->ledger, LEDGER_REQUESTS, -2 * (int64_t)t.bytes);
    return st;
}

/* ---- by path ---- */

static const char *const json_content = "application/json";

static cuzk_status write_document(service *s, bytes_out *o, char *path, const char *query,
                                  const char **type)
{
    *type = json_content;
    if (strcmp(path, "/status") == 0) return svc_status_json(s, o);
    if (strcmp(path, "/metrics") == 0) {
        *type = "text/plain; version=0.0.4; charset=utf-8";
        return svc_metrics_text(s, o);
    }
    if (strcmp(path, "/jobs") == 0) return svc_jobs_json(s, o, query);
    if (strncmp(path, "/jobs/", 6) == 0) {
        percent_decode(path + 6);
        return svc_job_json(s, o, path + 6);
    }
    if (strcmp(path, "/trace") == 0) return svc_trace_json(s, o, query);
    if (strcmp(path, "/timeline") == 0)
        return svc_timeline_json(s, o, svc_query_u64(query, "since", 0));
    if (strcmp(path, "/circuits") == 0) return keys_circuits_json(s->keys, o);
    return status_fail(__FILE__, __LINE__, CUZK_EINVAL, CUZK_CLASS_NONE, "path",
                       "no document %.100s", path),
           CUZK_EINVAL;
}

cuzk_status cuzk_service_document(cuzk_service *svc, const char *path, cuzk_buffer *body,
                                  const char **content_type)
{
    service *s = service_of(svc);
    bytes_out o;
    char *copy = strdup(path), *query;
    cuzk_status st;
    span sp = span_open(SPAN_DOCUMENT);

    if (copy == NULL) {
        span_close(&sp);
        return FAIL(CUZK_ENOMEM, "document: out of memory");
    }
    query = strchr(copy, '?');
    if (query != NULL) *query++ = 0;
    bytes_out_init(&o, s->m);
    st = write_document(s, &o, copy, query, content_type);
    if (st == CUZK_OK) st = buffer_from_out(body, &o);
    bytes_out_clear(&o);
    free(copy);
    span_close(&sp);
    return st;
}
