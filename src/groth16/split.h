/*
 * groth16/split.h - which device takes which sums of one proof, where there are several
 *
 * The device on which a proof is made (device 0) evaluates and transforms; meanwhile the others take whole sums over the witness,
 * and once the scalars of the H sum are there, each takes a range of them. What goes where follows from the key, the circuit
 * and the number of devices alone: so the next proof of the circuit finds the points where they are wanted.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef GROTH16_SPLIT_H
#define GROTH16_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPLIT_MAX 8u /* devices of one proof */

typedef enum sum_kind { SUM_H, SUM_L, SUM_A, SUM_B1, SUM_B2, SUMS } sum_kind;

/** Times, in units that are the same for all: of what comes before the H sum, and of the sums. */
typedef struct split_costs {
    uint64_t before_h;
    uint64_t sum[SUMS];
    size_t h_n; /* scalars of the H sum */
} split_costs;

/** What one device takes. */
typedef struct split_part {
    bool takes[SUMS];   /* of SUM_H: h_n is not 0 */
    size_t h_from, h_n; /* a range of the H sum */
} split_part;

/** Each sum goes to one device, and the ranges of H are all of it, in order; n devices, 1..SPLIT_MAX, taken as equally fast. */
void split_plan(split_part *out, unsigned n, const split_costs *c);

/** Scalars of a sum: those that are bits, and the others. */
typedef struct split_scalars {
    uint64_t bits, elems;
} split_scalars;
uint64_t split_cost(split_scalars s, bool g2);
/** Of a, b, c and the transforms of 2^log_n rows. */
uint64_t split_cost_before_h(unsigned log_n);

#endif
