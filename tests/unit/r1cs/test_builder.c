/*
 * unit/r1cs/test_builder.c - laws of linear combinations, rows in order, errors that stick
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "support.h"

#define MANY 300

typedef struct fixture {
    const curve *cv;
    mem *m;
    r1cs_system *sys;
    r1cs_builder *b;
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    f->cv = support_curve(CURVE_ID_BLS12_381);
    f->m = support_mem();
    assert_status_ok(r1cs_new(&f->sys, f->cv, "laws", f->m));
    assert_status_ok(r1cs_builder_new(&f->b, f->sys, "laws", MANY));
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;

    r1cs_builder_free(f->b);
    r1cs_free(f->sys);
    support_close(f->m);
    free(f);
    return 0;
}

/* The rows of the finished template's A, of which 2k and 2k + 1 must be the same. */
static const r1cs_matrix *finish(fixture *f)
{
    uint32_t index;

    assert_status_ok(r1cs_builder_finish(f->b, &index));
    return &f->sys->templates[index].a;
}

static void expect_same_rows(const r1cs_matrix *x, uint32_t i, uint32_t j)
{
    uint32_t n = x->row_start[i + 1] - x->row_start[i];

    assert_int_equal(x->row_start[j + 1] - x->row_start[j], n);
    assert_memory_equal(x->wire + x->row_start[i], x->wire + x->row_start[j], n * sizeof *x->wire);
    assert_memory_equal(x->coeff + x->row_start[i], x->coeff + x->row_start[j],
                        n * sizeof *x->coeff);
}

static r1cs_lc *random_lc(fixture *f, size_t n)
{
    r1cs_lc *lc = r1cs_lc_new(f->b);
    fr k;

    for (size_t i = 0; i < n; i++) {
        support_random_fr(f->cv, &k);
        r1cs_lc_add(f->b, lc, (uint32_t)harness_random_below(MANY + 1), &k);
    }
    return lc;
}

static void enforce_a(fixture *f, const r1cs_lc *a)
{
    r1cs_enforce(f->b, a, NULL, NULL);
}

/* a + b = b + a; k (a + b) = k a + k b; a + a = 2 a; (a + b) - b = a; for lists of many lengths. */
static void laws(void **state)
{
    static const size_t sizes[] = {0, 1, 3, 4, 5, 8, 9, 33, 200, 700};
    fixture *f = *state;
    r1cs_builder *b = f->b;
    fr minus_one = support_neg(f->cv, 1);
    const r1cs_matrix *x;
    uint32_t n = 0;

    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        r1cs_lc *p = random_lc(f, sizes[s]), *q = random_lc(f, sizes[s] / 2 + 1);
        r1cs_lc *pq = r1cs_lc_copy(b, p), *qp = r1cs_lc_copy(b, q);
        r1cs_lc *kp = r1cs_lc_new(b), *twice = r1cs_lc_copy(b, p), *kpq = r1cs_lc_new(b);
        r1cs_lc *two = r1cs_lc_new(b), *back;
        fr k, small = support_u64(f->cv, 2);

        support_random_fr(f->cv, &k);
        r1cs_lc_add_lc(b, pq, q, NULL);
        r1cs_lc_add_lc(b, qp, p, NULL);
        enforce_a(f, pq);
        enforce_a(f, qp);
        r1cs_lc_add_lc(b, kp, p, &k);
        r1cs_lc_add_lc(b, kp, q, &k);
        r1cs_lc_add_lc(b, kpq, pq, &k);
        enforce_a(f, kp);
        enforce_a(f, kpq);
        r1cs_lc_add_lc(b, twice, twice, NULL); /* itself */
        r1cs_lc_add_lc(b, two, p, &small);
        enforce_a(f, twice);
        enforce_a(f, two);
        back = r1cs_lc_copy(b, pq);
        r1cs_lc_add_lc(b, back, q, &minus_one);
        enforce_a(f, back);
        enforce_a(f, p);
        r1cs_lc_add_lc(b, back, p, &minus_one); /* nothing is left */
        enforce_a(f, back);
        enforce_a(f, NULL);
        n += 10;
    }
    x = finish(f);
    for (uint32_t i = 0; i < n; i += 2) expect_same_rows(x, i, i + 1);
    assert_int_equal(x->row_start[n], x->row_start[n - 2]); /* the last two are empty */
}

/* Poseidon's pattern: combinations of combinations, again and again, over few wires. */
static void grows_within_its_wires(void **state)
{
    fixture *f = *state;
    r1cs_builder *b = f->b;
    r1cs_lc *sum = r1cs_lc_new(b), *once = r1cs_lc_new(b);
    size_t before;
    fr rounds = support_u64(f->cv, 2000);

    for (uint32_t i = 1; i <= 60; i++) r1cs_lc_add(b, once, 61 - i, &f->cv->fr_one);
    for (size_t i = 0; i < 100; i++) r1cs_lc_add_lc(b, sum, once, NULL);
    before = mem_used(f->m);
    for (size_t i = 100; i < 2000; i++) r1cs_lc_add_lc(b, sum, once, NULL);
    assert_int_equal(mem_used(f->m), before);
    enforce_a(f, sum);
    sum = r1cs_lc_new(b);
    r1cs_lc_add_lc(b, sum, once, &rounds);
    enforce_a(f, sum);
    expect_same_rows(finish(f), 0, 1);
}

static void freed_lists_are_used_again(void **state)
{
    fixture *f = *state;
    size_t before = 0;

    for (size_t i = 0; i < 2000; i++) {
        r1cs_lc *p = random_lc(f, 100);

        r1cs_lc_free(f->b, p);
        if (i == 10) before = mem_used(f->m);
    }
    assert_int_equal(mem_used(f->m), before);
    r1cs_lc_free(f->b, NULL);
    assert_int_equal(finish(f)->row_start[0], 0);
}

/* Wires: ONE, passed in, locals in order, then inputs, whose handles become wires at the end. */
static void wires_are_numbered(void **state)
{
    fixture *f = *state;
    r1cs_builder *b = f->b;
    const curve *cv = f->cv;
    uint32_t x = r1cs_alloc(b), in = r1cs_alloc_input(b), y = r1cs_alloc_bit(b);
    uint32_t in2 = r1cs_alloc_input(b), index;
    r1cs_lc *lc = r1cs_lc_wire(b, in2);
    const r1cs_template *t;
    static const uint32_t want[] = {0, MANY, MANY + 1, MANY + 2, MANY + 3, MANY + 4};

    assert_int_equal(x, MANY + 1);
    assert_int_equal(y, MANY + 2);
    r1cs_lc_add(b, lc, in, &cv->fr_one);
    r1cs_lc_add(b, lc, y, &cv->fr_one);
    r1cs_lc_add(b, lc, x, &cv->fr_one);
    r1cs_lc_add(b, lc, r1cs_in(b, MANY - 1), &cv->fr_one);
    r1cs_lc_add(b, lc, 0, &cv->fr_one);
    r1cs_enforce(b, NULL, lc, NULL);
    assert_status_ok(r1cs_builder_finish(b, &index));
    t = &f->sys->templates[index];
    assert_string_equal(t->name, "laws");
    assert_int_equal(t->n_in, MANY);
    assert_int_equal(t->n_local, 2);
    assert_int_equal(t->n_pub, 2);
    assert_int_equal(t->n_elem, 1);
    assert_int_equal(t->local_is_elem[0], 1);
    assert_int_equal(t->local_is_elem[1], 0);
    assert_int_equal(t->b.row_start[1], 6);
    assert_memory_equal(t->b.wire, want, sizeof want);
    for (size_t i = 0; i < 6; i++) assert_int_equal(t->b.coeff[i], 0);
    assert_int_equal(t->a.row_start[1], 0);
    assert_int_equal(t->c.row_start[1], 0);
}

static void expect_stuck(fixture *f, const char *text)
{
    uint32_t index = 77, n = (uint32_t)f->sys->n_templates;
    r1cs_lc *lc = r1cs_lc_wire(f->b, 0); /* everything still takes calls */

    r1cs_lc_add(f->b, lc, 0, &f->cv->fr_one);
    r1cs_lc_add_lc(f->b, lc, r1cs_lc_copy(f->b, lc), NULL);
    r1cs_enforce(f->b, lc, lc, lc);
    (void)r1cs_alloc(f->b);
    (void)r1cs_alloc_bit(f->b);
    (void)r1cs_alloc_input(f->b);
    r1cs_lc_free(f->b, lc);
    assert_status_is(r1cs_builder_finish(f->b, &index), CUZK_EINVAL);
    assert_error_mentions(text);
    assert_int_equal(index, 77);
    assert_int_equal(f->sys->n_templates, n);
}

static void unknown_wire_sticks(void **state)
{
    fixture *f = *state;

    (void)r1cs_lc_wire(f->b, MANY + 1);
    expect_stuck(f, "no wire 301");
}

static void unknown_input_sticks(void **state)
{
    fixture *f = *state;
    uint32_t in = r1cs_alloc_input(f->b);

    (void)r1cs_lc_wire(f->b, in);
    (void)r1cs_lc_wire(f->b, in + 1);
    expect_stuck(f, "no wire");
}

static void unknown_passed_in_sticks(void **state)
{
    fixture *f = *state;

    (void)r1cs_lc_wire(f->b, r1cs_in(f->b, MANY));
    expect_stuck(f, "no wire");
}

static void finished_takes_nothing(void **state)
{
    fixture *f = *state;
    r1cs_builder *late = NULL;

    (void)finish(f);
    expect_stuck(f, "finished");
    assert_status_ok(r1cs_finish(f->sys));
    assert_status_is(r1cs_builder_new(&late, f->sys, "late", 0), CUZK_EINVAL);
    assert_null(late);
}

static void system_finished_meanwhile(void **state)
{
    fixture *f = *state;

    assert_status_ok(r1cs_finish(f->sys));
    expect_stuck(f, "finished");
}

static void too_many_passed_in(void **state)
{
    fixture *f = *state;
    r1cs_builder *b = NULL;

    assert_status_is(r1cs_builder_new(&b, f->sys, "wide", R1CS_MAX_VARS), CUZK_EINVAL);
    assert_null(b);
    assert_status_ok(r1cs_builder_new(&b, f->sys, "wide", R1CS_MAX_VARS - 2));
    assert_int_equal(r1cs_alloc(b), R1CS_MAX_VARS - 1);
    (void)r1cs_alloc(b); /* one too many */
    assert_int_equal(cuzk_last_error()->klass, CUZK_CLASS_LIMIT);
    r1cs_builder_free(b);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* A note is copied, and goes with the template; there is one at most. */
static void test_a_note_stays_with_its_template(void **state)
{
    fixture *f = *state;
    uint32_t note[3] = {1, 2, 3}, index, kept[3];

    r1cs_builder_note(f->b, note, sizeof note);
    memset(note, 0, sizeof note);
    assert_int_equal(r1cs_builder_n_local(f->b), 0);
    (void)r1cs_alloc(f->b);
    (void)r1cs_alloc_bit(f->b);
    assert_int_equal(r1cs_builder_n_local(f->b), 2);
    assert_status_ok(r1cs_builder_finish(f->b, &index));
    memcpy(kept, f->sys->templates[index].note, sizeof kept);
    assert_int_equal(kept[0], 1);
    assert_int_equal(kept[2], 3);
}

static void test_a_second_note_is_refused(void **state)
{
    fixture *f = *state;
    uint32_t note = 1, index;

    r1cs_builder_note(f->b, &note, sizeof note);
    r1cs_builder_note(f->b, &note, sizeof note);
    assert_status_is(r1cs_builder_finish(f->b, &index), CUZK_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(laws),
        TEST(grows_within_its_wires),
        TEST(freed_lists_are_used_again),
        TEST(wires_are_numbered),
        TEST(unknown_wire_sticks),
        TEST(unknown_input_sticks),
        TEST(unknown_passed_in_sticks),
        TEST(finished_takes_nothing),
        TEST(system_finished_meanwhile),
        TEST(too_many_passed_in),
        TEST(test_a_note_stays_with_its_template),
        TEST(test_a_second_note_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
