/*
 * wire/grpc_health.h - the standard health service: Check, and Watch, which streams every change
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef WIRE_GRPC_HEALTH_H
#define WIRE_GRPC_HEALTH_H

#include "wire/grpc_server.h"

typedef struct ghealth ghealth;

/** Knows the services of the names (borrowed; outlive it), and "" for all; they start as serving. */
CUZK_STATUS ghealth_open(ghealth **out, const char *const *services, size_t n);
/** Its methods, for the server's table: GHEALTH_METHODS of them. */
#define GHEALTH_METHODS 2
void ghealth_methods(ghealth *h, gmethod out[GHEALTH_METHODS]);
/** Tells all who watch. */
void ghealth_set_serving(ghealth *h, bool serving);
/** Ends every watch, now and from here on: before gserver_close, which would wait for them. */
void ghealth_end_watches(ghealth *h);
void ghealth_close(ghealth *h); /* after the server's close. NULL is fine */

#endif
