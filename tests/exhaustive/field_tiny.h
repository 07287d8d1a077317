/*
 * exhaustive/field_tiny.h - the field templates over primes of 10 and 8 bits: every element, every pair
 *
 * The fields of the tiny curve (p = 727, r = 241) have 4 limbs and R = 2^256 like the real ones. The model is C's integers
 * mod p. Included by test_field_tiny.c and test_field_tiny_adx.c, which choose the CPU table.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "algebra/field_inl.h"
#include "harness/harness.h"

enum { P = 727, R = 241 };

static fp fps[P];
static fr frs[R];
static unsigned inverse_p[P], inverse_r[R];

static int make_model(void **state)
{
    (void)state;
    if (!cpu_table_supported(FIELD_ADX ? CPU_TABLE_ADX : CPU_TABLE_GENERIC)) return 0;
    for (unsigned a = 0; a < P; a++) {
        fp_from_u64(&fps[a], a);
        for (unsigned b = 0; b < P; b++)
            if (a * b % P == 1) inverse_p[a] = b;
    }
    for (unsigned a = 0; a < R; a++) {
        fr_from_u64(&frs[a], a);
        for (unsigned b = 0; b < R; b++)
            if (a * b % R == 1) inverse_r[a] = b;
    }
    return 0;
}

static void need_table(void)
{
    if (!cpu_table_supported(FIELD_ADX ? CPU_TABLE_ADX : CPU_TABLE_GENERIC))
        harness_skip("this machine has no ADX");
}

#define IS_FP(got, want) assert_memory_equal(&(got), &fps[(want) % P], sizeof(fp))
#define IS_FR(got, want) assert_memory_equal(&(got), &frs[(want) % R], sizeof(fr))

static void test_fp_pairs(void **state)
{
    (void)state;
    need_table();
    for (unsigned a = 0; a < P; a++) {
        for (unsigned b = 0; b < P; b++) {
            fp r;
            fp_wide v, w;
            fp_add(&r, &fps[a], &fps[b]);
            IS_FP(r, a + b);
            fp_sub(&r, &fps[a], &fps[b]);
            IS_FP(r, a + P - b);
            fp_mul(&r, &fps[a], &fps[b]);
            IS_FP(r, a * b);
            fp_mul_wide(&w, &fps[a], &fps[b]);
            fp_sqr_wide(&v, &fps[b]);
            fp_redc_wide(&r, &w);
            IS_FP(r, a * b);
            fp_wide_sub(&v, &w, &v);
            fp_redc_wide(&r, &v);
            IS_FP(r, a * b + P * P - b * b);
            fp_wide_add(&v, &v, &w);
            fp_redc_wide(&r, &v);
            IS_FP(r, 2 * a * b + P * P - b * b);
            assert_int_equal(fp_eq(&fps[a], &fps[b]), a == b);
        }
    }
}

static void test_fr_pairs(void **state)
{
    (void)state;
    need_table();
    for (unsigned a = 0; a < R; a++) {
        for (unsigned b = 0; b < R; b++) {
            fr r, pair[2] = {frs[a], frs[b]}, swapped[2] = {frs[b], frs[a]};
            uint64_t e = b, power = 1;
            fr_add(&r, &frs[a], &frs[b]);
            IS_FR(r, a + b);
            fr_sub(&r, &frs[a], &frs[b]);
            IS_FR(r, a + R - b);
            fr_mul(&r, &frs[a], &frs[b]);
            IS_FR(r, a * b);
            fr_dot(&r, pair, swapped, 2);
            IS_FR(r, 2 * a * b);
            for (unsigned i = 0; i < b; i++) power = power * a % R;
            fr_pow_var(&r, &frs[a], &e, 1);
            IS_FR(r, power);
        }
    }
}

static void test_fp_elements(void **state)
{
    bool square[P] = {false};
    (void)state;
    need_table();
    for (unsigned a = 0; a < P; a++) square[a * a % P] = true;
    for (unsigned a = 0; a < P; a++) {
        fp r, minus, s = {{1, 2, 3, 4}};
        char dec[CURVE_DEC_MAX], want[CURVE_DEC_MAX];
        fp_neg(&minus, &fps[a]);
        IS_FP(minus, P - a);
        fp_dbl(&r, &fps[a]);
        IS_FP(r, 2 * a);
        fp_sqr(&r, &fps[a]);
        IS_FP(r, a * a);
        fp_inv(&r, &fps[a]);
        IS_FP(r, inverse_p[a]);
        fp_inv_var(&r, &fps[a]);
        IS_FP(r, inverse_p[a]);
        assert_int_equal(fp_sqrt(&s, &fps[a]), square[a]);
        if (square[a]) {
            fp_sqr(&s, &s);
            IS_FP(s, a);
        }
        assert_int_equal(fp_is_larger_half(&fps[a]), a > (P - 1) / 2);
        fp_to_dec(dec, &fps[a]);
        (void)snprintf(want, sizeof want, "%u", a);
        assert_string_equal(dec, want);
    }
}

static void test_fr_elements(void **state)
{
    (void)state;
    need_table();
    for (unsigned a = 0; a < R; a++) {
        fr r;
        scalar s;
        fr_inv(&r, &frs[a]);
        IS_FR(r, inverse_r[a]);
        fr_inv_var(&r, &frs[a]);
        IS_FR(r, inverse_r[a]);
        fr_to_scalar(&s, &frs[a]);
        for (unsigned i = 0; i < sizeof s.b; i++) assert_int_equal(s.b[i], i == 0 ? a : 0);
        assert_true(fr_from_scalar(&r, &s));
        IS_FR(r, a);
    }
    for (unsigned v = R; v < 70000; v++) { /* above: refused, whatever follows */
        scalar s = {{(uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16)}};
        fr r;
        assert_false(fr_from_scalar(&r, &s));
    }
}

/* Every way to put zeros into a batch of ten. */
static void test_batches(void **state)
{
    (void)state;
    need_table();
    for (unsigned zeros = 0; zeros < 1024; zeros++) {
        fr a[10], tmp[10];
        fp b[10], fp_tmp[10];
        for (unsigned i = 0; i < 10; i++) {
            a[i] = frs[(zeros >> i & 1) != 0 ? 0 : 1 + (zeros + 17 * i) % (R - 1)];
            b[i] = fps[(zeros >> i & 1) != 0 ? 0 : 1 + (zeros + 17 * i) % (P - 1)];
        }
        fr_batch_inv(a, tmp, 10);
        fp_batch_inv_var(b, fp_tmp, 10);
        for (unsigned i = 0; i < 10; i++) {
            IS_FR(a[i], (zeros >> i & 1) != 0 ? 0 : inverse_r[1 + (zeros + 17 * i) % (R - 1)]);
            IS_FP(b[i], (zeros >> i & 1) != 0 ? 0 : inverse_p[1 + (zeros + 17 * i) % (P - 1)]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fp_pairs),    cmocka_unit_test(test_fr_pairs),
        cmocka_unit_test(test_fp_elements), cmocka_unit_test(test_fr_elements),
        cmocka_unit_test(test_batches),
    };
    return cmocka_run_group_tests(tests, make_model, NULL);
}
