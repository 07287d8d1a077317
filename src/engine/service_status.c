/*
 * engine/service_status.c - what is going on: /status as JSON, and the rows of GetStatus
 *
 * Fields: docs/formats/status.md. Jobs are held by a count while they are written, each under the lock by itself.
 * What was counted since the start, and a job's partitions, are written in service_history.c and service_parts.c.
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
#define S ((uint64_t)1000000000)
#define MAX_PIPELINES 200
#define MAX_ON_DEVICES 64  /* partitions that are told, more are only counted */
#define ENDED_FOR (60 * S) /* how long an ended job is still among the pipelines */

/* ---- choosing jobs, and holding them ---- */

typedef struct job_list {
    svc_job *jobs[MAX_PIPELINES];
    size_t n;
} job_list;

static void hold_locked(job_list *l, svc_job *j)
{
    j->out++;
    l->jobs[l->n++] = j;
}

/* Those that have not ended first, then the latest ended. */
static void choose(service *s, job_list *l, uint64_t now)
{
    l->n = 0;
    svc_lock(s);
    for (svc_job *j = s->oldest; j != NULL && l->n < MAX_PIPELINES; j = j->newer)
        if (!svc_job_ended(j) && j->at != JOB_ADMITTING) hold_locked(l, j);
    for (svc_job *j = s->newest; j != NULL && l->n < MAX_PIPELINES; j = j->older)
        if (svc_job_ended(j) && j->ended != 0 && now - j->ended < ENDED_FOR) hold_locked(l, j);
    svc_unlock(s);
}

static void let_go(const job_list *l)
{
    for (size_t i = 0; i < l->n; i++) svc_leave(l->jobs[i]);
}

/* ---- one job ---- */

static uint64_t ms_between(uint64_t from, uint64_t to)
{
    return from == 0 || to < from ? 0 : (to - from) / MS;
}

static void put_pipeline_locked(bytes_out *o, const svc_job *j, uint64_t now)
{
    uint64_t end = svc_job_ended(j) ? j->ended : now;

    bytes_printf(o, "{\"job_id\":");
    json_put_string(o, j->job_id);
    svc_put_text(o, "proof_kind", cuzk_kind_name(j->rq.kind));
    bytes_printf(o, ",\"started_secs_ago\":%.3f", (double)(now - j->clock.from) / (double)S);
    svc_put_u64(o, "total_partitions", j->n_parts);
    svc_put_u64(o, "partitions_done", j->n_done);
    svc_put_parts_locked(o, j, now);
    svc_put_text(o, "kind", cuzk_kind_name(j->rq.kind));
    svc_put_text(o, "request_id", j->request_id);
    svc_put_text(o, "priority", svc_priority_names[j->priority]);
    svc_put_text(o, "state", job_state_name(j->state));
    svc_put_text(o, "phase", svc_phase_locked(j));
    svc_put_u64(o, "queued_ms", ms_between(j->clock.from, j->started == 0 ? end : j->started));
    svc_put_u64(o, "total_ms", (end - j->clock.from) / MS);
    svc_put_error(o, &j->error, j->state == CUZK_JOB_FAILED);
    bytes_printf(o, "}");
}

static void put_pipelines(service *s, bytes_out *o, uint64_t now)
{
    job_list l;

    choose(s, &l, now);
    bytes_printf(o, ",\"pipelines\":[");
    for (size_t i = 0; i < l.n; i++) {
        if (i > 0) bytes_printf(o, ",");
        svc_lock(s);
        put_pipeline_locked(o, l.jobs[i], now);
        svc_unlock(s);
    }
    bytes_printf(o, "]");
    let_go(&l);
}

/* ---- the rest of /status ---- */

typedef struct live_counts {
    uint32_t pending[SVC_KINDS][CUZK_CRITICAL + 1], running[SVC_KINDS][CUZK_CRITICAL + 1];
    uint32_t parts[N_PART_STATES];
    struct on_device {
        int row;
        char job[128];
        const char *kind;
        uint32_t part;
        uint64_t since;
    } on[MAX_ON_DEVICES];
    size_t n_on;
} live_counts;

static void count_parts_locked(live_counts *c, const svc_job *j)
{
    for (uint32_t k = 0; k < j->n_parts; k++) {
        const svc_part *p = &j->parts[k];

        c->parts[p->state]++;
        if (p->state != PART_DEVICE || p->at == AT_FINISH) continue;
        if (p->device_to >= p->device_from) continue;
        if (c->n_on == MAX_ON_DEVICES) continue;
        struct on_device *on = &c->on[c->n_on++];

        *on =
            (struct on_device){.row = p->row, .kind = cuzk_kind_name(j->rq.kind), .part = p->index};
        on->since = p->device_from;
        (void)snprintf(on->job, sizeof on->job, "%s", j->job_id); /* cut is fine */
    }
}

static void count_live(service *s, live_counts *c)
{
    memset(c, 0, sizeof *c);
    svc_lock(s);
    for (svc_job *j = s->newest; j != NULL; j = j->older) {
        if (svc_job_ended(j)) continue;
        if (j->state == CUZK_JOB_RUNNING)
            c->running[svc_kind_index(j->rq.kind)][j->priority]++;
        else
            c->pending[svc_kind_index(j->rq.kind)][j->priority]++;
        if (j->at == JOB_IN_PARTS) count_parts_locked(c, j);
    }
    svc_unlock(s);
}

static void put_queues(bytes_out *o, const live_counts *c)
{
    bool first = true;

    bytes_printf(o, ",\"queues\":[");
    for (unsigned k = 0; k < SVC_KINDS; k++)
        for (unsigned p = CUZK_CRITICAL; p >= CUZK_LOW; p--) {
            if (c->pending[k][p] + c->running[k][p] == 0) continue;
            bytes_printf(o,
                         "%s{\"kind\":\"%s\",\"priority\":\"%s\",\"pending\":%" PRIu32
                         ",\"in_progress\":%" PRIu32 "}",
                         first ? "" : ",", svc_kind_names[k], svc_priority_names[p],
                         c->pending[k][p], c->running[k][p]);
            first = false;
        }
    bytes_printf(o, "]");
}

static void put_stages(service *s, bytes_out *o, const ledger_state *l)
{
    stage *const stages[] = {s->witness, s->decode, s->synthesis, s->device,
                             s->host,    s->finish, s->result};

    bytes_printf(o, ",\"stages\":[{\"name\":\"memory\",\"waiting\":%u,\"active\":%u,\"workers\":0}",
                 l->waiting, l->held);
    for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++) {
        stage_state st;

        if (stages[i] == NULL) continue;
        stage_get(stages[i], &st);
        bytes_printf(o, ",{\"name\":\"%s\",\"waiting\":%u,\"active\":%u,\"workers\":%u}", st.name,
                     st.waiting, st.active, st.width);
    }
    bytes_printf(o, "]");
}

static void put_ledger(bytes_out *o, const ledger_state *l)
{
    bytes_printf(o,
                 ",\"ledger\":{\"budget_bytes\":%" PRIu64 ",\"reserved_bytes\":%" PRIu64
                 ",\"critical_reserve_bytes\":%" PRIu64 ",\"waiting\":%u,\"owners\":[",
                 l->total, l->used, l->critical, l->waiting);
    for (unsigned i = 0; i < LEDGER_N_OWNERS; i++)
        bytes_printf(o, "%s{\"name\":\"%s\",\"bytes\":%" PRIu64 "}", i == 0 ? "" : ",",
                     ledger_owner_name(i), l->owners[i]);
    bytes_printf(o, "]}");
}

static const char *const tiers[] = {"hot", "warm", "cold"};
#define MAX_KEYS 256

static void put_keys(bytes_out *o, const keys_row *rows, size_t n, uint64_t now)
{
    bool first = true;

    bytes_printf(o, ",\"keys\":[");
    for (size_t i = 0; i < n; i++) {
        const keys_row *r = &rows[i];

        bytes_printf(o, "%s{\"circuit\":", i == 0 ? "" : ",");
        json_put_string(o, r->name);
        bytes_printf(
            o,
            ",\"tier\":\"%s\",\"bytes\":%" PRIu64
            ",\"ref_count\":%u,\"state\":\"%s\",\"progress\":%.3f,\"last_used_secs_ago\":%.1f,"
            "\"device_bytes\":%" PRIu64 ",\"pinned\":%s,\"error\":",
            tiers[r->tier], r->bytes, r->refs, key_state_name(r->state), r->progress,
            r->last_used == 0 ? -1.0 : (double)(now - r->last_used) / (double)S, r->device_bytes,
            r->pinned ? "true" : "false");
        if (r->error[0] == 0)
            bytes_printf(o, "null");
        else
            json_put_string(o, r->error);
        bytes_printf(o, "}");
    }
    bytes_printf(o, "],\"allocations\":{\"srs\":[");
    for (size_t i = 0; i < n; i++) {
        const keys_row *r = &rows[i];

        if (r->state != KEY_LOADED) continue;
        bytes_printf(o, "%s{\"circuit_id\":", first ? "" : ",");
        json_put_string(o, r->name);
        bytes_printf(o, ",\"bytes\":%" PRIu64 ",\"last_used_secs_ago\":%.1f,\"evictable\":%s}",
                     r->bytes, (double)(now - r->last_used) / (double)S,
                     r->refs == 0 && !r->pinned ? "true" : "false");
        first = false;
    }
    bytes_printf(o, "],\"pce\":[");
    first = true;
    for (size_t i = 0; i < n; i++) {
        const keys_row *r = &rows[i];

        if (r->state != KEY_LOADED) continue;
        bytes_printf(o, "%s{\"circuit_id\":", first ? "" : ",");
        json_put_string(o, r->name);
        bytes_printf(o, ",\"bytes\":%" PRIu64 ",\"last_used_secs_ago\":%.1f,\"evictable\":%s}",
                     r->heap_bytes, (double)(now - r->last_used) / (double)S,
                     r->refs == 0 && !r->pinned ? "true" : "false");
        first = false;
    }
    bytes_printf(o, "]}");
}

/* The k-th partition on the device of this row; NULL: there are not so many. */
static const struct on_device *nth_on(const live_counts *c, int row, unsigned k)
{
    for (size_t i = 0; i < c->n_on; i++)
        if (c->on[i].row == row && k-- == 0) return &c->on[i];
    return NULL;
}

static void put_name(bytes_out *o, const char *key, const char *name)
{
    bytes_printf(o, ",\"%s\":", key);
    if (name == NULL)
        bytes_printf(o, "null");
    else
        json_put_string(o, name);
}

static void put_partition(bytes_out *o, const char *key, const struct on_device *on)
{
    bytes_printf(o, ",\"%s\":", key);
    bytes_printf(o, on != NULL ? "%" PRIu32 : "null", on != NULL ? on->part : 0);
}

/* One for each partition that a device takes at a time; urgent ones beyond that have a worker while they are there. */
static void put_workers(service *s, bytes_out *o, const live_counts *c, uint64_t now)
{
    unsigned id = 0;

    bytes_printf(o, ",\"gpu_workers\":[");
    for (unsigned i = 0; i < s->n_devices; i++) {
        const svc_device *v = &s->devices[i];
        unsigned width = atomic_load_explicit(&v->width, memory_order_relaxed);
        const struct on_device *on;

        for (unsigned k = 0; (on = nth_on(c, (int)i, k)) != NULL || k < width; k++) {
            bytes_printf(o, "%s{\"worker_id\":%u,\"gpu_ordinal\":%u,\"state\":\"%s\"",
                         id == 0 ? "" : ",", id, v->info.ordinal, on != NULL ? "proving" : "idle");
            put_name(o, "current_job", on == NULL ? NULL : on->job);
            put_partition(o, "current_partition", on);
            bytes_printf(o, ",\"busy_secs\":%.3f}",
                         on == NULL ? 0 : (double)(now - on->since) / (double)S);
            id++;
        }
    }
    bytes_printf(o, "]");
}

static void put_one_device(service *s, bytes_out *o, const live_counts *c, unsigned i, uint64_t now)
{
    svc_device *v = &s->devices[i];
    const struct on_device *on = nth_on(c, (int)i, 0);
    uint64_t busy, partitions, up = now - s->epoch;
    device_info info;
    bool retired;

    device_info_get(v->d, &info); /* its memory now */
    svc_lock(s);
    busy = svc_device_busy(v, now);
    partitions = v->partitions;
    retired = v->retired;
    svc_unlock(s);
    bytes_printf(o, "%s{\"name\":", i == 0 ? "" : ",");
    json_put_string(o, v->info.label);
    svc_put_text(o, "model", info.model);
    bytes_printf(o, ",\"ordinal\":%u,\"state\":\"%s\"", v->info.ordinal,
                 retired      ? "retired"
                 : on != NULL ? "proving"
                              : "idle");
    put_name(o, "job_id", on == NULL ? NULL : on->job);
    put_name(o, "kind", on == NULL ? NULL : on->kind);
    put_partition(o, "partition", on);
    bytes_printf(o, ",\"at_a_time\":%u", atomic_load_explicit(&v->width, memory_order_relaxed));
    svc_put_u64(o, "partitions", partitions);
    bytes_printf(o, ",\"busy_percent\":%.1f", up == 0 ? 0 : 100.0 * (double)busy / (double)up);
    svc_put_u64(o, "memory_total_bytes", info.memory_total);
    svc_put_u64(o, "memory_free_bytes", info.memory_free);
    bytes_printf(o, ",\"retired\":%s", retired ? "true" : "false");
    svc_put_gpu(s, o, i);
    bytes_printf(o, "}");
}

static void put_devices(service *s, bytes_out *o, const live_counts *c, uint64_t now)
{
    put_workers(s, o, c, now);
    bytes_printf(o, ",\"devices\":[");
    for (unsigned i = 0; i < s->n_devices; i++) put_one_device(s, o, c, i, now);
    bytes_printf(o, "]");
}

/* What the service proves on, in a word. */
static void put_host(service *s, bytes_out *o)
{
    char text[96];
    const device_info *first = &s->devices[0].info;

    if (s->n_devices == 1)
        (void)snprintf(text, sizeof text, "%s", first->label);
    else
        (void)snprintf(text, sizeof text, "%s and %u more", first->label, s->n_devices - 1);
    bytes_printf(o, ",\"host\":{\"cpus\":%u", pool_threads(s->e->pool));
    svc_put_text(o, "cpu_table", cpu_table_name(s->e->table));
    svc_put_text(o, "device", text);
    bytes_printf(o, "}");
}

cuzk_status svc_status_json(service *s, bytes_out *o)
{
    uint64_t now = clock_ns();
    ledger_state l;
    live_counts c;
    stage_state synth, finishing;
    keys_row *rows = calloc(MAX_KEYS, sizeof *rows);
    size_t n_keys = rows == NULL ? 0 : keys_rows(s->keys, rows, MAX_KEYS);
    uint64_t depth = 0;

    if (n_keys > MAX_KEYS) n_keys = MAX_KEYS;
    ledger_get(s->ledger, &l);
    count_live(s, &c);
    stage_get(s->synthesis, &synth);
    stage_get(s->finish, &finishing);
    for (unsigned k = 0; k < SVC_KINDS; k++)
        for (unsigned p = 0; p <= CUZK_CRITICAL; p++) depth += c.pending[k][p];
    bytes_printf(o,
                 "{\"uptime_secs\":%" PRIu64 ",\"version\":\"%s\",\"now_ms\":%" PRIu64
                 ",\"state\":\"%s\"",
                 (now - s->epoch) / S, cuzk_version(), (now - s->epoch) / MS,
                 cuzk_service_draining((cuzk_service *)(void *)s) ? "draining" : "serving");
    put_host(s, o);
    bytes_printf(o,
                 ",\"memory\":{\"total_bytes\":%" PRIu64 ",\"used_bytes\":%" PRIu64
                 ",\"available_bytes\":%" PRIu64 "}",
                 l.total, l.used, l.total > l.used ? l.total - l.used : 0);
    bytes_printf(o, ",\"synthesis\":{\"max_concurrent\":%u,\"active\":%u}", synth.width,
                 synth.active);
    put_pipelines(s, o, now);
    put_devices(s, o, &c, now);
    put_keys(o, rows, n_keys, now);
    free(rows);
    svc_put_counters(s, o, depth);
    bytes_printf(o,
                 ",\"buffers\":{\"synth_in_flight\":%u,\"provers_in_flight\":%" PRIu32
                 ",\"aux_in_flight\":%u,\"shells_in_flight\":0,\"pending_handles\":%u}",
                 synth.active, c.parts[PART_DEVICE],
                 c.parts[PART_SYNTHESISED] + c.parts[PART_DEVICE],
                 finishing.waiting + finishing.active);
    put_queues(o, &c);
    put_stages(s, o, &l);
    put_ledger(o, &l);
    svc_put_history(s, o, now);
    bytes_printf(o, "}\n");
    return bytes_out_status(o);
}

/* ---- rows ---- */

static void fill_device_row(cuzk_device_row *r, const svc_device *v, const struct on_device *on)
{
    device_info info;

    device_info_get(v->d, &info);
    r->ordinal = v->info.ordinal;
    (void)snprintf(r->name, sizeof r->name, "%.63s", info.gpu ? info.model : v->info.label);
    r->memory_total = info.memory_total;
    r->memory_free = info.memory_free;
    if (on == NULL) return;
    (void)snprintf(r->job_id, sizeof r->job_id, "%s", on->job);
    r->kind = on->kind;
}

cuzk_status cuzk_service_rows(cuzk_service *svc, cuzk_status_rows *out)
{
    service *s = service_of(svc);
    cuzk_status_rows r = {0};
    live_counts c;
    ledger_state l;
    keys_row *rows = calloc(MAX_KEYS, sizeof *rows);
    size_t n = rows == NULL ? 0 : keys_rows(s->keys, rows, MAX_KEYS);

    if (n > MAX_KEYS) n = MAX_KEYS;
    r.devices = calloc(s->n_devices, sizeof *r.devices);
    r.keys = calloc(n + 1, sizeof *r.keys);
    r.queues = calloc(SVC_KINDS, sizeof *r.queues);
    if (rows == NULL || r.devices == NULL || r.keys == NULL || r.queues == NULL) {
        free(rows);
        cuzk_status_rows_clear(&r);
        return FAIL(CUZK_ENOMEM, "status: out of memory");
    }
    count_live(s, &c);
    ledger_get(s->ledger, &l);
    for (; r.n_devices < s->n_devices; r.n_devices++)
        fill_device_row(&r.devices[r.n_devices], &s->devices[r.n_devices],
                        nth_on(&c, (int)r.n_devices, 0));
    for (; r.n_keys < n; r.n_keys++) {
        cuzk_key_row *k = &r.keys[r.n_keys];

        memcpy(k->circuit, rows[r.n_keys].name, sizeof k->circuit);
        k->tier = rows[r.n_keys].tier;
        k->bytes = rows[r.n_keys].bytes;
        k->ref_count = rows[r.n_keys].refs;
    }
    free(rows);
    for (unsigned k = 0; k < SVC_KINDS; k++) {
        cuzk_queue_row q = {.kind = svc_kind_names[k]};

        for (unsigned p = 0; p <= CUZK_CRITICAL; p++) {
            q.pending += c.pending[k][p];
            q.in_progress += c.running[k][p];
        }
        if (q.pending + q.in_progress != 0) r.queues[r.n_queues++] = q;
    }
    svc_lock(s);
    for (unsigned k = 0; k < SVC_KINDS; k++) {
        r.completed += s->counts.completed[k];
        r.failed += s->counts.failed[k];
    }
    svc_unlock(s);
    r.uptime_s = (clock_ns() - s->epoch) / S;
    r.memory_used = l.used;
    r.memory_limit = l.total;
    *out = r;
    return CUZK_OK;
}

void cuzk_status_rows_clear(cuzk_status_rows *r)
{
    free(r->devices);
    free(r->keys);
    free(r->queues);
    *r = (cuzk_status_rows){0};
}
