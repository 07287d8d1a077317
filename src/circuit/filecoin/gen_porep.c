/*
 * circuit/filecoin/gen_porep.c - C1 outputs: interactive ones of trees known along the challenged paths, others of sealed sectors
 *
 * Source: spec/filecoin-formats.md sections 1, 2, 3.1 to 3.3
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <inttypes.h>
#include <string.h>

#include "circuit/filecoin/element.h"
#include "circuit/filecoin/gen_labels.h"
#include "circuit/filecoin/porep_c1_write.h"

#define USUAL_BLOCK 1 /* API 1.1.0, interactive */
#define SHARE 64      /* columns of one task */

typedef struct porep_gen {
    const fil_gen *g;
    const curve *cv;
    bool sealed;
    porep_derived d;
    gen_labels labels;
    fr *data; /* leaves, sealed */
    gen_tree data_tree, column_tree, replica_tree;
} porep_gen;

/* ---- data ---- */

static cuzk_status make_data(porep_gen *p)
{
    const fil_gen *g = p->g;
    size_t n = (size_t)1 << g->size->nodes_log;
    cuzk_status st = CUZK_OK;
    uint8_t b[32];

    if (!p->sealed)
        return gen_tree_regions(&p->data_tree, g->size->nodes_log, &p->cv->fr_zero, g->pool,
                                g->cancel);
    p->data = mem_new(g->m, n, sizeof *p->data, &st);
    if (p->data == NULL) return st;
    for (size_t i = 0; i < n; i++) {
        gen_bytes(g, b, GEN_DATA, i, 0);
        fil_load_fr(p->cv, &p->data[i], b);
    }
    return gen_tree_regions(&p->data_tree, 0, p->data, g->pool, g->cancel);
}

/* ---- trees of columns and replica ---- */

typedef struct leaf_job {
    const porep_gen *p;
    fr *columns, *replica; /* by place in the labels */
} leaf_job;

static cuzk_status make_leaves(void *ctx, size_t share, unsigned worker)
{
    const leaf_job *j = ctx;
    const porep_gen *p = j->p;
    const gen_labels *l = &p->labels;
    const poseidon *hash = poseidon_of(p->g->ps, l->layers);
    size_t end = (share + 1) * SHARE < l->n ? (share + 1) * SHARE : l->n;
    fr rows[POSEIDON_LANES][POREP_MAX_LAYERS], *out[POSEIDON_LANES] = {NULL}, tag;
    const fr *in[POSEIDON_LANES] = {NULL};

    (void)worker;
    poseidon_merkle_tag(hash, &tag);
    for (size_t i = share * SHARE; i < end;) {
        unsigned n = 0;

        for (; n < POSEIDON_LANES && i < end; n++, i++) {
            for (uint32_t r = 0; r < l->layers; r++)
                fil_load_fr(p->cv, &rows[n][r], l->rows[i * l->layers + r]);
            in[n] = rows[n];
            out[n] = &j->columns[i];
            j->replica[i] = rows[n][l->layers - 1];
            if (p->data != NULL) p->cv->fr_add(&j->replica[i], &j->replica[i], &p->data[i]);
        }
        poseidon_hash_many(hash, n, out, in, &tag);
    }
    return CUZK_OK;
}

static void column_sibling(void *ctx, unsigned level, uint64_t i, fr *out)
{
    gen_element(ctx, out, GEN_TREE_C, level, i);
}

static void replica_sibling(void *ctx, unsigned level, uint64_t i, fr *out)
{
    gen_element(ctx, out, GEN_TREE_R, level, i);
}

/* Along the nodes with columns; the replica along the challenged ones alone. */
static cuzk_status make_sparse_trees(porep_gen *p, const leaf_job *j)
{
    const fil_gen *g = p->g;
    const gen_labels *l = &p->labels;
    cuzk_status st = CUZK_OK;
    void *ctx = (void *)(uintptr_t)g; /* read alone */
    uint64_t *at = mem_new(g->m, l->n, sizeof *at, &st);
    size_t n = 0;

    if (at == NULL) return st;
    TRY_OUT(gen_tree_sparse(&p->column_tree, l->nodes, j->columns, l->n, column_sibling, ctx));
    for (size_t i = 0; i < l->n; i++) {
        if (!l->challenged[i]) continue;
        at[n] = l->nodes[i];
        j->replica[n++] = j->replica[i];
    }
    st = gen_tree_sparse(&p->replica_tree, at, j->replica, n, replica_sibling, ctx);
out:
    mem_free(g->m, at);
    return st;
}

static cuzk_status make_trees(porep_gen *p)
{
    const fil_gen *g = p->g;
    leaf_job j = {.p = p};
    cuzk_status st = CUZK_OK;

    j.columns = mem_new(g->m, p->labels.n, sizeof *j.columns, &st);
    if (j.columns == NULL) goto out;
    j.replica = mem_new(g->m, p->labels.n, sizeof *j.replica, &st);
    if (j.replica == NULL) goto out;
    TRY_OUT(pool_run(g->pool, g->cancel, (p->labels.n + SHARE - 1) / SHARE, make_leaves, &j));
    if (!p->sealed) {
        st = make_sparse_trees(p, &j);
        goto out;
    }
    TRY_OUT(gen_tree_regions(&p->column_tree, 0, j.columns, g->pool, g->cancel));
    st = gen_tree_regions(&p->replica_tree, 0, j.replica, g->pool, g->cancel);
out:
    mem_free(g->m, j.replica);
    mem_free(g->m, j.columns);
    return st;
}

/* ---- the sector ---- */

static void comm_r(porep_gen *p)
{
    const poseidon *hash = poseidon_of(p->g->ps, 2);
    fr tag, out;

    poseidon_merkle_tag(hash, &tag);
    poseidon_hash(hash, &out, (const fr[2]){p->column_tree.root, p->replica_tree.root}, &tag);
    gen_tree_bytes(&p->data_tree, p->d.st.comm_r, &out);
}

static cuzk_status make_sector(porep_gen *p, uint32_t registered)
{
    const fil_gen *g = p->g;
    porep_statement st = {.shape = {g->size, g->size->porep_layers},
                          .registered = registered,
                          .miner_id = gen_miner(g),
                          .sector_number = gen_sector(g)};

    gen_bytes(g, st.ticket, GEN_TICKET, 0, 0);
    gen_bytes(g, st.seed, GEN_SEED, 0, 0);
    TRY(make_data(p));
    gen_tree_bytes(&p->data_tree, st.comm_d, &p->data_tree.root);
    porep_derive(&p->d, &st); /* without comm_r: replica and graph do not depend on it */
    TRY(p->sealed ? gen_labels_all(&p->labels, &p->d, g) : gen_labels_sparse(&p->labels, &p->d, g));
    TRY(make_trees(p));
    comm_r(p);
    st = p->d.st;
    porep_derive(&p->d, &st);
    return CUZK_OK;
}

/* ---- the proofs ---- */

static void put_path(const gen_tree *t, const porep_path_at *at, uint64_t leaf,
                     uint8_t (*hashes)[32], uint64_t *numbers)
{
    gen_tree_bytes(t, hashes[at->root], &t->root);
    gen_tree_bytes(t, hashes[at->leaf], gen_tree_node(t, 0, leaf));
    gen_tree_path(t, leaf, &hashes[at->siblings], &numbers[at->indices]);
}

static void put_challenge(const porep_gen *p, const porep_layout *lay, uint32_t node,
                          uint8_t (*hashes)[32], uint64_t *numbers)
{
    uint32_t nodes[1 + POREP_DRG_PARENTS + POREP_EXP_PARENTS];

    nodes[0] = node;
    porep_drg_parents(&p->d.graph, node, nodes + 1);
    porep_exp_parents(&p->d.graph, node, nodes + 1 + POREP_DRG_PARENTS);
    put_path(&p->data_tree, &lay->d, node, hashes, numbers);
    put_path(&p->replica_tree, &lay->r, node, hashes, numbers);
    for (unsigned k = 0; k < sizeof nodes / sizeof nodes[0]; k++) {
        const porep_column_at *at = &lay->columns[k];

        memcpy(hashes[at->rows], gen_labels_of(&p->labels, nodes[k]), (size_t)lay->layers * 32);
        numbers[at->index] = nodes[k];
        put_path(&p->column_tree, &at->path, nodes[k], hashes, numbers);
    }
    for (uint32_t k = 0; k <= lay->layers; k++) { /* the last is encoding_proof */
        uint32_t layer = k < lay->layers ? k + 1 : lay->layers;

        gen_label_parents(&p->labels, &hashes[lay->labels + k * POREP_PARENTS], layer, node);
        numbers[lay->nodes + 2 * k] = layer;
        numbers[lay->nodes + 2 * k + 1] = node;
    }
}

static cuzk_status put_c1(const porep_gen *p, bytes_out *o)
{
    const porep_statement *s = &p->d.st;
    mem *m = p->g->m;
    porep_c1 c1 = {.m = m,
                   .size = s->shape.size,
                   .registered = s->registered,
                   .n_partitions = p->d.n_partitions,
                   .n_challenges = p->d.n_challenges};
    size_t n = (size_t)c1.n_partitions * c1.n_challenges;
    cuzk_status st = CUZK_OK;

    porep_layout_of(&c1.layout, s->shape.size, s->shape.layers);
    memcpy(c1.comm_r, s->comm_r, 32);
    memcpy(c1.comm_d, s->comm_d, 32);
    memcpy(c1.replica_id, p->d.replica_id, 32);
    memcpy(c1.seed, s->seed, 32);
    memcpy(c1.ticket, s->ticket, 32);
    c1.hashes = mem_new(m, n * c1.layout.n_hashes, sizeof *c1.hashes, &st);
    if (c1.hashes == NULL) goto out;
    c1.numbers = mem_new(m, n * c1.layout.n_numbers, sizeof *c1.numbers, &st);
    if (c1.numbers == NULL) goto out;
    for (size_t i = 0; i < n; i++)
        put_challenge(p, &c1.layout,
                      porep_challenge(&p->d, (uint32_t)(i / c1.n_challenges),
                                      (uint32_t)(i % c1.n_challenges)),
                      c1.hashes + i * c1.layout.n_hashes, c1.numbers + i * c1.layout.n_numbers);
    porep_c1_write(o, &c1);
    st = bytes_out_status(o);
out:
    mem_free(m, c1.numbers);
    mem_free(m, c1.hashes);
    return st;
}

static void put_statement(const porep_statement *s, bytes_out *o)
{
    bytes_printf(o,
                 "{\n  \"kind\": \"porep\",\n  \"sector_size\": %" PRIu64
                 ",\n  \"layers\": %" PRIu32 ",\n  \"registered_seal_proof\": %" PRIu32
                 ",\n  \"miner_id\": %" PRIu64 ",\n  \"sector_number\": %" PRIu64,
                 s->shape.size->bytes, s->shape.layers, s->registered, s->miner_id,
                 s->sector_number);
    gen_put_hex(o, "ticket", s->ticket);
    gen_put_hex(o, "seed", s->seed);
    gen_put_hex(o, "comm_d", s->comm_d);
    gen_put_hex(o, "comm_r", s->comm_r);
    bytes_printf(o, "\n}\n");
}

cuzk_status gen_porep(const fil_gen *g)
{
    porep_gen p = {.g = g, .cv = poseidon_set_curve(g->ps)};
    uint32_t levels[FIL_MAX_LEVELS];
    unsigned n_levels, n_tops, block;
    int64_t number;
    cuzk_status st;
    bytes_out o;

    TRY(gen_registered(g, &number, &block, 0, POREP_REGISTERED / 5, USUAL_BLOCK));
    if (number < 0) number = 5 * block;
    p.sealed = porep_feature_of((uint32_t)number) != POREP_INTERACTIVE;
    if (p.sealed && g->size->nodes_log > FIL_GEN_MAX_SEALED_LOG)
        return FAIL(CUZK_EINVAL,
                    "registered proof %" PRId64
                    ": its challenges follow from comm_r, so the sector is "
                    "sealed, up to 8 MiB; this is %" PRIu64 " bytes",
                    number, g->size->bytes);
    n_levels = gen_levels(g->size, levels, &n_tops);
    gen_tree_init_sha(&p.data_tree, g->ps, g->size->nodes_log, g->m);
    gen_tree_init(&p.column_tree, g->ps, levels, n_levels, g->m);
    gen_tree_init(&p.replica_tree, g->ps, levels, n_levels, g->m);
    bytes_out_init(&o, g->m);
    TRY_OUT(make_sector(&p, (uint32_t)number));
    TRY_OUT(put_c1(&p, &o));
    TRY_OUT(gen_put_file(g, "c1.json", &o));
    put_statement(&p.d.st, &o);
    st = gen_put_file(g, "statement.json", &o);
out:
    bytes_out_clear(&o);
    gen_labels_clear(&p.labels);
    mem_free(g->m, p.data);
    gen_tree_clear(&p.data_tree);
    gen_tree_clear(&p.column_tree);
    gen_tree_clear(&p.replica_tree);
    return st;
}
