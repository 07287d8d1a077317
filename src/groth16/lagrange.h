/*
 * groth16/lagrange.h - Lagrange polynomials of a domain at one point, by ranges
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef GROTH16_LAGRANGE_H
#define GROTH16_LAGRANGE_H

#include "algebra/curve.h"
#include "base/pool.h"

#define LAGRANGE_CHUNK 4096

/** Polynomials number first + step * i at tau, times scale, of the domain of 2^log_n points with root
 *  fr_root(gen, log_n). */
typedef struct lagrange {
    const curve *cv;
    fr tau, scale;
    unsigned gen, log_n;
    uint64_t first, step;
    fr *tmp; /* pool_threads(p) * LAGRANGE_CHUNK elements */
    pool *p;
    const cancel *c;
} lagrange;

/** out[i - from] for i in [from, to). CUZK_EDATA, malformed: tau is a point of the domain. */
CUZK_STATUS lagrange_range(const lagrange *x, fr *out, uint64_t from, uint64_t to);

#endif
