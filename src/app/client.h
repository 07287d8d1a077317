/*
 * app/client.h - commands that talk to a daemon over gRPC
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef APP_CLIENT_H
#define APP_CLIENT_H

#include "app/report.h"
#include "wire/grpc_client.h"

struct ProtobufCMessage;

/** Exit code: the daemon cannot be reached, or refused the request. */
#define CLIENT_REFUSED 6

typedef struct client {
    report *r;
    gclient *g;
    char address[256];
    bool silent; /* failures are not printed: of a call that only adds to what is told anyway */
} client;

/** 0, or the exit code of what was printed. Close it in any case. */
int client_open(client *c, report *r);
void client_close(client *c);
/** One call with a method's name ("cuzk.v1.Operator/Get"); 0, or the exit code of what was printed. *out is the caller's to clear. */
int client_call(client *c, const char *method, const struct ProtobufCMessage *q, greply *out);
/** An answer that is not what it should be. */
int client_garbled(const client *c);
/** A failure of the daemon's: prints it, gives `code`. */
int client_failed(const client *c, const char *class_name, const char *message, int code);
/** A document of the daemon ("/status"); its body is the caller's to free. */
int client_document(client *c, const char *path, char **body, size_t *size);
/** "/jobs/" and the id, percent-encoded, then `rest`. False: too long. */
bool client_job_path(char *out, size_t size, const char *prefix, const char *id, const char *rest);

/** A member of an object by its path ("error.class"), as text without quotes; "" when it is not there or null. */
void client_member(char *out, size_t size, const char *json, size_t json_size, const char *path);

#endif
