/*
 * unit/algebra/test_tower.c - Fp2, Fp6, Fp12: laws, fast forms against their definitions, edge values
 *
 * The model is schoolbook multiplication from u^2 = -1, v^3 = xi, w^2 = v, built on fp_mul alone. One program for each
 * curve and CPU table (CMakeLists.txt).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "algebra/cpu_table.h"
#include "algebra/cyclotomic_inl.h"
#include "harness/harness.h"

/* ---- random values, edges among them ---- */

static void random_fp(fp *r)
{
    uint8_t b[FP_BYTES];
    uint64_t kind = harness_random_below(12);

    if (kind < 3) { /* 0, 1, -1 */
        fp_from_u64(r, kind == 0 ? 0 : 1);
        if (kind == 2) fp_neg(r, r);
        return;
    }
    if (kind == 3) { /* the largest in memory: the limbs of p - 1 */
        for (int i = 0; i < FP_LIMBS; i++) r->l[i] = fp_modulus[i];
        r->l[0]--;
        return;
    }
    do {
        harness_random_bytes(b, sizeof b);
        b[FP_BYTES - 1] &= (uint8_t)(0xff >> (8 * FP_BYTES - FP_BITS));
    } while (!fp_from_le_bytes(r, b));
}

static void random_fp2(fp2 *r)
{
    random_fp(&r->c0);
    random_fp(&r->c1);
}

static void random_fp6(fp6 *r)
{
    random_fp2(&r->c0);
    random_fp2(&r->c1);
    random_fp2(&r->c2);
}

static void random_fp12(fp12 *r)
{
    random_fp6(&r->c0);
    random_fp6(&r->c1);
}

/* ---- the model ---- */

static void model_fp2_mul(fp2 *r, const fp2 *a, const fp2 *b)
{
    fp2 t;
    fp s;
    fp_mul(&t.c0, &a->c0, &b->c0);
    fp_mul(&s, &a->c1, &b->c1);
    fp_sub(&t.c0, &t.c0, &s);
    fp_mul(&t.c1, &a->c0, &b->c1);
    fp_mul(&s, &a->c1, &b->c0);
    fp_add(&t.c1, &t.c1, &s);
    *r = t;
}

/** As six coefficients of w^0 .. w^5 with w^6 = xi. */
static void coefficients(fp2 out[6], const fp12 *a)
{
    out[0] = a->c0.c0;
    out[1] = a->c1.c0;
    out[2] = a->c0.c1;
    out[3] = a->c1.c1;
    out[4] = a->c0.c2;
    out[5] = a->c1.c2;
}

static void from_coefficients(fp12 *r, const fp2 c[6])
{
    r->c0.c0 = c[0];
    r->c1.c0 = c[1];
    r->c0.c1 = c[2];
    r->c1.c1 = c[3];
    r->c0.c2 = c[4];
    r->c1.c2 = c[5];
}

static fp2 xi(void)
{
    fp2 x;
    fp_from_u64(&x.c0, CURVE_XI_A);
    fp_from_u64(&x.c1, 1);
    return x;
}

static void model_fp12_mul(fp12 *r, const fp12 *a, const fp12 *b)
{
    fp2 x[6], y[6], z[6], t, non_residue = xi();
    coefficients(x, a);
    coefficients(y, b);
    for (int i = 0; i < 6; i++) fp2_set_zero(&z[i]);
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            model_fp2_mul(&t, &x[i], &y[j]);
            if (i + j >= 6) model_fp2_mul(&t, &t, &non_residue);
            fp2_add(&z[(i + j) % 6], &z[(i + j) % 6], &t);
        }
    }
    from_coefficients(r, z);
}

/** a^e for an exponent of n limbs, by the model. */
static void model_fp12_pow(fp12 *r, const fp12 *a, const uint64_t *e, size_t n)
{
    fp12 acc;
    fp12_set_one(&acc);
    for (size_t i = 64 * n; i-- > 0;) {
        model_fp12_mul(&acc, &acc, &acc);
        if (e[i / 64] >> (i % 64) & 1) model_fp12_mul(&acc, &acc, a);
    }
    *r = acc;
}

static void check_fp2(const fp2 *got, const fp2 *want)
{
    assert_bytes_equal(got, want, sizeof *got);
}

static void check_fp12(const fp12 *got, const fp12 *want)
{
    assert_bytes_equal(got, want, sizeof *got);
}

/* ---- Fp2 ---- */

static void test_fp2(void **state)
{
    (void)state;
    for (size_t i = 0; i < harness_iters(2000); i++) {
        fp2 a, b, r, want, non_residue = xi();
        random_fp2(&a);
        random_fp2(&b);
        model_fp2_mul(&want, &a, &b);
        fp2_mul(&r, &a, &b);
        check_fp2(&r, &want);
        r = a;
        fp2_mul(&r, &r, &b);
        check_fp2(&r, &want);
        r = b;
        fp2_mul(&r, &a, &r);
        check_fp2(&r, &want);
        model_fp2_mul(&want, &a, &a);
        fp2_sqr(&r, &a);
        check_fp2(&r, &want);
        r = a;
        fp2_sqr(&r, &r);
        check_fp2(&r, &want);
        model_fp2_mul(&want, &a, &non_residue);
        fp2_mul_nonres(&r, &a);
        check_fp2(&r, &want);
        r = a;
        fp2_mul_nonres(&r, &r);
        check_fp2(&r, &want);
        model_fp2_mul(&want, &a, &g2_b3);
        fp2_mul_b3(&r, &a);
        check_fp2(&r, &want);
        want = b;
        fp_set_zero(&want.c1);
        model_fp2_mul(&want, &a, &want);
        fp2_mul_fp(&r, &a, &b.c0);
        check_fp2(&r, &want);
        fp_mul(&want.c0, &a.c0, &g1_b);
        fp_dbl(&r.c0, &want.c0);
        fp_add(&want.c0, &want.c0, &r.c0);
        fp_mul_b3(&r.c0, &a.c0);
        assert_true(fp_eq(&r.c0, &want.c0));
        fp2_sub(&r, &a, &b);
        fp2_add(&r, &r, &b);
        check_fp2(&r, &a);
        fp2_neg(&r, &a);
        fp2_add(&r, &r, &a);
        assert_true(fp2_is_zero(&r));
        fp2_dbl(&r, &a);
        fp2_sub(&r, &r, &a);
        check_fp2(&r, &a);
        r = a;
        fp2_cmov(&r, &b, false);
        check_fp2(&r, &a);
        fp2_cmov(&r, &b, true);
        check_fp2(&r, &b);
    }
}

static void test_fp2_inverse(void **state)
{
    fp2 zero, one, r;
    (void)state;
    fp2_set_zero(&zero);
    fp2_set_one(&one);
    fp2_inv(&r, &zero);
    check_fp2(&r, &zero);
    fp2_inv_var(&r, &zero);
    check_fp2(&r, &zero);
    for (size_t i = 0; i < harness_iters(50); i++) {
        fp2 a, inv;
        random_fp2(&a);
        fp2_inv(&inv, &a);
        fp2_mul(&r, &a, &inv);
        check_fp2(&r, fp2_is_zero(&a) ? &zero : &one);
        fp2_inv_var(&r, &a);
        check_fp2(&r, &inv);
    }
}

/* Squares of everything, and of the axes, have roots; non-residues times squares have none. */
static void test_fp2_sqrt(void **state)
{
    (void)state;
    for (size_t i = 0; i < harness_iters(40); i++) {
        fp2 a, s, r, before, non_residue = xi();
        random_fp2(&a);
        if (i % 4 == 0) fp_set_zero(&a.c1);
        if (i % 4 == 1) fp_set_zero(&a.c0);
        fp2_sqr(&s, &a);
        assert_true(fp2_sqrt_var(&r, &s));
        if (!fp2_eq(&r, &a)) fp2_neg(&r, &r);
        check_fp2(&r, &a);
        if (fp2_is_zero(&a)) continue;
        fp2_mul(&s, &s, &non_residue);
        before = r;
        assert_false(fp2_sqrt_var(&r, &s));
        check_fp2(&r, &before);
    }
}

static void test_fp2_larger_half(void **state)
{
    fp2 a;
    (void)state;
    fp2_set_zero(&a);
    assert_false(fp2_is_larger_half(&a));
    fp2_set_one(&a);
    assert_false(fp2_is_larger_half(&a));
    fp2_neg(&a, &a);
    assert_true(fp2_is_larger_half(&a));
    fp_from_u64(&a.c1, 1); /* -1 + u: c1 decides */
    assert_false(fp2_is_larger_half(&a));
    fp2_neg(&a, &a);
    assert_true(fp2_is_larger_half(&a));
    for (size_t i = 0; i < harness_iters(50); i++) {
        fp2 b;
        random_fp2(&a);
        if (fp2_is_zero(&a)) continue;
        fp2_neg(&b, &a);
        assert_int_not_equal(fp2_is_larger_half(&a), fp2_is_larger_half(&b));
    }
}

/* ---- Fp6 and Fp12 ---- */

static void test_fp6(void **state)
{
    (void)state;
    for (size_t i = 0; i < harness_iters(500); i++) {
        fp12 a, b, want;
        fp6_wide w;
        fp6 r, v, zero;
        fp6_set_zero(&zero);
        random_fp12(&a);
        random_fp12(&b);
        a.c1 = zero;
        b.c1 = zero;
        model_fp12_mul(&want, &a, &b);
        fp6_mul(&r, &a.c0, &b.c0);
        assert_bytes_equal(&r, &want.c0, sizeof r);
        r = a.c0;
        fp6_mul(&r, &r, &b.c0);
        assert_bytes_equal(&r, &want.c0, sizeof r);
        r = b.c0;
        fp6_mul(&r, &a.c0, &r);
        assert_bytes_equal(&r, &want.c0, sizeof r);
        fp6_set_zero(&v);
        fp2_set_one(&v.c1);
        fp6_mul(&v, &a.c0, &v);
        fp6_mul_nonres(&r, &a.c0);
        assert_bytes_equal(&r, &v, sizeof r);
        fp2_set_zero(&b.c0.c2);
        model_fp12_mul(&want, &a, &b);
        fp6_mul_01_wide(&w, &a.c0, &b.c0.c0, &b.c0.c1);
        fp6_redc_wide(&r, &w);
        assert_bytes_equal(&r, &want.c0, sizeof r);
        fp2_set_zero(&b.c0.c1);
        model_fp12_mul(&want, &a, &b);
        fp6_mul_fp2_wide(&w, &a.c0, &b.c0.c0);
        fp6_redc_wide(&r, &w);
        assert_bytes_equal(&r, &want.c0, sizeof r);
        if (fp6_is_zero(&a.c0)) continue;
        fp6_inv_var(&r, &a.c0);
        fp6_mul(&r, &r, &a.c0);
        fp6_set_one(&v);
        assert_true(fp6_eq(&r, &v));
    }
}

static void test_fp12(void **state)
{
    (void)state;
    for (size_t i = 0; i < harness_iters(300); i++) {
        fp12 a, b, want, r;
        random_fp12(&a);
        random_fp12(&b);
        model_fp12_mul(&want, &a, &b);
        fp12_mul(&r, &a, &b);
        check_fp12(&r, &want);
        r = a;
        fp12_mul(&r, &r, &b);
        check_fp12(&r, &want);
        r = b;
        fp12_mul(&r, &a, &r);
        check_fp12(&r, &want);
        model_fp12_mul(&want, &a, &a);
        fp12_sqr(&r, &a);
        check_fp12(&r, &want);
        r = a;
        fp12_sqr(&r, &r);
        check_fp12(&r, &want);
        if (fp6_is_zero(&a.c0) && fp6_is_zero(&a.c1)) continue;
        fp12_inv_var(&r, &a);
        fp12_mul(&r, &r, &a);
        assert_true(fp12_is_one(&r));
    }
}

static void test_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < harness_iters(200); i++) {
        fp12 a, l, want, r;
        fp2 c[6], x, y, z;
        random_fp12(&a);
        random_fp2(&x);
        random_fp2(&y);
        random_fp2(&z);
        for (int k = 0; k < 6; k++) fp2_set_zero(&c[k]);
#if CURVE_TWIST_M
        c[0] = x;
        c[2] = y;
        c[3] = z;
        fp12_mul_014(&r, &a, &x, &y, &z);
#else
        c[0] = x;
        c[1] = y;
        c[3] = z;
        fp12_mul_034(&r, &a, &x, &y, &z);
#endif
        from_coefficients(&l, c);
        model_fp12_mul(&want, &a, &l);
        check_fp12(&r, &want);
#if CURVE_TWIST_M
        fp12_mul_014(&a, &a, &x, &y, &z);
#else
        fp12_mul_034(&a, &a, &x, &y, &z);
#endif
        check_fp12(&a, &want);
    }
}

/* Frobenius is raising to p, whatever its constants say. */
static void test_frobenius(void **state)
{
    (void)state;
    for (size_t i = 0; i < harness_iters(3); i++) {
        fp12 a, want, r;
        fp2 c, d;
        random_fp12(&a);
        model_fp12_pow(&want, &a, fp_modulus, FP_LIMBS);
        fp12_frob(&r, &a);
        check_fp12(&r, &want);
        model_fp12_pow(&want, &want, fp_modulus, FP_LIMBS);
        fp12_frob2(&r, &a);
        check_fp12(&r, &want);
        fp12_frob2(&r, &r);
        fp12_frob2(&r, &r);
        fp12_conj(&want, &a);
        check_fp12(&r, &want); /* a^(p^6) */
        fp12_frob2(&r, &r);
        fp12_frob2(&r, &r);
        fp12_frob2(&r, &r);
        check_fp12(&r, &a);
        fp2_conj(&c, &a.c0.c1);
        fp2_conj(&d, &c);
        check_fp2(&d, &a.c0.c1);
    }
}

/** A random element of the cyclotomic subgroup: a^((p^6 - 1)(p^2 + 1)). */
static void random_cyclotomic(fp12 *r)
{
    fp12 a, t;
    do random_fp12(&a);
    while (fp6_is_zero(&a.c0) && fp6_is_zero(&a.c1));
    fp12_inv_var(&t, &a);
    fp12_conj(&a, &a);
    fp12_mul(&a, &a, &t);
    fp12_frob2(&t, &a);
    fp12_mul(r, &a, &t);
}

static void test_cyclotomic(void **state)
{
    (void)state;
    for (size_t i = 0; i < harness_iters(50); i++) {
        fp12 a, t, want, r;
        uint64_t e[2] = {harness_random_u64(), harness_random_below(4)};
        random_cyclotomic(&a);
        model_fp12_mul(&want, &a, &a);
        fp12_cyclotomic_sqr(&r, &a);
        check_fp12(&r, &want);
        fp12_conj(&t, &a);
        fp12_mul(&t, &t, &a);
        assert_true(fp12_is_one(&t));
        t = a;
        fp12_cyclotomic_sqr(&t, &t);
        check_fp12(&t, &want);
        if (i % 8 != 0) continue;
        model_fp12_pow(&want, &a, e, 2);
        fp12_pow_cyclotomic_var(&r, &a, e, 2);
        check_fp12(&r, &want);
    }
}

#define COMPRESSED 5

static void test_compressed(void **state)
{
    (void)state;
    for (size_t i = 0; i < harness_iters(30); i++) {
        fp12 want[COMPRESSED], got[COMPRESSED];
        fp12_compressed c[COMPRESSED];
        random_cyclotomic(&want[0]);
        fp12_compress(&c[0], &want[0]);
        for (size_t k = 1; k < COMPRESSED; k++) {
            model_fp12_mul(&want[k], &want[k - 1], &want[k - 1]);
            fp12_compressed_sqr(&c[k], &c[k - 1]);
        }
        if (fp12_is_one(&want[0])) continue;
        for (size_t n = 0; n <= COMPRESSED; n++) {
            assert_true(fp12_expand(got, c, n));
            for (size_t k = 0; k < n; k++) check_fp12(&got[k], &want[k]);
        }
        fp2_set_zero(&c[2].z2);
        assert_false(fp12_expand(got, c, COMPRESSED));
    }
}

static void test_no_adx(void **state)
{
    (void)state;
    harness_skip("no CPU feature adx");
}

int main(void)
{
    const struct CMUnitTest skipped[] = {cmocka_unit_test(test_no_adx)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fp2),        cmocka_unit_test(test_fp2_inverse),
        cmocka_unit_test(test_fp2_sqrt),   cmocka_unit_test(test_fp2_larger_half),
        cmocka_unit_test(test_fp6),        cmocka_unit_test(test_fp12),
        cmocka_unit_test(test_lines),      cmocka_unit_test(test_frobenius),
        cmocka_unit_test(test_cyclotomic), cmocka_unit_test(test_compressed),
    };
    if (FIELD_ADX && !cpu_table_supported(CPU_TABLE_ADX))
        return cmocka_run_group_tests(skipped, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
