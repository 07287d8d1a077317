/*
 * unit/r1cs/test_classes.c - each value is counted once, in its class
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "support.h"

#include "r1cs/classes.h"

#define N_BITS 70u /* more than a word, not a whole number of words */
#define N_ELEMS 12u

/* One input, bits and elements in turn while there are both. */
static r1cs_system *mixed(mem *m, const curve *cv)
{
    r1cs_system *sys = NULL;
    r1cs_builder *b = NULL;
    uint32_t tmpl;

    assert_status_ok(r1cs_new(&sys, cv, "mixed", m));
    assert_status_ok(r1cs_builder_new(&b, sys, "mixed", 0));
    (void)r1cs_alloc_input(b);
    for (uint32_t i = 0; i < N_BITS; i++) {
        (void)r1cs_alloc_bit(b);
        if (i < N_ELEMS) (void)r1cs_alloc(b);
    }
    assert_status_ok(r1cs_builder_finish(b, &tmpl));
    r1cs_builder_free(b);
    assert_status_ok(r1cs_add(sys, tmpl, NULL, NULL, NULL));
    assert_status_ok(r1cs_finish(sys));
    return sys;
}

static void counts_every_value(void **state)
{
    static const uint64_t values[N_ELEMS - 3] = {
        0, 0, 1, 2, 255, 256, UINT32_MAX, (uint64_t)UINT32_MAX + 1, UINT64_MAX};
    const curve *cv = support_curve(CURVE_ID_BLS12_381);
    mem *m = support_mem();
    r1cs_system *sys = mixed(m, cv);
    r1cs_assignment *w = NULL;
    r1cs_classes c;

    (void)state;
    assert_status_ok(r1cs_assignment_new(&w, sys, m));
    w->inputs[1] = support_u64(cv, 200);
    for (size_t i = 0; i < N_ELEMS - 3; i++) w->elems[i] = support_u64(cv, values[i]);
    w->elems[N_ELEMS - 3] = support_u64(cv, UINT64_MAX);
    cv->fr_add(&w->elems[N_ELEMS - 3], &w->elems[N_ELEMS - 3], &cv->fr_one); /* 2^64 */
    w->elems[N_ELEMS - 2] = support_neg(cv, 1);
    support_random_fr(cv, &w->elems[N_ELEMS - 1]);
    w->bits[0] = UINT64_C(0x8000000000000005);
    w->bits[1] = UINT64_C(0x21);
    r1cs_classes_of(&c, w);
    assert_int_equal(c.zero, 2 + N_BITS - 5);
    assert_int_equal(c.one, 1 + 1 + 5); /* ONE, an element, bits */
    assert_int_equal(c.below_2_8, 1 + 2);
    assert_int_equal(c.below_2_64, 4);
    assert_int_equal(c.full, 3);
    r1cs_assignment_free(w);
    r1cs_free(sys);
    support_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_every_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
