/*
 * unit/r1cs/test_check.c - assignments, and the row check over many rows, threads and refusals
 *
 * Values of single rows are compared with a model in test_model.c.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "support.h"

#define SQUARES 30000u /* several tasks' worth of rows */

/* Instances of "square": y = x * x, x passed in; the first x is a public input. */
static r1cs_system *squares(mem *m, const curve *cv)
{
    r1cs_system *sys = NULL;
    r1cs_builder *b = NULL;
    uint32_t start, square, x;
    r1cs_wire in;

    assert_status_ok(r1cs_new(&sys, cv, "squares", m));
    assert_status_ok(r1cs_builder_new(&b, sys, "start", 0));
    (void)r1cs_alloc_input(b);
    assert_status_ok(r1cs_builder_finish(b, &start));
    r1cs_builder_free(b);
    assert_status_ok(r1cs_builder_new(&b, sys, "square", 1));
    x = r1cs_in(b, 0);
    r1cs_enforce(b, r1cs_lc_wire(b, x), r1cs_lc_wire(b, x), r1cs_lc_wire(b, r1cs_alloc(b)));
    assert_status_ok(r1cs_builder_finish(b, &square));
    r1cs_builder_free(b);
    assert_status_ok(r1cs_add(sys, start, NULL, NULL, &in));
    for (uint32_t i = 0; i < SQUARES; i++) {
        r1cs_wire y;

        assert_status_ok(r1cs_add(sys, square, &in, &y, NULL));
        in = y;
    }
    assert_status_ok(r1cs_finish(sys));
    return sys;
}

static r1cs_assignment *square_values(mem *m, const r1cs_system *sys)
{
    const curve *cv = sys->cv;
    r1cs_assignment *w = NULL;
    fr x = support_u64(cv, 3);

    assert_status_ok(r1cs_assignment_new(&w, sys, m));
    w->inputs[1] = x;
    for (uint32_t i = 0; i < SQUARES; i++) {
        cv->fr_mul(&x, &x, &x);
        w->elems[i] = x;
    }
    return w;
}

static void finds_the_first_row(void **state)
{
    const curve *cv = support_curve(CURVE_ID_BN254);
    mem *m = support_mem();
    r1cs_system *sys = squares(m, cv);
    r1cs_assignment *w = square_values(m, sys);
    static const unsigned threads[] = {1, 2, 5};

    (void)state;
    for (size_t t = 0; t < 3; t++) {
        pool *p = NULL;
        r1cs_fault fault;

        assert_status_ok(pool_open(&p, threads[t], NULL));
        assert_status_ok(r1cs_check(sys, w, p, NULL, &fault));
        assert_false(fault.found);
        for (size_t i = 0; i < 20; i++) {
            static const uint32_t edges[] = {0, 1, 4095, 4096, 4097, SQUARES - 1};
            uint32_t k = i < 6 ? edges[i] : (uint32_t)harness_random_below(SQUARES);
            uint32_t later = k + (uint32_t)harness_random_below(SQUARES - k);
            fr keep = w->elems[k], keep_later = w->elems[later];

            cv->fr_add(&w->elems[later], &keep_later, &cv->fr_one);
            cv->fr_add(&w->elems[k], &keep, &cv->fr_one);
            assert_status_ok(r1cs_check(sys, w, p, NULL, &fault));
            assert_true(fault.found);
            assert_int_equal(fault.row, k);
            assert_int_equal(fault.instance, k + 1);
            assert_int_equal(fault.row_in_tmpl, 0);
            assert_string_equal(fault.tmpl, "square");
            w->elems[later] = keep_later;
            w->elems[k] = keep;
        }
        pool_close(p);
    }
    r1cs_assignment_free(w);
    r1cs_free(sys);
    support_close(m);
}

static void stops_when_asked(void **state)
{
    mem *m = support_mem();
    r1cs_system *sys = squares(m, support_curve(CURVE_ID_BN254));
    r1cs_assignment *w = square_values(m, sys);
    cancel *c = NULL;
    r1cs_fault fault;

    (void)state;
    assert_status_ok(cancel_new(&c));
    cancel_request(c);
    assert_status_is(r1cs_check(sys, w, NULL, c, &fault), CUZK_ECANCELLED);
    cancel_reset(c);
    assert_status_ok(r1cs_check(sys, w, NULL, c, &fault));
    cancel_free(c);
    r1cs_assignment_free(w);
    r1cs_free(sys);
    support_close(m);
}

static void refuses_what_does_not_fit(void **state)
{
    const curve *cv = support_curve(CURVE_ID_BN254);
    mem *m = support_mem();
    r1cs_system *sys = squares(m, cv), *other = squares(m, cv);
    r1cs_assignment *w = square_values(m, sys), *plain = NULL;
    r1cs_fault fault;
    uint32_t *row_start;

    (void)state;
    assert_status_is(r1cs_check(other, w, NULL, NULL, &fault), CUZK_EINVAL);
    assert_status_ok(r1cs_assignment_new_plain(&plain, cv, 2, SQUARES - 1, m));
    assert_status_is(r1cs_check(sys, plain, NULL, NULL, &fault), CUZK_EDATA);
    assert_error_class(CUZK_CLASS_SHAPE);
    assert_error_mentions("29999");
    assert_error_mentions("30000");
    r1cs_assignment_free(plain);

    /* a plain witness of the right size is as good; nothing but ONE in it fails at the first row it must */
    assert_status_ok(r1cs_assignment_new_plain(&plain, cv, 2, SQUARES, m));
    assert_status_ok(r1cs_check(sys, plain, NULL, NULL, &fault));
    assert_false(fault.found); /* 0 = 0 * 0 */
    plain->inputs[1] = cv->fr_one;
    assert_status_ok(r1cs_check(sys, plain, NULL, NULL, &fault));
    assert_true(fault.found);
    assert_int_equal(fault.row, 0);
    plain->inputs[0] = cv->fr_zero;
    assert_status_is(r1cs_check(sys, plain, NULL, NULL, &fault), CUZK_EINVAL);
    r1cs_assignment_free(plain);

    row_start = sys->templates[1].c.row_start;
    sys->templates[1].c.row_start = NULL;
    assert_status_is(r1cs_check(sys, w, NULL, NULL, &fault), CUZK_EINVAL);
    assert_error_mentions("matrix C");
    sys->templates[1].c.row_start = row_start;
    r1cs_assignment_free(w);
    r1cs_free(sys);
    r1cs_free(other);
    support_close(m);
}

static void sizes_are_as_told(void **state)
{
    mem *m = support_mem(), *m2 = support_mem();
    r1cs_system *sys = squares(m, support_curve(CURVE_ID_BN254)), *open = NULL;
    r1cs_assignment *w = NULL;

    (void)state;
    assert_status_ok(r1cs_assignment_new(&w, sys, m2));
    assert_int_equal(mem_used(m2), r1cs_assignment_size(sys));
    assert_true(sys->cv->fr_eq(&w->inputs[0], &sys->cv->fr_one));
    assert_true(sys->cv->fr_is_zero(&w->inputs[1]));
    assert_null(w->bits);
    r1cs_assignment_free(w);
    r1cs_assignment_free(NULL);
    assert_status_ok(r1cs_new(&open, sys->cv, "open", m));
    assert_status_is(r1cs_assignment_new(&w, open, m2), CUZK_EINVAL);
    assert_status_is(r1cs_assignment_new_plain(&w, sys->cv, 0, 1, m2), CUZK_EINVAL);
    r1cs_free(open);
    r1cs_free(sys);
    support_close(m2);
    support_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_first_row),
        cmocka_unit_test(stops_when_asked),
        cmocka_unit_test(refuses_what_does_not_fit),
        cmocka_unit_test(sizes_are_as_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
