/*
 * circuit/filecoin/catalog.c - one table of Filecoin's circuits
 *
 * Source: spec/filecoin-formats.md sections 1 and 6.3, spec/filecoin-circuits.md sections 11.1 and 11.2, spec/cli.md
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit/filecoin/catalog.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/u128.h"

#define KIB(n) (UINT64_C(n) << 10)
#define MIB(n) (UINT64_C(n) << 20)
#define GIB(n) (UINT64_C(n) << 30)

#define WINNING_SECTORS 66
#define WINDOW_CHALLENGES 10

/* name, bytes, log2 of nodes, tree shape, window sectors, PoRep layers and challenges, registered; sectors of 1 and 8 KiB
   exist for updates alone */
static const fil_size sizes[] = {
    {"1k", KIB(1), 5, {8, 4, 0}, 0, 0, 0, -1},
    {"2k", KIB(2), 6, {8, 0, 0}, 2, 2, 2, 0},
    {"4k", KIB(4), 7, {8, 2, 0}, 2, 2, 2, -1},
    {"8k", KIB(8), 8, {8, 4, 0}, 0, 0, 0, -1},
    {"16k", KIB(16), 9, {8, 8, 0}, 2, 2, 2, -1},
    {"32k", KIB(32), 10, {8, 8, 2}, 2, 2, 2, -1},
    {"8m", MIB(8), 18, {8, 0, 0}, 2, 2, 2, 1},
    {"16m", MIB(16), 19, {8, 2, 0}, 2, 2, 2, -1},
    {"512m", MIB(512), 24, {8, 0, 0}, 2, 2, 2, 2},
    {"1g", GIB(1), 25, {8, 2, 0}, 2, 2, 2, -1},
    {"32g", GIB(32), 30, {8, 8, 0}, 2349, 11, 18, 3},
    {"64g", GIB(64), 31, {8, 8, 2}, 2300, 11, 18, 4},
};
#define N_SIZES (sizeof sizes / sizeof sizes[0])

/* The same with other layers: PoReps of the network's depth that a laptop can prove. */
static const fil_size deep_sizes[] = {
    {"16k-11l", KIB(16), 9, {8, 8, 0}, 0, 11, 2, -1},
    {"32k-11l", KIB(32), 10, {8, 8, 2}, 0, 11, 2, -1},
};
#define N_DEEP_SIZES (sizeof deep_sizes / sizeof deep_sizes[0])

/* the name that the command line prints, and the one that gRPC prints */
static const char *const kind_names[FIL_KINDS][2] = {
    [FIL_POREP] = {"porep", "porep"},
    [FIL_WINNING] = {"winning", "winning"},
    [FIL_WINDOW] = {"window", "wpost"},
    [FIL_UPDATE] = {"update", "snap"},
    [FIL_UPDATE_POSEIDON] = {"update-poseidon", "snap-poseidon"},
};

const fil_size *fil_sizes(size_t *n)
{
    *n = N_SIZES;
    return sizes;
}

const fil_size *fil_size_by_bytes(uint64_t bytes)
{
    for (size_t i = 0; i < N_SIZES; i++)
        if (sizes[i].bytes == bytes) return &sizes[i];
    return NULL;
}

const fil_size *fil_size_porep(uint64_t bytes, uint32_t layers)
{
    const fil_size *s = fil_size_by_bytes(bytes);

    if (s != NULL && s->porep_layers == layers && layers != 0) return s;
    for (size_t i = 0; i < N_DEEP_SIZES; i++)
        if (deep_sizes[i].bytes == bytes && deep_sizes[i].porep_layers == layers)
            return &deep_sizes[i];
    return NULL;
}

unsigned fil_levels(const fil_size *s, uint32_t levels[FIL_MAX_LEVELS])
{
    unsigned top_log = 0, n = 0;

    for (unsigned i = 1; i < 3; i++)
        if (s->arity[i] != 0) top_log += u64_bits(s->arity[i]) - 1;
    for (unsigned base = (s->nodes_log - top_log) / (u64_bits(s->arity[0]) - 1); n < base;)
        levels[n++] = s->arity[0];
    for (unsigned i = 1; i < 3; i++)
        if (s->arity[i] != 0) levels[n++] = s->arity[i];
    return n;
}

uint32_t fil_arities(fil_kind kind, const fil_size *s)
{
    uint32_t levels[FIL_MAX_LEVELS], arities = UINT32_C(1) << 2; /* comm_r */
    unsigned n = fil_levels(s, levels);

    for (unsigned i = 0; i < n; i++) arities |= UINT32_C(1) << levels[i];
    if (kind == FIL_POREP) arities |= UINT32_C(1) << s->porep_layers; /* columns */
    return arities;
}

const char *fil_kind_name(fil_kind k)
{
    return kind_names[k][0];
}

bool fil_kind_from_name(fil_kind *out, const char *name)
{
    for (unsigned k = 0; k < FIL_KINDS; k++)
        for (unsigned i = 0; i < 2; i++)
            if (strcmp(kind_names[k][i], name) == 0) {
                *out = (fil_kind)k;
                return true;
            }
    return false;
}

const fil_size *fil_size_by_registered(int registered)
{
    for (size_t i = 0; i < N_SIZES && registered >= 0; i++)
        if (sizes[i].registered == registered) return &sizes[i];
    return NULL;
}

bool fil_exists(fil_kind k, const fil_size *s)
{
    switch (k) {
    case FIL_POREP: return s->porep_layers != 0;
    case FIL_WINNING:
    case FIL_WINDOW: return s->window_sectors != 0;
    case FIL_UPDATE:
    case FIL_UPDATE_POSEIDON: return s->bytes != GIB(1) && fil_size_by_bytes(s->bytes) == s;
    case FIL_KINDS: break;
    }
    return false;
}

/* What follows "window-" or "wpost-"; NULL: another kind. */
static const char *after_kind(const char *name, fil_kind k)
{
    for (unsigned i = 0; i < 2; i++) {
        size_t len = strlen(kind_names[k][i]);

        if (strncmp(name, kind_names[k][i], len) == 0 && name[len] == '-') return name + len + 1;
    }
    return NULL;
}

static const fil_size *find_size(fil_kind k, const char *name)
{
    for (size_t i = 0; i < N_SIZES + N_DEEP_SIZES; i++) {
        const fil_size *s = i < N_SIZES ? &sizes[i] : &deep_sizes[i - N_SIZES];

        if (strcmp(s->name, name) == 0 && fil_exists(k, s)) return s;
    }
    return NULL;
}

cuzk_status fil_circuit_parse(fil_kind *kind, const fil_size **size, const char *name)
{
    for (unsigned k = 0; k < FIL_KINDS; k++) {
        const char *rest = after_kind(name, (fil_kind)k);
        const fil_size *s = rest == NULL ? NULL : find_size((fil_kind)k, rest);

        if (s == NULL) continue;
        *kind = (fil_kind)k;
        *size = s;
        return CUZK_OK;
    }
    return FAIL(CUZK_EINVAL,
                "unknown circuit %.40s; circuits are porep-, winning-, window- (wpost-), update- "
                "(snap-) or update-poseidon- and 2k, 4k, 16k, 32k, 8m, 16m, 512m, 1g (not update), "
                "32g, 64g; porep also 16k-11l, 32k-11l; update also 1k, 8k",
                name);
}

void fil_post_shape(fil_kind kind, const fil_size *s, uint32_t *n_sectors, uint32_t *n_challenges)
{
    bool winning = kind == FIL_WINNING;

    *n_sectors = winning ? WINNING_SECTORS : s->window_sectors;
    *n_challenges = winning ? 1 : WINDOW_CHALLENGES;
}

/* ---- key names ---- */

#define MAX_ID 512 /* the longest identifier has some 350 characters */

static void porep_id(char id[MAX_ID], const fil_size *s, const char *tree)
{
    (void)snprintf(
        id, MAX_ID,
        "layered_drgporep::PublicParams{ graph: stacked_graph::StackedGraph{expansion_degree: 8 "
        "base_graph: drgraph::BucketGraph{size: %" PRIu64
        "; degree: 6; hasher: poseidon_hasher} }, challenges: LayerChallenges { layers: %" PRIu32
        ", max_count: %" PRIu32 " }, tree: %s }",
        UINT64_C(1) << s->nodes_log, s->porep_layers, s->porep_challenges, tree);
}

static void post_id(char id[MAX_ID], fil_kind kind, const fil_size *s)
{
    uint32_t n_sectors, n_challenges;

    fil_post_shape(kind, s, &n_sectors, &n_challenges);
    (void)snprintf(id, MAX_ID,
                   "FallbackPoSt::PublicParams{sector_size: %" PRIu64 ", challenge_count: %" PRIu32
                   ", sector_count: %" PRIu32 "}",
                   s->bytes, n_challenges, n_sectors);
}

cuzk_status fil_key_name(char out[256], fil_kind kind, const fil_size *s)
{
    char id[MAX_ID], tree[64], hash_text[65];
    const char *prefix = "", *suffix = "";
    uint8_t hash[32];

    if (!fil_exists(kind, s))
        return FAIL(CUZK_EINVAL, "no %s circuit of size %s", fil_kind_name(kind), s->name);
    (void)snprintf(tree, sizeof tree, "merkletree-poseidon_hasher-%" PRIu32 "-%" PRIu32 "-%" PRIu32,
                   s->arity[0], s->arity[1], s->arity[2]);
    switch (kind) {
    case FIL_POREP:
        prefix = "stacked-proof-of-replication-";
        suffix = "-sha256_hasher";
        porep_id(id, s, tree);
        break;
    case FIL_UPDATE:
    case FIL_UPDATE_POSEIDON:
        prefix = kind == FIL_UPDATE ? "empty-sector-update-" : "empty-sector-update-poseidon-";
        (void)snprintf(id, MAX_ID, "empty_sector_update::PublicParams{ sector_nodes: %" PRIu64 " }",
                       UINT64_C(1) << s->nodes_log);
        break;
    case FIL_WINNING:
    case FIL_WINDOW:
    case FIL_KINDS:
        prefix = "proof-of-spacetime-fallback-";
        post_id(id, kind, s);
        break;
    }
    sha256(hash, id, strlen(id));
    hex_encode(hash_text, hash, sizeof hash);
    (void)snprintf(out, 256, "v28-%s%s%s-%s", prefix, tree, suffix, hash_text);
    return CUZK_OK;
}

bool fil_key_find(fil_kind *kind, const fil_size **size, const char *name)
{
    char known[256];

    for (fil_kind k = 0; k < FIL_KINDS; k++)
        for (size_t i = 0; i < N_SIZES; i++) {
            if (!fil_exists(k, &sizes[i])) continue;
            if (fil_key_name(known, k, &sizes[i]) != CUZK_OK || strcmp(known, name) != 0) continue;
            *kind = k;
            *size = &sizes[i];
            return true;
        }
    return false;
}
