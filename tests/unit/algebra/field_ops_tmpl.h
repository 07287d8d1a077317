/*
 * unit/algebra/field_ops_tmpl.h - fills a field_ops for fp and for fr; included by field_ops_<curve>_<table>.c
 *
 * Before inclusion: CURVE_*, FIELD_ADX, FIELD_OPS (the array to export), FIELD_OPS_CURVE (its name).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "algebra/field_inl.h"
#include "field_ops.h"

#define OPS_CAT_(a, b) a##_##b
#define OPS_CAT(a, b) OPS_CAT_(a, b)

#define OPS fp
#define OPS_WIDE fp_wide
#include "field_ops_one_tmpl.h"
#undef OPS
#undef OPS_WIDE

#define OPS fr
#define OPS_WIDE fr_wide
#include "field_ops_one_tmpl.h"
#undef OPS
#undef OPS_WIDE

static bool ops_fp_sqrt(field_out r, field_in a)
{
    return fp_sqrt((fp *)(void *)r, (const fp *)(const void *)a);
}

static void ops_fr_root(field_out r, unsigned gen, unsigned log_n)
{
    fr_root((fr *)(void *)r, gen, log_n);
}

static void ops_fr_dot(field_out r, field_in a, field_in b, size_t n)
{
    fr_dot((fr *)(void *)r, (const fr *)(const void *)a, (const fr *)(const void *)b, n);
}

/* what both fields have: X = fp, fr; U = FP, FR */
#define SHARED(X, U) \
    .table = FIELD_ADX ? CPU_TABLE_ADX : CPU_TABLE_GENERIC, .n = U##_LIMBS, .bits = U##_BITS, \
    .two_adicity = U##_TWO_ADICITY, .neg_inv = U##_NEG_INV, .inv62 = U##_INV62, \
    .n62 = U##_LIMBS62, .modulus = X##_modulus, .mont_one = X##_mont_one, .mont_r2 = X##_mont_r2, \
    .mont_r3 = X##_mont_r3, .half = X##_half, .exp_inv = X##_exp_inv, .adx = X##_adx, \
    .modulus62 = X##_modulus62, .is_zero = ops_##X##_is_zero, .is_one = ops_##X##_is_one, \
    .eq = ops_##X##_eq, .is_canonical = ops_##X##_is_canonical, \
    .is_larger_half = ops_##X##_is_larger_half, .set_zero = ops_##X##_set_zero, \
    .set_one = ops_##X##_set_one, .cmov = ops_##X##_cmov, .cswap = ops_##X##_cswap, \
    .add = ops_##X##_add, .sub = ops_##X##_sub, .mul = ops_##X##_mul, \
    .mul_inl = ops_##X##_mul_inl, .mul_lazy = ops_##X##_mul_lazy, .mul_last = ops_##X##_mul_last, \
    .redc_wide_once = ops_##X##_redc_wide_once, .neg = ops_##X##_neg, .dbl = ops_##X##_dbl, \
    .cneg = ops_##X##_cneg, .sqr = ops_##X##_sqr, .inv = ops_##X##_inv, \
    .inv_var = ops_##X##_inv_var, .pow_var = ops_##X##_pow_var, .batch_inv = ops_##X##_batch_inv, \
    .batch_inv_var = ops_##X##_batch_inv_var, .add_lazy = ops_##X##_add_lazy, \
    .mul_wide = ops_##X##_mul_wide, .sqr_wide = ops_##X##_sqr_wide, \
    .redc_wide = ops_##X##_redc_wide, .wide_add = ops_##X##_wide_add, \
    .wide_sub = ops_##X##_wide_sub, .wide_add_lazy = ops_##X##_wide_add_lazy, \
    .wide_sub_lazy = ops_##X##_wide_sub_lazy, .from_u64 = ops_##X##_from_u64, \
    .to_limbs = ops_##X##_to_limbs, .from_limbs = ops_##X##_from_limbs, \
    .to_le_bytes = ops_##X##_to_le_bytes, .from_le_bytes = ops_##X##_from_le_bytes, \
    .to_be_bytes = ops_##X##_to_be_bytes, .from_be_bytes = ops_##X##_from_be_bytes, \
    .to_dec = ops_##X##_to_dec, .from_dec = ops_##X##_from_dec

const field_ops FIELD_OPS[2] = {
    {.name = FIELD_OPS_CURVE " fp", SHARED(fp, FP), .exp_sqrt = fp_exp_sqrt, .sqrt = ops_fp_sqrt},
    {.name = FIELD_OPS_CURVE " fr",
     SHARED(fr, FR),
     .exp_odd = fr_exp_odd,
     .root = ops_fr_root,
     .dot = ops_fr_dot},
};
