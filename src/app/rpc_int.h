/*
 * app/rpc_int.h - what the files of the gRPC face share
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef APP_RPC_INT_H
#define APP_RPC_INT_H

#include "app/rpc.h"
#include "wire/grpc_health.h"
#include "wire/grpc_reflection.h"
#include "wire/grpc_server.h"

/** Threads for calls that take seconds, so that those of the server stay free. */
typedef struct rpc_lane rpc_lane;
CUZK_STATUS rpc_lane_open(rpc_lane **out, const char *name, unsigned threads,
                          struct span_rec *spans);
/** fn(ctx, c) on one of its threads, which keeps the call; when it is full or closing, the call is refused. */
void rpc_lane_put(rpc_lane *l, gcall_fn fn, void *ctx, gcall *c);
/** Refuses what waits and what comes; returns when what runs has ended. NULL is fine. */
void rpc_lane_stop(rpc_lane *l);
void rpc_lane_close(rpc_lane *l); /* and frees; after the server's close. NULL is fine */

#define RPC_METHODS 10

struct rpc {
    cuzk_service *service;
    gserver *server;
    ghealth *health;
    rpc_lane *keys, *documents, *bulk;
    gmethod methods[RPC_METHODS + GHEALTH_METHODS + GREFLECTION_METHODS];
    cuzk_log_fn log;
    void *log_ctx;
};

/* ---- routes: rpc_prove.c, rpc_look.c; ctx is the rpc ---- */
void rpc_submit(void *ctx, gcall *c);
void rpc_await(void *ctx, gcall *c);
void rpc_prove(void *ctx, gcall *c);
void rpc_cancel(void *ctx, gcall *c);
void rpc_aggregate(void *ctx, gcall *c);
void rpc_status(void *ctx, gcall *c);
void rpc_get_metrics(void *ctx, gcall *c);
void rpc_preload(void *ctx, gcall *c);
void rpc_evict(void *ctx, gcall *c);
void rpc_get(void *ctx, gcall *c);

/** Ends the call with the code that belongs to this thread's last failure, and its text. */
void rpc_fail(gcall *c, cuzk_status st);
/** A text for people: "where: message". */
void rpc_error_text(char *out, size_t size, const cuzk_error *e);

/** A SubmitProofRequest as views into the call's request. */
typedef struct rpc_request {
    cuzk_request r;
    char *request_id, *circuit; /* owned */
    cuzk_bytes *proofs;         /* owned: r.vanilla_proofs */
    size_t cap;
    bool has_submit; /* of a ProveRequest */
} rpc_request;
/** prove: in is a ProveRequest. CUZK_EDATA: where names the field. Clear it in any case. */
CUZK_STATUS rpc_request_read(rpc_request *out, bytes_in in, bool prove);
void rpc_request_clear(rpc_request *q);
/** An AggregateProofsRequest as views into the call's request. */
typedef struct rpc_aggregation {
    cuzk_request r;
    char *request_id;     /* owned */
    cuzk_sector *sectors; /* owned: r.sectors */
    size_t cap;
    uint64_t timeout_ms;
} rpc_aggregation;
/** CUZK_EDATA: where names the field, "sectors[3].seed". Clear it in any case. */
CUZK_STATUS rpc_aggregation_read(rpc_aggregation *out, bytes_in in);
void rpc_aggregation_clear(rpc_aggregation *q);

/** Of one field that was read: its wire type is this one; it is a text (into *out, owned, in place of what was there). */
struct proto_field;
CUZK_STATUS rpc_field_wire(const struct proto_field *f, unsigned wire, const char *name);
CUZK_STATUS rpc_field_text(char **out, const struct proto_field *f, const char *name);
/** Field 1 of a message, as often as it comes, is UTF-8 without zero bytes: what a C string would hide. CUZK_EDATA, where `name`. */
CUZK_STATUS rpc_text_check(bytes_in in, const char *name);
/** Whether a request was read (q) and its field 1 is a text; if not, the call has been ended with what it is not. */
bool rpc_is_request(gcall *c, const void *q, const char *what, const char *name);

#endif
