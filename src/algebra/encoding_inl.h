/*
 * algebra/encoding_inl.h - points from and to bytes
 *
 *   POINT_LEM               x || y as in memory: Montgomery form, little-endian limbs, c0 before c1. All zero: infinity
 *   POINT_ZCASH             x || y, plain, big-endian, c1 before c0
 *   POINT_ZCASH_COMPRESSED  x alone
 *
 * zcash flags are the three top bits of byte 0, so those two need a prime that leaves three bits free (BLS12-381):
 *   0x80  1 in the compressed form, 0 in the other
 *   0x40  infinity; every other bit, 0x80 apart, is then 0
 *   0x20  compressed: y is the larger of y and -y; else 0
 *
 * Readers check flags, range and the curve equation, never the subgroup; r is untouched unless POINT_OK.
 *
 * Source: shared/spec filecoin-formats section 5, circom-formats section 4 (docs/formats)
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ALGEBRA_ENCODING_INL_H
#define ALGEBRA_ENCODING_INL_H

#include "algebra/ec_inl.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#    error "POINT_LEM is a copy of memory on little-endian machines"
#endif

#define ENC_COMPRESSED 0x80u
#define ENC_INFINITY 0x40u
#define ENC_LARGER_Y 0x20u
#define ENC_FLAGS 0xe0u
/** The zcash forms fit this prime. */
#define ENC_HAS_ZCASH (FP_BITS <= 8 * FP_BYTES - 3)

/** Plain, big-endian, without the flag bits of byte 0; false: not below p. */
static inline bool fp_read_flagged_be(fp *r, const uint8_t *in)
{
    uint8_t b[FP_BYTES];
    memcpy(b, in, sizeof b);
    b[0] &= (uint8_t)~ENC_FLAGS;
    return fp_from_be_bytes(r, b);
}

static inline void fp_write_be(uint8_t *out, const fp *a)
{
    fp_to_be_bytes(out, a);
}

static inline bool fp2_read_flagged_be(fp2 *r, const uint8_t *in)
{
    return fp_read_flagged_be(&r->c1, in) && fp_from_be_bytes(&r->c0, in + sizeof(fp));
}

static inline void fp2_write_be(uint8_t *out, const fp2 *a)
{
    fp_to_be_bytes(out, &a->c1);
    fp_to_be_bytes(out + sizeof(fp), &a->c0);
}

static inline bool fp_from_be(fp *r, const uint8_t *in)
{
    return fp_from_be_bytes(r, in);
}

static inline bool fp2_from_be(fp2 *r, const uint8_t *in)
{
    return fp_from_be_bytes(&r->c1, in) && fp_from_be_bytes(&r->c0, in + sizeof(fp));
}

static inline bool fp_sqrt_var(fp *r, const fp *a)
{
    return fp_sqrt(r, a);
}

static inline bool enc_all_zero(const uint8_t *p, size_t n)
{
    uint8_t any = 0;
    for (size_t i = 0; i < n; i++) any |= p[i];
    return any == 0;
}

#define ENC_BYTES sizeof(fp)
#define EC_F(name) EC_CAT(fp, name)
#define EC_G(name) EC_CAT(g1, name)
#include "algebra/encoding_tmpl.h"
#undef ENC_BYTES
#undef EC_F
#undef EC_G

#define ENC_BYTES sizeof(fp2)
#define EC_F(name) EC_CAT(fp2, name)
#define EC_G(name) EC_CAT(g2, name)
#include "algebra/encoding_tmpl.h"
#undef ENC_BYTES
#undef EC_F
#undef EC_G

#endif
