/*
 * circuit/filecoin/porep_graph.c - parents of a node: DRG parents by sampling, expander parents by a permutation
 *
 * Source: spec/filecoin-formats.md sections 1.1 (porep_id), 3.2 and 3.3
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/hash_lanes.h"
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

/* Places in the layer below that are worked out together. */
#define EXP_MANY ((size_t)256)

/* The bytes of x the other way round. */
static uint64_t reversed(uint64_t x)
{
    uint8_t b[8];

    store_u64le(b, x);
    return load_u64be(b);
}

/* One pass over 2^(2 * half) values, each of n <= EXP_MANY. */
static void encode(const porep_graph *g, uint64_t *x, size_t n, unsigned half)
{
    uint64_t mask = (UINT64_C(1) << half) - 1, in[EXP_MANY][2], hash[EXP_MANY];

    for (size_t r = 0; r < FEISTEL_ROUNDS; r++) {
        for (size_t i = 0; i < n; i++) {
            in[i][0] = reversed(x[i] & mask);
            in[i][1] = reversed(g->feistel_keys[r]);
        }
        blake2b_pairs(hash, (const uint64_t(*)[2])in, n);
        for (size_t i = 0; i < n; i++)
            x[i] = (x[i] & mask) << half | (x[i] >> half ^ (reversed(hash[i]) & mask));
    }
}

/* x[i] goes through the permutation, which is encode until the value is below elements. */
static void permute(const porep_graph *g, uint64_t *x, size_t n, uint64_t elements, unsigned half)
{
    uint64_t left[EXP_MANY];
    uint32_t at[EXP_MANY];
    size_t n_left = n;

    for (size_t i = 0; i < n; i++) {
        left[i] = x[i];
        at[i] = (uint32_t)i;
    }
    while (n_left > 0) {
        size_t still = 0;
        encode(g, left, n_left, half);
        for (size_t i = 0; i < n_left; i++) {
            x[at[i]] = left[i];
            if (left[i] < elements) continue;
            left[still] = left[i];
            at[still++] = at[i];
        }
        n_left = still;
    }
}

void porep_exp_parents_many(const porep_graph *g, const uint32_t *nodes, size_t n,
                            uint32_t (*out)[POREP_EXP_PARENTS])
{
    uint64_t elements = (uint64_t)POREP_EXP_PARENTS << g->nodes_log, x[EXP_MANY];
    unsigned half = (g->nodes_log + 3 + 1) / 2; /* least with 4^half >= elements */

    for (size_t from = 0; from < n; from += EXP_MANY / POREP_EXP_PARENTS) {
        size_t some =
            n - from < EXP_MANY / POREP_EXP_PARENTS ? n - from : EXP_MANY / POREP_EXP_PARENTS;
        for (size_t i = 0; i < some * POREP_EXP_PARENTS; i++)
            x[i] = (uint64_t)POREP_EXP_PARENTS * nodes[from + i / POREP_EXP_PARENTS] +
                   i % POREP_EXP_PARENTS;
        permute(g, x, some * POREP_EXP_PARENTS, elements, half);
        for (size_t i = 0; i < some * POREP_EXP_PARENTS; i++) {
            if (g->predecessor_last) x[i] = (uint32_t)x[i]; /* API 1.0.0 loses the rest */
            out[from + i / POREP_EXP_PARENTS][i % POREP_EXP_PARENTS] =
                (uint32_t)(x[i] / POREP_EXP_PARENTS);
        }
    }
}

void porep_exp_parents(const porep_graph *g, uint32_t node, uint32_t out[POREP_EXP_PARENTS])
{
    porep_exp_parents_many(g, &node, 1, (uint32_t(*)[POREP_EXP_PARENTS])out);
}
