/*
 * engine/service_jobs_json.c - jobs as JSON: /jobs and /jobs/ID
 *
 * Fields: docs/formats/status.md.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "engine/service.h"

#define MS ((uint64_t)1000000)

typedef struct job_filter {
    char state[16], kind[32];
    uint64_t limit;
} job_filter;

void svc_query_text(char *out, size_t cap, const char *query, const char *name)
{
    size_t len = strlen(name);

    out[0] = 0;
    for (const char *at = query; at != NULL && *at != 0;) {
        size_t n = strcspn(at, "&");

        if (n > len && strncmp(at, name, len) == 0 && at[len] == '=')
            (void)snprintf(out, cap, "%.*s", (int)(n - len - 1), at + len + 1);
        at += n + (at[n] == '&');
    }
}

uint64_t svc_query_u64(const char *query, const char *name, uint64_t otherwise)
{
    char text[24];
    uint64_t v = 0;

    svc_query_text(text, sizeof text, query, name);
    if (text[0] == 0) return otherwise;
    for (const char *p = text; *p != 0; p++) {
        if (*p < '0' || *p > '9' || v > UINT64_MAX / 16) return otherwise;
        v = v * 10 + (uint64_t)(*p - '0');
    }
    return v;
}

static bool passes(const job_filter *f, const svc_job *j)
{
    if (f->state[0] != 0 && strcmp(f->state, job_state_name(j->state)) != 0) return false;
    return f->kind[0] == 0 || strcmp(f->kind, cuzk_kind_name(j->rq.kind)) == 0;
}

static void put_summary_locked(bytes_out *o, const svc_job *j, uint64_t now)
{
    uint64_t end = svc_job_ended(j) ? j->clock.last : now;
    /* a job of another process that had ended has its proof alone; an aggregate's size does not tell */
    bool tells = j->rq.kind < CUZK_GROTH16 && j->proof_size % GROTH16_PROOF_BYTES == 0;
    size_t n = j->n_parts != 0 || !tells ? j->n_parts : j->proof_size / GROTH16_PROOF_BYTES;

    bytes_printf(o, "{\"job_id\":");
    json_put_string(o, j->job_id);
    svc_put_text(o, "request_id", j->request_id);
    svc_put_text(o, "kind", cuzk_kind_name(j->rq.kind));
    svc_put_text(o, "priority", svc_priority_names[j->priority]);
    svc_put_text(o, "state", job_state_name(j->state));
    bytes_printf(o, ",\"created_at\":%.3f", (double)j->created_ms / 1000);
    bytes_printf(o, j->ended_ms == 0 ? ",\"ended_at\":null" : ",\"ended_at\":%.3f",
                 (double)j->ended_ms / 1000);
    svc_put_u64(o, "total_partitions", n);
    svc_put_u64(o, "partitions_done", j->n_parts == 0 ? n : j->n_done);
    svc_put_u64(o, "total_ms",
                j->restored && svc_job_ended(j) ? j->times.total_ms : (end - j->clock.from) / MS);
    svc_put_error(o, &j->error, j->state == CUZK_JOB_FAILED);
}

#define DEFAULT_JOBS 100
#define MAX_JOBS 10000
#define AT_ONCE 64

/* Held, so that the walk can go on from it. */
static svc_job *next_batch_locked(service *s, svc_job *from, const job_filter *f, uint64_t *left,
                                  bytes_out *o, bool *first, uint64_t now)
{
    svc_job *j = from == NULL ? s->newest : from->older;
    unsigned looked = 0;

    for (; j != NULL && *left > 0; j = j->older) {
        if (passes(f, j)) {
            bytes_printf(o, *first ? "" : ",");
            put_summary_locked(o, j, now);
            bytes_printf(o, "}");
            *first = false;
            (*left)--;
        }
        if (++looked == AT_ONCE) break;
    }
    if (j == NULL || *left == 0) return NULL;
    j->out++;
    return j;
}

cuzk_status svc_jobs_json(service *s, bytes_out *o, const char *query)
{
    job_filter f;
    svc_job *at = NULL;
    uint64_t now = clock_ns();
    bool first = true;

    svc_query_text(f.state, sizeof f.state, query, "state");
    svc_query_text(f.kind, sizeof f.kind, query, "kind");
    f.limit = svc_query_u64(query, "limit", DEFAULT_JOBS);
    if (f.limit > MAX_JOBS) f.limit = MAX_JOBS;
    bytes_printf(o, "{\"jobs\":[");
    do {
        svc_job *before = at;

        svc_lock(s);
        at = next_batch_locked(s, before, &f, &f.limit, o, &first, now);
        svc_unlock(s);
        if (before != NULL) svc_leave(before);
    } while (at != NULL);
    bytes_printf(o, "]}\n");
    return bytes_out_status(o);
}

static void put_times(bytes_out *o, const cuzk_job_times *t)
{
    bytes_printf(o,
                 ",\"times\":{\"queue_ms\":%" PRIu64 ",\"srs_load_ms\":%" PRIu64
                 ",\"synthesis_ms\":%" PRIu64 ",\"gpu_ms\":%" PRIu64 ",\"decode_ms\":%" PRIu64
                 ",\"verify_ms\":%" PRIu64 ",\"store_ms\":%" PRIu64 ",\"rest_ms\":%" PRIu64
                 ",\"total_ms\":%" PRIu64 "}",
                 t->queue_ms, t->key_ms, t->synthesis_ms, t->device_ms, t->decode_ms, t->verify_ms,
                 t->store_ms, t->rest_ms, t->total_ms);
}

static void put_attribution(service *s, bytes_out *o, const svc_job *j, const cuzk_job_times *t)
{
    cuzk_attribution *a = calloc(1, sizeof *a);

    if (a == NULL) return;
    span_job_steps(s->e->rec, j->number, a);
    bytes_printf(o, ",\"attribution\":{\"coverage_percent\":%.2f,\"steps\":[",
                 svc_percent(t->total_ms - t->rest_ms, t->total_ms));
    for (size_t i = 0; i < a->n_steps; i++) {
        bytes_printf(o, "%s{\"name\":", i == 0 ? "" : ",");
        json_put_string(o, a->steps[i].name);
        bytes_printf(o, ",\"ms\":%.3f,\"n\":%" PRIu64 "}",
                     (double)a->steps[i].total_ns / (double)MS, a->steps[i].n);
    }
    bytes_printf(o, "]}");
    free(a);
}

cuzk_status svc_job_json(service *s, bytes_out *o, const char *job_id)
{
    uint64_t now = clock_ns();
    cuzk_job_times t;
    svc_job *j;

    TRY(svc_recall(s, job_id, NULL));
    svc_lock(s);
    j = svc_find_born_locked(s, job_id);
    if (j != NULL) j->out++;
    svc_unlock(s);
    if (j == NULL)
        return status_fail(__FILE__, __LINE__, CUZK_EINVAL, CUZK_CLASS_NONE, "job_id",
                           "no job %.200s is known", job_id),
               CUZK_EINVAL;
    svc_lock(s);
    put_summary_locked(o, j, now);
    svc_put_parts_locked(o, j, now);
    t = j->times;
    if (!svc_job_ended(j)) job_clock_read(&j->clock, now, &t);
    svc_unlock(s);
    put_times(o, &t);
    put_attribution(s, o, j, &t);
    bytes_printf(o, "}\n");
    svc_leave(j);
    return bytes_out_status(o);
}
