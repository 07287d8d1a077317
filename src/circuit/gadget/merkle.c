/*
 * circuit/gadget/merkle.c - inclusion in a Merkle tree as instances of templates
 *
 * Source: spec/filecoin-circuits.md sections 9.1 and 9.2
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit/gadget/merkle.h"

#include <stdio.h>
#include <string.h>

#include "circuit/gadget/sha256_node.h"

/* ---- templates ---- */

/* Index bits and siblings are own variables, or passed in after the node. */
static void node_rows(const gadget *g, const insert_plan *plan, const poseidon *p, bool own)
{
    uint32_t bits[INSERT_MAX_BITS], siblings[INSERT_MAX_SIZE - 1], list[INSERT_MAX_SIZE];
    unsigned n_bits = plan->index_bits;
    fr tag;

    for (unsigned i = 0; i < n_bits; i++) bits[i] = own ? bit_alloc(g) : r1cs_in(g->b, 1 + i);
    for (unsigned i = 0; i + 1 < plan->size; i++)
        siblings[i] = own ? r1cs_alloc(g->b) : r1cs_in(g->b, 1 + n_bits + i);
    insert_gadget(g, plan, list, r1cs_in(g->b, 0), bits, siblings);
    poseidon_merkle_tag(p, &tag);
    (void)poseidon_gadget(g, p, list, &tag); /* the hash is the last variable */
}

static cuzk_status add_node(uint32_t *index, r1cs_system *sys, const poseidon *p, bool own)
{
    const insert_plan *plan = insert_plan_of(poseidon_arity(p));
    r1cs_builder *b = NULL;
    char name[16];
    gadget g;
    cuzk_status st;

    (void)snprintf(name, sizeof name, "%s %u", own ? "path" : "step", poseidon_arity(p));
    TRY(r1cs_builder_new(&b, sys, name, own ? 1 : plan->index_bits + (uint32_t)plan->size));
    g = gadget_of(b, sys->cv);
    node_rows(&g, plan, p, own);
    st = r1cs_builder_finish(b, index);
    r1cs_builder_free(b);
    return st;
}

cuzk_status merkle_step_template(uint32_t *tmpl, r1cs_system *sys, const poseidon *p)
{
    return add_node(tmpl, sys, p, false);
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

cuzk_status merkle_root_template(uint32_t *tmpl, r1cs_system *sys)
{
    r1cs_builder *b = NULL;
    gadget g;
    cuzk_status st;

    TRY(r1cs_builder_new(&b, sys, "root", 2));
    g = gadget_of(b, sys->cv);
    num_equal(&g, r1cs_in(b, 0), r1cs_in(b, 1));
    st = r1cs_builder_finish(b, tmpl);
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
        if (!have[levels[i]])
            TRY(add_node(&t.path[levels[i]], sys, poseidon_of(ps, levels[i]), true));
        have[levels[i]] = true;
    }
    TRY(add_index(&t.index, sys, t.n_index_bits));
    TRY(merkle_root_template(&t.root, sys));
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

cuzk_status merkle_steps_add(r1cs_system *sys, const merkle_steps *t, r1cs_wire leaf,
                             const r1cs_wire *bits, r1cs_wire first_sibling, r1cs_wire root)
{
    r1cs_wire node = leaf, own;

    for (unsigned i = 0; i < t->n_levels; i++) {
        unsigned n_bits = insert_plan_of(t->levels[i])->index_bits;
        r1cs_wire in[1 + INSERT_MAX_BITS + INSERT_MAX_SIZE] = {node};

        for (unsigned k = 0; k < n_bits; k++) in[1 + k] = *bits++;
        for (unsigned k = 0; k + 1 < t->levels[i]; k++) in[1 + n_bits + k] = first_sibling++;
        TRY(r1cs_add(sys, t->step[i], in, &own, NULL));
        node = own + sys->templates[t->step[i]].n_local - 1;
    }
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
