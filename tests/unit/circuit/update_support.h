/*
 * unit/circuit/update_support.h - case folders of sector updates
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef UNIT_CIRCUIT_UPDATE_SUPPORT_H
#define UNIT_CIRCUIT_UPDATE_SUPPORT_H

#include "support.h"

#include "circuit/filecoin/update.h"

/** The statement of fixtures/filecoin/FOLDER. */
void update_case_statement(update_statement *st, const char *folder);
/** The bytes of FOLDER/partition-K.bin; the caller frees them. */
uint8_t *update_case_read(const char *folder, size_t partition, size_t *size);

/** Reads, checks, synthesises and compares partitions of a case: those of which there are files; the rows hold, and the public
 *  inputs are those that follow from the statement. entries[i] is the partition of assignment[i] in statement.json. */
void update_check_case(const char *folder, const size_t *entries, size_t n, pool *p);

/** Counts calls in *ctx; for fil_redundant. */
void update_count_warning(void *ctx, cuzk_class klass, const char *where, const char *message);

#endif
