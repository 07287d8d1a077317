/*
 * engine/service_history.c - what /status tells of the time since the start: counters, latency, errors, gaps, coverage, the store
 *
 * Fields: docs/formats/status.md.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <inttypes.h>

#include "base/clock.h"
#include "engine/service.h"

#define MS ((uint64_t)1000000)
#define HOUR ((uint64_t)3600 * 1000000000)

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static void put_latency(service *s, bytes_out *o, uint64_t now)
{
    uint64_t proofs = 0;
    bool first = true;

    bytes_printf(o, ",\"latency\":[");
    for (unsigned k = 0; k < SVC_KINDS; k++) {
        uint32_t ms[SVC_LATENCIES];
        size_t n = 0;

        svc_lock(s);
        for (uint64_t i = 0; i < SVC_LATENCIES && i < s->latency[k].n; i++)
            if (now - s->latency[k].ended[i] < HOUR) ms[n++] = s->latency[k].ms[i];
        svc_unlock(s);
        if (n == 0) continue;
        proofs += n;
        qsort(ms, n, sizeof ms[0], by_value);
        bytes_printf(o,
                     "%s{\"kind\":\"%s\",\"n\":%zu,\"p50_ms\":%" PRIu32 ",\"p99_ms\":%" PRIu32 "}",
                     first ? "" : ",", svc_kind_names[k], n, ms[n / 2], ms[n * 99 / 100]);
        first = false;
    }
    bytes_printf(o, "],\"throughput\":{\"proofs_last_hour\":%" PRIu64 "}", proofs);
}

static void put_errors_and_gaps(service *s, bytes_out *o)
{
    static const size_t size = SVC_ERRORS;
    svc_error_row *e = calloc(size, sizeof *e);
    svc_gap_row *g = calloc(size, sizeof *g);
    uint64_t n_e = 0, n_g = 0;

    if (e != NULL && g != NULL) {
        svc_lock(s);
        for (; n_e < size && n_e < s->n_errors; n_e++)
            e[n_e] = s->errors[(s->n_errors - 1 - n_e) % size];
        for (; n_g < size && n_g < s->n_gaps; n_g++) g[n_g] = s->gaps[(s->n_gaps - 1 - n_g) % size];
        svc_unlock(s);
    }
    bytes_printf(o, ",\"errors\":[");
    for (uint64_t i = 0; i < n_e; i++) {
        bytes_printf(o, "%s{\"at_ms\":%" PRIu64 ",\"class\":\"%s\"", i == 0 ? "" : ",",
                     (e[i].at - s->epoch) / MS, cuzk_class_name(e[i].klass));
        svc_put_text(o, "job_id", e[i].job_id);
        svc_put_text(o, "where", e[i].where);
        svc_put_text(o, "message", e[i].message);
        bytes_printf(o, "}");
    }
    bytes_printf(o, "],\"gaps\":[");
    for (uint64_t i = 0; i < n_g; i++) {
        bytes_printf(o, "%s{\"at_ms\":%" PRIu64 ",\"ms\":%.1f", i == 0 ? "" : ",",
                     (g[i].at - s->epoch) / MS, (double)g[i].ns / (double)MS);
        svc_put_text(o, "track", g[i].track);
        svc_put_text(o, "job_id", g[i].job_id);
        svc_put_text(o, "between", g[i].between);
        bytes_printf(o, "}");
    }
    bytes_printf(o, "]");
    free(e);
    free(g);
}

static double percentile_ms(const store_stats *t, double p)
{
    uint64_t n = 0, sum = 0;

    for (unsigned b = 0; b < STORE_BUCKETS; b++) n += t->sync_buckets[b];
    for (unsigned b = 0; b < STORE_BUCKETS - 1; b++) {
        sum += t->sync_buckets[b];
        if (n != 0 && (double)sum >= p * (double)n) return store_bucket_ms[b];
    }
    return n == 0 ? 0 : store_bucket_ms[STORE_BUCKETS - 2];
}

static void put_store(service *s, bytes_out *o)
{
    store_stats t;

    if (s->store == NULL) {
        bytes_printf(o, ",\"store\":null");
        return;
    }
    store_stats_get(s->store, &t);
    bytes_printf(o,
                 ",\"store\":{\"jobs\":%" PRIu64 ",\"payloads\":%" PRIu64 ",\"bytes\":%" PRIu64
                 ",\"max_bytes\":%" PRIu64
                 ",\"sync_p50_ms\":%g,\"sync_p99_ms\":%g,\"pending\":%" PRIu64
                 ",\"failures\":%" PRIu64 ",\"full\":%s}",
                 t.jobs, t.payloads, t.bytes, t.max_bytes, percentile_ms(&t, 0.5),
                 percentile_ms(&t, 0.99), t.pending, t.failures, t.full ? "true" : "false");
}

void svc_put_counters(service *s, bytes_out *o, uint64_t depth)
{
    svc_counts c;
    uint64_t done = 0, bad = 0;

    svc_lock(s);
    c = s->counts;
    svc_unlock(s);
    for (unsigned k = 0; k < SVC_KINDS; k++) {
        done += c.completed[k];
        bad += c.failed[k];
    }
    bytes_printf(o,
                 ",\"counters\":{\"total_completed\":%" PRIu64 ",\"total_failed\":%" PRIu64
                 ",\"completed_by_kind\":{",
                 done, bad);
    for (unsigned k = 0; k < SVC_KINDS; k++)
        bytes_printf(o, "%s\"%s\":%" PRIu64, k == 0 ? "" : ",", svc_kind_names[k], c.completed[k]);
    bytes_printf(o, "},\"failed_by_kind\":{");
    for (unsigned k = 0; k < SVC_KINDS; k++)
        bytes_printf(o, "%s\"%s\":%" PRIu64, k == 0 ? "" : ",", svc_kind_names[k], c.failed[k]);
    bytes_printf(o,
                 "},\"queue_depth\":%" PRIu64 ",\"partitions\":%" PRIu64 ",\"retries\":%" PRIu64
                 ",\"duplicates\":%" PRIu64 ",\"refused\":%" PRIu64 "}",
                 depth, c.partitions, c.retries, c.duplicates, c.refused);
}

static void put_coverage(service *s, bytes_out *o)
{
    uint64_t job_rest, job_total, wall, attributed, step;

    svc_lock(s);
    job_rest = s->job_rest_ns;
    job_total = s->job_total_ns;
    wall = s->worker_wall_ns;
    attributed = s->worker_attributed_ns;
    step = s->safe_point_max_ns;
    svc_unlock(s);
    bytes_printf(
        o,
        ",\"coverage\":{\"jobs_percent\":%.3f,\"workers_percent\":%.3f},\"safe_point_max_ms\":%.1f",
        svc_percent(job_total - job_rest, job_total), svc_percent(attributed, wall),
        (double)step / (double)MS);
}

void svc_put_history(service *s, bytes_out *o, uint64_t now)
{
    put_latency(s, o, now);
    put_errors_and_gaps(s, o);
    put_coverage(s, o);
    put_store(s, o);
}
