/*
 * wire/grpc_reflection.h - the standard reflection service, v1 and v1alpha: clients ask what methods and messages there are
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef WIRE_GRPC_REFLECTION_H
#define WIRE_GRPC_REFLECTION_H

#include "wire/grpc_server.h"

#define GREFLECTION_METHODS 2
/** Its methods, for the server's table. They tell what wire/proto/descriptors.h has. */
void greflection_methods(gmethod out[GREFLECTION_METHODS]);

#endif
