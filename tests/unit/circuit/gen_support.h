/*
 * unit/circuit/gen_support.h - inputs made by fil_generate, taken all the way to satisfied rows
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef UNIT_CIRCUIT_GEN_SUPPORT_H
#define UNIT_CIRCUIT_GEN_SUPPORT_H

#include "support.h"

#include "circuit/filecoin/gen.h"

#define GEN_MAX_FILES 64

/** What a generator gave away, in order. */
typedef struct gen_files {
    size_t n;
    char name[GEN_MAX_FILES][32];
    uint8_t *data[GEN_MAX_FILES];
    size_t size[GEN_MAX_FILES];
} gen_files;

/** registered -1 and n_sectors 0: the usual. Runs on p. */
cuzk_status gen_run(gen_files *f, fil_kind kind, const char *size, int64_t registered,
                    uint32_t n_sectors, uint64_t seed, pool *p, mem *m);
void gen_files_clear(gen_files *f);
/** The file called so; fails the test when there is none. */
size_t gen_find(const gen_files *f, const char *name);

/** Generates and checks, strictly, all partitions natively and the first n_rows of them row by row; public inputs follow from
 *  the statement. */
void gen_holds(fil_kind kind, const char *size, int64_t registered, size_t n_rows, pool *p);

#endif
