/*
 * unit/r1cs/test_terms.c - sorting and merging of terms
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "support.h"

#include "r1cs/terms.h"

#define MAX_N 600

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static void check_sort(uint64_t *keys, size_t n)
{
    uint64_t want[MAX_N];
    bool repeats = false;

    memcpy(want, keys, n * sizeof *keys);
    qsort(want, n, sizeof *want, by_value);
    for (size_t i = 1; i < n; i++) repeats |= want[i] >> 32 == want[i - 1] >> 32;
    assert_int_equal(terms_sort(keys, n), repeats);
    assert_memory_equal(keys, want, n * sizeof *keys);
}

/* Random, ascending, descending, rotated, all equal; sizes around the points where the method changes. */
static void sorts_every_order(void **state)
{
    static const size_t sizes[] = {0, 1, 2, 3, 15, 16, 17, 18, 64, 255, MAX_N};
    uint64_t keys[MAX_N];

    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        size_t n = sizes[s];

        for (size_t round = 0; round < harness_iters(20); round++) {
            uint64_t bound = 1 + harness_random_below(2 * n + 1);

            for (size_t i = 0; i < n; i++) {
                keys[i] = harness_random_below(bound) << 32 | harness_random_below(4);
            }
            check_sort(keys, n);
            check_sort(keys, n); /* now ascending */
        }
        for (size_t i = 0; i < n; i++) keys[i] = (uint64_t)(n - i) << 32;
        check_sort(keys, n);
        for (size_t i = 0; i < n; i++) keys[i] = (uint64_t)((i + n / 2) % n) << 32 | i;
        check_sort(keys, n);
        for (size_t i = 0; i < n; i++) keys[i] = UINT64_C(7) << 32 | (i & 1);
        check_sort(keys, n);
    }
}

static uint64_t key(uint32_t wire, uint32_t coeff)
{
    return (uint64_t)wire << 32 | coeff;
}

static void merges_and_drops_zeros(void **state)
{
    const curve *cv = support_curve(CURVE_ID_BLS12_381);
    const fr k[] = {cv->fr_one, support_neg(cv, 1), support_u64(cv, 5), cv->fr_zero};
    const uint64_t keys[] = {key(1, 0), key(1, 1),             /* cancel */
                             key(2, 2),                        /* alone */
                             key(3, 3),                        /* zero */
                             key(4, 0), key(4, 0), key(4, 2),  /* 7 */
                             key(9, 1), key(9, 2), key(9, 0)}; /* 5 */
    size_t pos = 0, n = sizeof keys / sizeof keys[0];
    fr seven = support_u64(cv, 7);
    term t;

    (void)state;
    assert_true(terms_next(&t, cv, k, keys, n, &pos));
    assert_int_equal(t.wire, 2);
    assert_int_equal(t.coeff, 2);
    assert_true(cv->fr_eq(t.k, &k[2]));
    assert_true(terms_next(&t, cv, k, keys, n, &pos));
    assert_int_equal(t.wire, 4);
    assert_true(t.coeff == TERM_SUM);
    assert_true(cv->fr_eq(t.k, &seven));
    assert_true(terms_next(&t, cv, k, keys, n, &pos));
    assert_int_equal(t.wire, 9);
    assert_true(cv->fr_eq(t.k, &k[2]));
    assert_false(terms_next(&t, cv, k, keys, n, &pos));
    pos = 0;
    assert_false(terms_next(&t, cv, k, keys, 2, &pos));
    pos = 0;
    assert_false(terms_next(&t, cv, k, keys, 0, &pos));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts_every_order),
        cmocka_unit_test(merges_and_drops_zeros),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
