/*
 * algebra/ec_inl.h - the groups of one curve: g1 over fp and g2 over fp2, both made of ec_tmpl.h
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ALGEBRA_EC_INL_H
#define ALGEBRA_EC_INL_H

#include <string.h>

#include "algebra/fp2_inl.h"

#define EC_CAT_(a, b) a##_##b
#define EC_CAT(a, b) EC_CAT_(a, b)

/* G1: points over Fp */
#define EC_FIELD fp
#define EC_F(name) EC_CAT(fp, name)
#define EC_G(name) EC_CAT(g1, name)
#include "algebra/ec_tmpl.h"
#undef EC_FIELD
#undef EC_F
#undef EC_G

/* G2: points of the twist over Fp2 */
#define EC_FIELD fp2
#define EC_F(name) EC_CAT(fp2, name)
#define EC_G(name) EC_CAT(g2, name)
#include "algebra/ec_tmpl.h"
#undef EC_FIELD
#undef EC_F
#undef EC_G

static inline void g1_set_gen(g1_affine *r)
{
    static const uint64_t words[] = {CURVE_G1_GEN_WORDS};
    memcpy(r, words, sizeof *r);
}

static inline void g2_set_gen(g2_affine *r)
{
    static const uint64_t words[] = {CURVE_G2_GEN_WORDS};
    memcpy(r, words, sizeof *r);
}

#endif
