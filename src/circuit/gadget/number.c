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

void gadget_row(const gadget *g, r1cs_lc *a, r1cs_lc *bb, r1cs_lc *c)
{
    r1cs_enforce(g->b, a, bb, c);
    r1cs_lc_free(g->b, a);
    r1cs_lc_free(g->b, bb);
    r1cs_lc_free(g->b, c);
}

void gadget_add_number(const gadget *g, r1cs_lc *lc, const uint32_t *wires, unsigned n)
{
    fr k = g->cv->fr_one;

    for (unsigned i = 0; i < n; i++) {
        r1cs_lc_add(g->b, lc, wires[i], &k);
        g->cv->fr_add(&k, &k, &k);
    }
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

    gadget_row(g, difference(g, ONE, x), wire(g, x), NULL);
    return x;
}

uint32_t bit_and(const gadget *g, uint32_t x, uint32_t y)
{
    uint32_t z = r1cs_alloc_bit(g->b);

    gadget_row(g, wire(g, x), wire(g, y), wire(g, z));
    return z;
}

uint32_t bit_nor(const gadget *g, uint32_t x, uint32_t y)
{
    uint32_t z = r1cs_alloc_bit(g->b);

    gadget_row(g, difference(g, ONE, x), difference(g, ONE, y), wire(g, z));
    return z;
}

uint32_t num_pick(const gadget *g, uint32_t cond, uint32_t x, uint32_t y)
{
    uint32_t z = r1cs_alloc(g->b);

    gadget_row(g, difference(g, y, x), wire(g, cond), difference(g, y, z));
    return z;
}

uint32_t num_mul(const gadget *g, uint32_t x, uint32_t y)
{
    uint32_t z = r1cs_alloc(g->b);

    gadget_row(g, wire(g, x), wire(g, y), wire(g, z));
    return z;
}

uint32_t num_sum(const gadget *g, const uint32_t *x, unsigned n)
{
    uint32_t z = r1cs_alloc(g->b);
    r1cs_lc *sum = r1cs_lc_new(g->b);

    for (unsigned i = 0; i < n; i++) r1cs_lc_add(g->b, sum, x[i], &g->cv->fr_one);
    gadget_row(g, sum, wire(g, ONE), wire(g, z));
    return z;
}

void num_equal(const gadget *g, uint32_t x, uint32_t y)
{
    gadget_row(g, wire(g, x), wire(g, ONE), wire(g, y));
}

void num_inputize(const gadget *g, uint32_t x)
{
    num_equal(g, r1cs_alloc_input(g->b), x);
}

void num_pack_input(const gadget *g, const uint32_t *bits, unsigned n)
{
    r1cs_lc *sum = r1cs_lc_new(g->b);

    gadget_add_number(g, sum, bits, n);
    gadget_row(g, sum, wire(g, ONE), wire(g, r1cs_alloc_input(g->b)));
}

uint32_t num_pack(const gadget *g, const uint32_t *bits, unsigned n)
{
    r1cs_lc *sum = r1cs_lc_new(g->b);
    uint32_t x = r1cs_alloc(g->b);

    gadget_add_number(g, sum, bits, n);
    gadget_row(g, sum, wire(g, ONE), wire(g, x));
    return x;
}

void num_to_bits(const gadget *g, uint32_t bits[NUM_BITS], uint32_t x)
{
    r1cs_lc *sum = r1cs_lc_new(g->b);

    for (unsigned i = 0; i < NUM_BITS; i++) bits[i] = bit_alloc(g);
    gadget_add_number(g, sum, bits, NUM_BITS);
    r1cs_lc_add(g->b, sum, x, &g->minus_one);
    gadget_row(g, NULL, NULL, sum);
}
