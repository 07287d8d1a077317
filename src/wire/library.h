/*
 * wire/library.h - a shared library that is loaded when it is first needed
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef WIRE_LIBRARY_H
#define WIRE_LIBRARY_H

#include <pthread.h>

#include "base/status.h"

/** A list of functions, LIST(X) being X(f) X(g) ..., as fields of a struct and as names. */
#define LIBRARY_FUNCTION(f) __typeof__(&f) f;
#define LIBRARY_NAME(f) #f,

typedef struct library {
    const char *soname;
    const char *const *names; /* of n functions */
    size_t n;
    void *functions; /* their addresses, n pointers */
    pthread_mutex_t mu;
    bool loaded; /* guarded by mu */
} library;

/** Loads it, for good, and finds its functions: in it or in what it stands on. CUZK_EIO: it, or one of them, is not there; to be asked
 *  for again later. */
CUZK_STATUS library_load(library *l);

#endif
