/*
 * unit/r1cs/test_coeff_table.c - the coefficient table: no duplicates, indexes that stay, growth
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "support.h"

#include "r1cs/coeff_table.h"

#define MANY 5000

static void finds_what_it_was_given(void **state)
{
    const curve *cv = support_curve(CURVE_ID_BN254);
    mem *m = support_mem();
    r1cs_system *sys = NULL;
    fr *values = calloc(MANY, sizeof *values);
    uint32_t *index = calloc(MANY, sizeof *index), again;

    (void)state;
    assert_non_null(values);
    assert_non_null(index);
    assert_status_ok(r1cs_new(&sys, cv, "table", m));
    assert_int_equal(sys->n_coeffs, 2);
    assert_true(cv->fr_eq(&sys->coeffs[0], &cv->fr_one));
    for (size_t i = 0; i < MANY; i++) {
        if (i % 3 == 0) {
            values[i] = support_u64(cv, harness_random_below(MANY));
        } else {
            support_random_fr(cv, &values[i]);
        }
        assert_status_ok(coeff_table_intern(sys, &values[i], &index[i]));
        assert_true(cv->fr_eq(&sys->coeffs[index[i]], &values[i]));
    }
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(coeff_table_find(sys, &values[i]), index[i]);
    }
    for (size_t i = 0; i < sys->n_coeffs; i++) {
        assert_int_equal(coeff_table_find(sys, &sys->coeffs[i]), i); /* hence no duplicates */
    }
    assert_status_ok(coeff_table_reindex(sys));
    for (size_t i = 0; i < MANY; i++) {
        assert_status_ok(coeff_table_intern(sys, &values[i], &again));
        assert_int_equal(again, index[i]);
    }
    support_random_fr(cv, &values[0]);
    assert_true(coeff_table_find(sys, &values[0]) == COEFF_ABSENT);
    coeff_table_close(sys);
    coeff_table_close(sys);
    r1cs_free(sys);
    free(values);
    free(index);
    support_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_what_it_was_given)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
