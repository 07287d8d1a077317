/*
 * bench/bench_field_tmpl.h - the cases of one curve and CPU table; included by bench_field_<curve>_<table>.c
 *
 * Before inclusion: CURVE_*, FIELD_ADX, FIELD_BENCH (the name to export), FIELD_BENCH_CURVE.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "algebra/field_inl.h"
#include "bench/bench_field.h"

#define LANES 8
#define ROUNDS 128 /* of LANES operations */

static fp xs[LANES], ys[LANES], tmp[1024], many[1024];
static fr us[LANES], vs[LANES];
static fp_wide ws[LANES];

static void fill(void)
{
    static bool done;
    uint64_t seed = 7;
    if (done) return;
    for (int i = 0; i < 1024; i++) {
        do {
            for (int k = 0; k < FP_LIMBS; k++) many[i].l[k] = bench_random(&seed);
            many[i].l[FP_LIMBS - 1] >>= 64 * FP_LIMBS - FP_BITS;
        } while (!fp_is_canonical(&many[i]));
    }
    for (int i = 0; i < LANES; i++) {
        xs[i] = many[i];
        ys[i] = many[LANES + i];
        do {
            for (int k = 0; k < FR_LIMBS; k++) us[i].l[k] = bench_random(&seed);
            us[i].l[FR_LIMBS - 1] >>= 64 * FR_LIMBS - FR_BITS;
        } while (!fr_is_canonical(&us[i]));
        vs[i] = us[i];
    }
    done = true;
}

/* LANES independent chains; or one chain */
#define WIDE_CASE(name, op) \
    static void name(void *ctx) \
    { \
        (void)ctx; \
        fill(); \
        for (int r = 0; r < ROUNDS; r++) \
            for (int i = 0; i < LANES; i++) op; \
    }
#define CHAIN_CASE(name, op) \
    static void name(void *ctx) \
    { \
        (void)ctx; \
        fill(); \
        for (int r = 0; r < ROUNDS * LANES; r++) op; \
    }

WIDE_CASE(fp_mul_wide8, fp_mul(&xs[i], &xs[i], &ys[i]))
WIDE_CASE(fp_mul_inl8, fp_mul_inl(&xs[i], &xs[i], &ys[i]))
CHAIN_CASE(fp_mul_chain, fp_mul(&xs[0], &xs[0], &ys[0]))
WIDE_CASE(fp_sqr_wide8, fp_sqr(&xs[i], &xs[i]))
CHAIN_CASE(fp_sqr_chain, fp_sqr(&xs[0], &xs[0]))
WIDE_CASE(fp_product8, fp_mul_wide(&ws[i], &xs[i], &ys[i]))
WIDE_CASE(fp_square8, fp_sqr_wide(&ws[i], &xs[i]))
WIDE_CASE(fp_redc8, fp_redc_wide(&xs[i], &ws[i]))
WIDE_CASE(fp_wide_sub8, fp_wide_sub(&ws[i], &ws[i], &ws[(i + 1) % LANES]))
WIDE_CASE(fp_add8, fp_add(&xs[i], &xs[i], &ys[i]))
WIDE_CASE(fp_sub8, fp_sub(&xs[i], &xs[i], &ys[i]))
WIDE_CASE(fr_mul_wide8, fr_mul(&us[i], &us[i], &vs[i]))
WIDE_CASE(fr_mul_inl8, fr_mul_inl(&us[i], &us[i], &vs[i]))
CHAIN_CASE(fr_mul_chain, fr_mul(&us[0], &us[0], &vs[0]))
WIDE_CASE(fr_sqr_wide8, fr_sqr(&us[i], &us[i]))
WIDE_CASE(fr_add8, fr_add(&us[i], &us[i], &vs[i]))
WIDE_CASE(fr_sub8, fr_sub(&us[i], &us[i], &vs[i]))

static void case_fp_inv(void *ctx)
{
    (void)ctx;
    fill();
    for (int i = 0; i < LANES; i++) fp_inv(&xs[i], &xs[i]); /* constant time: any values do */
}
static void case_fp_inv_var(void *ctx)
{
    (void)ctx;
    fill();
    for (int i = 0; i < 64; i++) { /* values never seen before: branches cannot be learnt */
        fp_inv_var(&many[i], &many[i]);
        fp_add(&many[i], &many[i], &ys[0]);
    }
}
static void case_fr_inv_var(void *ctx)
{
    (void)ctx;
    fill();
    for (int i = 0; i < 64; i++) {
        fr_inv_var(&us[i % LANES], &us[i % LANES]);
        fr_add(&us[i % LANES], &us[i % LANES], &vs[0]);
    }
}
static void case_fp_batch_inv(void *ctx)
{
    (void)ctx;
    fill();
    fp_batch_inv_var(many, tmp, 1024);
}

/* the last values multiplied by their inverses */
static bool check(void)
{
    fp t;
    fr u;
    fill();
    for (int i = 0; i < LANES; i++) {
        fp_inv(&t, &xs[i]);
        fp_mul(&t, &t, &xs[i]);
        fr_inv(&u, &us[i]);
        fr_mul(&u, &u, &us[i]);
        if (!fp_is_one(&t) || !fr_is_one(&u)) return false;
    }
    return true;
}

static const field_case cases[] = {
    {"fp mul", ROUNDS *LANES, fp_mul_wide8},
    {"fp mul inlined", ROUNDS *LANES, fp_mul_inl8},
    {"fp mul chain", ROUNDS *LANES, fp_mul_chain},
    {"fp sqr", ROUNDS *LANES, fp_sqr_wide8},
    {"fp sqr chain", ROUNDS *LANES, fp_sqr_chain},
    {"fp mul_wide", ROUNDS *LANES, fp_product8},
    {"fp sqr_wide", ROUNDS *LANES, fp_square8},
    {"fp redc_wide", ROUNDS *LANES, fp_redc8},
    {"fp wide_sub", ROUNDS *LANES, fp_wide_sub8},
    {"fp add", ROUNDS *LANES, fp_add8},
    {"fp sub", ROUNDS *LANES, fp_sub8},
    {"fr mul", ROUNDS *LANES, fr_mul_wide8},
    {"fr mul inlined", ROUNDS *LANES, fr_mul_inl8},
    {"fr mul chain", ROUNDS *LANES, fr_mul_chain},
    {"fr sqr", ROUNDS *LANES, fr_sqr_wide8},
    {"fr add", ROUNDS *LANES, fr_add8},
    {"fr sub", ROUNDS *LANES, fr_sub8},
    {"fp inv", LANES, case_fp_inv},
    {"fp inv_var", 64, case_fp_inv_var},
    {"fr inv_var", 64, case_fr_inv_var},
    {"fp batch_inv_var", 1024, case_fp_batch_inv},
    {NULL, 0, NULL},
};

const field_bench FIELD_BENCH = {
    FIELD_BENCH_CURVE,
    FIELD_ADX ? CPU_TABLE_ADX : CPU_TABLE_GENERIC,
    cases,
    check,
};
