/*
 * engine/bench_request.h - a request to the service of a whole Filecoin proof, its inputs made in memory
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ENGINE_BENCH_REQUEST_H
#define ENGINE_BENCH_REQUEST_H

#include "cuzk_service.h"

#include "engine/bench_inputs.h"

typedef struct bench_request {
    cuzk_request r; /* without request_id; what it points to is here */
    bench_inputs in;
    cuzk_bytes *pieces;
    uint8_t bytes[4][32];
} bench_request;

/** As `gen` makes them. q may be closed after a failure too. */
CUZK_STATUS bench_request_open(bench_request *q, job *j, const char *circuit);
void bench_request_close(bench_request *q);

#endif
