/*
 * wire/grpc_client.h - a gRPC client: one unary call at a time, on the calling thread
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef WIRE_GRPC_CLIENT_H
#define WIRE_GRPC_CLIENT_H

#include "base/status.h"
#include "wire/grpc_server.h"

typedef struct gclient gclient;

typedef struct gclient_config {
    const char *address; /* "unix:///path", "host:port", "tls://host:port" */
    const char
        *tls_ca; /* PEM file that the server's certificate is checked against; NULL: the system's */
    const char *tls_cert, *tls_key; /* PEM files of a client certificate; NULL: none */
    const char *token; /* bearer token; NULL: none. Over TLS, unix sockets and loopback alone */
    bool gzip;         /* requests are compressed */
} gclient_config;

/** Connects at the first call. CUZK_EINVAL, CUZK_EIO: the configuration. */
CUZK_STATUS gclient_open(gclient **out, const gclient_config *config);
void gclient_close(gclient *c); /* NULL is fine */

typedef struct greply {
    gcode code;
    char text[2048]; /* the server's message; "" with GCODE_OK */
    uint8_t *data;   /* GCODE_OK: the answer */
    size_t size;
} greply;

typedef struct gcall_options {
    uint64_t timeout_ms;     /* 0: none */
    bool (*stop)(void *ctx); /* asked ten times a second: true cancels the call. May be NULL */
    void *ctx;
    bool
        lasting; /* data stays as it is until the process ends: it is sent from where it lies, not copied */
} gcall_options;

/** CUZK_OK: the server has answered, with any code. CUZK_EIO: it cannot be reached, or the connection broke (the reply's code is
 *  GCODE_UNAVAILABLE); CUZK_ECANCELLED: stop said so. */
CUZK_STATUS gclient_call(gclient *c, const char *path, const void *data, size_t size,
                         const gcall_options *options, greply *out);
void greply_clear(greply *r);

#endif
