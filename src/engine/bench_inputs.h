/*
 * engine/bench_inputs.h - valid inputs of a whole Filecoin proof, made in memory, as a job reads them
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ENGINE_BENCH_INPUTS_H
#define ENGINE_BENCH_INPUTS_H

#include "engine/filecoin.h"

typedef struct bench_inputs {
    fil_job f;
    file_map statement; /* this and f.files are in memory */
    size_t cap_files;
    uint64_t input_bytes; /* without the statement */
} bench_inputs;

/** The circuit of this name, without shape, key and inputs. */
CUZK_STATUS bench_inputs_open(bench_inputs *b, job *j, const char *circuit);
/** Makes the files; the same ones each time. */
CUZK_STATUS bench_inputs_make(bench_inputs *b);
/** Reads them as a job does: statement, and what is of all partitions. */
CUZK_STATUS bench_inputs_read(bench_inputs *b);
/** Undoes bench_inputs_read. */
void bench_inputs_forget(bench_inputs *b);
/** All of it, shape and key too. Fine after a failed open. */
void bench_inputs_close(bench_inputs *b);

#endif
