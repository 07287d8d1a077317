/*
 * app/http_routes.h - the HTTP face of a service: documents, events, the panel, circom circuits, jobs
 *
 * Not in builds without CUZK_HAS_SERVICE.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef APP_HTTP_ROUTES_H
#define APP_HTTP_ROUTES_H

#include "base/bytes.h"
#include "cuzk_service.h"

struct access_list; /* wire/access.h */
struct span_rec;

typedef struct http http;

/** Strings and arrays are borrowed during the calls they are given to. R: http_reload takes it over. */
typedef struct http_config {
    /* "host:port" (TLS when tls_cert is given, else plain), "tls://host:port", "tcp://host:port" (plain), "unix:///path" */
    const char *const *listen;
    size_t n_listen;
    const char *tls_cert, *tls_key;  /* PEM files; NULL: no TLS. R */
    const char *tls_client_ca;       /* PEM file: clients must show a certificate of it. R */
    struct access_list *access;      /* tokens and plain networks; outlives the http */
    uint64_t max_message;            /* bytes of a request's body; 0: 256 MiB */
    unsigned max_requests;           /* at a time; 0: 1024. R */
    uint64_t max_inflight_bytes;     /* of bodies in memory; 0: 2 GiB. R */
    const char *const *cors_origins; /* "https://panel.example.org". R */
    size_t n_cors_origins;
    const char *const *
        host_names; /* "cuzk.example.org": what the server is called beside localhost and addresses. R */
    size_t n_host_names;
    struct span_rec *spans; /* may be NULL; outlives the http */
    cuzk_log_fn log;        /* may be NULL */
    void *log_ctx;
    /* Appends to /metrics what else the program counts; may be NULL. Called until http_stop. */
    void (*more_metrics)(void *ctx, bytes_out *out);
    void *metrics_ctx;
} http_config;

/** Listens and serves; subscribes to the service's events. CUZK_EINVAL: an address, an origin or a name; CUZK_EIO: a socket or a PEM
 *  file (where: the address or the file). The service outlives the http. */
CUZK_STATUS http_start(http **out, const http_config *config, cuzk_service *s);
/** Takes over what is marked R: TLS files are read again (the access object is reloaded by its owner). A failure leaves all as
 *  it was. */
CUZK_STATUS http_reload(http *h, const http_config *config);
/** /readyz says no from here on. Documents and events go on, so that a drain can be watched. */
void http_drain(http *h);
/** No connection is taken any more; who still waits for a proof after timeout_ms is answered 503 (its job is kept); joins its
 *  threads. After cuzk_service_drain and before cuzk_service_close. NULL is fine. */
void http_stop(http *h, uint64_t timeout_ms);
/** The address that listener i got ("127.0.0.1:40123" when port 0 was asked for); NULL past the last. Borrowed. */
const char *http_address(const http *h, size_t i);

#endif
