/*
 * unit/algebra/field_ops.h - a prime field as a table of its functions, so that one test runs over every field, curve and
 * CPU table
 *
 * Elements are arrays of `limbs` words (`n`), wide values of 2n. Filled by field_ops_tmpl.h, one stub for each curve and
 * table.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ALGEBRA_FIELD_OPS_H
#define ALGEBRA_FIELD_OPS_H

#include "algebra/cpu_table.h"
#include "algebra/curve.h"

#define FIELD_MAX_LIMBS 6

typedef uint64_t *field_out;
typedef const uint64_t *field_in;

typedef struct field_ops {
    const char *name; /* "bls12-381 fp" */
    cpu_table table;
    unsigned n, bits, two_adicity;
    /* constants of gen_consts.py */
    uint64_t neg_inv, inv62;
    unsigned n62;
    const uint64_t *modulus, *mont_one, *mont_r2, *mont_r3, *half, *exp_inv, *adx;
    const uint64_t *exp_sqrt, *exp_odd; /* of fp alone, of fr alone */
    const int64_t *modulus62;

    bool (*is_zero)(field_in a);
    bool (*is_one)(field_in a);
    bool (*eq)(field_in a, field_in b);
    bool (*is_canonical)(field_in a);
    bool (*is_larger_half)(field_in a);
    void (*set_zero)(field_out r);
    void (*set_one)(field_out r);
    void (*cmov)(field_out r, field_in a, bool c);
    void (*cswap)(field_out a, field_out b, bool c);
    void (*add)(field_out r, field_in a, field_in b);
    void (*sub)(field_out r, field_in a, field_in b);
    void (*mul)(field_out r, field_in a, field_in b);
    void (*mul_inl)(field_out r, field_in a, field_in b);
    void (*mul_lazy)(field_out r, field_in a,
                     field_in b); /* these two and redc_wide_once: fp alone */
    void (*mul_last)(field_out r, field_in a, field_in b);
    void (*redc_wide_once)(field_out r, field_in w);
    void (*neg)(field_out r, field_in a);
    void (*dbl)(field_out r, field_in a);
    void (*cneg)(field_out r, field_in a, bool c);
    void (*sqr)(field_out r, field_in a);
    void (*inv)(field_out r, field_in a);
    void (*inv_var)(field_out r, field_in a);
    void (*pow_var)(field_out r, field_in a, const uint64_t *e, size_t len);
    void (*batch_inv)(field_out a, field_out tmp, size_t n);
    void (*batch_inv_var)(field_out a, field_out tmp, size_t n);
    void (*add_lazy)(field_out r, field_in a, field_in b);
    void (*mul_wide)(field_out r, field_in a, field_in b);
    void (*sqr_wide)(field_out r, field_in a);
    void (*redc_wide)(field_out r, field_in w);
    void (*wide_add)(field_out r, field_in a, field_in b);
    void (*wide_sub)(field_out r, field_in a, field_in b);
    void (*wide_add_lazy)(field_out r, field_in a, field_in b);
    void (*wide_sub_lazy)(field_out r, field_in a, field_in b);
    void (*from_u64)(field_out r, uint64_t v);
    void (*to_limbs)(uint64_t *out, field_in a);
    bool (*from_limbs)(field_out r, const uint64_t *in);
    void (*to_le_bytes)(uint8_t *out, field_in a);
    bool (*from_le_bytes)(field_out r, const uint8_t *in);
    void (*to_be_bytes)(uint8_t *out, field_in a);
    bool (*from_be_bytes)(field_out r, const uint8_t *in);
    void (*to_dec)(char *out, field_in a);
    bool (*from_dec)(field_out r, const char *s, size_t len);
    bool (*sqrt)(field_out r, field_in a);                      /* fp alone */
    void (*root)(field_out r, unsigned gen, unsigned log_n);    /* fr alone */
    void (*dot)(field_out r, field_in a, field_in b, size_t n); /* fr alone */
} field_ops;

/** fp, then fr, of a curve on a table. */
extern const field_ops field_ops_bls_generic[2], field_ops_bls_adx[2], field_ops_bn_generic[2],
    field_ops_bn_adx[2], field_ops_tiny_generic[2], field_ops_tiny_adx[2];

#endif
