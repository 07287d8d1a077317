/*
 * unit/groth16/support.h - a device, budgets and golden proofs for the tests of this room
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef GROTH16_SUPPORT_H
#define GROTH16_SUPPORT_H

#include "groth16/prove.h"
#include "harness/harness.h"

typedef struct rig {
    mem *m;
    pool *pool;
    device *dev;
    dev_stream *s;
    cpu_table table;
} rig;

void rig_open(rig *r, cpu_table t, unsigned threads);
/** On another device than rig_open's, where there is one: the k-th, counted around. */
void rig_open_other(rig *r, cpu_table t, unsigned threads, unsigned k);
void rig_close(rig *r);

/** One entry of a golden.json. */
typedef struct golden {
    cuzk_fixed_rs rs;
    groth16_proof proof;
} golden;
#define GOLDEN_MAX 8
size_t golden_read(golden out[GOLDEN_MAX], const char *path, const curve *cv);

void assert_proof_equal(const curve *cv, const groth16_proof *a, const groth16_proof *b);

/** The secrets of the fixtures' keys, and r and s of their proofs. */
void fixture_trapdoors(groth16_trapdoors *t, cuzk_fixed_rs *rs, const curve *cv);
/** The file's digest is the one of keys/NAME.params.json; object: "params" or "vk". */
void assert_file_sha256(const char *path, const char *name, const char *object);

/** Path of a fixture of a circom case: "bn128", "mult3", "circuit.zkey". */
const char *circom_case(const char *curve, const char *name, const char *file);

#endif
