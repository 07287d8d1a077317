/*
 * circuit/gadget/sha256.h - SHA-256's compression as rows, and the values of its variables from a plain run
 *
 * Which variables there are depends on which bits of the block and of the running hash are constants. While the rows are made, a
 * plan records for every word operation which of its bits are variables and which of those are stored negated; the values of a
 * compression are a run in plain 32-bit arithmetic that appends each operation's result by the plan. One text (sha256_tmpl.h)
 * is the sequence of operations of both. All variables are bits.
 *
 * Bits of a block or a digest are numbered as in the number whose little-endian bytes they are: bit 8 k + i is bit i of byte k.
 * So to_bits_le of a number is 32 bytes of a block without any turning, and 254 bits of a digest are a node of tree D.
 *
 * Source: spec/filecoin-circuits.md sections 4 and 5.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef CIRCUIT_GADGET_SHA256_H
#define CIRCUIT_GADGET_SHA256_H

#include "circuit/gadget/boolean.h"
#include "r1cs/bit_writer.h"

#define SHA256_STEPS 758 /* word operations that allocate: 48 * 5, then 64 * 6 + 63 * 2, then 8 */

/** What one word operation appends. */
typedef struct sha256_step {
    uint64_t
        mask; /* which of the result's bits are variables; of a majority: bit 2 i the result's, 2 i + 1 that of b and c */
    uint32_t negated; /* result bits stored negated */
    uint32_t n;       /* how many bits are appended */
} sha256_step;

typedef struct sha256_plan {
    sha256_step step[SHA256_STEPS];
} sha256_plan;

/** The running hash: bit i of word k is h->bit[32 * k + i], lowest first (the order in which a compression allocates them). */
typedef struct sha256_hash {
    boolean bit[256];
} sha256_hash;

/** The initial one, all constants. */
sha256_hash sha256_initial_hash(void);
/** Bit k, numbered as above, of a hash's 32 bytes is h->bit[sha256_digest_at(k)]. */
unsigned sha256_digest_at(unsigned k);

/** Rows of one compression: h becomes the next hash; block: 512 bits, numbered as above. */
void sha256_compress_rows(const gadget *g, sha256_plan *plan, sha256_hash *h,
                          const boolean block[512]);

/** h becomes the next hash; appends the values of the compression's variables. */
void sha256_compress_values(const sha256_plan *plan, bit_writer *out, uint32_t h[8],
                            const uint8_t block[64]);
/** The 32 bytes of a finished hash. */
void sha256_digest_bytes(uint8_t out[32], const uint32_t h[8]);

#endif
