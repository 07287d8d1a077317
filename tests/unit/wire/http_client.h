/*
 * unit/wire/http_client.h - a client for the tests of the HTTP server: bytes out, bytes in
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef UNIT_WIRE_HTTP_CLIENT_H
#define UNIT_WIRE_HTTP_CLIENT_H

#include "harness/harness.h"

/** A connection to "127.0.0.1:PORT" or "unix:///path"; a failure fails the test. Reads give up after ten seconds. */
int client_connect(const char *address);
void client_send(int fd, const void *data, size_t size);
void client_printf(int fd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

typedef struct client_answer {
    unsigned status; /* 0: the connection ended before one */
    char head[8192]; /* status line and headers */
    uint8_t *body;   /* NUL beyond its end; freed by client_answer_clear */
    size_t size;
} client_answer;

/** One answer with Content-Length (no_body: to HEAD). */
void client_read(int fd, client_answer *out, bool no_body);
void client_answer_clear(client_answer *a);
/** Value of a header of the answer, "" when there is none; valid until the next call. */
const char *client_header(const client_answer *a, const char *name);
/** Sends a request with "Host: localhost" and these further lines (each with its CRLF), reads the answer, closes. */
void client_ask(const char *address, client_answer *out, const char *method, const char *target,
                const char *lines, const void *body, size_t size);
/** Reads until the text is there (true), or the connection ends or ten seconds pass. */
bool client_wait_for(int fd, const char *text);
/** The peer closes within ten seconds; what comes before is thrown away. */
bool client_sees_end(int fd);

#endif
