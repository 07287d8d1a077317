/*
 * wire/proto_view.c - fields of a protobuf message as views
 *
 * Source: the protobuf encoding, protobuf.dev/programming-guides/encoding.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "wire/proto_view.h"

#define MAX_FIELD 536870911u

static CUZK_STATUS get_varint(bytes_in *in, uint64_t *out)
{
    uint64_t v = 0;

    for (unsigned shift = 0; shift < 70; shift += 7) {
        uint8_t b;

        TRY(bytes_get_u8(in, &b));
        if (shift == 63 && b > 1) break;
        v |= (uint64_t)(b & 127) << shift;
        if (b < 128) {
            *out = v;
            return CUZK_OK;
        }
    }
    return FAIL(CUZK_EDATA, "a number of more than 64 bits before offset %zu", in->pos);
}

cuzk_status proto_next(bytes_in *in, proto_field *f)
{
    uint64_t tag, size;
    uint32_t small;

    TRY(get_varint(in, &tag));
    if (tag >> 3 == 0 || tag >> 3 > MAX_FIELD)
        return FAIL(CUZK_EDATA, "field number %llu before offset %zu",
                    (unsigned long long)(tag >> 3), in->pos);
    *f = (proto_field){.number = (uint32_t)(tag >> 3), .wire = (proto_wire)(tag & 7)};
    switch (tag & 7) {
    case PROTO_VARINT: return get_varint(in, &f->value);
    case PROTO_64: return bytes_get_u64le(in, &f->value);
    case PROTO_32:
        TRY(bytes_get_u32le(in, &small));
        f->value = small;
        return CUZK_OK;
    case PROTO_BYTES:
        TRY(get_varint(in, &size));
        if (size > bytes_left(in))
            return FAIL(CUZK_EDATA, "field %u: %llu bytes at offset %zu, %zu are left", f->number,
                        (unsigned long long)size, in->pos, bytes_left(in));
        f->size = (size_t)size;
        return bytes_view(in, &f->data, f->size);
    default: break;
    }
    return FAIL(CUZK_EDATA, "field %u: wire type %u", f->number, (unsigned)(tag & 7));
}
