/*
 * app/client_aggregate.h - an AggregateProofsRequest from files and options
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef APP_CLIENT_AGGREGATE_H
#define APP_CLIENT_AGGREGATE_H

#include "app/client.h"
#include "base/file.h"
#include "wire/proto/proving.pb-c.h"

#define CLIENT_SECTOR_HASHES 7u

typedef struct client_sector {
    Cuzk__V1__AggregateSector message;
    file_map proof; /* what the message's proof points into */
    uint8_t bytes[CLIENT_SECTOR_HASHES][32];
} client_sector;

typedef struct client_aggregate {
    Cuzk__V1__AggregateProofsRequest
        message; /* its answer comes at once: the job is waited for by its id */
    client_sector *sectors;
    Cuzk__V1__AggregateSector **list;
    size_t n;
} client_aggregate;

/** From --statements and --proofs, one of each a sector. Clear it in any case. */
CUZK_STATUS client_aggregate_read(client_aggregate *q, const options *o);
void client_aggregate_clear(client_aggregate *q);

#endif
