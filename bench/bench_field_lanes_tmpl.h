/*
 * bench/bench_field_lanes_tmpl.h - the cases of one curve in eight lanes; included by bench_field_<curve>_ifma.c
 *
 * An operation is one lane's: a product of eight elements counts as eight.
 *
 * Before inclusion: CURVE_*, FIELD_BENCH (the name to export), FIELD_BENCH_CURVE.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define FIELD_ADX 1
#include "algebra/fp2_lanes_inl.h"
#include "bench/bench_field.h"

#if defined(LANES)

#    define SETS 4 /* independent vectors of eight */
#    define ROUNDS 64
#    define OPS (ROUNDS * SETS * LANES)

static fp_x8 xs[SETS], ys[SETS];
static fr_x8 us[SETS], vs[SETS];
static fp2_x8 ps[SETS], qs[SETS];
static fp_x8_wide ws[SETS];

static void random_fp(fp_x8 *r, uint64_t *seed)
{
    fp a[LANES];
    for (int i = 0; i < LANES; i++) {
        do {
            for (int k = 0; k < FP_LIMBS; k++) a[i].l[k] = bench_random(seed);
            a[i].l[FP_LIMBS - 1] >>= 64 * FP_LIMBS - FP_BITS;
        } while (!fp_is_canonical(&a[i]));
    }
    fp_x8_load(r, a, sizeof a[0]);
}

static void random_fr(fr_x8 *r, uint64_t *seed)
{
    fr a[LANES];
    for (int i = 0; i < LANES; i++) {
        do {
            for (int k = 0; k < FR_LIMBS; k++) a[i].l[k] = bench_random(seed);
            a[i].l[FR_LIMBS - 1] >>= 64 * FR_LIMBS - FR_BITS;
        } while (!fr_is_canonical(&a[i]));
    }
    fr_x8_load(r, a, sizeof a[0]);
}

static void fill(void)
{
    static bool done;
    uint64_t seed = 7;
    if (done) return;
    for (int i = 0; i < SETS; i++) {
        random_fp(&xs[i], &seed);
        random_fp(&ys[i], &seed);
        random_fr(&us[i], &seed);
        random_fr(&vs[i], &seed);
        ps[i] = (fp2_x8){xs[i], ys[i]};
        qs[i] = (fp2_x8){ys[i], xs[i]};
    }
    done = true;
}

/* Calls, as most uses are; what is settled before each product is part of it. */
#    define KERNEL static __attribute__((noinline)) void
KERNEL do_fp_mul(fp_x8 *r, const fp_x8 *b)
{
    fp_x8_mul(r, r, b);
}
KERNEL do_fp_sqr(fp_x8 *r)
{
    fp_x8_sqr(r, r);
}
KERNEL do_fp_redc(fp_x8 *r, const fp_x8_wide *w)
{
    fp_x8_redc_raw(r, w);
    fp_x8_carry(r);
}
KERNEL do_fp_sub(fp_x8 *r, const fp_x8 *b)
{
    fp_x8_sub(r, r, b);
    fp_x8_add_m(r, 3);
    fp_x8_reduce(r);
}
KERNEL do_fr_mul(fr_x8 *r, const fr_x8 *b)
{
    fr_x8_mul(r, r, b);
}
KERNEL do_fr_sqr(fr_x8 *r)
{
    fr_x8_sqr(r, r);
}
KERNEL do_fp2_mul(fp2_x8 *r, const fp2_x8 *b)
{
    fp2_x8_mul_raw(r, r, b);
    fp2_x8_carry(r);
}
KERNEL do_fp2_sqr(fp2_x8 *r)
{
    fp2_x8_sqr_raw(r, r, 3);
    fp2_x8_carry(r);
}

#    define WIDE_CASE(name, op) \
        static void name(void *ctx) \
        { \
            (void)ctx; \
            fill(); \
            for (int k = 0; k < ROUNDS; k++) \
                for (int i = 0; i < SETS; i++) op; \
        }
WIDE_CASE(case_fp_mul, do_fp_mul(&xs[i], &ys[i]))
WIDE_CASE(case_fp_mul_chain, do_fp_mul(&xs[0], &ys[i]))
WIDE_CASE(case_fp_sqr, do_fp_sqr(&xs[i]))
WIDE_CASE(case_fp_sub, do_fp_sub(&xs[i], &ys[i]))
WIDE_CASE(case_fp_redc, do_fp_redc(&xs[i], &ws[i]))
WIDE_CASE(case_fr_mul, do_fr_mul(&us[i], &vs[i]))
WIDE_CASE(case_fr_sqr, do_fr_sqr(&us[i]))
WIDE_CASE(case_fp2_mul, do_fp2_mul(&ps[i], &qs[i]))
WIDE_CASE(case_fp2_sqr, do_fp2_sqr(&ps[i]))

/* the last values: x y against the product of single elements */
static bool check(void)
{
    fp a[LANES], b[LANES], c[LANES];
    fp_x8 x, y, z, to, from;

    fill();
    x = xs[0];
    y = ys[0];
    fp_x8_canonical(&x);
    fp_x8_canonical(&y);
    fp_x8_store(a, &x, sizeof a[0]);
    fp_x8_store(b, &y, sizeof b[0]);
    fp_x8_form_factors(&to, &from);
    fp_x8_mul(&x, &x, &to);
    fp_x8_mul(&z, &x, &y);
    fp_x8_canonical(&z);
    fp_x8_store(c, &z, sizeof c[0]);
    for (int i = 0; i < LANES; i++) {
        fp t;
        fp_mul(&t, &a[i], &b[i]);
        if (!fp_eq(&t, &c[i])) return false;
    }
    return true;
}

static const field_case cases[] = {
    {"fp mul", OPS, case_fp_mul},        {"fp mul chain", OPS, case_fp_mul_chain},
    {"fp sqr", OPS, case_fp_sqr},        {"fp sub reduced", OPS, case_fp_sub},
    {"fp redc_wide", OPS, case_fp_redc}, {"fr mul", OPS, case_fr_mul},
    {"fr sqr", OPS, case_fr_sqr},        {"fp2 mul", OPS, case_fp2_mul},
    {"fp2 sqr", OPS, case_fp2_sqr},      {NULL, 0, NULL},
};

#else

static const field_case cases[] = {{NULL, 0, NULL}};
static bool check(void)
{
    return true;
}

#endif

const field_bench FIELD_BENCH = {FIELD_BENCH_CURVE, CPU_TABLE_IFMA, cases, check};
