/*
 * circuit/filecoin/gen.h - valid vanilla proofs and their statements, for tests and benchmarks, without sealing
 *
 * PoRep and PoSt challenges do not depend on the trees, so these are hashed along the challenged paths alone, with random
 * siblings and, for PoRep, data of zeros. Update challenges follow from comm_r_new: those trees are known in full, but uniform
 * in each region of leaves that shares a factor. Synthetic and non-interactive PoRep challenges follow from comm_r through a
 * hash: there the sector is sealed for real, up to 8 MiB.
 *
 * The files depend on what is asked and on the seed alone.
 *
 * Source: spec/filecoin-formats.md sections 2 to 4; design section 8.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef CIRCUIT_FILECOIN_GEN_H
#define CIRCUIT_FILECOIN_GEN_H

#include "base/pool.h"
#include "circuit/filecoin/catalog.h"
#include "circuit/poseidon.h"

/** Takes one file. */
typedef cuzk_status (*fil_gen_put)(void *ctx, const char *name, const void *data, size_t size);

typedef struct fil_gen {
    fil_kind kind;
    const fil_size *size;
    int64_t registered; /* -1: of the network's newest interactive API version */
    uint32_t n_sectors; /* of a window; 0: three */
    uint64_t seed;
    const poseidon_set *ps;
    pool *pool;
    const cancel *cancel;
    mem *m;
    fil_gen_put put;
    void *ctx;
} fil_gen;

#define FIL_GEN_MAX_SEALED_LOG 18 /* nodes of 8 MiB */

/** Makes the inputs ("c1.json", "vanilla-0.bin", "partition-0.bin", ...) and "statement.json", in this order.
 *  CUZK_EINVAL: a registered proof of another kind or size, too large a sector to seal, sectors where there is one. */
CUZK_STATUS fil_generate(const fil_gen *g);

#endif
