/*
 * circuit/filecoin/gen_post.c - PoSt vanilla proofs of sectors whose trees are known along the challenged paths alone
 *
 * Source: spec/filecoin-formats.md sections 1.2, 3.4, 4
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "circuit/filecoin/gen_impl.h"
#include "circuit/filecoin/post_impl.h"

#define USUAL_SECTORS 3
#define MAX_SECTORS 100000u
#define MAX_CHALLENGES 66 /* Winning's */

typedef struct sibling_ctx {
    const fil_gen *g;
    uint32_t sector;
} sibling_ctx;

static void sibling(void *ctx, unsigned level, uint64_t i, fr *out)
{
    const sibling_ctx *s = ctx;

    gen_element(s->g, out, GEN_TREE_R, (uint64_t)s->sector << 8 | level, i);
}

/* The sector's tree along its challenges. */
static cuzk_status make_tree(const fil_gen *g, gen_tree *t, uint32_t sector,
                             const uint64_t *challenges, unsigned n)
{
    uint64_t at[MAX_CHALLENGES];
    fr leaves[MAX_CHALLENGES];
    sibling_ctx ctx = {g, sector};
    size_t n_at;

    memcpy(at, challenges, n * sizeof *at);
    n_at = gen_sort_nodes(at, n);
    for (size_t i = 0; i < n_at; i++) sibling(&ctx, 0, at[i], &leaves[i]);
    return gen_tree_sparse(t, at, leaves, n_at, sibling, &ctx);
}

static cuzk_status make_sector(const fil_gen *g, post_statement *st, uint32_t sector, bytes_out *o)
{
    post_sector_statement *s = &st->sectors[sector];
    uint64_t challenges[MAX_CHALLENGES];
    unsigned n = post_proofs_per_sector(st), n_tops, n_levels;
    uint32_t levels[FIL_MAX_LEVELS];
    const poseidon *p = poseidon_of(g->ps, 2);
    fr comm_c, comm_r, tag;
    uint8_t bytes[32];
    gen_tree t;
    cuzk_status status;

    n_levels = gen_levels(g->size, levels, &n_tops);
    gen_tree_init(&t, g->ps, levels, n_levels, g->m);
    for (unsigned i = 0; i < n; i++)
        challenges[i] = post_challenge(st, s->sector_number, sector, i);
    status = make_tree(g, &t, sector, challenges, n);
    if (status != CUZK_OK) goto out;
    gen_element(g, &comm_c, GEN_COMM_C, sector, 0);
    poseidon_merkle_tag(p, &tag);
    poseidon_hash(p, &comm_r, (const fr[2]){comm_c, t.root}, &tag);
    gen_tree_bytes(&t, s->comm_r, &comm_r);

    bytes_put_u64le(o, s->sector_number);
    bytes_put(o, s->comm_r, 32);
    bytes_put_u64le(o, 1);
    bytes_put_u64le(o, n);
    for (unsigned i = 0; i < n; i++) gen_tree_put_proof(&t, o, challenges[i], n_tops);
    gen_tree_bytes(&t, bytes, &comm_c);
    bytes_put(o, bytes, 32);
    gen_tree_bytes(&t, bytes, &t.root);
    bytes_put(o, bytes, 32);
out:
    gen_tree_clear(&t);
    return status;
}

static void put_statement(bytes_out *o, const post_statement *st, int64_t registered)
{
    bytes_printf(o, "{\n  \"kind\": \"%s-post\",\n  \"sector_size\": %" PRIu64,
                 fil_kind_name(st->kind), st->size->bytes);
    if (registered < 0)
        bytes_printf(o, ",\n  \"registered_post_proof\": null");
    else
        bytes_printf(o, ",\n  \"registered_post_proof\": %" PRId64, registered);
    bytes_printf(o, ",\n  \"api_version\": \"%s\",\n  \"miner_id\": %" PRIu64,
                 fil_api_name(st->api), st->miner_id);
    gen_put_hex(o, "randomness", st->randomness);
    bytes_printf(o, ",\n  \"sectors\": [");
    for (size_t i = 0; i < st->n_sectors; i++) {
        bytes_printf(o, "%s\n    {\"sector_number\": %" PRIu64 ", \"vanilla\": \"vanilla-%zu.bin\"",
                     i == 0 ? "" : ",", st->sectors[i].sector_number, i);
        gen_put_hex(o, "comm_r", st->sectors[i].comm_r);
        bytes_printf(o, "}");
    }
    bytes_printf(o, "\n  ]\n}\n");
}

static cuzk_status make_files(const fil_gen *g, post_statement *st, int64_t registered,
                              bytes_out *o)
{
    char name[32];

    for (uint32_t i = 0; i < st->n_sectors; i++) {
        TRY(cancel_check(g->cancel));
        TRY(make_sector(g, st, i, o));
        (void)snprintf(name, sizeof name, "vanilla-%" PRIu32 ".bin", i);
        TRY(gen_put_file(g, name, o));
    }
    put_statement(o, st, registered);
    return gen_put_file(g, "statement.json", o);
}

cuzk_status gen_post(const fil_gen *g)
{
    bool winning = g->kind == FIL_WINNING;
    post_statement st = {.m = g->m, .kind = g->kind, .size = g->size, .miner_id = gen_miner(g)};
    uint64_t number = gen_sector(g);
    int64_t registered;
    unsigned block;
    cuzk_status status = CUZK_OK;
    bytes_out o;

    TRY(gen_registered(g, &registered, &block, winning ? 0 : 5, winning ? 1 : 2, winning ? 0 : 1));
    st.api = !winning && block == 1 ? FIL_API_1_2_0 : FIL_API_1_0_0;
    st.n_sectors = winning ? 1 : g->n_sectors == 0 ? USUAL_SECTORS : g->n_sectors;
    if (st.n_sectors > MAX_SECTORS)
        return FAIL(CUZK_EINVAL, "%zu sectors, limit %u", st.n_sectors, MAX_SECTORS);
    gen_bytes(g, st.randomness, GEN_RANDOMNESS, 0, 0);
    st.sectors = mem_new(g->m, st.n_sectors, sizeof *st.sectors, &status);
    if (st.sectors == NULL) return status;
    for (size_t i = 0; i < st.n_sectors; i++) {
        st.sectors[i].sector_number = number;
        number += 1 + gen_below(g, 100, GEN_SECTOR, 1 + i);
    }
    bytes_out_init(&o, g->m);
    status = make_files(g, &st, registered, &o);
    bytes_out_clear(&o);
    mem_free(g->m, st.sectors);
    return status;
}
