/*
 * r1cs/classes.h - how large the values of an assignment are: what a sum over a key's points costs depends on it
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef R1CS_CLASSES_H
#define R1CS_CLASSES_H

#include "r1cs/assignment.h"

/** Each value is in the first class that holds it. */
typedef struct r1cs_classes {
    uint64_t zero, one;
    uint64_t below_2_8, below_2_64; /* from 2; from 2^8 */
    uint64_t full;                  /* from 2^64 */
} r1cs_classes;

/** Of all inputs, ONE among them, and auxiliary variables of an assignment of a system. */
void r1cs_classes_of(r1cs_classes *out, const r1cs_assignment *w);

#endif
