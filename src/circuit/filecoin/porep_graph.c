/*
 * circuit/filecoin/porep_graph.c - parents of a node: DRG parents by sampling, expander parents by a permutation
 *
 * Source: spec/filecoin-formats.md sections 1.1 (porep_id), 3.2 and 3.3
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "circuit/filecoin/porep_impl.h"

#define SAMPLED ((size_t)POREP_DRG_PARENTS - 1) /* the sixth is the predecessor */
#define CHACHA_ROUNDS 8
#define FEISTEL_ROUNDS 3

/* SHA-256 of a tag and the porep_id. */
static void tagged(uint8_t out[32], const char *tag, const uint8_t porep_id[32])
{
    sha256_ctx c;

    sha256_init(&c);
    sha256_update(&c, tag, strlen(tag));
    sha256_update(&c, porep_id, 32);
    sha256_final(&c, out);
}

void porep_graph_init(porep_graph *g, const fil_size *s, uint32_t registered)
{
    uint8_t porep_id[32], hash[32];

    *g = (porep_graph){.nodes_log = s->nodes_log, .predecessor_last = registered < 5};
    porep_id_of(porep_id, registered);
    tagged(hash, "Filecoin_DRSample", porep_id);
    memcpy(g->drg_seed, hash, sizeof g->drg_seed);
    tagged(hash, "Filecoin_Feistel", porep_id);
    for (size_t i = 0; i < FEISTEL_ROUNDS; i++) g->feistel_keys[i] = load_u64le(hash + 8 * i);
}

/* ---- DRG ---- */

/* Ten draws: a bucket and a distance for each sampled parent. */
static void draw(const porep_graph *g, uint32_t node, uint64_t out[2 * SAMPLED])
{
    uint8_t key[32], stream[128];

    memcpy(key, g->drg_seed, sizeof g->drg_seed);
    store_u32le(key + sizeof g->drg_seed, node);
    for (size_t block = 0; block < 2; block++)
        chacha_block(stream + 64 * block, key, (const uint32_t[4]){(uint32_t)block}, CHACHA_ROUNDS);
    for (size_t i = 0; i < 2 * SAMPLED; i++) out[i] = load_u64le(stream + 8 * i);
}

void porep_drg_parents(const porep_graph *g, uint32_t node, uint32_t out[POREP_DRG_PARENTS])
{
    uint32_t *sampled = g->predecessor_last ? out : out + 1;
    uint64_t draws[2 * SAMPLED], meta = (uint64_t)SAMPLED * node;
    unsigned buckets = 1;

    if (node < 2) {
        memset(out, 0, POREP_DRG_PARENTS * sizeof *out);
        return;
    }
    while (UINT64_C(1) << buckets < meta) buckets++; /* ceil(log2(meta)) */
    draw(g, node, draws);
    for (size_t i = 0; i < SAMPLED; i++) {
        unsigned bucket = (unsigned)(draws[2 * i] % buckets) + 1;
        uint64_t big = UINT64_C(1) << bucket, small, distance, parent;

        if (big > meta) big = meta;
        small = big >> 1 > 2 ? big >> 1 : 2;
        distance = small + draws[2 * i + 1] % (big - small + 1);
        parent = (meta - distance) / SAMPLED;
        sampled[i] = (uint32_t)(parent == node ? node - 1 : parent);
    }
    out[g->predecessor_last ? SAMPLED : 0] = node - 1;
}

/* ---- expander ---- */

static uint64_t feistel_round(uint64_t right, uint64_t key)
{
    blake2b_ctx c;
    uint8_t in[16], out[64];

    store_u64be(in, right);
    store_u64be(in + 8, key);
    blake2b_init(&c, sizeof out, NULL, 0);
    blake2b_update(&c, in, sizeof in);
    blake2b_final(&c, out);
    return load_u64be(out);
}

/* One pass over 2^(2 * half) values. */
static uint64_t encode(const porep_graph *g, uint64_t x, unsigned half)
{
    uint64_t mask = (UINT64_C(1) << half) - 1, left = x >> half, right = x & mask;

    for (size_t i = 0; i < FEISTEL_ROUNDS; i++) {
        uint64_t next = left ^ (feistel_round(right, g->feistel_keys[i]) & mask);

        left = right;
        right = next;
    }
    return left << half | right;
}

void porep_exp_parents(const porep_graph *g, uint32_t node, uint32_t out[POREP_EXP_PARENTS])
{
    uint64_t elements = (uint64_t)POREP_EXP_PARENTS << g->nodes_log;
    unsigned half = (g->nodes_log + 3 + 1) / 2; /* least with 4^half >= elements */

    for (unsigned i = 0; i < POREP_EXP_PARENTS; i++) {
        uint64_t x = encode(g, (uint64_t)POREP_EXP_PARENTS * node + i, half);

        while (x >= elements) x = encode(g, x, half);
        if (g->predecessor_last) x = (uint32_t)x; /* API 1.0.0 loses the rest */
        out[i] = (uint32_t)(x / POREP_EXP_PARENTS);
    }
}
