/*
 * app/rpc.c - the gRPC face's life: methods and their scopes, start, reload, drain, stop
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "app/rpc.h"

#include <string.h>

#include "app/rpc_int.h"

#define KEY_THREADS 2
#define DOCUMENT_THREADS 1
#define BULK_THREADS 2 /* large requests that are decoded and stored at once */

static const char *const services[] = {"cuzk.v1.ProvingEngine", "cuzk.v1.Operator"};

static const struct {
    const char *path;
    unsigned scope;
    gcall_fn fn;
} routes[RPC_METHODS] = {
    {"/cuzk.v1.ProvingEngine/SubmitProof", ACCESS_PROVE, rpc_submit},
    {"/cuzk.v1.ProvingEngine/AwaitProof", ACCESS_PROVE, rpc_await},
    {"/cuzk.v1.ProvingEngine/Prove", ACCESS_PROVE, rpc_prove},
    {"/cuzk.v1.ProvingEngine/CancelProof", ACCESS_PROVE | ACCESS_OPERATE, rpc_cancel},
    {"/cuzk.v1.ProvingEngine/GetStatus", ACCESS_READ, rpc_status},
    {"/cuzk.v1.ProvingEngine/GetMetrics", ACCESS_READ, rpc_get_metrics},
    {"/cuzk.v1.ProvingEngine/PreloadSRS", ACCESS_OPERATE, rpc_preload},
    {"/cuzk.v1.ProvingEngine/EvictSRS", ACCESS_OPERATE, rpc_evict},
    {"/cuzk.v1.ProvingEngine/AggregateProofs", ACCESS_PROVE, rpc_aggregate},
    {"/cuzk.v1.Operator/Get", ACCESS_READ, rpc_get},
};

static void say(void *ctx, int level, const char *event, const char *text)
{
    static const int levels[] = {
        [GSERVER_ERROR] = CUZK_LOG_ERROR,
        [GSERVER_WARN] = CUZK_LOG_WARN,
        [GSERVER_INFO] = CUZK_LOG_INFO,
    };
    const rpc *r = ctx;
    const cuzk_log_field field = {.key = "message", .text = text};

    if (r->log != NULL) r->log(r->log_ctx, levels[level], event, &field, 1);
}

/** One line a call: what changes something at info, what only looks at debug. */
static void call_ended(void *ctx, const gcall_record *e)
{
    const rpc *r = ctx;
    const char *name = strrchr(e->method, '/');
    int level = CUZK_LOG_DEBUG;

    if (r->log == NULL) return;
    for (size_t i = 0; i < RPC_METHODS; i++)
        if (strcmp(routes[i].path, e->method) == 0 && routes[i].scope != ACCESS_READ)
            level = CUZK_LOG_INFO;
    if (e->code != GCODE_OK) level = CUZK_LOG_INFO;
    const cuzk_log_field f[] = {
        {"method", name == NULL ? e->method : name + 1, 0},
        {"code", NULL, (int64_t)e->code},
        {"ms", NULL, (int64_t)e->ms},
        {"receive_ms", NULL, (int64_t)e->receive_ms},
        {"send_ms", NULL, (int64_t)e->send_ms},
        {"bytes_in", NULL, (int64_t)e->bytes_in},
        {"bytes_out", NULL, (int64_t)e->bytes_out},
        {"peer", e->peer, 0},
    };
    r->log(r->log_ctx, level, "grpc", f, sizeof f / sizeof f[0]);
}

static gserver_config server_config(rpc *r, const rpc_config *config)
{
    return (gserver_config){
        .listen = config->listen,
        .n_listen = config->n_listen,
        .tls_cert = config->tls_cert,
        .tls_key = config->tls_key,
        .tls_client_ca = config->tls_client_ca,
        .access = config->access,
        .max_message = config->max_message,
        .max_inflight_bytes = config->max_inflight_bytes,
        .max_requests = config->max_requests,
        .threads = config->threads,
        .methods = r->methods,
        .n_methods = sizeof r->methods / sizeof r->methods[0],
        .spans = config->spans,
        .log = say,
        .call_ended = call_ended,
        .log_ctx = r,
    };
}

cuzk_status rpc_start(rpc **out, const rpc_config *config, cuzk_service *s)
{
    rpc *r = calloc(1, sizeof *r);
    cuzk_status st = CUZK_OK;

    if (r == NULL) return FAIL(CUZK_ENOMEM, "gRPC: out of memory");
    r->service = s;
    r->log = config->log;
    r->log_ctx = config->log_ctx;
    for (size_t i = 0; i < RPC_METHODS; i++)
        r->methods[i] = (gmethod){.path = routes[i].path,
                                  .scope = routes[i].scope,
                                  .message = routes[i].fn,
                                  .ctx = r,
                                  .always = routes[i].scope != ACCESS_PROVE};
    TRY_OUT(ghealth_open(&r->health, services, sizeof services / sizeof services[0]));
    ghealth_methods(r->health, r->methods + RPC_METHODS);
    greflection_methods(r->methods + RPC_METHODS + GHEALTH_METHODS);
    TRY_OUT(rpc_lane_open(&r->keys, "rpc keys", KEY_THREADS, config->spans));
    TRY_OUT(rpc_lane_open(&r->documents, "rpc documents", DOCUMENT_THREADS, config->spans));
    TRY_OUT(rpc_lane_open(&r->bulk, "rpc bulk", BULK_THREADS, config->spans));
    const gserver_config g = server_config(r, config);
    TRY_OUT(gserver_open(&r->server, &g));
    *out = r;
    return CUZK_OK;
out:
    rpc_stop(r, 0);
    return st;
}

cuzk_status rpc_reload(rpc *r, const rpc_config *config)
{
    const gserver_config g = server_config(r, config);

    return gserver_reload(r->server, &g);
}

void rpc_drain(rpc *r)
{
    ghealth_set_serving(r->health, false);
}

void rpc_stop(rpc *r, uint64_t timeout_ms)
{
    if (r == NULL) return;
    if (r->health != NULL) {
        ghealth_set_serving(r->health, false);
        ghealth_end_watches(r->health);
    }
    /* A lane's calls hold the server open: what waits is refused before, what comes after that is refused too. */
    rpc_lane_stop(r->keys);
    rpc_lane_stop(r->documents);
    rpc_lane_stop(r->bulk);
    gserver_close(r->server, timeout_ms);
    rpc_lane_close(r->keys);
    rpc_lane_close(r->documents);
    rpc_lane_close(r->bulk);
    ghealth_close(r->health);
    free(r);
}

const char *rpc_address(const rpc *r, size_t i)
{
    return gserver_address(r->server, i);
}

static void metric(bytes_out *out, const char *name, const char *type, const char *help, double v)
{
    bytes_printf(out, "# HELP %s %s\n# TYPE %s %s\n%s %.17g\n", name, help, name, type, name, v);
}

void rpc_metrics(rpc *r, bytes_out *out)
{
    gserver_stats s;

    gserver_get_stats(r->server, &s);
    metric(out, "cuzk_grpc_requests_total", "counter", "gRPC calls since the start.",
           (double)s.calls);
    metric(out, "cuzk_grpc_refused_total", "counter",
           "gRPC calls refused before their request was read: access, unknown method, limits.",
           (double)s.refused);
    metric(out, "cuzk_grpc_failed_total", "counter", "gRPC calls ended with a status but OK.",
           (double)s.failed);
    metric(out, "cuzk_grpc_cancelled_total", "counter", "gRPC calls that their clients left.",
           (double)s.cancelled);
    metric(out, "cuzk_grpc_received_bytes_total", "counter", "Bytes of requests, inflated.",
           (double)s.bytes_in);
    metric(out, "cuzk_grpc_sent_bytes_total", "counter", "Bytes of answers.", (double)s.bytes_out);
    metric(out, "cuzk_grpc_receive_seconds_total", "counter",
           "From a call's start to its whole request: clients that send slowly are seen here.",
           (double)s.receive_ns / 1e9);
    metric(out, "cuzk_grpc_send_seconds_total", "counter",
           "From an answer to its acceptance: clients that read slowly are seen here.",
           (double)s.send_ns / 1e9);
    metric(out, "cuzk_grpc_active_requests", "gauge", "gRPC calls that have not ended.",
           (double)s.active);
    metric(out, "cuzk_grpc_request_memory_bytes", "gauge", "Requests in memory.",
           (double)s.inflight_bytes);
    metric(out, "cuzk_grpc_connections_total", "counter",
           "Connections without TLS that were taken.", (double)s.connections);
}
