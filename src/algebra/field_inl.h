/*
 * algebra/field_inl.h - the prime fields fp and fr of the curve chosen by CURVE_*, on the CPU table chosen by FIELD_ADX
 *
 * What a translation unit gets, for X = fp and fr, all static, constant time but for _var (README.md says how to choose):
 *
 *   values      X_set_zero _set_one _is_zero _is_one _eq _cmov _cswap _is_canonical
 *   arithmetic  X_add _sub _neg _dbl _cneg _mul _sqr _inv _inv_var _pow_var _batch_inv _batch_inv_var
 *   conversion  X_from_u64 _from_limbs _to_limbs _from_le_bytes _to_le_bytes _from_be_bytes _to_be_bytes _from_dec
 *               _to_dec _is_larger_half
 *   wide        X_wide: X_mul_wide _sqr_wide _redc_wide _add_lazy _wide_add _wide_sub _wide_add_lazy _wide_sub_lazy
 *   inlined     X_mul_inl _sqr_inl _mul_wide_inl _sqr_wide_inl _redc_wide_inl: for a loop's one or two products; X_mul is
 *               a call, 4 cycles slower
 *   fp only     fp_sqrt
 *   fr only     fr_from_scalar _to_scalar _root _dot
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ALGEBRA_FIELD_INL_H
#define ALGEBRA_FIELD_INL_H

#ifndef FIELD_ADX
#    error "define FIELD_ADX as 0 or 1"
#endif

#include "algebra/curve.h"
#include "algebra/field_divsteps_inl.h"
#include "algebra/field_word_inl.h"
#include "algebra/fr.h"
#include "base/status.h"

#if defined(CURVE_BLS12_381)
#    include "algebra/consts_bls12_381.h"
#elif defined(CURVE_BN254)
#    include "algebra/consts_bn254.h"
#elif defined(CURVE_TINY)
#    include "algebra/consts_tiny.h"
#else
#    error "define CURVE_BLS12_381, CURVE_BN254 or CURVE_TINY"
#endif

#define FP_BYTES (8 * FP_LIMBS)
#define FR_BYTES (8 * FR_LIMBS)

/** An element of the base field: Montgomery form, radix 2^(64 FP_LIMBS), canonical. */
typedef struct fp {
    uint64_t l[FP_LIMBS];
} fp;
/** A product before its reduction, below m R. */
typedef struct fp_wide {
    uint64_t l[2 * FP_LIMBS];
} fp_wide;
typedef struct fr_wide {
    uint64_t l[2 * FR_LIMBS];
} fr_wide;

#if FIELD_ADX
#    include "algebra/mont_adx_inl.h"
#endif

#define FIELD_CAT_(a, b) a##_##b
#define FIELD_CAT(a, b) FIELD_CAT_(a, b)
#define FIELD_FN(verb) FIELD_CAT(FIELD, verb)
#define FIELD_WIDE FIELD_FN(wide)

#define FIELD fp
#define FIELD_LIMBS FP_LIMBS
#define FIELD_LIMBS62 FP_LIMBS62
#define FIELD_BITS FP_BITS
#define FIELD_BYTES FP_BYTES
#define FIELD_NEG_INV FP_NEG_INV
#define FIELD_FOLDS FP_FOLDS
#define FIELD_INV62 FP_INV62
/* each stands on those above it */
#include "algebra/mont_tmpl.h"
/* inv_var */
#include "algebra/field_inv_tmpl.h"
/* pow_var, inv, batch_inv */
#include "algebra/field_pow_tmpl.h"
/* from_*, to_* */
#include "algebra/field_conv_tmpl.h"
#undef FIELD
#undef FIELD_LIMBS
#undef FIELD_LIMBS62
#undef FIELD_BITS
#undef FIELD_BYTES
#undef FIELD_NEG_INV
#undef FIELD_FOLDS
#undef FIELD_INV62

#define FIELD fr
#define FIELD_LIMBS FR_LIMBS
#define FIELD_LIMBS62 FR_LIMBS62
#define FIELD_BITS FR_BITS
#define FIELD_BYTES FR_BYTES
#define FIELD_NEG_INV FR_NEG_INV
#define FIELD_FOLDS FR_FOLDS
#define FIELD_INV62 FR_INV62
/* each stands on those above it */
#include "algebra/mont_tmpl.h"
/* inv_var */
#include "algebra/field_inv_tmpl.h"
/* pow_var, inv, batch_inv */
#include "algebra/field_pow_tmpl.h"
/* from_*, to_* */
#include "algebra/field_conv_tmpl.h"
#undef FIELD
#undef FIELD_LIMBS
#undef FIELD_LIMBS62
#undef FIELD_BITS
#undef FIELD_BYTES
#undef FIELD_NEG_INV
#undef FIELD_FOLDS
#undef FIELD_INV62

/** r = a square root of a, true; or false, r untouched, when a has none. p = 3 mod 4: a^((p+1)/4). Constant time. */
static inline bool fp_sqrt(fp *r, const fp *a)
{
    fp s, check;
    fp_pow_var(&s, a, fp_exp_sqrt, FP_LIMBS);
    fp_sqr(&check, &s);
    if (!fp_eq(&check, a)) return false;
    *r = s;
    return true;
}

/** False, r untouched: s is not below the group order. */
static inline bool fr_from_scalar(fr *r, const scalar *s)
{
    return fr_from_le_bytes(r, s->b);
}
static inline void fr_to_scalar(scalar *s, const fr *a)
{
    fr_to_le_bytes(s->b, a);
}

/** r = an element of order 2^log_n: gen^((r-1)/2^log_n), gen a non-residue; log_n <= FR_TWO_ADICITY. */
static inline void fr_root(fr *r, unsigned gen, unsigned log_n)
{
    fr t;
    VERIFY(log_n <= FR_TWO_ADICITY);
    fr_from_u64(&t, gen);
    fr_pow_var(&t, &t, fr_exp_odd, FR_LIMBS);
    for (unsigned i = log_n; i < FR_TWO_ADICITY; i++) fr_sqr(&t, &t);
    *r = t;
}

/** r = sum of a[i] b[i] over i < n. Products are summed wide, mod m R, and reduced once. */
static inline void fr_dot(fr *r, const fr *a, const fr *b, size_t n)
{
    fr_wide acc = {{0}}, t;
    for (size_t i = 0; i < n; i++) {
        fr_mul_wide(&t, &a[i], &b[i]);
        fr_wide_add(&acc, &acc, &t);
    }
    fr_redc_wide(r, &acc);
}

#endif
