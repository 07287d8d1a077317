/*
 * circuit/gadget/boolean.c - the logic of truth values over wires
 *
 * Source: spec/filecoin-circuits.md sections 2.1 to 2.4, whose first matching rule is taken
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit/gadget/boolean.h"

#define ONE 0u /* wire of the constant */

static const boolean constant_true = {0}, constant_false = {1};

static bool same(boolean x, boolean y)
{
    return x.v == y.v;
}

static uint32_t wire_of(boolean x)
{
    return x.v >> 1;
}

void boolean_add_to(const gadget *g, r1cs_lc *lc, boolean x, const fr *k)
{
    fr minus;

    if (same(x, constant_false)) return;
    if (!boolean_is_negated(x)) {
        r1cs_lc_add(g->b, lc, wire_of(x), k);
        return;
    }
    g->cv->fr_neg(&minus, k);
    r1cs_lc_add(g->b, lc, ONE, k);
    r1cs_lc_add(g->b, lc, wire_of(x), &minus);
}

static r1cs_lc *lc_of(const gadget *g, boolean x)
{
    r1cs_lc *lc = r1cs_lc_new(g->b);

    boolean_add_to(g, lc, x, &g->cv->fr_one);
    return lc;
}

/* x - y */
static r1cs_lc *difference(const gadget *g, boolean x, boolean y)
{
    r1cs_lc *lc = lc_of(g, x);

    boolean_add_to(g, lc, y, &g->minus_one);
    return lc;
}

/* x xor y as a new bit: 2 x * y = x + y - z */
static uint32_t xor_bits(const gadget *g, uint32_t x, uint32_t y)
{
    uint32_t z = r1cs_alloc_bit(g->b);
    r1cs_lc *twice = r1cs_lc_wire(g->b, x), *sum = r1cs_lc_wire(g->b, x);

    r1cs_lc_add(g->b, twice, x, &g->cv->fr_one);
    r1cs_lc_add(g->b, sum, y, &g->cv->fr_one);
    r1cs_lc_add(g->b, sum, z, &g->minus_one);
    gadget_row(g, twice, r1cs_lc_wire(g->b, y), sum);
    return z;
}

boolean boolean_xor(const gadget *g, boolean x, boolean y)
{
    bool negated = boolean_is_negated(x) != boolean_is_negated(y);
    boolean r;

    if (boolean_is_constant(x)) return same(x, constant_true) ? boolean_not(y) : y;
    if (boolean_is_constant(y)) return same(y, constant_true) ? boolean_not(x) : x;
    if (negated && boolean_is_negated(x)) /* the one that is not comes first */
        r = boolean_is(xor_bits(g, wire_of(y), wire_of(x)));
    else
        r = boolean_is(xor_bits(g, wire_of(x), wire_of(y)));
    return negated ? boolean_not(r) : r;
}

/* x and y as a new bit, neither of them constant; a negated operand comes second. */
static uint32_t and_bits(const gadget *g, boolean x, boolean y)
{
    uint32_t z;

    if (boolean_is_negated(x) && !boolean_is_negated(y)) return and_bits(g, y, x);
    z = r1cs_alloc_bit(g->b);
    gadget_row(g, lc_of(g, x), lc_of(g, y), r1cs_lc_wire(g->b, z));
    return z;
}

boolean boolean_and(const gadget *g, boolean x, boolean y)
{
    if (same(x, constant_false) || same(y, constant_false)) return constant_false;
    if (same(x, constant_true)) return y;
    if (same(y, constant_true)) return x;
    return boolean_is(and_bits(g, x, y));
}

/* not (not x and not y) */
static boolean or_of(const gadget *g, boolean x, boolean y)
{
    return boolean_not(boolean_and(g, boolean_not(x), boolean_not(y)));
}

boolean boolean_ch(const gadget *g, boolean a, boolean b, boolean c)
{
    r1cs_lc *rest;
    uint32_t z;

    if (boolean_is_constant(a) && boolean_is_constant(b) && boolean_is_constant(c))
        return same(a, constant_true) ? b : c;
    if (same(a, constant_false)) return c;
    if (same(b, constant_false)) return boolean_and(g, boolean_not(a), c);
    if (same(c, constant_false)) return boolean_and(g, a, b);
    if (same(c, constant_true)) return boolean_not(boolean_and(g, a, boolean_not(b)));
    if (same(b, constant_true)) return or_of(g, a, c);

    z = r1cs_alloc_bit(g->b);
    rest = r1cs_lc_wire(g->b, z);
    boolean_add_to(g, rest, c, &g->minus_one);
    gadget_row(g, difference(g, b, c), lc_of(g, a), rest);
    return boolean_is(z);
}

/* No operand is constant: (2 bc - b - c) * a = bc - z. */
static boolean maj_of_bits(const gadget *g, boolean a, boolean b, boolean c)
{
    uint32_t z = r1cs_alloc_bit(g->b);
    boolean bc = boolean_and(g, b, c);
    r1cs_lc *left = lc_of(g, bc), *right = lc_of(g, bc);

    boolean_add_to(g, left, bc, &g->cv->fr_one);
    boolean_add_to(g, left, b, &g->minus_one);
    boolean_add_to(g, left, c, &g->minus_one);
    r1cs_lc_add(g->b, right, z, &g->minus_one);
    gadget_row(g, left, lc_of(g, a), right);
    return boolean_is(z);
}

static boolean maj_of_constants(boolean a, boolean b, boolean c)
{
    return same(a, b) ? a : c;
}

boolean boolean_maj(const gadget *g, boolean a, boolean b, boolean c)
{
    if (boolean_is_constant(a) && boolean_is_constant(b) && boolean_is_constant(c))
        return maj_of_constants(a, b, c);
    if (same(a, constant_false)) return boolean_and(g, b, c);
    if (same(b, constant_false)) return boolean_and(g, a, c);
    if (same(c, constant_false)) return boolean_and(g, a, b);
    if (same(c, constant_true)) return or_of(g, a, b);
    if (same(b, constant_true)) return or_of(g, a, c);
    if (same(a, constant_true)) return or_of(g, b, c);
    return maj_of_bits(g, a, b, c);
}
