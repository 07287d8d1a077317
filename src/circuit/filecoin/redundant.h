/*
 * circuit/filecoin/redundant.h - faults in what no circuit reads: warned of, or with `strict` refused
 *
 * Vanilla proofs repeat themselves: a valid proof can be made of inputs whose copies disagree (class redundant of
 * fixtures/filecoin/bad/TABLE.md). Whoever checks inputs looks at those copies on one thread, in the order of the input.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef CIRCUIT_FILECOIN_REDUNDANT_H
#define CIRCUIT_FILECOIN_REDUNDANT_H

#include "base/status.h"

typedef struct fil_redundant {
    bool strict;
    cuzk_warn_fn warn; /* not called when strict; NULL: nobody wants to know */
    void *ctx;
} fil_redundant;

/** A fault was found at `where` ("partition 0, challenge 3"). CUZK_OK after the warning; when strict: CUZK_EDATA of class
 *  redundant, with this place and message. r NULL: as one that nobody wants to know of. */
__attribute__((format(printf, 3, 4))) CUZK_STATUS fil_redundant_found(const fil_redundant *r,
                                                                      const char *where,
                                                                      const char *fmt, ...);

#endif
