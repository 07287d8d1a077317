/*
 * circuit/gadget/number.c - the rows of gadgets on bits and numbers
 *
 * Source: spec/filecoin-circuits.md sections 2, 3 and 8
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit/gadget/number.h"

#define ONE 0u /* wire of the constant */

gadget gadget_of(r1cs_builder *b, const curve *cv)
{
    gadget g = {.b = b, .cv = cv};

    cv->fr_neg(&g.minus_one, &cv->fr_one);
    return g;
}

/* x - y */
static r1cs_lc *difference(const gadget *g, uint32_t x, uint32_t y)
{
    r1cs_lc *lc = r1cs_lc_wire(g->b, x);

    r1cs_lc_add(g->b, lc, y, &g->minus_one);
    return lc;
}

static r1cs_lc *wire(const gadget *g, uint32_t x)
{
    return r1cs_lc_wire(g->b, x);
}

uint32_t bit_alloc(const gadget *g)
{
    uint32_t x = r1cs_alloc_bit(g->b);

    r1cs_enforce(g->b, difference(g, ONE, x), wire(g, x), NULL);
    return x;
}

uint32_t bit_and(const gadget *g, uint32_t x, uint32_t y)
{
    uint32_t z = r1cs_alloc_bit(g->b);

    r1cs_enforce(g->b, wire(g, x), wire(g, y), wire(g, z));
    return z;
}

uint32_t bit_nor(const gadget *g, uint32_t x, uint32_t y)
{
    uint32_t z = r1cs_alloc_bit(g->b);

    r1cs_enforce(g->b, difference(g, ONE, x), difference(g, ONE, y), wire(g, z));
    return z;
}

uint32_t num_pick(const gadget *g, uint32_t cond, uint32_t x, uint32_t y)
{
    uint32_t z = r1cs_alloc(g->b);

    r1cs_enforce(g->b, difference(g, y, x), wire(g, cond), difference(g, y, z));
    return z;
}

void num_equal(const gadget *g, uint32_t x, uint32_t y)
{
    r1cs_enforce(g->b, wire(g, x), wire(g, ONE), wire(g, y));
}

void num_inputize(const gadget *g, uint32_t x)
{
    num_equal(g, r1cs_alloc_input(g->b), x);
}

void num_pack_input(const gadget *g, const uint32_t *bits, unsigned n)
{
    r1cs_lc *sum = r1cs_lc_new(g->b);
    uint32_t input;

    for (unsigned i = 0; i < n; i++) {
        fr k;

        g->cv->fr_from_u64(&k, UINT64_C(1) << i);
        r1cs_lc_add(g->b, sum, bits[i], &k);
    }
    input = r1cs_alloc_input(g->b);
    r1cs_enforce(g->b, sum, wire(g, ONE), wire(g, input));
}
