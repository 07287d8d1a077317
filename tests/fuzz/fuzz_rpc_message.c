/*
 * fuzz/fuzz_rpc_message.c - requests and answers of every method: any bytes are refused, or are a message that survives its own packing
 *
 * The first byte chooses the method, of all services, and whether it is the request or the answer. What is read is packed and read
 * again: both packings are the same bytes, and no text that the routes use is missing.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire/proto/health.pb-c.h"
#include "wire/proto/proving.pb-c.h"
#include "wire/proto/reflection.pb-c.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const ProtobufCServiceDescriptor *const services[] = {
    &cuzk__v1__proving_engine__descriptor, &cuzk__v1__operator__descriptor,
    &grpc__health__v1__health__descriptor, &grpc__reflection__v1__server_reflection__descriptor};

static void must(bool ok)
{
    if (!ok) abort();
}

static const ProtobufCMessageDescriptor *choose(uint8_t which)
{
    unsigned n = 0, k;

    for (size_t i = 0; i < sizeof services / sizeof services[0]; i++) n += services[i]->n_methods;
    k = (which >> 1) % n;
    for (size_t i = 0;; i++) {
        if (k < services[i]->n_methods)
            return (which & 1) != 0 ? services[i]->methods[k].output
                                    : services[i]->methods[k].input;
        k -= services[i]->n_methods;
    }
}

/* Routes take texts without asking whether they are there. */
static void check_texts(const ProtobufCMessage *m)
{
    for (unsigned i = 0; i < m->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &m->descriptor->fields[i];
        const char *text;

        if (f->type != PROTOBUF_C_TYPE_STRING || f->label == PROTOBUF_C_LABEL_REPEATED ||
            (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0)
            continue;
        memcpy(&text, (const char *)m + f->offset, sizeof text);
        must(text != NULL);
    }
}

static uint8_t *pack(const ProtobufCMessage *m, size_t *size)
{
    uint8_t *out;

    *size = protobuf_c_message_get_packed_size(m);
    out = malloc(*size + 1);
    must(out != NULL && protobuf_c_message_pack(m, out) == *size);
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const ProtobufCMessageDescriptor *d;
    ProtobufCMessage *m, *again;
    uint8_t *one, *other;
    size_t n_one, n_other;

    if (size == 0) return 0;
    d = choose(data[0]);
    m = protobuf_c_message_unpack(d, NULL, size - 1, data + 1);
    if (m == NULL) return 0;
    check_texts(m);
    one = pack(m, &n_one);
    again = protobuf_c_message_unpack(d, NULL, n_one, one);
    if (again !=
        NULL) { /* an unknown field of number 0 is read in a long form and not in the short one */
        other = pack(again, &n_other);
        must(n_one == n_other && memcmp(one, other, n_one) == 0);
        free(other);
        protobuf_c_message_free_unpacked(again, NULL);
    }
    free(one);
    protobuf_c_message_free_unpacked(m, NULL);
    return 0;
}
