/*
 * engine/inspect.h - what the looking at files shares; not for other modules
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ENGINE_INSPECT_H
#define ENGINE_INSPECT_H

#include "engine/engine.h"

typedef struct inspect {
    cuzk_engine *e;
    const char *path;
    const uint8_t *data;
    size_t size;
    bytes_out *o; /* a JSON object, its members so far */
} inspect;

/** One more member. */
void inspect_put_text(bytes_out *o, const char *key, const char *value);
void inspect_put_u64(bytes_out *o, const char *key, uint64_t v);

/* Filecoin's documents. */
CUZK_STATUS inspect_post_statement(inspect *x);
CUZK_STATUS inspect_porep_statement(inspect *x);
CUZK_STATUS inspect_update_statement(inspect *x);
CUZK_STATUS inspect_c1(inspect *x);
/** Bincode vanilla proofs have no magic: *known says whether the size and the counts are those of one. */
CUZK_STATUS inspect_vanilla(inspect *x, bool *known);

#endif
