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

#endif
