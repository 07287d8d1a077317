/*
 * base/span_memory.h - how much memory the recorder holds: it grows to its bound, then the oldest spans go; so do those whose time is over
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef BASE_SPAN_MEMORY_H
#define BASE_SPAN_MEMORY_H

#include "base/span.h"

uint64_t span_memory(span_rec *r);
/** The bound: so many bytes of spans for each track that there is, and `most` in all; in steps of 1 MiB, 2 MiB at least. Without it:
 *  32 MiB in all. A smaller one is kept from the next spans on. */
void span_limit(span_rec *r, uint64_t bytes_a_track, uint64_t most);
/** Spans go whose whole chunk (32768 spans) had ended before this clock_ns. */
void span_expire(span_rec *r, uint64_t before_ns);

#endif
