/*
 * circuit/filecoin/gen_labels.c - labels of a made-up sector: of all nodes, or of those that challenges touch
 *
 * A label follows from labels of the node's DRG parents in its own layer, which come before it, and of its expander parents in
 * the layer below. So layer by layer, node by node.
 *
 * Source: spec/filecoin-formats.md sections 2.2 (parents), 3.3 (labels)
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit/filecoin/gen_labels.h"

#include <string.h>

#include "base/hash.h"

#define POLL 4096 /* nodes between looks at the cancel */

static size_t place_of(const gen_labels *l, uint64_t node)
{
    size_t lo = 0, hi = l->n;

    if (l->nodes == NULL) return (size_t)node;
    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;
        if (l->nodes[mid] <= node)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

const uint8_t (*gen_labels_of(const gen_labels *l, uint64_t node))[32]
{
    return (const uint8_t(*)[32])(l->rows + place_of(l, node) * l->layers);
}

void gen_label_parents(const gen_labels *l, uint8_t out[POREP_PARENTS][32], uint32_t layer,
                       uint32_t node)
{
    uint32_t drg[POREP_DRG_PARENTS], exp[POREP_EXP_PARENTS];
    unsigned n = 0;

    porep_drg_parents(&l->d->graph, node, drg);
    for (unsigned i = 0; i < POREP_DRG_PARENTS; i++)
        memcpy(out[n++], gen_labels_of(l, drg[i])[layer - 1], 32);
    if (layer > 1) {
        porep_exp_parents(&l->d->graph, node, exp);
        for (unsigned i = 0; i < POREP_EXP_PARENTS; i++)
            memcpy(out[n++], gen_labels_of(l, exp[i])[layer - 2], 32);
    }
    for (unsigned i = 0; n + i < POREP_PARENTS; i++) memcpy(out[n + i], out[i], 32);
}

static void make_label(gen_labels *l, size_t place, uint32_t layer, uint32_t node)
{
    uint8_t prefix[64] = {0}, parents[POREP_PARENTS][32],
            *out = l->rows[place * l->layers + layer - 1];
    sha256_ctx h;

    memcpy(prefix, l->d->replica_id, 32);
    store_u32be(prefix + 32, layer);
    store_u64be(prefix + 36, node);
    sha256_init(&h);
    sha256_update(&h, prefix, sizeof prefix);
    if (node > 0) {
        gen_label_parents(l, parents, layer, node);
        sha256_update(&h, parents, sizeof parents);
    }
    sha256_final(&h, out);
    out[31] &= 0x3f;
}

/* Labels of the challenged nodes, or of all. */
static cuzk_status make_labels(gen_labels *l, const fil_gen *g)
{
    for (uint32_t layer = 1; layer <= l->layers; layer++)
        for (size_t i = 0; i < l->n; i++) {
            if (i % POLL == 0) TRY(cancel_check(g->cancel));
            if (l->nodes == NULL)
                make_label(l, i, layer, (uint32_t)i);
            else if (l->challenged[i])
                make_label(l, i, layer, (uint32_t)l->nodes[i]);
        }
    return CUZK_OK;
}

static cuzk_status take_rows(gen_labels *l)
{
    cuzk_status st = CUZK_OK;

    l->rows = mem_new(l->m, l->n * l->layers, sizeof *l->rows, &st);
    return st;
}

cuzk_status gen_labels_all(gen_labels *out, const porep_derived *d, const fil_gen *g)
{
    *out = (gen_labels){
        .d = d, .m = g->m, .layers = d->st.shape.layers, .n = (size_t)1 << d->graph.nodes_log};
    TRY(take_rows(out));
    return make_labels(out, g);
}

/* The challenged nodes and their parents, ascending, each once. */
static cuzk_status collect(gen_labels *l)
{
    const porep_derived *d = l->d;
    size_t n_challenges = (size_t)d->n_partitions * d->n_challenges;
    cuzk_status st = CUZK_OK;
    uint64_t *nodes = mem_new(l->m, n_challenges * (1 + POREP_DRG_PARENTS + POREP_EXP_PARENTS),
                              sizeof *nodes, &st);
    size_t n = 0;

    if (nodes == NULL) return st;
    l->nodes = nodes;
    for (uint32_t k = 0; k < d->n_partitions; k++)
        for (uint32_t i = 0; i < d->n_challenges; i++) {
            uint32_t v = porep_challenge(d, k, i), drg[POREP_DRG_PARENTS], exp[POREP_EXP_PARENTS];

            porep_drg_parents(&d->graph, v, drg);
            porep_exp_parents(&d->graph, v, exp);
            nodes[n++] = v;
            for (unsigned p = 0; p < POREP_DRG_PARENTS; p++) nodes[n++] = drg[p];
            for (unsigned p = 0; p < POREP_EXP_PARENTS; p++) nodes[n++] = exp[p];
        }
    l->n = gen_sort_nodes(nodes, n);
    l->challenged = mem_new(l->m, l->n, sizeof *l->challenged, &st);
    if (l->challenged == NULL) return st;
    for (uint32_t k = 0; k < d->n_partitions; k++)
        for (uint32_t i = 0; i < d->n_challenges; i++)
            l->challenged[place_of(l, porep_challenge(d, k, i))] = true;
    return CUZK_OK;
}

cuzk_status gen_labels_sparse(gen_labels *out, const porep_derived *d, const fil_gen *g)
{
    *out = (gen_labels){.d = d, .m = g->m, .layers = d->st.shape.layers};
    TRY(collect(out));
    TRY(take_rows(out));
    for (size_t i = 0; i < out->n; i++)
        for (uint32_t l = 0; l < out->layers && !out->challenged[i]; l++)
            gen_bytes(g, out->rows[i * out->layers + l], GEN_LABEL, l, out->nodes[i]);
    return make_labels(out, g);
}

void gen_labels_clear(gen_labels *l)
{
    mem_free(l->m, l->nodes);
    mem_free(l->m, l->challenged);
    mem_free(l->m, l->rows);
    *l = (gen_labels){0};
}
