/*
 * base/span_memory.h - how much memory the recorder holds: it grows to its bound, then the oldest spans go
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef BASE_SPAN_MEMORY_H
#define BASE_SPAN_MEMORY_H

#include "base/span.h"

uint64_t span_memory(span_rec *r);

#endif
