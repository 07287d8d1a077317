/*
 * wire/proto_view.h - fields of a protobuf message as views, for messages too large to be unpacked into copies
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef WIRE_PROTO_VIEW_H
#define WIRE_PROTO_VIEW_H

#include "base/bytes.h"

typedef enum proto_wire {
    PROTO_VARINT = 0,
    PROTO_64 = 1,
    PROTO_BYTES = 2,
    PROTO_32 = 5
} proto_wire;

typedef struct proto_field {
    uint32_t number;
    proto_wire wire;
    uint64_t value;      /* PROTO_VARINT, PROTO_64, PROTO_32 */
    const uint8_t *data; /* PROTO_BYTES: borrowed from the message */
    size_t size;
} proto_field;

/** The next field, whether anybody knows it or not; only when bytes are left. CUZK_EDATA: malformed (groups are, too). */
CUZK_STATUS proto_next(bytes_in *in, proto_field *f);

#endif
