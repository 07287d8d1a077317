/*
 * engine/bench_keys.h - keys that benchmarks make for a run: on each device where they are used, never a file
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ENGINE_BENCH_KEYS_H
#define ENGINE_BENCH_KEYS_H

#include "engine/engine.h"

/** One key; pk[i]: with its points on the engine's device i, NULL where proofs are not made. */
typedef struct bench_keys {
    groth16_pk *pk[ENGINE_MAX_DEVICES];
} bench_keys;

/** A key of sys from secrets that nobody keeps; k is zeroed. j proves with it from now on, until bench_keys_free. */
CUZK_STATUS bench_keys_make(bench_keys *k, job *j, const r1cs_system *sys);
/** The one whose points the device of j reads; pk: where there are none but it. */
const groth16_pk *bench_key_of(const job *j, const groth16_pk *pk);
void bench_keys_free(bench_keys *k, job *j);

#endif
