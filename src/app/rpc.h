/*
 * app/rpc.h - the gRPC face of a service: cuzk.v1.ProvingEngine, cuzk.v1.Operator, health and reflection
 *
 * Messages are decoded, cuzk_service.h is called, answers are encoded. Not in builds without CUZK_HAS_SERVICE.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef APP_RPC_H
#define APP_RPC_H

#include "base/bytes.h"
#include "cuzk_service.h"

struct access_list; /* wire/access.h */
struct span_rec;

typedef struct rpc rpc;

/** Strings and arrays are borrowed during the calls they are given to. */
typedef struct rpc_config {
    /* "unix:///path", "host:port" (TLS when tls_cert is given, else plain), "tls://host:port", "tcp://host:port" (plain) */
    const char *const *listen;
    size_t n_listen;
    const char *tls_cert, *tls_key; /* PEM files; NULL: no TLS. R */
    const char *tls_client_ca;      /* PEM file: clients must show a certificate of it. R */
    struct access_list *access;     /* tokens and plain networks; outlives the rpc */
    uint64_t max_message;           /* bytes, also after decompression; 0: 256 MiB */
    unsigned max_requests;          /* at a time; 0: 1024. R */
    uint64_t max_inflight_bytes;    /* requests and answers in memory; 0: 2 GiB. R */
    unsigned threads;               /* 0: 4 */
    struct span_rec *spans;         /* may be NULL; outlives the rpc */
    cuzk_log_fn log;                /* may be NULL */
    void *log_ctx;
} rpc_config;

/** Listens and serves. CUZK_EINVAL: an address, or a TLS listener that would let anyone in; CUZK_EIO: a socket or a PEM file
 *  (where: the address or the file). The service outlives the rpc. */
CUZK_STATUS rpc_start(rpc **out, const rpc_config *config, cuzk_service *s);
/** Takes over what is marked R: TLS files are read again (the access object is reloaded by its owner). A failure leaves all as
 *  it was. */
CUZK_STATUS rpc_reload(rpc *r, const rpc_config *config);
/** Health says NOT_SERVING; calls and connections go on (the service refuses new jobs while it drains). */
void rpc_drain(rpc *r);
/** Calls that have not ended after timeout_ms are cancelled; sockets are removed; joins its threads. After cuzk_service_drain and
 *  before cuzk_service_close. NULL is fine. */
void rpc_stop(rpc *r, uint64_t timeout_ms);
/** The address that listener i got ("127.0.0.1:40123" when port 0 was asked for); NULL past the last. Borrowed. */
const char *rpc_address(const rpc *r, size_t i);
/** Appends what the server counts, as Prometheus text (for /metrics). */
void rpc_metrics(rpc *r, bytes_out *out);

#endif
