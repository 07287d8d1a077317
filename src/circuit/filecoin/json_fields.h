/*
 * circuit/filecoin/json_fields.h - members of objects in Filecoin's JSON: keys, numbers, hashes in hex
 *
 * What the readers of statements and C1 outputs share. `where` is the member's place, for errors (CUZK_EDATA, malformed).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef CIRCUIT_FILECOIN_JSON_FIELDS_H
#define CIRCUIT_FILECOIN_JSON_FIELDS_H

#include "base/json.h"

/** Refuses token t: `what` was wanted in its place. */
CUZK_STATUS fil_json_wanted(const char *where, const json_token *t, const char *what);
CUZK_STATUS fil_json_missing(const char *where, const char *name);

CUZK_STATUS fil_json_u64(json_in *j, uint64_t max, uint64_t *out, const char *where);
/** A string of 64 hexadecimal digits. */
CUZK_STATUS fil_json_hash(json_in *j, uint8_t out[32], const char *where);
CUZK_STATUS fil_json_expect_object(json_in *j, const char *where);

/** The next key of an object: its index among the n names, n for one that is none of them (its value is read over), or
 *  *end. Bit k of *seen: names[k] has come; a repeated key is refused. n <= 64. */
CUZK_STATUS fil_json_next_key(json_in *j, const char *const *names, unsigned n, uint64_t *seen,
                              unsigned *index, bool *end);

/** Reads member or item i, whose value comes next; `reader` and `arg` as given. */
typedef cuzk_status (*fil_json_read_fn)(void *reader, uint32_t i, const void *arg);
/** An object with all of these n members in any order; others are read over. */
CUZK_STATUS fil_json_object(json_in *j, const char *const *names, unsigned n, fil_json_read_fn read,
                            void *reader, const void *arg);
/** An array of exactly `want` items (else class shape: "3 rows, expected 2"), each called `name`; `where` of an item's
 *  error gets "row 1". */
CUZK_STATUS fil_json_list(json_in *j, uint32_t want, const char *name, fil_json_read_fn read,
                          void *reader, const void *arg);
/** An array of exactly 32 integers 0..255. */
CUZK_STATUS fil_json_bytes32(json_in *j, uint8_t out[32], const char *what);

#endif
