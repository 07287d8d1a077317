/*
 * app/client_request.h - a SubmitProofRequest from the options of `cuzk submit`
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef APP_CLIENT_REQUEST_H
#define APP_CLIENT_REQUEST_H

#include "app/client.h"
#include "base/file.h"
#include "wire/proto/proving.pb-c.h"

typedef struct client_request {
    Cuzk__V1__SubmitProofRequest message;
    file_map *files; /* what the message's bytes point into */
    size_t n_files;
    ProtobufCBinaryData *list;
    uint8_t bytes[4][32]; /* randomness, comm_r_old, comm_r_new, comm_d_new */
} client_request;

/** From --kind, --statement and its fields, --input; or --circuit with one --input (.wtns, or .json). Clear it in any case. */
CUZK_STATUS client_request_read(client_request *q, const options *o);
void client_request_clear(client_request *q);

/* ---- what other requests share ---- */

/** Called for each member of a statement that is a text or a number. *known false: the message has no place for it. */
typedef cuzk_status (*client_field_fn)(void *ctx, const char *name, const char *text, bool *known);
/** The members of a statement's object; lists and objects in it are passed over. CUZK_EDATA (statement): none was known. */
CUZK_STATUS client_statement(const char *path, client_field_fn take, void *ctx);
/** "2048" */
CUZK_STATUS client_number(uint64_t *out, const char *name, const char *text);
/** "2048", "32GiB" */
CUZK_STATUS client_size(uint64_t *out, const char *name, const char *text);
/** --priority; NULL: left as it is. */
CUZK_STATUS client_priority(Cuzk__V1__Priority *out, const char *name);
/** As protobuf-c wants a text that it only reads. */
char *client_text(const char *s);

#endif
