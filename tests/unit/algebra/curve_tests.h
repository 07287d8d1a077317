/*
 * unit/algebra/curve_tests.h - what the tests of curve tables share: every table of this machine, random inputs
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ALGEBRA_CURVE_TESTS_H
#define ALGEBRA_CURVE_TESTS_H

#include "algebra/curve.h"
#include "harness/harness.h"

/** f for each curve on each CPU table that this machine runs. */
static inline void for_each_table(void (*f)(const curve *c))
{
    for (unsigned id = 0; id < CURVE_IDS; id++) {
        for (unsigned t = 0; t < CPU_TABLES; t++) {
            if (cpu_table_supported((cpu_table)t)) f(curve_get((curve_id)id, (cpu_table)t));
        }
    }
}

static inline void random_fr(const curve *c, fr *r)
{
    scalar s;
    do {
        harness_random_bytes(s.b, sizeof s.b);
        s.b[31] &= 0x7f;
    } while (!c->fr_from_scalar(r, &s));
}

/** k times the generator, k random. */
static inline void random_g1(const curve *c, g1_any *r)
{
    fr k;
    random_fr(c, &k);
    c->g1_mul(r, &c->g1_gen, &k);
}

static inline void random_g2(const curve *c, g2_any *r)
{
    fr k;
    random_fr(c, &k);
    c->g2_mul(r, &c->g2_gen, &k);
}

/** v + n for a little-endian number of `size` bytes, n small; no carry may leave. */
static inline void add_small(uint8_t *v, size_t size, unsigned n)
{
    for (size_t i = 0; i < size && n != 0; i++) {
        n += v[i];
        v[i] = (uint8_t)n;
        n >>= 8;
    }
    assert_int_equal(n, 0);
}

static inline void reverse(uint8_t *v, size_t size)
{
    for (size_t i = 0; i < size / 2; i++) {
        uint8_t t = v[i];
        v[i] = v[size - 1 - i];
        v[size - 1 - i] = t;
    }
}

#endif
