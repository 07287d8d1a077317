/*
 * engine/helpers.h - a thread for each device of an engine, lent to one proof or one worker at a time
 *
 * Who has taken a helper has its device's stream used by its thread alone, in the order of what was started.
 *
 * Locks: each helper's `mu`; below it its stage's.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ENGINE_HELPERS_H
#define ENGINE_HELPERS_H

#include "groth16/prove.h"

typedef struct helpers helpers;
typedef struct helper helper;

/** For devices d[0..n), which outlive them. */
CUZK_STATUS helpers_open(helpers **out, device *const *d, unsigned n, span_rec *rec);
void helpers_close(helpers *x); /* nobody has one; NULL is fine */

/** That of device i, its stream under c and of this level (dev_stream_open_at); NULL: somebody has it. */
helper *helper_take(helpers *x, unsigned i, const cancel *c, unsigned level);
/** To be put when what was started is joined. The first failure of what it ran (CUZK_OK: none), *why with it; why may be NULL. */
cuzk_status helper_put(helper *h, cuzk_error *why);
/** As groth16 takes it. pk: as in groth16_helper. */
groth16_helper helper_offer(helper *h, const groth16_pk *pk);
/** ctx: a helper. fn(arg, s) on its thread, after what was started before. When it cannot be (no memory), that is its failure. */
void helper_start(void *ctx, cuzk_status (*fn)(void *arg, dev_stream *s), void *arg);
void helper_join(void *ctx);

#endif
