/*
 * circuit/filecoin/gen_update.c - sector updates whose trees are uniform in each region of leaves that shares a factor
 *
 * One old leaf everywhere, one data leaf everywhere; the new leaf differs by region, since its factor rho does.
 *
 * Source: spec/filecoin-formats.md sections 1.3, 3.5, 4
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "circuit/filecoin/element.h"
#include "circuit/filecoin/gen_impl.h"
#include "circuit/filecoin/update.h"

typedef struct update_gen {
    const fil_gen *g;
    const curve *cv;
    update_statement st;
    fr comm_c, old_leaf, data_leaf;
    gen_tree old, data, new;
    unsigned n_tops;
} update_gen;

/* A commitment to comm_c and a root. */
static void commit(const update_gen *u, uint8_t out[32], const fr *root)
{
    const poseidon *p = poseidon_of(u->g->ps, 2);
    fr tag, hash;

    poseidon_merkle_tag(p, &tag);
    poseidon_hash(p, &hash, (const fr[2]){u->comm_c, *root}, &tag);
    gen_tree_bytes(&u->old, out, &hash);
}

static cuzk_status uniform(gen_tree *t, const fr *leaf, const fil_gen *g)
{
    return gen_tree_regions(t, t->span[t->n_levels], leaf, g->pool, g->cancel);
}

/* The new leaf of each region, then the new tree. */
static cuzk_status make_new_tree(update_gen *u)
{
    unsigned high = u->st.shape.high[u->st.shape.high_choice], nodes_log = u->g->size->nodes_log;
    cuzk_status st = CUZK_OK;
    fr phi, rho, *leaves = mem_new(u->g->m, (size_t)1 << high, sizeof *leaves, &st);

    if (leaves == NULL) return st;
    update_phi(&u->st, u->g->ps, &phi);
    for (uint64_t k = 0; k < (uint64_t)1 << high; k++) {
        update_rho(&u->st, u->g->ps, &phi, k << (nodes_log - high), &rho);
        u->cv->fr_mul(&leaves[k], &u->data_leaf, &rho);
        u->cv->fr_add(&leaves[k], &leaves[k], &u->old_leaf);
    }
    st = gen_tree_regions(&u->new, nodes_log - high, leaves, u->g->pool, u->g->cancel);
    mem_free(u->g->m, leaves);
    return st;
}

static cuzk_status make_trees(update_gen *u)
{
    const fil_gen *g = u->g;
    uint8_t bytes[32];

    gen_element(g, &u->comm_c, GEN_COMM_C, 0, 0);
    gen_element(g, &u->old_leaf, GEN_LEAF, 0, 0);
    gen_bytes(g, bytes, GEN_DATA, 0, 0);
    fil_load_fr(u->cv, &u->data_leaf, bytes);
    TRY(uniform(&u->old, &u->old_leaf, g));
    TRY(uniform(&u->data, &u->data_leaf, g));
    commit(u, u->st.comm_r_old, &u->old.root);
    gen_tree_bytes(&u->data, u->st.comm_d_new, &u->data.root);
    TRY(make_new_tree(u));
    commit(u, u->st.comm_r_new, &u->new.root);
    return CUZK_OK;
}

static cuzk_status make_partition(const update_gen *u, uint32_t k, bytes_out *o)
{
    const update_shape *s = &u->st.shape;
    unsigned apex_level = u->g->size->nodes_log - s->partition_bits - s->apex_bits;
    uint8_t bytes[32];
    cuzk_status st = CUZK_OK;
    uint64_t *at = mem_new(u->g->m, s->n_challenges, sizeof *at, &st);

    if (at == NULL) return st;
    update_challenges(&u->st, k, u->g->ps, at);
    gen_tree_bytes(&u->old, bytes, &u->comm_c);
    bytes_put(o, bytes, 32);
    bytes_put_u64le(o, s->n_apex);
    for (uint32_t i = 0; i < s->n_apex; i++) {
        gen_tree_bytes(&u->data, bytes,
                       gen_tree_node(&u->data, apex_level, (uint64_t)k * s->n_apex + i));
        bytes_put(o, bytes, 32);
    }
    bytes_put_u64le(o, s->n_challenges);
    for (uint32_t i = 0; i < s->n_challenges; i++) {
        gen_tree_put_proof(&u->old, o, at[i], u->n_tops);
        gen_tree_put_proof(&u->data, o, at[i], 0);
        gen_tree_put_proof(&u->new, o, at[i], u->n_tops);
    }
    mem_free(u->g->m, at);
    return bytes_out_status(o);
}

static cuzk_status make_files(update_gen *u, int64_t registered)
{
    const fil_gen *g = u->g;
    cuzk_status st = CUZK_OK;
    char name[32];
    bytes_out o;

    bytes_out_init(&o, g->m);
    TRY_OUT(make_trees(u));
    for (uint32_t k = 0; k < u->st.shape.n_partitions; k++) {
        TRY_OUT(cancel_check(g->cancel));
        TRY_OUT(make_partition(u, k, &o));
        (void)snprintf(name, sizeof name, "partition-%" PRIu32 ".bin", k);
        TRY_OUT(gen_put_file(g, name, &o));
    }
    bytes_printf(&o, "{\n  \"kind\": \"update\",\n  \"sector_size\": %" PRIu64, g->size->bytes);
    if (registered < 0)
        bytes_printf(&o, ",\n  \"registered_update_proof\": null");
    else
        bytes_printf(&o, ",\n  \"registered_update_proof\": %" PRId64, registered);
    gen_put_hex(&o, "comm_r_old", u->st.comm_r_old);
    gen_put_hex(&o, "comm_r_new", u->st.comm_r_new);
    gen_put_hex(&o, "comm_d_new", u->st.comm_d_new);
    bytes_printf(&o, "\n}\n");
    st = gen_put_file(g, "statement.json", &o);
out:
    bytes_out_clear(&o);
    return st;
}

cuzk_status gen_update(const fil_gen *g)
{
    update_gen u = {.g = g, .cv = poseidon_set_curve(g->ps)};
    uint32_t levels[FIL_MAX_LEVELS];
    int64_t registered;
    unsigned n_levels, block;
    cuzk_status st;

    TRY(gen_registered(g, &registered, &block, 0, 1, 0));
    TRY(update_shape_of(&u.st.shape, g->kind, g->size));
    n_levels = gen_levels(g->size, levels, &u.n_tops);
    gen_tree_init(&u.old, g->ps, levels, n_levels, g->m);
    gen_tree_init(&u.new, g->ps, levels, n_levels, g->m);
    gen_tree_init_sha(&u.data, g->ps, g->size->nodes_log, g->m);
    st = make_files(&u, registered);
    gen_tree_clear(&u.old);
    gen_tree_clear(&u.new);
    gen_tree_clear(&u.data);
    return st;
}
