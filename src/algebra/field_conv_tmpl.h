/*
 * algebra/field_conv_tmpl.h - a prime field's elements from and to plain limbs, bytes, decimal digits
 *
 * Included once for each field after mont_tmpl.h. "Plain" is the value itself, not its Montgomery form. Readers answer
 * false, and leave r alone, when the value is not below the modulus.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

/** out = the value, n little-endian limbs. */
static inline void FIELD_FN(to_limbs)(uint64_t out[FIELD_LIMBS], const FIELD *a)
{
    FIELD_FN(wide) w = {{0}};
    FIELD t;
    FIELD_UNROLL
    for (int i = 0; i < FIELD_LIMBS; i++) w.l[i] = a->l[i];
    FIELD_FN(redc_wide)(&t, &w);
    FIELD_UNROLL
    for (int i = 0; i < FIELD_LIMBS; i++) out[i] = t.l[i];
}

static inline bool FIELD_FN(from_limbs)(FIELD *r, const uint64_t in[FIELD_LIMBS])
{
    FIELD t, r2;
    FIELD_UNROLL
    for (int i = 0; i < FIELD_LIMBS; i++) {
        t.l[i] = in[i];
        r2.l[i] = FIELD_FN(mont_r2)[i];
    }
    if (!FIELD_FN(is_canonical)(&t)) return false;
    FIELD_FN(mul)(r, &t, &r2);
    return true;
}

static inline void FIELD_FN(from_u64)(FIELD *r, uint64_t v)
{
    FIELD t = {{0}}, r2;
    FIELD_UNROLL
    for (int i = 0; i < FIELD_LIMBS; i++) r2.l[i] = FIELD_FN(mont_r2)[i];
    if (FIELD_BITS <= 64) v %= FIELD_FN(modulus)[0];
    t.l[0] = v;
    FIELD_FN(mul)(r, &t, &r2);
}

/** The value is above (m - 1) / 2: the larger of a and -a. */
static inline bool FIELD_FN(is_larger_half)(const FIELD *a)
{
    uint64_t v[FIELD_LIMBS], borrow = 0;
    FIELD_FN(to_limbs)(v, a);
    FIELD_UNROLL
    for (int i = 0; i < FIELD_LIMBS; i++) (void)u64_subb(FIELD_FN(half)[i], v[i], &borrow);
    return borrow != 0;
}

static inline void FIELD_FN(to_le_bytes)(uint8_t out[FIELD_BYTES], const FIELD *a)
{
    uint64_t v[FIELD_LIMBS];
    FIELD_FN(to_limbs)(v, a);
    for (int i = 0; i < FIELD_BYTES; i++) out[i] = (uint8_t)(v[i / 8] >> (i % 8 * 8));
}

static inline bool FIELD_FN(from_le_bytes)(FIELD *r, const uint8_t in[FIELD_BYTES])
{
    uint64_t v[FIELD_LIMBS];
    FIELD_UNROLL
    for (int i = 0; i < FIELD_LIMBS; i++) v[i] = word_from_bytes(in + 8 * i);
    return FIELD_FN(from_limbs)(r, v);
}

static inline void FIELD_FN(to_be_bytes)(uint8_t out[FIELD_BYTES], const FIELD *a)
{
    uint64_t v[FIELD_LIMBS];
    FIELD_FN(to_limbs)(v, a);
    for (int i = 0; i < FIELD_BYTES; i++)
        out[FIELD_BYTES - 1 - i] = (uint8_t)(v[i / 8] >> (i % 8 * 8));
}

static inline bool FIELD_FN(from_be_bytes)(FIELD *r, const uint8_t in[FIELD_BYTES])
{
    uint64_t v[FIELD_LIMBS] = {0};
    for (int i = 0; i < FIELD_BYTES; i++)
        v[i / 8] |= (uint64_t)in[FIELD_BYTES - 1 - i] << (i % 8 * 8);
    return FIELD_FN(from_limbs)(r, v);
}

/** Decimal digits of the value without leading zeros, and a NUL. */
static inline void FIELD_FN(to_dec)(char out[CURVE_DEC_MAX], const FIELD *a)
{
    const uint64_t chunk = 10000000000000000000u;  /* 10^19, the largest power of ten in a word */
    char digits[19 * (FIELD_LIMBS * 64 / 63 + 1)]; /* all that the passes write */
    uint64_t v[FIELD_LIMBS];
    size_t n = 0, zeros = 0;

    FIELD_FN(to_limbs)(v, a);
    for (int done = 0; done < FIELD_LIMBS * 64; done += 63) { /* each pass takes 63 bits off */
        uint64_t rem = 0;
        for (int i = FIELD_LIMBS - 1; i >= 0; i--) {
            u128 t = (u128)rem << 64 | v[i];
            v[i] = (uint64_t)(t / chunk);
            rem = (uint64_t)(t % chunk);
        }
        for (int k = 0; k < 19; k++) {
            digits[n++] = (char)('0' + rem % 10);
            rem /= 10;
        }
    }
    while (zeros + 1 < n && digits[n - 1 - zeros] == '0') zeros++;
    n -= zeros;
    for (size_t i = 0; i < n; i++) out[i] = digits[n - 1 - i];
    out[n] = '\0';
}

/** From 1 to CURVE_DEC_MAX - 1 digits, leading zeros included; false also for anything that is not a digit. */
static inline bool FIELD_FN(from_dec)(FIELD *r, const char *s, size_t len)
{
    uint64_t v[FIELD_LIMBS] = {0};
    if (len == 0 || len >= CURVE_DEC_MAX) return false;
    for (size_t k = 0; k < len; k++) {
        uint64_t carry;
        if (s[k] < '0' || s[k] > '9') return false;
        carry = (uint64_t)(s[k] - '0');
        for (int i = 0; i < FIELD_LIMBS; i++) v[i] = word_mac(v[i], 10, 0, &carry);
        if (carry != 0) return false;
    }
    return FIELD_FN(from_limbs)(r, v);
}
