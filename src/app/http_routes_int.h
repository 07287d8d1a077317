/*
 * app/http_routes_int.h - what the files of the HTTP face share
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef APP_HTTP_ROUTES_INT_H
#define APP_HTTP_ROUTES_INT_H

#include "app/http_routes.h"
#include "wire/http_server.h"

#include <stdatomic.h>

struct http {
    /* fixed after init */
    cuzk_service *service;
    http_server *server;
    mem *m; /* of documents that are put together here */
    cuzk_log_fn log;
    void *log_ctx;
    void (*more_metrics)(void *ctx, bytes_out *out);
    void *metrics_ctx;
    atomic_bool draining; /* relaxed: it orders nothing */
};

/* http_routes_jobs.c: handlers; ctx is the http */
void http_prove_circuit(void *ctx, http_request *r);
void http_get_job(void *ctx, http_request *r);
void http_cancel_job(void *ctx, http_request *r);

/** The calling thread's failure st as an answer. */
void http_reply_failure(http_request *r, cuzk_status st);

/* http_routes_calldata.c */
/** Call data of a verifier contract for snarkjs's proof and public signals, as snarkjs writes it. CUZK_EDATA: they are not of
 *  bn128. */
CUZK_STATUS http_calldata_write(bytes_out *out, cuzk_bytes proof_json, cuzk_bytes public_json);

#endif
