/*
 * circuit/gadget/merkle.c - inclusion in a Merkle tree as instances of templates
 *
 * Source: spec/filecoin-circuits.md section 9.1
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit/gadget/merkle.h"

#include <stdio.h>
#include <string.h>

#include "circuit/gadget/sha256_node.h"

/* ---- templates ---- */

static void path_rows(const gadget *g, const insert_plan *plan, const poseidon *p, uint32_t node)
{
    uint32_t bits[INSERT_MAX_BITS], siblings[INSERT_MAX_SIZE - 1], list[INSERT_MAX_SIZE];
    fr tag;

    for (unsigned i = 0; i < plan->index_bits; i++) bits[i] = bit_alloc(g);
    for (unsigned i = 0; i + 1 < plan->size; i++) siblings[i] = r1cs_alloc(g->b);
    insert_gadget(g, plan, list, node, bits, siblings);
    poseidon_merkle_tag(p, &tag);
    (void)poseidon_gadget(g, p, list, &tag); /* the hash is the last variable */
}

static cuzk_status add_path(uint32_t *index, r1cs_system *sys, const poseidon *p)
{
    const insert_plan *plan = insert_plan_of(poseidon_arity(p));
    r1cs_builder *b = NULL;
    char name[16];
    gadget g;
    cuzk_status st;

    (void)snprintf(name, sizeof name, "path %u", poseidon_arity(p));
    TRY(r1cs_builder_new(&b, sys, name, 1));
    g = gadget_of(b, sys->cv);
    path_rows(&g, plan, p, r1cs_in(b, 0));
    st = r1cs_builder_finish(b, index);
    r1cs_builder_free(b);
    return st;
}

static cuzk_status add_index(uint32_t *index, r1cs_system *sys, unsigned n_bits)
{
    uint32_t bits[MERKLE_MAX_INDEX_BITS];
    r1cs_builder *b = NULL;
    gadget g;
    cuzk_status st;

    TRY(r1cs_builder_new(&b, sys, "index", n_bits));
    g = gadget_of(b, sys->cv);
    for (unsigned i = 0; i < n_bits; i++) bits[i] = r1cs_in(b, i);
    num_pack_input(&g, bits, n_bits);
    st = r1cs_builder_finish(b, index);
    r1cs_builder_free(b);
    return st;
}

static cuzk_status add_root(uint32_t *index, r1cs_system *sys)
{
    r1cs_builder *b = NULL;
    gadget g;
    cuzk_status st;

    TRY(r1cs_builder_new(&b, sys, "root", 2));
    g = gadget_of(b, sys->cv);
    num_equal(&g, r1cs_in(b, 0), r1cs_in(b, 1));
    st = r1cs_builder_finish(b, index);
    r1cs_builder_free(b);
    return st;
}

cuzk_status merkle_templates_add(merkle_templates *out, r1cs_system *sys, const poseidon_set *ps,
                                 const uint32_t *levels, unsigned n_levels)
{
    merkle_templates t = {.n_levels = n_levels};
    bool have[INSERT_MAX_SIZE + 1] = {false};

    if (n_levels == 0 || n_levels > MERKLE_MAX_LEVELS)
        return FAIL(CUZK_EINVAL, "merkle path: %u levels, allowed 1..%d", n_levels,
                    MERKLE_MAX_LEVELS);
    for (unsigned i = 0; i < n_levels; i++) {
        const insert_plan *plan = insert_plan_of(levels[i]);

        if (plan == NULL)
            return FAIL(CUZK_EINVAL, "merkle path: level %u of arity %u, allowed 2, 4, 8", i,
                        levels[i]);
        t.levels[i] = levels[i];
        t.n_index_bits += plan->index_bits;
        if (!have[levels[i]]) TRY(add_path(&t.path[levels[i]], sys, poseidon_of(ps, levels[i])));
        have[levels[i]] = true;
    }
    TRY(add_index(&t.index, sys, t.n_index_bits));
    TRY(add_root(&t.root, sys));
    *out = t;
    return CUZK_OK;
}

cuzk_status merkle_sha256_templates_add(merkle_templates *out, r1cs_system *sys,
                                        const merkle_templates *t)
{
    merkle_templates sha = {.index = t->index, .root = t->root, .n_index_bits = t->n_index_bits};

    for (; sha.n_levels < t->n_index_bits; sha.n_levels++) sha.levels[sha.n_levels] = 2;
    TRY(sha256_node_template(&sha.path[2], sys, SHA256_NODE_PATH));
    *out = sha;
    return CUZK_OK;
}

/* ---- instances ---- */

cuzk_status merkle_add(r1cs_system *sys, const merkle_templates *t, r1cs_wire leaf, r1cs_wire root)
{
    r1cs_wire node = leaf, bits[MERKLE_MAX_INDEX_BITS], own;
    unsigned n_bits = 0;

    for (unsigned i = 0; i < t->n_levels; i++) {
        unsigned index_bits = insert_plan_of(t->levels[i])->index_bits;
        uint32_t tmpl = t->path[t->levels[i]];

        TRY(r1cs_add(sys, tmpl, &node, &own, NULL));
        for (unsigned k = 0; k < index_bits; k++) bits[n_bits++] = own + k;
        node = own + sys->templates[tmpl].n_local - 1;
    }
    TRY(r1cs_add(sys, t->index, bits, NULL, NULL));
    return r1cs_add(sys, t->root, (const r1cs_wire[]){node, root}, NULL, NULL);
}

uint32_t merkle_path_elems(const poseidon *p)
{
    const insert_plan *plan = insert_plan_of(poseidon_arity(p));

    return plan->size - 1u + plan->n_picks + poseidon_trace_len(p);
}

unsigned merkle_instances(const merkle_templates *t)
{
    return t->n_levels + 2;
}
