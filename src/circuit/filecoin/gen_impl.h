/*
 * circuit/filecoin/gen_impl.h - what the generators of the kinds share; not for other modules
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef CIRCUIT_FILECOIN_GEN_IMPL_H
#define CIRCUIT_FILECOIN_GEN_IMPL_H

#include "circuit/filecoin/gen.h"
#include "circuit/filecoin/gen_tree.h"

/** What a random value is of: the same name gives the same value, in whatever order they are asked for. */
typedef enum gen_what {
    GEN_MINER,
    GEN_SECTOR,
    GEN_TICKET,
    GEN_SEED,
    GEN_RANDOMNESS,
    GEN_LABEL,
    GEN_DATA,
    GEN_TREE_C,
    GEN_TREE_R,
    GEN_COMM_C,
    GEN_LEAF
} gen_what;

/** 254 bits, as a label or a truncated SHA-256 has; so an element's bytes too. */
void gen_bytes(const fil_gen *g, uint8_t out[32], gen_what what, uint64_t a, uint64_t b);
/** A uniform element. */
void gen_element(const fil_gen *g, fr *out, gen_what what, uint64_t a, uint64_t b);
/** Below n. */
uint64_t gen_below(const fil_gen *g, uint64_t n, gen_what what, uint64_t a);
static inline uint64_t gen_miner(const fil_gen *g)
{
    return 1000 + gen_below(g, 1 << 21, GEN_MINER, 0);
}
static inline uint64_t gen_sector(const fil_gen *g)
{
    return 1 + gen_below(g, 1 << 20, GEN_SECTOR, 0);
}

/** Sorts node numbers and drops repetitions; returns how many are left. */
size_t gen_sort_nodes(uint64_t *nodes, size_t n);
/** Levels of trees C and R, and how many of them are sub and top trees. */
unsigned gen_levels(const fil_size *s, uint32_t levels[FIL_MAX_LEVELS], unsigned *n_tops);
/** The registered number asked for, or the first of a block of five and the size's place in it; -1: the size has none. The
 *  blocks begin at `first` and there are n_blocks; *block: which. CUZK_EINVAL: not one of them, or of another size. */
CUZK_STATUS gen_registered(const fil_gen *g, int64_t *number, unsigned *block, unsigned first,
                           unsigned n_blocks, unsigned usual);
/** ,"name":"hex" */
void gen_put_hex(bytes_out *o, const char *name, const uint8_t b[32]);
/** Gives a file away and empties it. */
CUZK_STATUS gen_put_file(const fil_gen *g, const char *name, bytes_out *o);

CUZK_STATUS gen_porep(const fil_gen *g);
CUZK_STATUS gen_post(const fil_gen *g);
CUZK_STATUS gen_update(const fil_gen *g);

#endif
