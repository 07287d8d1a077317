/*
 * ctime/test_secrets.c - no branch and no address depends on trapdoors, r or s
 *
 * Secrets are marked undefined for valgrind's memcheck: it reports every jump and every address that depends on them. Covers
 * what setup and prover do to single secrets: scalar arithmetic and multiplication of a point. (Sums over a witness may take
 * time that depends on it: house style section 8.)
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <valgrind/memcheck.h>

#include "algebra/curve.h"
#include "harness/harness.h"

static void hide(void *p, size_t n)
{
    (void)VALGRIND_MAKE_MEM_UNDEFINED(p, n);
}
static void show(void *p, size_t n)
{
    (void)VALGRIND_MAKE_MEM_DEFINED(p, n);
}

static void secret(const curve *cv, fr *k, uint8_t seed)
{
    scalar s;
    for (size_t i = 0; i < 32; i++) s.b[i] = (uint8_t)(seed + 7 * i);
    s.b[31] &= 0x1f;
    assert_true(cv->fr_from_scalar(k, &s));
    hide(k, sizeof *k);
}

static void scalars(const curve *cv)
{
    fr a, b, r, many[5], tmp[5];
    scalar s;

    secret(cv, &a, 1);
    secret(cv, &b, 2);
    cv->fr_add(&r, &a, &b);
    cv->fr_sub(&r, &r, &a);
    cv->fr_neg(&r, &r);
    cv->fr_mul(&r, &r, &b);
    cv->fr_inv(&r, &r);
    cv->fr_to_scalar(&s, &r);
    for (size_t i = 0; i < 5; i++) secret(cv, &many[i], (uint8_t)(10 + i));
    cv->fr_dot(&r, many, many, 5);
    show(&s, sizeof s);
    show(&r, sizeof r);
    (void)tmp;
}

static void points(const curve *cv)
{
    fr k;
    g1_any p;
    g2_any q;
    uint8_t bytes[192];

    secret(cv, &k, 3);
    cv->g1_mul(&p, &cv->g1_gen, &k);
    show(&p, sizeof p); /* the product is public: it goes into the proof */
    cv->g1_write(bytes, &p, POINT_LEM);
    cv->g2_mul(&q, &cv->g2_gen, &k);
    show(&q, sizeof q);
    assert_true(cv->g1_in_subgroup(&p));
    assert_true(cv->g2_in_subgroup(&q));
}

static void on_all(void (*f)(const curve *cv))
{
    if (!RUNNING_ON_VALGRIND) harness_fail("this test means something under valgrind alone");
    for (curve_id id = 0; id < CURVE_IDS; id++)
        for (cpu_table t = 0; t < CPU_TABLES; t++)
            if (cpu_table_supported(t)) f(curve_get(id, t));
}

static void test_scalars(void **state)
{
    (void)state;
    on_all(scalars);
}

static void test_points(void **state)
{
    (void)state;
    on_all(points);
}

/** The judge judges: a branch on hidden data is seen. */
static void test_a_branch_is_seen(void **state)
{
    volatile uint8_t hidden = 5, out = 0;
    (void)state;
    if (!RUNNING_ON_VALGRIND) harness_fail("this test means something under valgrind alone");
    hide((void *)(uintptr_t)&hidden, 1);
    VALGRIND_DISABLE_ERROR_REPORTING; /* the error is wanted, and must not count */
    assert_int_not_equal(VALGRIND_CHECK_MEM_IS_DEFINED((void *)(uintptr_t)&hidden, 1), 0);
    VALGRIND_ENABLE_ERROR_REPORTING;
    show((void *)(uintptr_t)&hidden, 1);
    out = hidden;
    assert_int_equal(out, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalars),
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_a_branch_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
