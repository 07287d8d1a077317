/*
 * circuit/filecoin/statement_fields.h - single fields given beside a statement, put into its text before it is read
 *
 * So that every reader of statements takes them alike, and finds the same faults in them.
 *
 * Source: spec/cli.md
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef CIRCUIT_FILECOIN_STATEMENT_FIELDS_H
#define CIRCUIT_FILECOIN_STATEMENT_FIELDS_H

#include "base/bytes.h"

/** "miner_id" or "miner-id"; its value as a person types it: digits, hexadecimal digits, "32GiB". */
typedef struct fil_field {
    const char *name, *value;
} fil_field;

/** The statement (json NULL: an empty one) with these fields instead of its own, appended to out. CUZK_EINVAL: not a field
 *  of statements, given twice, or no number where one is wanted. */
CUZK_STATUS fil_statement_merge(bytes_out *out, const uint8_t *json, size_t size,
                                const fil_field *fields, size_t n);

#endif
