/*
 * wire/http_int.h - inside of the HTTP server: what its files share
 *
 * The net thread alone calls libmicrohttpd (but for making responses) and owns listeners, connections and streams.
 * Workers and strangers reach it through lists under mu and an eventfd.
 *
 * A request has a reference of libmicrohttpd's, one of the answer that is owed, and one for each time it stands in the
 * queue of work. Whoever drops the last frees it.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef WIRE_HTTP_INT_H
#define WIRE_HTTP_INT_H

#include "wire/http_library.h"
#include "wire/http_server.h"
#include "wire/net.h"

#include <pthread.h>
#include <stdatomic.h>

#define HTTP_MAX_LISTEN 16
#define HTTP_MAX_SOCKETS 64
#define HTTP_MAX_LISTENERS ((size_t)128) /* with those that reloads have replaced */
#define HTTP_MAX_PARTS 4
#define HTTP_MAX_WORKERS 16
#define HTTP_MAX_TARGET ((size_t)16 << 10)
#define HTTP_CLIENT_BUFFER ((size_t)256 << 10) /* events that a stream has not read */
#define HTTP_PING_NS UINT64_C(15000000000)
#define HTTP_EVENT_BUFFER ((size_t)1 << 20) /* events that the net thread has not handed on */

typedef struct http_listener {
    http_server *s;
    struct MHD_Daemon *daemon;
    int fd, epoll_fd;
    bool tls, is_unix, wants_certificate;
    bool
        started; /* what libmicrohttpd says from here on is trouble, no reason for a failed start */
    bool retired; /* replaced by a reload; goes when its last connection has gone */
    char path[108];
    char said[160];
} http_listener;

/** Lives from accept to close. Only the net thread. */
typedef struct http_conn {
    struct http_conn *next, *prev;
    http_listener *l;
    struct MHD_Connection *c;
    int fd;
    bool busy;         /* a request is between its head and its end */
    uint64_t since_ns; /* of the accept, or of the last request's end */
} http_conn;

/** A stream of events. Only the net thread. */
typedef struct http_stream {
    struct http_stream *next;
    http_request *r;
    uint8_t *buf; /* HTTP_CLIENT_BUFFER, a ring */
    size_t head, size;
    bool parked, dead;
} http_stream;

typedef struct http_work {
    struct http_work *next;
    http_request *r;
    bool gone; /* call on_gone; else the handler */
} http_work;

typedef enum http_phase { HTTP_NEW, HTTP_TAKING, HTTP_RUNNING, HTTP_ANSWERED } http_phase;

struct http_request {
    http_server *s;
    atomic_uint refs; /* relaxed up, acquire-release down */
    /* only the net thread */
    http_conn *conn;
    http_phase phase;
    const http_route *route;
    bool counted;  /* among s->active */
    bool parked;   /* suspended; its socket is watched for the client's leaving */
    bool too_long; /* more body than max_body */
    bool no_room;  /* of max_inflight, or no memory */
    size_t want;   /* bytes of the body as its head tells; 0: it does not */
    uint64_t start_ns, received, reserved, answer_size;
    size_t cap;
    unsigned status;
    bool is_head, changes;
    unsigned scopes; /* where its route asks for one */
    char owner[ACCESS_OWNER];
    char peer[NET_PEER_TEXT];
    char cors[256]; /* the origin that may read the answer; "": none */
    http_stream *stream;
    /* fixed before the handler runs */
    char method[16];
    char *target, *query_text; /* query_text: in target's block, after '?'; NULL: none */
    char *parts[HTTP_MAX_PARTS];
    size_t path_len;
    uint8_t *body;
    size_t body_size;
    /* only the handler */
    char *query_value; /* decoded, one block for all */
    size_t query_used;
    void *scratch;
    /* guarded by s->mu */
    bool replied, gone, closing, gone_called;
    bool waiting; /* parked for its answer: http_reply wakes the net thread */
    bool owes;    /* in the list of those that owe an answer */
    http_work run, leave;
    void (*on_gone)(void *);
    void *gone_ctx;
    struct MHD_Response *response;
    uint64_t answer_reserved; /* of inflight_bytes, until it is freed */
    unsigned reply_status;
    http_request *next_wake;
    http_request *next, *prev; /* of those that owe */
};

struct http_server {
    /* fixed after init */
    const http_route *routes;
    size_t n_routes;
    void *ctx;
    void (*done)(void *, const http_done *);
    void (*trouble)(void *, const char *);
    span_rec *spans;
    access_list *rules;
    mem *m;
    uint64_t max_body, min_rate;
    uint32_t header_ms;
    unsigned max_streams, n_workers;
    int epoll_fd, wake_fd;
    bool started; /* threads run; only who opens and closes */
    pthread_t net, workers[HTTP_MAX_WORKERS];
    char addresses[HTTP_MAX_LISTEN][300];
    char listen_names[HTTP_MAX_LISTEN][256]; /* hosts of the addresses as they were given */
    size_t n_addresses;
    /* only the net thread, once it runs */
    http_listener *listeners[HTTP_MAX_LISTENERS];
    size_t n_listeners;
    http_conn *conns;
    http_stream *streams;
    unsigned n_streams, n_conns, n_receiving, n_sending;
    uint64_t ping_ns, sweep_ns, trouble_ns;
    bool quiet;            /* listeners are closed */
    uint8_t *events_spare; /* what events was before it was taken */
    /* guarded by mu */
    pthread_mutex_t mu;
    pthread_cond_t work_cond, idle_cond;
    http_work *work_first, *work_last;
    http_request *wake_first; /* answered, their connections suspended */
    http_request *owing;
    uint8_t *events; /* lines not yet handed on */
    size_t events_size;
    unsigned n_started;    /* workers that have their number */
    http_listener **fresh; /* listeners of a reload, to take over */
    size_t n_fresh;
    char **origins;
    size_t n_origins;
    char **names; /* host_names */
    size_t n_names;
    unsigned max_requests;
    uint64_t max_inflight;
    bool stop_listening, stop_workers, stop_net;
    bool look_at_streams; /* a reload may have changed who may have them */
    size_t n_live;        /* requests that are not freed */
    http_counts counts;
    char host_name[256];
};

/* http_listen.c */
CUZK_STATUS http_listeners_open(http_server *s, const http_server_config *c, http_listener **out,
                                size_t cap, size_t *n);
/** The same sockets, with TLS files as c has them now. */
CUZK_STATUS http_listeners_renew(http_server *s, const http_server_config *c,
                                 http_listener *const *old, size_t n, http_listener **out);
void http_listener_free(http_listener *l); /* and its socket; NULL is fine */
/** Says it to the operator, unless it said something a second ago. */
void http_trouble(http_server *s, const char *text);
/** A client's certificate was verified. */
bool http_certified(struct MHD_Connection *c);

/* http_request.c: what libmicrohttpd calls */
void *http_on_target(void *server, const char *target, struct MHD_Connection *c);
enum MHD_Result http_on_request(void *listener, struct MHD_Connection *c, const char *url,
                                const char *method, const char *version, const char *upload,
                                size_t *upload_size, void **request);
void http_on_completed(void *listener, struct MHD_Connection *c, void **request,
                       enum MHD_RequestTerminationCode why);
void http_request_unref(http_request *r);
/** Net thread: suspends the connection and watches its socket; takes it back. */
void http_park(http_request *r);
void http_unpark(http_request *r);

/* http_target.c */
/** Fills path_len, query_text; false: no good request target. */
bool http_target_split(http_request *r);
/** 1: fits, parts are filled; 0: does not; -1: it does, but a part cannot be decoded. */
int http_route_match(const http_route *route, http_request *r);
void http_parts_clear(http_request *r);
/** Percent-decodes text[0..n) into out (n + 1 bytes); false: bad escape, NUL or not UTF-8. */
bool http_decode(char *out, const char *text, size_t n, bool plus_is_space);

/* http_guard.c: refusals by the head of a request */
typedef struct http_refusal {
    unsigned status; /* 0: none */
    cuzk_class klass;
    const char *where;
    char message[200], allow[64];
} http_refusal;
/** Finds the route, and says why not. Sets r->cors. */
void http_guard(http_request *r, struct MHD_Connection *c, http_refusal *out);
/** Whether a request that goes on, with its head still there, would be let in by the access rules of now. */
bool http_still_may(http_request *r);
/** 204 for a question of a browser's that is answered yes; false: it is not one, or is not. */
bool http_preflight(http_request *r, struct MHD_Connection *c);
/** An Origin that may read answers. */
bool http_origin_listed(http_server *s, const char *origin);
CUZK_STATUS http_origin_check(const char *origin);
CUZK_STATUS http_host_name_check(const char *name);

/* http_reply.c */
void http_reply_response(http_request *r, unsigned status, struct MHD_Response *m); /* m moved */
void http_reply_refusal(http_request *r, const http_refusal *no);

/* http_stream.c; net thread */
CUZK_STATUS http_stream_start(http_request *r, struct MHD_Connection *c);
void http_stream_end(http_request *r);
void http_streams_feed(http_server *s, const uint8_t *lines, size_t size);
/** All of them, or those alone that would not be let in any more. */
void http_streams_close(http_server *s, bool all);

/* http_server.c */
void http_wake(http_server *s);
void http_push_work_locked(http_server *s, http_work *w);

#endif
