/*
 * algebra/fr.h - the forms of a scalar, shared by both curves
 *
 * Both scalar fields (255 and 254 bits) have four limbs. An `fr` is in Montgomery form (radix 2^256) in the field of
 * the curve in context and always canonical (< r); a `scalar` is 32 canonical little-endian bytes. Only
 * fr_from_scalar and fr_to_scalar (of a curve table, or of curve_inl.h) cross.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ALGEBRA_FR_H
#define ALGEBRA_FR_H

#include <stdint.h>

typedef struct fr {
    uint64_t l[4];
} fr;

typedef struct scalar {
    uint8_t b[32];
} scalar;

#endif
