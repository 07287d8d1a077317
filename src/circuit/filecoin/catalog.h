/*
 * circuit/filecoin/catalog.h - one table of Filecoin's circuits: names, sizes, shapes, key identifiers
 *
 * Source: spec/filecoin-formats.md sections 1 and 6.3, spec/filecoin-circuits.md section 11.1, spec/cli.md (names).
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef CIRCUIT_FILECOIN_CATALOG_H
#define CIRCUIT_FILECOIN_CATALOG_H

#include "base/status.h"

typedef enum fil_kind {
    FIL_POREP,
    FIL_WINNING,
    FIL_WINDOW,
    FIL_UPDATE,
    FIL_UPDATE_POSEIDON, /* with a Poseidon tree over the data too; the network does not use it */
    FIL_KINDS
} fil_kind;

typedef struct fil_size {
    const char *name; /* "2k", "32g" */
    uint64_t bytes;
    uint32_t nodes_log;      /* log2 of the number of 32-byte nodes */
    uint32_t arity[3];       /* base, sub, top arity of trees C and R; 0: none */
    uint32_t window_sectors; /* 0, as the next two: a size of updates alone */
    uint32_t porep_layers;
    uint32_t porep_challenges; /* of a partition */
    int registered; /* place among the network's sizes (the number of StackedDrg...V1); -1: not one of them */
} fil_size;

/** Sizes that exist, in ascending order; n entries. */
const fil_size *fil_sizes(size_t *n);
const fil_size *fil_size_by_bytes(uint64_t bytes);
/** The size that has this place among the network's; NULL: none. */
const fil_size *fil_size_by_registered(int registered);
/** The size with this many PoRep layers: 16 and 32 KiB exist with 11 too, a size of its own that the two above do not show.
 *  NULL: none. */
const fil_size *fil_size_porep(uint64_t bytes, uint32_t layers);
/** Is there a circuit of this kind and size? Not for updates of 1 GiB; for 1 and 8 KiB for updates alone; for sizes with
 *  other layers for PoRep alone. */
bool fil_exists(fil_kind k, const fil_size *s);

/** Levels of a path in tree C or R, leaf upward: how many. levels[i] is the arity of element i. */
#define FIL_MAX_LEVELS 12
unsigned fil_levels(const fil_size *s, uint32_t levels[FIL_MAX_LEVELS]);
/** The arities of Poseidon in such a circuit and in the check of its inputs, bit a for arity a (poseidon_set_new_of). */
uint32_t fil_arities(fil_kind kind, const fil_size *s);

const char *fil_kind_name(fil_kind k); /* "winning" */
bool fil_kind_from_name(fil_kind *out, const char *name);
/** "window-2k", "wpost-2k", "winning-32g", ...: kind and size. CUZK_EINVAL listing the names when unknown. */
CUZK_STATUS fil_circuit_parse(fil_kind *kind, const fil_size **size, const char *name);

/** PoSt circuit of a partition: sectors, and challenges of each (Winning: 66 x 1). */
void fil_post_shape(fil_kind kind, const fil_size *s, uint32_t *n_sectors, uint32_t *n_challenges);

/** File name without extension: "v28-proof-of-spacetime-fallback-...-<hash>". CUZK_EINVAL: no such circuit. */
CUZK_STATUS fil_key_name(char out[256], fil_kind kind, const fil_size *s);
/** The circuit whose key has this file name (without its extension). */
bool fil_key_find(fil_kind *kind, const fil_size **size, const char *name);

/** First 32 hexadecimal digits of the BLAKE2b-512 of the network's .params or .vk; NULL: the network has none. */
const char *fil_published_digest(fil_kind kind, const fil_size *s, bool vk);
/** The network's file of secrets' powers for aggregation, and its digest. */
#define FIL_SRS_NAME "v28-fil-inner-product-v1.srs"
#define FIL_SRS_DIGEST "ae20310138f5ba81451d723f858e3797"

#endif
