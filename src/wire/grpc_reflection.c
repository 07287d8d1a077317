/*
 * wire/grpc_reflection.c - the standard reflection service
 *
 * v1 and v1alpha have the same messages under two package names, so that one codec serves both.
 * Source: grpc's reflection protocol, doc/server-reflection.md.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "wire/grpc_reflection.h"

#include <string.h>

#include "wire/proto/descriptors.h"
#include "wire/proto/reflection.pb-c.h"

typedef Grpc__Reflection__V1__ServerReflectionRequest request;
typedef Grpc__Reflection__V1__ServerReflectionResponse response;
typedef Grpc__Reflection__V1__ServiceResponse service_row;
#define ASKS(x) GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_##x
#define TELLS(x) GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_##x
#define MAX_SERVICES 16

/** One answer's parts. */
typedef struct parts {
    Grpc__Reflection__V1__FileDescriptorResponse files;
    Grpc__Reflection__V1__ListServiceResponse list;
    Grpc__Reflection__V1__ErrorResponse error;
    ProtobufCBinaryData file;
    service_row rows[MAX_SERVICES];
    service_row *row_list[MAX_SERVICES];
} parts;

/** The file that has this symbol: of a field or a method, the one of its message or service. NULL: none. */
static const proto_file *file_of(const char *symbol)
{
    size_t best = 0;
    const proto_file *found = NULL;

    for (size_t i = 0; i < n_proto_symbols; i++) {
        size_t n = strlen(proto_symbols[i].name);

        if (n <= best || strncmp(symbol, proto_symbols[i].name, n) != 0) continue;
        if (symbol[n] != 0 && symbol[n] != '.') continue;
        best = n;
        found = &proto_files[proto_symbols[i].file];
    }
    return found;
}

static const proto_file *file_named(const char *name)
{
    for (size_t i = 0; i < n_proto_files; i++)
        if (strcmp(name, proto_files[i].name) == 0) return &proto_files[i];
    return NULL;
}

static void tell_file(response *r, parts *p, const proto_file *f)
{
    union {
        const uint8_t *in;
        uint8_t *out;
    } data;

    if (f == NULL) return; /* the answer is an error already */
    data.in = f->data;
    p->file = (ProtobufCBinaryData){f->size, data.out};
    p->files.n_file_descriptor_proto = 1;
    p->files.file_descriptor_proto = &p->file;
    r->message_response_case = TELLS(FILE_DESCRIPTOR_RESPONSE);
    r->file_descriptor_response = &p->files;
}

static void tell_services(response *r, parts *p)
{
    union {
        const char *in;
        char *out;
    } name;

    for (size_t i = 0; i < n_proto_symbols && p->list.n_service < MAX_SERVICES; i++) {
        service_row *row = &p->rows[p->list.n_service];

        if (!proto_symbols[i].service) continue;
        grpc__reflection__v1__service_response__init(row);
        name.in = proto_symbols[i].name;
        row->name = name.out;
        p->row_list[p->list.n_service++] = row;
    }
    p->list.service = p->row_list;
    r->message_response_case = TELLS(LIST_SERVICES_RESPONSE);
    r->list_services_response = &p->list;
}

static void answer(void *ctx, gcall *c)
{
    bytes_in in = gcall_request(c);
    request *q = grpc__reflection__v1__server_reflection_request__unpack(NULL, in.size, in.data);
    response r = GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__INIT;
    char unknown[] = "no such symbol", extensions[] = "there are no extensions",
         nothing[] = "a request that asks for nothing";
    parts p;

    (void)ctx;
    if (q == NULL) {
        gcall_fail(c, GCODE_INVALID_ARGUMENT, "not a ServerReflectionRequest");
        return;
    }
    memset(&p, 0, sizeof p);
    grpc__reflection__v1__file_descriptor_response__init(&p.files);
    grpc__reflection__v1__list_service_response__init(&p.list);
    grpc__reflection__v1__error_response__init(&p.error);
    p.error.error_code = GCODE_NOT_FOUND;
    p.error.error_message = unknown;
    r.message_response_case = TELLS(ERROR_RESPONSE);
    r.error_response = &p.error;
    r.valid_host = q->host;
    r.original_request = q;
    switch ((int)q->message_request_case) {
    case ASKS(LIST_SERVICES): tell_services(&r, &p); break;
    case ASKS(FILE_BY_FILENAME): tell_file(&r, &p, file_named(q->file_by_filename)); break;
    case ASKS(FILE_CONTAINING_SYMBOL): tell_file(&r, &p, file_of(q->file_containing_symbol)); break;
    case ASKS(FILE_CONTAINING_EXTENSION):
    case ASKS(ALL_EXTENSION_NUMBERS_OF_TYPE): p.error.error_message = extensions; break;
    default:
        p.error.error_code = GCODE_INVALID_ARGUMENT;
        p.error.error_message = nothing;
        break;
    }
    (void)gcall_send_message(c, &r.base); /* false: the client has gone */
    grpc__reflection__v1__server_reflection_request__free_unpacked(q, NULL);
}

void greflection_methods(gmethod out[GREFLECTION_METHODS])
{
    out[0] = (gmethod){.path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
                       .stream = true,
                       .message = answer};
    out[1] = (gmethod){.path = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
                       .stream = true,
                       .message = answer};
}
