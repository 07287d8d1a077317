/*
 * unit/algebra/lanes_tests_tmpl.h - tests of lanes_inl.h for one curve; the judge is portable C, element by element
 *
 * Before inclusion: CURVE_*, LANES_TESTS (what to export).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define FIELD_ADX 0
#include "algebra/fp2_lanes_inl.h"
#include "harness/harness.h"
#include "lanes_tests.h"

#if defined(LANES)

#    define FIELD fp
#    define FIELD_LIMBS FP_LIMBS
#    define FIELD_LIMBS52 FP_LIMBS52
#    define FIELD_BITS FP_BITS
#    include "lanes_tests_field_tmpl.h"
#    undef FIELD
#    undef FIELD_LIMBS
#    undef FIELD_LIMBS52
#    undef FIELD_BITS

#    define FIELD fr
#    define FIELD_LIMBS FR_LIMBS
#    define FIELD_LIMBS52 FR_LIMBS52
#    define FIELD_BITS FR_BITS
#    include "lanes_tests_field_tmpl.h"
#    undef FIELD
#    undef FIELD_LIMBS
#    undef FIELD_LIMBS52
#    undef FIELD_BITS

static void random_fp2_x8(fp2 a[LANES], fp2_x8 *x, const fp_x8 *to)
{
    for (int i = 0; i < LANES; i++) {
        fp_lanes_random(&a[i].c0);
        fp_lanes_random(&a[i].c1);
    }
    fp_x8_load(&x->c0, &a[0].c0, sizeof a[0]);
    fp_x8_load(&x->c1, &a[0].c1, sizeof a[0]);
    fp_x8_mul(&x->c0, &x->c0, to);
    fp_x8_mul(&x->c1, &x->c1, to);
}

static void assert_fp2_x8(const fp2 want[LANES], fp2_x8 *x, const fp_x8 *from)
{
    fp2 got[LANES];

    fp2_x8_add_m(x, 1);
    fp2_x8_reduce(x);
    fp_x8_mul(&x->c0, &x->c0, from);
    fp_x8_mul(&x->c1, &x->c1, from);
    fp2_x8_canonical(x);
    fp_x8_store(&got[0].c0, &x->c0, sizeof got[0]);
    fp_x8_store(&got[0].c1, &x->c1, sizeof got[0]);
    assert_bytes_equal(got, want, sizeof got);
}

static void test_fp2(void)
{
    fp2 a[LANES], b[LANES], want[LANES];
    fp2_x8 x, y, z;
    fp_x8 to, from;

    fp_x8_form_factors(&to, &from);
    for (size_t n = harness_iters(2000); n-- > 0;) {
        __mmask8 same = 0;
        random_fp2_x8(a, &x, &to);
        random_fp2_x8(b, &y, &to);
        fp2_x8_mul_raw(&z, &x, &y);
        for (int i = 0; i < LANES; i++) fp2_mul(&want[i], &a[i], &b[i]);
        assert_fp2_x8(want, &z, &from);
        fp2_x8_sqr_raw(&z, &x, 2);
        for (int i = 0; i < LANES; i++) fp2_sqr(&want[i], &a[i]);
        assert_fp2_x8(want, &z, &from);
        fp2_x8_sub(&z, &x, &y);
        fp2_x8_add_m(&z, 3);
        fp2_x8_reduce(&z);
        for (int i = 0; i < LANES; i++) fp2_sub(&want[i], &a[i], &b[i]);
        assert_fp2_x8(want, &z, &from);
        for (int i = 0; i < LANES; i++) {
            if (fp2_eq(&a[i], &b[i])) same |= (__mmask8)(1u << i);
        }
        fp2_x8_blend(&y, 0x5a, &x);
        fp2_x8_sub(&z, &x, &y);
        fp2_x8_add_m(&z, 2);
        fp2_x8_carry(&z);
        assert_int_equal(fp2_x8_is_zero_mask(&z, 4), 0x5a | same);
    }
}

static void test_transpose(void)
{
    uint64_t in[LANES][LANES], out[LANES][LANES];
    __m512i r[LANES];

    harness_random_bytes(in, sizeof in);
    for (int i = 0; i < LANES; i++) r[i] = _mm512_loadu_si512(in[i]);
    lanes_transpose(r);
    for (int i = 0; i < LANES; i++) _mm512_storeu_si512(out[i], r[i]);
    for (int i = 0; i < LANES; i++)
        for (int j = 0; j < LANES; j++) assert_int_equal(out[j][i], in[i][j]);
}

const lanes_tests LANES_TESTS = {fp_lanes_test, fr_lanes_test, test_fp2, test_transpose};

#else

const lanes_tests LANES_TESTS = {NULL, NULL, NULL, NULL}; /* never run */

#endif
