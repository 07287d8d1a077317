/*
 * algebra/self_test.c - the self-test of table adx: rings of products
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "algebra/self_test.h"

#include <string.h>

#include "algebra/curve_tables.h"

#define RING 16
#define PRODUCTS 128

/* Values below either modulus, no two words alike. */
static void fill(uint64_t *ring, size_t words, size_t used)
{
    uint64_t x = 1;

    memset(ring, 0, RING * words * sizeof *ring);
    for (size_t i = 0; i < RING; i++) {
        for (size_t k = 0; k < used; k++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            ring[i * words + k] = x;
        }
        ring[i * words + used - 1] >>= 4;
    }
}

bool self_test_curve(const curve *judge, const curve *cv)
{
    uint64_t a[CURVE_RING_WORDS], b[CURVE_RING_WORDS];
    fr c[RING], d[RING];

    fill(a, cv->fp_size / 8, cv->fp_size / 8);
    memcpy(b, a, sizeof b);
    judge->fp_ring(a, PRODUCTS);
    cv->fp_ring(b, PRODUCTS);
    fill(c[0].l, 4, 4);
    memcpy(d, c, sizeof d);
    judge->fr_ring(c, PRODUCTS);
    cv->fr_ring(d, PRODUCTS);
    return memcmp(a, b, RING * cv->fp_size) == 0 && memcmp(c, d, sizeof c) == 0;
}

bool self_test_adx(void)
{
#if defined(__x86_64__)
    return self_test_curve(&curve_bls_generic, &curve_bls_adx) &&
           self_test_curve(&curve_bn_generic, &curve_bn_adx);
#else
    return true;
#endif
}
