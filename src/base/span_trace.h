/*
 * base/span_trace.h - a trace of bounded size: what it will take is known before it is written
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef BASE_SPAN_TRACE_H
#define BASE_SPAN_TRACE_H

#include "base/span.h"

/** A trace that is not written yet. */
typedef struct span_trace {
    span_rec *r;
    uint64_t job;     /* 0: of all */
    uint64_t from_ns; /* spans that end later */
    size_t max_bytes; /* the oldest spans are left out so that the text stays below; 0: no bound */
    /* found by span_trace_plan */
    uint64_t i, end, n; /* spans of the store; n of them are wanted */
    unsigned n_tracks;
    size_t total, bytes; /* all wanted spans, and what is written: bounds, not sizes */
} span_trace;

/** Fills t with what job, from_ns and max_bytes ask of r as it is now. */
void span_trace_plan(span_trace *t, span_rec *r, uint64_t job, uint64_t from_ns, size_t max_bytes);
/** Appends the trace that was planned. "otherData" has `dropped` (spans that the store no longer had), `left_out` (those that the
 *  bound left out) and, with a bound, `limit_bytes`. */
struct bytes_out;
CUZK_STATUS span_trace_write(const span_trace *t, struct bytes_out *out);

#endif
