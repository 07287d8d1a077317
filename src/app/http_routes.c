/*
 * app/http_routes.c - the HTTP face of a service: which path leads where, documents, the panel, the log
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "app/http_routes_int.h"

#include "wire/panel/panel.h"

#include <stdio.h>
#include <string.h>

#define MAX_STREAMS 64
#define WORKERS 4
#define HEADER_MS 30000
#define MIN_RATE 16384 /* bytes a second of a body */

static const char policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src "
    "'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/* ---- documents ---- */

static void get_document(void *ctx, http_request *r)
{
    http *h = ctx;
    const char *content_type = "application/json";
    cuzk_buffer body = {0};
    span s = span_open(SPAN_DOCUMENT);
    cuzk_status st =
        cuzk_service_document(h->service, http_request_target(r), &body, &content_type);

    span_close(&s);
    if (st != CUZK_OK)
        http_reply_failure(r, st);
    else
        http_reply_buffer(r, 200, content_type, &body, NULL, 0);
}

/** The names of circuits and how they are used, for who may prove. */
static void get_circuits(void *ctx, http_request *r)
{
    http *h = ctx;
    const char *content_type = "application/json";
    cuzk_buffer body = {0};
    cuzk_status st = cuzk_service_document(h->service, "/circuits", &body, &content_type);

    if (st != CUZK_OK)
        http_reply_failure(r, st);
    else
        http_reply_buffer(r, 200, content_type, &body, NULL, 0);
}

static void put_gauge(bytes_out *o, const char *name, const char *help, const char *type,
                      uint64_t v)
{
    bytes_printf(o, "# HELP cuzk_http_%s %s\n# TYPE cuzk_http_%s %s\ncuzk_http_%s %llu\n", name,
                 help, name, type, name, (unsigned long long)v);
}

static void put_own_metrics(http *h, bytes_out *o)
{
    http_counts c;

    http_server_counts(h->server, &c);
    put_gauge(o, "requests_total", "Requests that are over.", "counter", c.requests);
    put_gauge(o, "requests_refused_total", "Requests refused by a limit.", "counter", c.refused);
    put_gauge(o, "received_bytes_total", "Bytes of bodies received.", "counter", c.bytes_in);
    put_gauge(o, "sent_bytes_total", "Bytes of bodies sent.", "counter", c.bytes_out);
    put_gauge(o, "requests_active", "Requests that run or wait.", "gauge", c.active);
    put_gauge(o, "inflight_bytes", "Bytes of bodies that are held.", "gauge", c.inflight_bytes);
    put_gauge(o, "connections", "Connections.", "gauge", c.connections);
    put_gauge(o, "event_streams", "Streams of events.", "gauge", c.streams);
    put_gauge(o, "event_streams_dropped_total", "Streams ended because their client did not read.",
              "counter", c.streams_dropped);
}

static void get_metrics(void *ctx, http_request *r)
{
    http *h = ctx;
    const char *content_type = "text/plain; version=0.0.4";
    cuzk_buffer body = {0};
    bytes_out o;
    span s = span_open(SPAN_DOCUMENT);
    cuzk_status st = cuzk_service_document(h->service, "/metrics", &body, &content_type);

    bytes_out_init(&o, h->m);
    if (st == CUZK_OK) {
        bytes_put(&o, body.data, body.size);
        put_own_metrics(h, &o);
        if (h->more_metrics != NULL) h->more_metrics(h->metrics_ctx, &o);
        st = bytes_out_status(&o);
    }
    span_close(&s);
    if (st != CUZK_OK)
        http_reply_failure(r, st);
    else
        http_reply(r, 200, content_type, o.data, o.size, NULL, 0);
    bytes_out_clear(&o);
    cuzk_buffer_clear(&body);
}

static void get_health(void *ctx, http_request *r)
{
    (void)ctx;
    http_reply_static(r, 200, "text/plain", "ok\n", 3, NULL, 0);
}

static void get_ready(void *ctx, http_request *r)
{
    http *h = ctx;

    if (atomic_load_explicit(&h->draining, memory_order_relaxed) ||
        cuzk_service_draining(h->service))
        http_reply_error(r, 503, CUZK_CLASS_NONE, "daemon", "it drains: no new work is taken");
    else
        http_reply_static(r, 200, "text/plain", "ready\n", 6, NULL, 0);
}

/* ---- the panel ---- */

static void get_panel(void *ctx, http_request *r)
{
    const char *path = http_request_target(r);
    size_t n = strcspn(path, "?");
    const char *have = http_request_header(r, "If-None-Match");

    (void)ctx;
    for (size_t i = 0; i < panel_n_files; i++) {
        const panel_file *f = &panel_files[i];
        const http_pair pairs[] = {{"ETag", f->tag},
                                   {"Cache-Control", "no-cache"},
                                   {"Content-Security-Policy", policy},
                                   {"Referrer-Policy", "no-referrer"},
                                   {"Cross-Origin-Opener-Policy", "same-origin"},
                                   {"Cross-Origin-Resource-Policy", "same-origin"}};

        if (strlen(f->path) != n || memcmp(f->path, path, n) != 0) continue;
        if (have != NULL && strcmp(have, f->tag) == 0)
            http_reply_static(r, 304, NULL, "", 0, pairs, sizeof pairs / sizeof *pairs);
        else
            http_reply_static(r, 200, f->content_type, f->data, f->size, pairs,
                              sizeof pairs / sizeof *pairs);
        return;
    }
    http_reply_error(r, 404, CUZK_CLASS_NONE, "path", "nothing is here");
}

/* ---- routes ---- */

static const http_route routes[] = {
    {"GET", "/", 0, HTTP_QUICK, get_panel},
    {"GET", "/panel*", 0, HTTP_QUICK, get_panel},
    {"GET", "/healthz", 0, HTTP_QUICK | HTTP_ANY_HOST, get_health},
    {"GET", "/readyz", 0, HTTP_QUICK | HTTP_ANY_HOST, get_ready},
    {"GET", "/status", ACCESS_READ, HTTP_ALWAYS, get_document},
    {"GET", "/metrics", ACCESS_READ, HTTP_ALWAYS, get_metrics},
    {"GET", "/jobs", ACCESS_READ, HTTP_ALWAYS, get_document},
    {"GET", "/jobs/*", ACCESS_READ, HTTP_ALWAYS, get_document},
    {"GET", "/timeline", ACCESS_READ, HTTP_ALWAYS, get_document},
    {"GET", "/trace", ACCESS_READ, HTTP_ALWAYS, get_document},
    {"GET", "/events", ACCESS_READ, HTTP_EVENTS, NULL},
    {"GET", "/v1/circuits", ACCESS_PROVE, HTTP_ALWAYS, get_circuits},
    {"POST", "/v1/circuits/*/prove", ACCESS_PROVE, HTTP_BODY, http_prove_circuit},
    {"GET", "/v1/jobs/*", ACCESS_PROVE, 0, http_get_job},
    {"DELETE", "/v1/jobs/*", ACCESS_PROVE, HTTP_ALWAYS, http_cancel_job},
    {"POST", "/v1/jobs/*/cancel", ACCESS_OPERATE, HTTP_ALWAYS | HTTP_BODY, http_cancel_job},
};

/* ---- log ---- */

static void on_done(void *ctx, const http_done *d)
{
    http *h = ctx;
    bool refused = d->status == 401 || d->status == 403 || d->status == 421 || d->status == 429 ||
                   d->status >= 500;
    int level = refused ? CUZK_LOG_WARN : d->changes ? CUZK_LOG_INFO : CUZK_LOG_DEBUG;
    const cuzk_log_field f[] = {{"method", d->method, 0},
                                {"path", d->path, 0},
                                {"status", NULL, (int64_t)d->status},
                                {"ms", NULL, (int64_t)d->ms},
                                {"received", NULL, (int64_t)d->received},
                                {"sent", NULL, (int64_t)d->sent},
                                {"peer", d->peer, 0}};

    h->log(h->log_ctx, level, "http", f, sizeof f / sizeof *f);
}

static void on_trouble(void *ctx, const char *text)
{
    http *h = ctx;
    const cuzk_log_field f = {"message", text, 0};

    h->log(h->log_ctx, CUZK_LOG_WARN, "http_trouble", &f, 1);
}

static void on_event(void *ctx, const char *json, size_t size)
{
    http *h = ctx;

    http_server_event(h->server, json, size);
}

/* ---- start and stop ---- */

static http_server_config server_config(http *h, const http_config *c)
{
    http_server_config s = {
        .listen = c->listen,
        .n_listen = c->n_listen,
        .tls_cert = c->tls_cert,
        .tls_key = c->tls_key,
        .tls_client_ca = c->tls_client_ca,
        .rules = c->access,
        .max_body = c->max_message != 0 ? c->max_message : UINT64_C(256) << 20,
        .max_inflight = c->max_inflight_bytes != 0 ? c->max_inflight_bytes : UINT64_C(2) << 30,
        .max_requests = c->max_requests != 0 ? c->max_requests : 1024,
        .max_streams = MAX_STREAMS,
        .workers = WORKERS,
        .header_ms = HEADER_MS,
        .min_rate = MIN_RATE,
        .cors_origins = c->cors_origins,
        .n_cors_origins = c->n_cors_origins,
        .host_names = c->host_names,
        .n_host_names = c->n_host_names,
        .routes = routes,
        .n_routes = sizeof routes / sizeof *routes,
        .ctx = h,
        .done = h->log == NULL ? NULL : on_done,
        .trouble = h->log == NULL ? NULL : on_trouble,
        .spans = c->spans,
    };
    return s;
}

cuzk_status http_start(http **out, const http_config *config, cuzk_service *s)
{
    http *h = calloc(1, sizeof *h);
    cuzk_status st = CUZK_OK;

    if (h == NULL) return FAIL(CUZK_ENOMEM, "HTTP: out of memory");
    h->service = s;
    h->log = config->log;
    h->log_ctx = config->log_ctx;
    h->more_metrics = config->more_metrics;
    h->metrics_ctx = config->metrics_ctx;
    TRY_OUT(mem_open(&h->m, "http documents", 0, NULL));
    const http_server_config server = server_config(h, config);
    TRY_OUT(http_server_open(&h->server, &server));
    TRY_OUT(http_server_start(h->server));
    cuzk_service_events(s, on_event, h);
    *out = h;
    h = NULL;
out:
    if (h != NULL) http_server_close(h->server, 0);
    if (h != NULL && h->m != NULL) mem_close(h->m);
    free(h);
    return st;
}

cuzk_status http_reload(http *h, const http_config *config)
{
    const http_server_config server = server_config(h, config);

    return http_server_reload(h->server, &server);
}

void http_drain(http *h)
{
    atomic_store_explicit(&h->draining, true, memory_order_relaxed); /* read in get_ready */
}

void http_stop(http *h, uint64_t timeout_ms)
{
    if (h == NULL) return;
    cuzk_service_events(h->service, NULL, NULL);
    http_server_close(h->server, timeout_ms);
    mem_close(h->m);
    free(h);
}

const char *http_address(const http *h, size_t i)
{
    return http_server_address(h->server, i);
}
