/*
 * unit/algebra/test_gt.c - GT: powers and membership against plain powers, sparse products against full ones
 *
 * One program for each curve and CPU table (CMakeLists.txt).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "algebra/cpu_table.h"
#include "algebra/gt_inl.h"
#include "harness/harness.h"

static void random_fp(fp *r)
{
    uint8_t b[FP_BYTES];
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

static void random_fp12(fp12 *r)
{
    random_fp2(&r->c0.c0);
    random_fp2(&r->c0.c1);
    random_fp2(&r->c0.c2);
    random_fp2(&r->c1.c0);
    random_fp2(&r->c1.c1);
    random_fp2(&r->c1.c2);
}

static void random_gt(fp12 *r)
{
    random_fp12(r);
    final_exp(r, r);
}

/** A limb that is random, or all ones, or 0, or a run of ones: carries between digits. */
static uint64_t odd_limb(void)
{
    uint64_t v;
    harness_random_bytes(&v, sizeof v);
    switch (harness_random_below(5)) {
    case 0: return 0;
    case 1: return UINT64_MAX;
    case 2: return UINT64_MAX << (v & 63);
    case 3: return UINT64_MAX >> (v & 63);
    default: return v;
    }
}

/** A plain number below the group order. */
static void random_k(uint64_t k[FR_LIMBS])
{
    uint64_t borrow;
    do {
        borrow = 0;
        for (int i = 0; i < FR_LIMBS; i++) k[i] = odd_limb();
        for (int i = 0; i < FR_LIMBS; i++) (void)u64_subb(k[i], fr_modulus[i], &borrow);
    } while (borrow == 0);
}

static void check_pow(const fp12 *a, const uint64_t k[FR_LIMBS])
{
    fp12 got, want;

    gt_pow_limbs_var(&got, a, k);
    fp12_pow_cyclotomic_var(&want, a, k, FR_LIMBS);
    assert_true(fp12_eq(&got, &want));
}

static void test_powers(void **state)
{
    const uint64_t small[] = {
        0, 1, 2, 7, 8, 9, 15, 16, CURVE_X_ABS - 1, CURVE_X_ABS, CURVE_X_ABS + 1, UINT64_MAX};
    uint64_t k[FR_LIMBS] = {0};
    fp12 a, one;

    (void)state;
    fp12_set_one(&one);
    random_gt(&a);
    for (size_t i = 0; i < sizeof small / sizeof small[0]; i++) {
        k[0] = small[i];
        check_pow(&a, k);
        check_pow(&one, k);
    }
    memcpy(k, fr_modulus, sizeof k);
    k[0]--; /* r - 1 */
    check_pow(&a, k);
    for (size_t i = 0; i < harness_iters(40); i++) {
        if (i % 8 == 0) random_gt(&a);
        random_k(k);
        if (i % 3 == 0) k[2] = k[3] = 0;
        check_pow(&a, k);
    }
}

/** What the digits add up to, modulo 2^64 in each limb's place: exact for one limb, and the lowest limb of more. */
static void test_digits(void **state)
{
    (void)state;
    for (size_t i = 0; i < harness_iters(2000); i++) {
        int8_t d[GT_DIGITS];
        uint64_t e[GT_LIMBS], sum[GT_LIMBS + 1] = {0};
        size_t n;

        for (int j = 0; j < GT_LIMBS; j++) e[j] = odd_limb();
        n = gt_digits(d, e);
        for (size_t at = n; at-- > 0;) { /* sum = 2 sum + d */
            uint64_t carry = 0;
            for (int j = 0; j <= GT_LIMBS; j++) {
                uint64_t top = sum[j] >> 63;
                sum[j] = sum[j] << 1 | carry;
                carry = top;
            }
            carry = 0;
            for (int j = 0; j <= GT_LIMBS; j++) {
                uint64_t v = j == 0 ? (uint64_t)(int64_t)d[at] : d[at] < 0 ? UINT64_MAX : 0;
                sum[j] = u64_addc(sum[j], v, &carry);
            }
            assert_true(d[at] == 0 || (d[at] % 2 != 0 && d[at] >= -7 && d[at] <= 7));
        }
        assert_memory_equal(sum, e, sizeof e);
        assert_true(sum[GT_LIMBS] == 0);
        for (size_t at = n; at < GT_DIGITS; at++) assert_int_equal(d[at], 0);
    }
}

static void check_membership(const fp12 *a, bool want)
{
    assert_int_equal(gt_in_subgroup(a), want);
}

static void test_membership(void **state)
{
    fp12 a, b, t;

    (void)state;
    fp12_set_one(&a);
    check_membership(&a, true);
    fp6_neg(&t.c0, &a.c0);
    fp6_set_zero(&t.c1);
    check_membership(&t, false); /* -1 */
    fp6_set_zero(&t.c0);
    check_membership(&t, false); /* 0 */
    for (size_t i = 0; i < harness_iters(4); i++) {
        random_gt(&a);
        check_membership(&a, true);
        fp12_pow_cyclotomic_var(&t, &a, fr_modulus, FR_LIMBS);
        assert_true(fp12_is_one(&t));
        random_fp12(&b);
        check_membership(&b, false);
        final_exp_easy(&b, &b); /* cyclotomic, of another order */
        check_membership(&b, false);
        fp12_mul(&t, &a, &b);
        check_membership(&t, false);
        t = a;
        fp_add(&t.c1.c2.c1, &t.c1.c2.c1, &t.c0.c0.c0);
        check_membership(&t, false);
        fp12_conj(&t, &a);
        check_membership(&t, true);
        fp12_mul(&t, &t, &a);
        assert_true(fp12_is_one(&t));
    }
}

static void test_line1(void **state)
{
    (void)state;
    for (size_t i = 0; i < harness_iters(20); i++) {
        fp12 a, l, got, want;
        fp2 x, c;

        random_fp12(&a);
        random_fp2(&x);
        random_fp2(&c);
        if (i % 5 == 1) fp2_set_zero(&x);
        if (i % 5 == 2) fp2_set_zero(&c);
        fp6_set_zero(&l.c0);
        fp6_set_zero(&l.c1);
#if CURVE_TWIST_M
        l.c0.c0 = c;
        l.c0.c1 = x;
        fp2_set_one(&l.c1.c1);
#else
        fp2_set_one(&l.c0.c0);
        l.c1.c0 = x;
        l.c1.c1 = c;
#endif
        fp12_mul(&want, &a, &l);
        fp12_mul_line1(&got, &a, &x, &c);
        assert_true(fp12_eq(&got, &want));
        fp12_mul_line1(&a, &a, &x, &c); /* in place */
        assert_true(fp12_eq(&a, &want));
    }
}

static void test_lines_fit(void **state)
{
    (void)state;
    assert_true(miller_lines() <= MILLER_LINES_MAX);
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
        cmocka_unit_test(test_powers),     cmocka_unit_test(test_digits),
        cmocka_unit_test(test_membership), cmocka_unit_test(test_line1),
        cmocka_unit_test(test_lines_fit),
    };
    if (FIELD_ADX && !cpu_table_supported(CPU_TABLE_ADX))
        return cmocka_run_group_tests(skipped, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
