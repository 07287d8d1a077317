/*
 * wire/grpc_server.h - a gRPC server on the C core: a table of methods, calls that are answered later from any thread
 *
 * It knows no job. A few threads of its own take requests and run the methods' functions; these may wait for a disk, never for
 * a proof: they keep the call and finish it later. Clients that read slowly hold memory (which is limited), no thread.
 * Source: gRPC over HTTP/2 (PROTOCOL-HTTP2.md of grpc), through <grpc/grpc.h>.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef WIRE_GRPC_SERVER_H
#define WIRE_GRPC_SERVER_H

#include "base/bytes.h"
#include "base/span.h"
#include "wire/access.h"

typedef struct gserver gserver;
typedef struct gcall gcall;

/* Status codes of gRPC that we send. */
typedef enum gcode {
    GCODE_OK = 0,
    GCODE_CANCELLED = 1,
    GCODE_UNKNOWN = 2,
    GCODE_INVALID_ARGUMENT = 3,
    GCODE_DEADLINE_EXCEEDED = 4,
    GCODE_NOT_FOUND = 5,
    GCODE_PERMISSION_DENIED = 7,
    GCODE_RESOURCE_EXHAUSTED = 8,
    GCODE_FAILED_PRECONDITION = 9,
    GCODE_ABORTED = 10,
    GCODE_UNIMPLEMENTED = 12,
    GCODE_INTERNAL = 13,
    GCODE_UNAVAILABLE = 14,
    GCODE_UNAUTHENTICATED = 16
} gcode;

/** A message has come: the only one of a unary call, each in turn of a stream. On a thread of the server. */
typedef void (*gcall_fn)(void *ctx, gcall *c);

typedef struct gmethod {
    const char *path; /* "/cuzk.v1.ProvingEngine/Prove" */
    unsigned scope; /* ACCESS_*: the client needs one of these; 0: it needs some scope, whichever */
    bool stream;    /* the client may send several messages, and be sent several */
    gcall_fn message; /* must not be NULL */
    gcall_fn done;    /* stream: the client sends no more; NULL: ends the stream */
    gcall_fn closed;  /* stream: over, whoever ended it; the last call for it. May be NULL */
    void *ctx;
    bool always; /* is not refused because too many others wait */
} gmethod;

enum { GSERVER_ERROR, GSERVER_WARN, GSERVER_INFO };
/** Must not block. Any thread. */
typedef void (*gserver_log_fn)(void *ctx, int level, const char *event, const char *text);

/** A call that is over: its time, that until its request was there, and that from its answer until the client had taken it. */
typedef struct gcall_record {
    const char *method; /* borrowed during the call */
    const char *peer;   /* as net_peer_write; borrowed too */
    gcode code;         /* GCODE_CANCELLED: the client left before there was an answer */
    uint64_t ms, receive_ms, send_ms;
    uint64_t bytes_in, bytes_out;
} gcall_record;
/** Must not block. Any thread. */
typedef void (*gserver_call_fn)(void *ctx, const gcall_record *r);

typedef struct gserver_config {
    const char *const
        *listen; /* "unix:///path", "host:port", "tls://host:port", "tcp://host:port" (app/rpc.h) */
    size_t n_listen;
    const char *tls_cert, *tls_key, *tls_client_ca; /* PEM files; NULL: none */
    access_list *access;
    uint64_t max_message, max_inflight_bytes; /* 0: 256 MiB, 2 GiB */
    unsigned max_requests, threads;           /* 0: 1024, 4 */
    const gmethod *methods;                   /* borrowed; outlives the server */
    size_t n_methods;
    span_rec *spans; /* threads attach as "grpc 0", ...; may be NULL */
    gserver_log_fn log;
    gserver_call_fn call_ended; /* may be NULL */
    void *log_ctx;              /* of both */
} gserver_config;

CUZK_STATUS gserver_open(gserver **out, const gserver_config *config);
/** New limits; TLS files are read again. A failure leaves all as it was. */
CUZK_STATUS gserver_reload(gserver *s, const gserver_config *config);
/** Waits timeout_ms for calls to end, cancels the rest, joins its threads. NULL is fine. */
void gserver_close(gserver *s, uint64_t timeout_ms);
const char *gserver_address(const gserver *s,
                            size_t i); /* "unix:///path", "127.0.0.1:41234"; NULL past the last */

typedef struct gserver_stats {
    uint64_t calls, refused, failed, cancelled; /* since the start */
    uint64_t bytes_in, bytes_out;
    uint64_t receive_ns,
        send_ns; /* from a call's start to its message; from an answer to its acceptance by the client */
    uint64_t active, inflight_bytes;
    uint64_t connections; /* accepted without TLS, since the start */
} gserver_stats;
void gserver_get_stats(gserver *s, gserver_stats *out);

/* ---- a call; each function from any thread, but for those marked "in message" ---- */

/** In message: the request; borrowed until gcall_drop_request or the call's end. */
bytes_in gcall_request(gcall *c);
/** In message: gives its memory back. */
void gcall_drop_request(gcall *c);
/** For a call's own state. A stream's: in message, done and closed, which never run at the same time; a unary call's is freed by
 *  free() with the call. */
void **gcall_state(gcall *c);

/** Ends a unary call with this message: moved, and given back by release(arg) when it has been sent; release NULL: copied. A call
 *  is ended exactly once, also one that the client has left. */
void gcall_reply(gcall *c, const void *data, size_t size, void (*release)(void *), void *arg);
/** Ends a call, unary or stream, with this status. */
void gcall_fail(gcall *c, gcode code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/** Ends a stream with OK when what was sent before is out. */
void gcall_end(gcall *c);
/** A message to a stream's client; copied. False when the stream is over or too much waits (it is then ended). */
bool gcall_send(gcall *c, const void *data, size_t size);

/** fn is called once, on a thread of the server, when the client goes (cancels, disconnects, its deadline passes) before the call
 *  is ended; at once when it has gone. Not after the call was ended; but one that has begun may still be running then. */
void gcall_on_cancel(gcall *c, void (*fn)(void *ctx), void *ctx);

/** Whose jobs it makes, and whose alone it may look after (NULL: everybody's): access_scopes, access_confined. */
const char *gcall_owner(const gcall *c);
const char *gcall_confined(const gcall *c);

/** Whether its server stops: calls that end now were not given up by their clients. */
bool gcall_stopping(const gcall *c);

void gcall_ref(gcall *c);
void gcall_unref(gcall *c);

struct ProtobufCMessage;
/** gcall_reply and gcall_send of a protobuf-c message. */
void gcall_reply_message(gcall *c, const struct ProtobufCMessage *m);
bool gcall_send_message(gcall *c, const struct ProtobufCMessage *m);

#endif
