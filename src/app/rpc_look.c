/*
 * app/rpc_look.c - routes of keys and of what is going on: PreloadSRS, EvictSRS, GetStatus, GetMetrics, Operator.Get
 *
 * Source: spec/proving-api.md sections 1 and 2.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <string.h>

#include "app/rpc_int.h"
#include "wire/proto/proving.pb-c.h"

/** Text that the library holds as not const, and does not change. */
static char *text_of(const char *s)
{
    union {
        const char *in;
        char *out;
    } text = {s};
    return text.out;
}

/* ---- keys: seconds, on a lane of their own ---- */

/** Of a key that cannot be loaded: which file, and why, is the client's or the operator's to act on. */
static void key_fail(gcall *c, cuzk_status st)
{
    char text[700];

    if (st != CUZK_EIO && st != CUZK_EDATA) {
        rpc_fail(c, st);
        return;
    }
    rpc_error_text(text, sizeof text, cuzk_last_error());
    gcall_fail(c, GCODE_FAILED_PRECONDITION, "%s", text);
}

static void preload(void *ctx, gcall *c)
{
    const rpc *r = ctx;
    bytes_in in = gcall_request(c);
    Cuzk__V1__PreloadSrsRequest *q = cuzk__v1__preload_srs_request__unpack(NULL, in.size, in.data);
    Cuzk__V1__PreloadSrsResponse a = CUZK__V1__PRELOAD_SRS_RESPONSE__INIT;
    bool loaded = false;
    uint64_t ms = 0;
    cuzk_status st;

    if (!rpc_is_request(c, q, "a PreloadSrsRequest", "circuit_id")) {
        cuzk__v1__preload_srs_request__free_unpacked(q, NULL);
        return;
    }
    st = cuzk_key_preload(r->service, q->circuit_id, &loaded, &ms);
    a.already_loaded = loaded;
    a.load_time_ms = ms;
    if (st == CUZK_OK)
        gcall_reply_message(c, &a.base);
    else
        key_fail(c, st);
    cuzk__v1__preload_srs_request__free_unpacked(q, NULL);
}

static void evict(void *ctx, gcall *c)
{
    const rpc *r = ctx;
    bytes_in in = gcall_request(c);
    Cuzk__V1__EvictSrsRequest *q = cuzk__v1__evict_srs_request__unpack(NULL, in.size, in.data);
    Cuzk__V1__EvictSrsResponse a = CUZK__V1__EVICT_SRS_RESPONSE__INIT;
    bool loaded = false;
    cuzk_status st;

    if (!rpc_is_request(c, q, "an EvictSrsRequest", "circuit_id")) {
        cuzk__v1__evict_srs_request__free_unpacked(q, NULL);
        return;
    }
    st = cuzk_key_evict(r->service, q->circuit_id, &loaded, &a.freed_bytes);
    a.was_loaded = loaded;
    if (st == CUZK_OK)
        gcall_reply_message(c, &a.base);
    else
        key_fail(c, st);
    cuzk__v1__evict_srs_request__free_unpacked(q, NULL);
}

void rpc_preload(void *ctx, gcall *c)
{
    const rpc *r = ctx;

    rpc_lane_put(r->keys, preload, ctx, c);
}

void rpc_evict(void *ctx, gcall *c)
{
    const rpc *r = ctx;

    rpc_lane_put(r->keys, evict, ctx, c);
}

/* ---- status ---- */

/** The rows of a GetStatusResponse, as the library wants them: an array of pointers to messages. */
typedef struct status_rows {
    Cuzk__V1__GPUStatus *gpus, **gpu_list;
    Cuzk__V1__SRSStatus *keys, **key_list;
    Cuzk__V1__QueueStatus *queues, **queue_list;
} status_rows;

static void rows_clear(status_rows *w)
{
    free(w->gpus);
    free(w->gpu_list);
    free(w->keys);
    free(w->key_list);
    free(w->queues);
    free(w->queue_list);
}

static bool rows_new(status_rows *w, const cuzk_status_rows *s)
{
    memset(w, 0, sizeof *w);
    w->gpus = calloc(s->n_devices + 1, sizeof *w->gpus);
    w->gpu_list = calloc(s->n_devices + 1, sizeof(void *));
    w->keys = calloc(s->n_keys + 1, sizeof *w->keys);
    w->key_list = calloc(s->n_keys + 1, sizeof(void *));
    w->queues = calloc(s->n_queues + 1, sizeof *w->queues);
    w->queue_list = calloc(s->n_queues + 1, sizeof(void *));
    return w->gpus != NULL && w->gpu_list != NULL && w->keys != NULL && w->key_list != NULL &&
           w->queues != NULL && w->queue_list != NULL;
}

static void fill_gpus(Cuzk__V1__GetStatusResponse *a, status_rows *w, const cuzk_status_rows *s)
{
    for (size_t i = 0; i < s->n_devices; i++) {
        const cuzk_device_row *d = &s->devices[i];
        Cuzk__V1__GPUStatus *g = w->gpu_list[i] = &w->gpus[i];

        cuzk__v1__gpustatus__init(g);
        g->ordinal = d->ordinal;
        g->name = text_of(d->name);
        g->vram_total_bytes = d->memory_total;
        g->vram_free_bytes = d->memory_free;
        g->current_job_id = text_of(d->job_id);
        g->current_proof_kind = text_of(d->kind == NULL ? "" : d->kind);
    }
    a->n_gpus = s->n_devices;
    a->gpus = w->gpu_list;
}

static void fill_keys(Cuzk__V1__GetStatusResponse *a, status_rows *w, const cuzk_status_rows *s)
{
    static const Cuzk__V1__SRSStatus__Tier tiers[] = {
        [CUZK_HOT] = CUZK__V1__SRSSTATUS__TIER__HOT,
        [CUZK_WARM] = CUZK__V1__SRSSTATUS__TIER__WARM,
        [CUZK_COLD] = CUZK__V1__SRSSTATUS__TIER__COLD,
    };

    for (size_t i = 0; i < s->n_keys; i++) {
        const cuzk_key_row *k = &s->keys[i];
        Cuzk__V1__SRSStatus *m = w->key_list[i] = &w->keys[i];

        cuzk__v1__srsstatus__init(m);
        m->circuit_id = text_of(k->circuit);
        m->tier = tiers[k->tier];
        m->size_bytes = k->bytes;
        m->ref_count = k->ref_count;
    }
    a->n_loaded_srs = s->n_keys;
    a->loaded_srs = w->key_list;
}

static void fill_queues(Cuzk__V1__GetStatusResponse *a, status_rows *w, const cuzk_status_rows *s)
{
    for (size_t i = 0; i < s->n_queues; i++) {
        Cuzk__V1__QueueStatus *m = w->queue_list[i] = &w->queues[i];

        cuzk__v1__queue_status__init(m);
        m->proof_kind = text_of(s->queues[i].kind);
        m->pending = s->queues[i].pending;
        m->in_progress = s->queues[i].in_progress;
    }
    a->n_queues = s->n_queues;
    a->queues = w->queue_list;
}

void rpc_status(void *ctx, gcall *c)
{
    const rpc *r = ctx;
    Cuzk__V1__GetStatusResponse a = CUZK__V1__GET_STATUS_RESPONSE__INIT;
    cuzk_status_rows s;
    status_rows w;
    cuzk_status st = cuzk_service_rows(r->service, &s);

    if (st != CUZK_OK) {
        rpc_fail(c, st);
        return;
    }
    if (rows_new(&w, &s)) {
        fill_gpus(&a, &w, &s);
        fill_keys(&a, &w, &s);
        fill_queues(&a, &w, &s);
        a.total_proofs_completed = s.completed;
        a.total_proofs_failed = s.failed;
        a.uptime_seconds = s.uptime_s;
        a.pinned_memory_bytes = s.memory_used;
        a.pinned_memory_limit_bytes = s.memory_limit;
        gcall_reply_message(c, &a.base);
    } else {
        gcall_fail(c, GCODE_RESOURCE_EXHAUSTED, "out of memory");
    }
    rows_clear(&w);
    cuzk_status_rows_clear(&s);
}

/* ---- documents: the long ones take a while to write, on a lane of their own ---- */

static CUZK_STATUS document(rpc *r, const char *path, cuzk_buffer *body, const char **type)
{
    span sp = span_open(SPAN_DOCUMENT);
    cuzk_status st = cuzk_service_document(r->service, path, body, type);

    span_close(&sp);
    return st;
}

static void get_metrics(void *ctx, gcall *c)
{
    rpc *r = ctx;
    Cuzk__V1__GetMetricsResponse a = CUZK__V1__GET_METRICS_RESPONSE__INIT;
    cuzk_buffer body;
    const char *type;
    mem *m;
    bytes_out all;
    cuzk_status st = document(r, "/metrics", &body, &type);

    if (st == CUZK_OK) {
        st = mem_open(&m, "metrics", 0, NULL);
        if (st != CUZK_OK) cuzk_buffer_clear(&body);
    }
    if (st != CUZK_OK) {
        rpc_fail(c, st);
        return;
    }
    bytes_out_init(&all, m);
    bytes_put(&all, body.data, body.size);
    rpc_metrics(r, &all);
    bytes_put_u8(&all, 0);
    st = bytes_out_status(&all);
    if (st == CUZK_OK) {
        a.prometheus_text = (char *)all.data;
        gcall_reply_message(c, &a.base);
    } else {
        rpc_fail(c, st);
    }
    bytes_out_clear(&all);
    mem_close(m);
    cuzk_buffer_clear(&body);
}

void rpc_get_metrics(void *ctx, gcall *c)
{
    const rpc *r = ctx;

    rpc_lane_put(r->documents, get_metrics, ctx, c);
}

static void get_document(void *ctx, gcall *c)
{
    rpc *r = ctx;
    bytes_in in = gcall_request(c);
    Cuzk__V1__GetRequest *q = cuzk__v1__get_request__unpack(NULL, in.size, in.data);
    Cuzk__V1__GetResponse a = CUZK__V1__GET_RESPONSE__INIT;
    cuzk_buffer body;
    const char *type = "";
    cuzk_status st;

    if (q == NULL) {
        gcall_fail(c, GCODE_INVALID_ARGUMENT, "not a GetRequest");
        return;
    }
    st = document(r, q->path, &body, &type);
    if (st == CUZK_OK) {
        a.content_type = text_of(type);
        a.body = (ProtobufCBinaryData){body.size, body.data};
        gcall_reply_message(c, &a.base);
        cuzk_buffer_clear(&body);
    } else {
        rpc_fail(c, st);
    }
    cuzk__v1__get_request__free_unpacked(q, NULL);
}

void rpc_get(void *ctx, gcall *c)
{
    const rpc *r = ctx;

    rpc_lane_put(r->documents, get_document, ctx, c);
}
