/*
 * wire/grpc_internal.h - what the files of the gRPC server share: the server, a call, the acceptor
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef WIRE_GRPC_INTERNAL_H
#define WIRE_GRPC_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "wire/grpc_library.h"
#include "wire/grpc_server.h"
#include "wire/net.h"

#define GSERVER_MAX_LISTEN 16
#define GSERVER_MAX_THREADS 64
#define GSERVER_SLOTS 64     /* calls asked for in advance */
#define GCALL_MAX_QUEUED 256 /* messages that wait for a stream's client */

typedef enum gevent { GEVENT_NEW, GEVENT_RECV, GEVENT_CLOSE, GEVENT_SEND, GEVENT_FINISH } gevent;

typedef struct gtag {
    gevent event;
    gcall *call; /* NULL: the server's own, of its shutdown */
} gtag;

typedef struct gout {
    struct gout *next;
    grpc_byte_buffer *message;
} gout;

struct gcall {
    /* fixed after init, or after GEVENT_NEW */
    gserver *s;
    grpc_call *call;
    const gmethod *method;
    grpc_call_details details;
    grpc_metadata_array metadata;
    uint64_t start_ns;
    atomic_uint_fast64_t bytes_in, bytes_out, receive_ns, send_ns; /* relaxed: counts */
    gtag tag_new, tag_recv, tag_close, tag_send, tag_finish;
    bool counted; /* among the server's active calls */
    unsigned scopes;
    char owner[ACCESS_OWNER];
    net_peer from;
    char peer[NET_PEER_TEXT]; /* from, for people */

    /* only by the thread that handles this call's receive events, one at a time */
    grpc_byte_buffer *incoming;
    uint8_t *request;
    size_t request_size;
    void *state;
    int was_cancelled; /* filled by the library for GEVENT_CLOSE */

    atomic_uint refs; /* acq_rel: the last one frees */
    pthread_mutex_t mu;
    /* guarded by mu */
    bool ended;           /* reply, fail or end was called */
    bool gone;            /* the client has left, or the status is out */
    bool sending;         /* a GEVENT_SEND is under way */
    bool metadata_sent;   /* initial metadata */
    bool reading, closed; /* a receive is under way; closed was or will be called */
    bool read_wanted;     /* the next message, once nothing waits to be sent */
    gcode end_code;
    char *end_text; /* NULL: none */
    gout *first, *last;
    size_t n_queued;
    uint64_t ended_ns;
    void (*cancel_fn)(void *);
    void *cancel_ctx;
};

struct glisten;

/** A thread of the server. */
typedef struct gseat {
    gserver *s;
    unsigned index;
    pthread_t thread;
} gseat;

struct gserver {
    /* fixed after init */
    grpc_server *server;
    grpc_completion_queue *cq;
    const gmethod *methods;
    size_t n_methods;
    access_list *access;
    span_rec *spans;
    gserver_log_fn log;
    gserver_call_fn call_ended;
    void *log_ctx;
    uint64_t max_message;
    mem *requests; /* messages in one piece; counts, without a limit of its own */
    gseat seats[GSERVER_MAX_THREADS];
    unsigned n_threads;
    struct glisten *listen;
    gtag tag_shutdown;
    bool tls_asks_certificate;

    atomic_uint max_requests; /* relaxed: limits may change between two calls */
    atomic_uint_fast64_t max_inflight;
    atomic_bool stopping; /* relaxed: no new slot is asked for */

    pthread_mutex_t mu;
    pthread_cond_t idle; /* n_calls is 0, or shut_down */
    /* guarded by mu */
    size_t n_calls; /* gcall objects */
    bool shut_down;
    gserver_stats stats;
    uint64_t active;
};

void gserver_say(gserver *s, int level, const char *event, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/** Asks the library for one more call. */
void gcall_ask(gserver *s);
/** Drops what waits to be sent. c->mu is held, or nobody else has c. */
void gcall_drop_queue(gcall *c);
/** Where the call comes from, into c->from and c->peer: while its connection is surely there. */
void gcall_note_peer(gcall *c);
/** What the library has finished. */
void gcall_event(const gtag *t, bool success);

/** A message that has come, in one piece of s->requests: at most s->max_message bytes, inflated where it was compressed. CUZK_EBUDGET: a
 *  limit; CUZK_EDATA: it cannot be inflated. */
CUZK_STATUS gmessage_read(gserver *s, grpc_byte_buffer *in, uint8_t **out, size_t *out_size);

/** Sockets for every address, and the thread that accepts; TLS addresses are handed to the library. */
CUZK_STATUS glisten_open(struct glisten **out, gserver *s, const gserver_config *config);
CUZK_STATUS glisten_reload_tls(struct glisten *l, const gserver_config *config);
CUZK_STATUS glisten_start(struct glisten *l);
/** Stops accepting; its thread ends. More than once is fine. */
void glisten_stop(struct glisten *l);
void glisten_close(struct glisten *l); /* removes the unix sockets; NULL is fine */
const char *glisten_address(const struct glisten *l, size_t i);
/** Connections without TLS that were accepted so far. */
uint64_t glisten_accepted(const struct glisten *l);

#endif
