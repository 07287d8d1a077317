/*
 * circuit/filecoin/post_circuit.c - FallbackPoSt as a constraint system
 *
 * A sector is one instance of "sector" (comm_r_last, comm_c, comm_r, the public comm_r, its hash), and for each challenge
 * one of "leaf" and an inclusion (gadget/merkle.h).
 *
 * Source: spec/filecoin-circuits.md section 11.1
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdio.h>

#include "circuit/filecoin/post_impl.h"
#include "circuit/gadget/merkle.h"

static void sector_rows(const gadget *g, const poseidon *p)
{
    uint32_t comm_r_last = r1cs_alloc(g->b), comm_c = r1cs_alloc(g->b), comm_r = r1cs_alloc(g->b);
    fr tag;

    num_inputize(g, comm_r);
    poseidon_merkle_tag(p, &tag);
    num_equal(g, comm_r, poseidon_gadget(g, p, (const uint32_t[]){comm_c, comm_r_last}, &tag));
}

static cuzk_status add_sector_template(uint32_t *index, r1cs_system *sys, const poseidon *p)
{
    r1cs_builder *b = NULL;
    gadget g;
    cuzk_status st;

    TRY(r1cs_builder_new(&b, sys, "sector", 0));
    g = gadget_of(b, sys->cv);
    sector_rows(&g, p);
    st = r1cs_builder_finish(b, index);
    r1cs_builder_free(b);
    return st;
}

static cuzk_status add_leaf_template(uint32_t *index, r1cs_system *sys)
{
    r1cs_builder *b = NULL;
    cuzk_status st;

    TRY(r1cs_builder_new(&b, sys, "leaf", 0));
    (void)r1cs_alloc(b); /* its wire is the template's only one */
    st = r1cs_builder_finish(b, index);
    r1cs_builder_free(b);
    return st;
}

static cuzk_status build(r1cs_system *sys, const poseidon_set *ps, uint32_t n_sectors,
                         uint32_t n_challenges, const uint32_t *levels, unsigned n_levels)
{
    merkle_templates paths;
    uint32_t sector, leaf;

    TRY(add_sector_template(&sector, sys, poseidon_of(ps, 2)));
    TRY(add_leaf_template(&leaf, sys));
    TRY(merkle_templates_add(&paths, sys, ps, levels, n_levels));
    for (uint32_t s = 0; s < n_sectors; s++) {
        r1cs_wire comm_r_last, value;

        TRY(r1cs_add(sys, sector, NULL, &comm_r_last, NULL));
        for (uint32_t c = 0; c < n_challenges; c++) {
            TRY(r1cs_add(sys, leaf, NULL, &value, NULL));
            TRY(merkle_add(sys, &paths, value, comm_r_last));
        }
    }
    return r1cs_finish(sys);
}

cuzk_status post_system_new(r1cs_system **out, const poseidon_set *ps, const char *name,
                            uint32_t n_sectors, uint32_t n_challenges, const uint32_t *levels,
                            unsigned n_levels, mem *m)
{
    r1cs_system *sys = NULL;
    cuzk_status st;

    TRY(r1cs_new(&sys, poseidon_set_curve(ps), name, m));
    st = build(sys, ps, n_sectors, n_challenges, levels, n_levels);
    if (st != CUZK_OK) {
        r1cs_free(sys);
        return st;
    }
    *out = sys;
    return CUZK_OK;
}

cuzk_status post_system_of(r1cs_system **out, const poseidon_set *ps, fil_kind kind,
                           const fil_size *s, mem *m)
{
    uint32_t n_sectors, n_challenges, levels[FIL_MAX_LEVELS];
    unsigned n_levels = fil_levels(s, levels);
    char name[32];

    if (kind != FIL_WINNING && kind != FIL_WINDOW)
        return FAIL(CUZK_EINVAL, "%s is not a proof of spacetime", fil_kind_name(kind));
    if (!fil_exists(kind, s))
        return FAIL(CUZK_EINVAL, "no %s circuit of size %s", fil_kind_name(kind), s->name);
    fil_post_shape(kind, s, &n_sectors, &n_challenges);
    (void)snprintf(name, sizeof name, "%s-%s", fil_kind_name(kind), s->name);
    return post_system_new(out, ps, name, n_sectors, n_challenges, levels, n_levels, m);
}
