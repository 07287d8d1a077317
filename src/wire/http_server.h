/*
 * wire/http_server.h - an HTTP server: routes, limits, access, answers that come later, event streams
 *
 * One thread moves bytes (libmicrohttpd on all listeners), a few run handlers that may wait for a disk; a request that
 * waits for its answer holds no thread. Knows no engine and no job: routes are handed to it.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef WIRE_HTTP_SERVER_H
#define WIRE_HTTP_SERVER_H

#include "base/bytes.h"
#include "base/span.h"
#include "wire/access.h"

typedef struct http_server http_server;
typedef struct http_request http_request;

/* ---- routes ---- */

enum {
    HTTP_QUICK =
        1, /* answers at once and in under a millisecond: runs on the thread that moves bytes, and is not refused
                        because too many others wait */
    HTTP_ALWAYS = 2, /* is not refused because too many others wait */
    HTTP_BODY = 4,   /* takes a body; others refuse one */
    HTTP_EVENTS = 8, /* the stream that http_server_event feeds; handle is NULL */
    HTTP_ANY_HOST =
        16, /* by whatever name it comes: says nothing that another site's page may not know */
};

/** Must lead to exactly one http_reply: before it returns or, when it has called http_request_on_gone, later from any thread. */
typedef void (*http_handle_fn)(void *ctx, http_request *r);

typedef struct http_route {
    const char *method; /* "GET" serves HEAD too */
    const char *
        path; /* "/jobs/" then "*": the star stands for one part of a path, the last one for all that is left */
    unsigned scope; /* one ACCESS_*, or 0: whoever may connect */
    unsigned flags;
    http_handle_fn handle;
} http_route;

/** A request that is over, for a log. Borrowed during the call. */
typedef struct http_done {
    const char *method, *path; /* path: without the query, cut to fit */
    const char *peer;
    unsigned status; /* 0: the client went away before its answer */
    uint64_t received, sent, ms;
    bool changes; /* not GET or HEAD */
} http_done;

/* ---- the server ---- */

/** Borrowed during the calls it is given to, but for what says that it outlives the server. R: http_server_reload takes it. */
typedef struct http_server_config {
    const char *const *listen; /* app/http_routes.h says the forms */
    size_t n_listen;
    const char *tls_cert, *tls_key, *tls_client_ca; /* R */
    access_list *rules;                             /* outlives the server */
    uint64_t max_body;                              /* bytes of one request */
    uint64_t max_inflight;                          /* bytes of all bodies. R */
    unsigned max_requests;                          /* that wait or run, but for the quick. R */
    unsigned max_streams;                           /* of events */
    unsigned workers;                               /* threads for handlers */
    uint32_t header_ms; /* a connection that is silent longer than this is closed */
    uint64_t min_rate;  /* bytes a second below which a body is too slow, after header_ms */
    const char *const *cors_origins; /* R */
    size_t n_cors_origins;
    /* Names under which requests without TLS may come, beside IP addresses, localhost, this machine's name, those in listen and
       those of cors_origins. R */
    const char *const *host_names;
    size_t n_host_names;
    const http_route *routes; /* outlives the server; the first that fits serves */
    size_t n_routes;
    void *ctx;                                   /* for handlers, done and trouble */
    void (*done)(void *ctx, const http_done *d); /* may be NULL; must not block */
    /* Something that an operator should read, at most once a second; may be NULL; must not block. */
    void (*trouble)(void *ctx, const char *text);
    span_rec *spans; /* may be NULL; outlives the server */
} http_server_config;

/** Listens; nothing is served before http_server_start. CUZK_EINVAL: an address, an origin or a name; CUZK_EIO: a socket or a PEM
 *  file. where: which one. */
CUZK_STATUS http_server_open(http_server **out, const http_server_config *config);
/** Once. After a failure the server can only be closed. */
CUZK_STATUS http_server_start(http_server *s);
/** A failure leaves all as it was. Connections that stand keep their certificate. */
CUZK_STATUS http_server_reload(http_server *s, const http_server_config *config);
/** Takes no connection any more, ends streams, waits for answers up to timeout_ms, then calls what http_request_on_gone was
 *  given for each request that still waits; joins its threads. NULL is fine. */
void http_server_close(http_server *s, uint64_t timeout_ms);
/** "127.0.0.1:40123", "unix:///path"; NULL past the last. Borrowed. */
const char *http_server_address(const http_server *s, size_t i);
/** One event, a line of text without newline: to every stream, or dropped and counted for those that do not read. Any thread,
 *  never blocks but for a moment. */
void http_server_event(http_server *s, const char *text, size_t size);

typedef struct http_counts {
    uint64_t requests, refused, bytes_in, bytes_out, events_dropped, streams_dropped;
    unsigned active, waiting, streams, connections;
    uint64_t inflight_bytes;
} http_counts;
void http_server_counts(http_server *s, http_counts *out);

/* ---- requests; borrowed until http_reply, texts too ---- */

const char *http_request_target(const http_request *r); /* path and query as they came */
/** What star i of the route's path stands for, percent-decoded: UTF-8 without NUL. */
const char *http_request_part(const http_request *r, unsigned i);
/** Value of ?name=, percent-decoded; "" when it has none; NULL when it is not there. */
const char *http_request_query(http_request *r, const char *name);
/** Value of a header, NULL when it is not there. Only in handle, before it returns. */
const char *http_request_header(http_request *r, const char *name);
const uint8_t *http_request_body(const http_request *r, size_t *size);
/** Of a route with a scope: whose jobs it makes, and whose alone it may look after (NULL: everybody's): access_scopes,
 *  access_confined. */
const char *http_request_owner(const http_request *r);
const char *http_request_confined(const http_request *r);
/** The server is closing: why on_gone was called. */
bool http_request_closing(const http_request *r);
/** Zeroed memory that lives as long as the request; NULL when there is none. Once a request. */
void *http_request_scratch(http_request *r, size_t size);
/** fn is called once, on a thread of the server, when the client has gone or the server closes before the answer; the answer
 *  is still owed then. It may be called from within. */
void http_request_on_gone(http_request *r, void (*fn)(void *ctx), void *ctx);

typedef struct http_pair {
    const char *name, *value;
} http_pair;

/** The answer: body is copied. pairs: further headers. */
void http_reply(http_request *r, unsigned status, const char *content_type, const void *body,
                size_t size, const http_pair *pairs, size_t n_pairs);
/** The same; body is moved. */
void http_reply_buffer(http_request *r, unsigned status, const char *content_type,
                       cuzk_buffer *body, const http_pair *pairs, size_t n_pairs);
/** The same; body lives as long as the program. */
void http_reply_static(http_request *r, unsigned status, const char *content_type, const void *body,
                       size_t size, const http_pair *pairs, size_t n_pairs);
/** {"error":{"class","where","message"}}; with Retry-After for 429 and 503. */
void http_reply_error(http_request *r, unsigned status, cuzk_class klass, const char *where,
                      const char *message);

#endif
