/*
 * wire/proto/descriptors.h - the protocol's own description, for server reflection
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef WIRE_PROTO_DESCRIPTORS_H
#define WIRE_PROTO_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A FileDescriptorProto, serialized. None imports another. */
typedef struct proto_file {
    const char *name;
    const uint8_t *data;
    size_t size;
} proto_file;

/** A service, message or enum, and the index of the file that has it. */
typedef struct proto_symbol {
    const char *name;
    size_t file;
    bool service;
} proto_symbol;

extern const proto_file proto_files[];
extern const size_t n_proto_files;
extern const proto_symbol proto_symbols[];
extern const size_t n_proto_symbols;

#endif
