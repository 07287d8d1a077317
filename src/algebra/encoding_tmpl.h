/*
 * algebra/encoding_tmpl.h - points of one group from and to bytes; included twice by encoding_inl.h, which describes
 * the forms
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

/** Bytes of a point; 0: this curve has no such form. */
static inline size_t EC_G(enc_size)(point_enc enc)
{
    switch (enc) {
    case POINT_LEM: return 2 * ENC_BYTES;
    case POINT_ZCASH: return ENC_HAS_ZCASH ? 2 * ENC_BYTES : 0;
    case POINT_ZCASH_COMPRESSED: return ENC_HAS_ZCASH ? ENC_BYTES : 0;
    }
    return 0;
}

static inline point_err EC_G(read_lem)(EC_G(affine) * r, const uint8_t *in)
{
    EC_G(affine) t;
    memcpy(&t, in, sizeof t);
    if (!EC_F(is_canonical)(&t.x) || !EC_F(is_canonical)(&t.y)) return POINT_NOT_CANONICAL;
    if (!EC_G(is_on_curve)(&t)) return POINT_NOT_ON_CURVE;
    *r = t;
    return POINT_OK;
}

/** Infinity of either zcash form, its flag given: nothing else may be set. */
static inline point_err EC_G(read_zcash_inf)(EC_G(affine) * r, const uint8_t *in, size_t size)
{
    if ((in[0] & ~(ENC_COMPRESSED | ENC_INFINITY)) != 0) return POINT_BAD_FLAGS;
    if (!enc_all_zero(in + 1, size - 1)) return POINT_BAD_FLAGS;
    EC_G(affine_set_inf)(r);
    return POINT_OK;
}

static inline point_err EC_G(read_zcash)(EC_G(affine) * r, const uint8_t *in)
{
    EC_G(affine) t;
    if ((in[0] & (ENC_COMPRESSED | ENC_LARGER_Y)) != 0) return POINT_BAD_FLAGS;
    if ((in[0] & ENC_INFINITY) != 0) return EC_G(read_zcash_inf)(r, in, 2 * ENC_BYTES);
    if (!EC_F(from_be)(&t.x, in)) return POINT_NOT_CANONICAL;
    if (!EC_F(from_be)(&t.y, in + ENC_BYTES)) return POINT_NOT_CANONICAL;
    /* x = y = 0 in memory would be infinity, but that is not how it is written */
    if (EC_G(affine_is_inf)(&t) || !EC_G(is_on_curve)(&t)) return POINT_NOT_ON_CURVE;
    *r = t;
    return POINT_OK;
}

static inline point_err EC_G(read_zcash_compressed)(EC_G(affine) * r, const uint8_t *in)
{
    EC_G(affine) t;
    if ((in[0] & ENC_COMPRESSED) == 0) return POINT_BAD_FLAGS;
    if ((in[0] & ENC_INFINITY) != 0) return EC_G(read_zcash_inf)(r, in, ENC_BYTES);
    if (!EC_F(read_flagged_be)(&t.x, in)) return POINT_NOT_CANONICAL;
    EC_G(rhs)(&t.y, &t.x);
    if (!EC_F(sqrt_var)(&t.y, &t.y)) return POINT_NOT_ON_CURVE;
    if (EC_F(is_larger_half)(&t.y) != ((in[0] & ENC_LARGER_Y) != 0)) EC_F(neg)(&t.y, &t.y);
    *r = t;
    return POINT_OK;
}

/** A form that this curve lacks: POINT_BAD_FLAGS. */
static inline point_err EC_G(read)(EC_G(affine) * r, const uint8_t *in, point_enc enc)
{
    if (enc == POINT_LEM) return EC_G(read_lem)(r, in);
    if (!ENC_HAS_ZCASH) return POINT_BAD_FLAGS;
    return enc == POINT_ZCASH ? EC_G(read_zcash)(r, in) : EC_G(read_zcash_compressed)(r, in);
}

/** Writes enc_size(enc) bytes: none for a form that this curve lacks. */
static inline void EC_G(write)(uint8_t *out, const EC_G(affine) * a, point_enc enc)
{
    size_t size = EC_G(enc_size)(enc);
    unsigned flags = 0;

    if (enc == POINT_LEM) {
        memcpy(out, a, sizeof *a);
        return;
    }
    if (size == 0) return;
    if (enc == POINT_ZCASH_COMPRESSED) flags |= ENC_COMPRESSED;
    if (EC_G(affine_is_inf)(a)) {
        memset(out, 0, size);
        out[0] = (uint8_t)(flags | ENC_INFINITY);
        return;
    }
    EC_F(write_be)(out, &a->x);
    if (enc == POINT_ZCASH) {
        EC_F(write_be)(out + ENC_BYTES, &a->y);
        return;
    }
    if (EC_F(is_larger_half)(&a->y)) flags |= ENC_LARGER_Y;
    out[0] = (uint8_t)(out[0] | flags);
}
