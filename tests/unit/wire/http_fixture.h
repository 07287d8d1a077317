/*
 * unit/wire/http_fixture.h - a server with a few routes, for the tests of the HTTP server
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef UNIT_WIRE_HTTP_FIXTURE_H
#define UNIT_WIRE_HTTP_FIXTURE_H

#include "http_client.h"

#include "wire/http_server.h"

#include <stdatomic.h>
#include <unistd.h>

#define MAX_BODY ((size_t)1 << 20)
#define BIG_ANSWER ((size_t)48 << 20) /* more than sockets take for a client that does not read */

/** What a handler keeps until the test lets it answer. */
typedef struct waiting {
    http_request *r;
    atomic_bool here, gone, closing;
} waiting;

typedef struct fixture {
    http_server *s;
    access_list *rules;
    const char *address;
    waiting w[4];
    atomic_uint n_waiting, n_done;
    atomic_uint last_status;
} fixture;

/** That of start(); routes: http_fixture.c. */
http_server_config config_of(fixture *f, const char *const *listen, size_t n_listen);
/** Empties *f and gives it access rules: the token "secret" may read. */
void open_rules(fixture *f);
/** On a port of loopback: 3 requests at a time, 3 bodies of MAX_BODY, 2 streams. */
void start(fixture *f);
void stop(fixture *f);
/** Status of the answer; an error has the form of one. */
unsigned status_of(fixture *f, const char *method, const char *target, const char *lines);
/** A POST that waits until the test answers f->w[i].r; its connection. */
int begin_later(fixture *f, size_t body);

/** Spins until the condition holds: what is waited for comes from other threads. */
#define WAIT_FOR(cond) \
    do { \
        for (unsigned spins_ = 0; !(cond); spins_++) { \
            if (spins_ > 120000) harness_fail("waited in vain for %s", #cond); \
            (void)usleep(1000); \
        } \
    } while (0)

#endif
