/*
 * unit/r1cs/test_system.c - instances and their limits, domains, densities that cancel
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "support.h"

/* n_in wires in, n_local elements, n_pub inputs, n_rows empty rows. */
static uint32_t add_shape(r1cs_system *sys, uint32_t n_in, uint32_t n_local, uint32_t n_pub,
                          uint32_t n_rows)
{
    r1cs_builder *b = NULL;
    uint32_t index;

    assert_status_ok(r1cs_builder_new(&b, sys, "shape", n_in));
    for (uint32_t i = 0; i < n_local; i++) (void)r1cs_alloc(b);
    for (uint32_t i = 0; i < n_pub; i++) (void)r1cs_alloc_input(b);
    for (uint32_t i = 0; i < n_rows; i++) r1cs_enforce(b, NULL, NULL, NULL);
    assert_status_ok(r1cs_builder_finish(b, &index));
    r1cs_builder_free(b);
    return index;
}

static r1cs_system *new_system(mem *m, const char *name)
{
    r1cs_system *sys = NULL;

    assert_status_ok(r1cs_new(&sys, support_curve(CURVE_ID_BN254), name, m));
    return sys;
}

static void numbers_follow_the_order(void **state)
{
    mem *m = support_mem();
    r1cs_system *sys = new_system(m, "order");
    uint32_t s = add_shape(sys, 0, 3, 2, 4), u = add_shape(sys, 2, 1, 0, 1);
    r1cs_wire local, pub, in[2];

    (void)state;
    assert_status_ok(r1cs_add(sys, s, NULL, &local, &pub));
    assert_int_equal(local, R1CS_AUX);
    assert_int_equal(pub, 1);
    assert_status_ok(r1cs_add(sys, s, NULL, &local, &pub));
    assert_int_equal(local, R1CS_AUX | 3);
    assert_int_equal(pub, 3);
    in[0] = local + 2;
    in[1] = pub + 1;
    assert_status_ok(r1cs_add(sys, u, in, &local, &pub));
    assert_int_equal(local, R1CS_AUX | 6);
    assert_int_equal(pub, 5);
    assert_status_ok(r1cs_add(sys, u, in, NULL, NULL));
    assert_int_equal(sys->n_aux, 8);
    assert_int_equal(sys->n_inputs, 5);
    assert_int_equal(sys->n_rows, 10);
    assert_int_equal(sys->instances[3].row_start, 9);
    assert_int_equal(sys->instances[3].wires, 2);
    assert_int_equal(r1cs_total_rows(sys), 15);
    assert_int_equal(r1cs_log_domain(sys, 0), 4);
    sys->input_rows = false;
    assert_int_equal(r1cs_total_rows(sys), 10);
    assert_status_ok(r1cs_finish(sys));
    r1cs_free(sys);
    support_close(m);
}

static void refuses_wires_that_are_not_there(void **state)
{
    mem *m = support_mem();
    r1cs_system *sys = new_system(m, "wires");
    uint32_t s = add_shape(sys, 0, 3, 1, 0), u = add_shape(sys, 1, 1, 1, 0);
    const r1cs_wire bad_aux = R1CS_AUX | 3, bad_input = 2, good = R1CS_AUX | 2;

    (void)state;
    assert_status_ok(r1cs_add(sys, s, NULL, NULL, NULL));
    assert_status_is(r1cs_add(sys, u, &bad_aux, NULL, NULL), CUZK_EINVAL);
    assert_error_mentions("auxiliary 3");
    assert_status_is(r1cs_add(sys, u, &bad_input, NULL, NULL), CUZK_EINVAL);
    assert_error_mentions("input 2");
    assert_status_is(r1cs_add(sys, 2, &good, NULL, NULL), CUZK_EINVAL);
    assert_int_equal(sys->n_instances, 1);
    assert_status_ok(r1cs_add(sys, u, &good, NULL, NULL));
    assert_status_ok(r1cs_finish(sys));
    assert_status_is(r1cs_add(sys, u, &good, NULL, NULL), CUZK_EINVAL);
    assert_status_is(r1cs_finish(sys), CUZK_EINVAL);
    r1cs_free(sys);
    r1cs_free(NULL);
    support_close(m);
}

/* Templates whose counts are set to what no test could build, so that the sums are judged. */
static void counts_are_limited(void **state)
{
    mem *m = support_mem();
    r1cs_system *sys = new_system(m, "limits");
    uint32_t s = add_shape(sys, 0, 1, 1, 1);
    r1cs_template *t = &sys->templates[s];

    (void)state;
    assert_status_ok(r1cs_add(sys, s, NULL, NULL, NULL));
    t->n_local = R1CS_MAX_VARS;
    assert_status_is(r1cs_add(sys, s, NULL, NULL, NULL), CUZK_EDATA);
    assert_error_class(CUZK_CLASS_LIMIT);
    assert_error_mentions("1 + 2147483647 auxiliary variables, limit 2147483647");
    t->n_local = 1;
    t->n_pub = R1CS_MAX_VARS - 1;
    assert_status_is(r1cs_add(sys, s, NULL, NULL, NULL), CUZK_EDATA);
    assert_error_mentions("public inputs");
    t->n_pub = 1;
    t->n_rows = R1CS_MAX_VARS;
    assert_status_is(r1cs_add(sys, s, NULL, NULL, NULL), CUZK_EDATA);
    assert_error_mentions("rows");
    t->n_rows = 1;
    assert_status_ok(r1cs_add(sys, s, NULL, NULL, NULL));
    assert_int_equal(sys->n_instances, 2);
    r1cs_free(sys);
    support_close(m);
}

static void domain_is_the_next_power(void **state)
{
    static const uint32_t rows[] = {0, 1, 2, 3, 4, 5, 255, 256, 257, 1u << 20, (1u << 20) + 1};
    static const unsigned logs[] = {0, 0, 1, 2, 2, 3, 8, 8, 9, 20, 21};
    mem *m = support_mem();
    r1cs_system *sys = new_system(m, "domain");

    (void)state;
    sys->input_rows = false;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sys->n_rows = rows[i];
        assert_int_equal(r1cs_log_domain(sys, 0), logs[i]);
        assert_int_equal(r1cs_log_domain(sys, 1), logs[i] < 1 ? 1 : logs[i]);
        assert_int_equal(r1cs_log_domain(sys, 10), logs[i] < 10 ? 10 : logs[i]);
    }
    sys->n_rows = R1CS_MAX_VARS;
    sys->n_inputs = R1CS_MAX_VARS;
    sys->input_rows = true;
    assert_int_equal(r1cs_log_domain(sys, 0), 32);
    sys->n_rows = 0;
    r1cs_free(sys);
    support_close(m);
}

/* x - y over A, x + y - 2 ONE over B, with x and y the same variable, and with both ONE. */
static void equal_wires_cancel(void **state)
{
    const curve *cv = support_curve(CURVE_ID_BN254);
    fr minus_one = support_neg(cv, 1), minus_two = support_neg(cv, 2);

    (void)state;
    for (int form = 0; form < 3; form++) {
        mem *m = support_mem();
        r1cs_system *sys = new_system(m, "cancel");
        r1cs_builder *b = NULL;
        uint32_t vars = add_shape(sys, 0, 70, 0, 0), index;
        r1cs_wire first, in[2];
        r1cs_lc *left, *right;

        assert_status_ok(r1cs_builder_new(&b, sys, "x - y", 2));
        left = r1cs_lc_wire(b, r1cs_in(b, 0));
        right = r1cs_lc_copy(b, left);
        r1cs_lc_add(b, left, r1cs_in(b, 1), &minus_one);
        r1cs_lc_add(b, right, r1cs_in(b, 1), &cv->fr_one);
        r1cs_lc_add(b, right, 0, &minus_two);
        r1cs_enforce(b, left, right, NULL);
        assert_status_ok(r1cs_builder_finish(b, &index));
        r1cs_builder_free(b);
        assert_status_ok(r1cs_add(sys, vars, NULL, &first, NULL));
        in[0] = form == 2 ? 0 : first + 65;
        in[1] = form == 2 ? 0 : form == 1 ? first + 65 : first + 3;
        assert_status_ok(r1cs_add(sys, index, in, NULL, NULL));
        assert_status_ok(r1cs_finish(sys));
        assert_int_equal(sys->n_a_aux, form == 0 ? 2 : 0);
        assert_int_equal(sys->n_b_aux, form == 0 ? 2 : form == 1 ? 1 : 0);
        assert_int_equal(sys->n_b_input, form == 2 ? 0 : 1);
        r1cs_free(sys);
        support_close(m);
    }
}

static void long_names_are_cut(void **state)
{
    mem *m = support_mem();
    r1cs_system *sys = new_system(
        m, "a name that is far longer than the forty-seven letters that there is room for");

    (void)state;
    assert_string_equal(sys->name, "a name that is far longer than the forty-seven ");
    r1cs_free(sys);
    support_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_follow_the_order),
        cmocka_unit_test(refuses_wires_that_are_not_there),
        cmocka_unit_test(counts_are_limited),
        cmocka_unit_test(domain_is_the_next_power),
        cmocka_unit_test(equal_wires_cancel),
        cmocka_unit_test(long_names_are_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
