/*
 * unit/algebra/test_field_tables.c - every CPU table gives the generic table's bits
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "field_tests.h"

static void wide_differences(const field_ops *g, const field_ops *o, field_in a, field_in b)
{
    uint64_t x[2 * NMAX], y[2 * NMAX];

    g->wide_sub(x, a, b);
    o->wide_sub(y, a, b);
    assert_words(o, "wide_sub", y, x, 2 * o->n);
    g->wide_add_lazy(x, a, b);
    g->wide_sub_lazy(y, x, b);
    assert_words(g, "wide_sub_lazy", y, a, 2 * o->n);
    o->wide_sub_lazy(y, x, b);
    assert_words(o, "wide_sub_lazy", y, a, 2 * o->n);
}

/* Chains of products that are not reduced, as an MSM makes them to share an inversion; and a sum of two products, reduced with
   one subtraction. fp alone: its modulus leaves the room. */
static void compare_lazy(const field_ops *g, const field_ops *o, field_in a, field_in b)
{
    uint64_t chain[NMAX], product[NMAX], last[NMAX], x[NMAX], y[2 * NMAX], s[2 * NMAX];

    g->mul(chain, a, b);
    o->mul_lazy(last, a, b);
    for (unsigned i = 0; i < 3; i++) {
        g->mul(chain, chain, i == 1 ? a : b);
        o->mul_lazy(last, last, i == 1 ? a : b);
    }
    g->mul(product, chain, chain);
    g->mul(x, a, product);
    o->mul_lazy(product, last, last);
    o->mul_last(y, a, product);
    assert_words(o, "mul_last of a reduced factor and a product of chains", y, x, o->n);
    o->mul_last(y, b, last);
    g->mul(x, b, chain);
    assert_words(o, "mul_last of a reduced factor and a chain", y, x, o->n);
    g->mul_wide(y, a, b);
    g->wide_add_lazy(s, y, y);
    g->redc_wide(x, s);
    o->redc_wide_once(last, s);
    assert_words(o, "redc_wide_once", last, x, o->n);
}

static void compare(const field_ops *g, const field_ops *o, field_in a, field_in b)
{
    uint64_t x[2 * NMAX], y[2 * NMAX], s[NMAX], t[NMAX];

    g->add(x, a, b);
    o->add(y, a, b);
    assert_words(o, "add", y, x, o->n);
    g->sub(x, a, b);
    o->sub(y, a, b);
    assert_words(o, "sub", y, x, o->n);
    g->neg(x, a);
    o->neg(y, a);
    assert_words(o, "neg", y, x, o->n);
    g->mul(x, a, b);
    o->mul(y, a, b);
    assert_words(o, "mul", y, x, o->n);
    o->mul_inl(y, a, b);
    assert_words(o, "mul_inl", y, x, o->n);
    g->sqr(x, a);
    o->sqr(y, a);
    assert_words(o, "sqr", y, x, o->n);
    g->sqr_wide(x, a);
    o->sqr_wide(y, a);
    assert_words(o, "sqr_wide", y, x, 2 * o->n);
    g->add_lazy(s, a, b); /* up to 2m - 2 */
    o->add_lazy(t, a, b);
    assert_words(o, "add_lazy", t, s, o->n);
    g->mul_wide(x, s, a);
    o->mul_wide(y, s, a);
    assert_words(o, "mul_wide", y, x, 2 * o->n);
    g->redc_wide(s, x);
    o->redc_wide(t, x);
    assert_words(o, "redc_wide of a product", t, s, o->n);
    g->mul_wide(x, a, b);
    g->sqr_wide(y, a);
    wide_differences(g, o, x, y);
    wide_differences(g, o, y, x);
    if (o->exp_sqrt != NULL) compare_lazy(g, o, a, b);
}

/* any words at all: products, and reductions of everything below m R */
static void compare_words(const field_ops *g, const field_ops *o)
{
    uint64_t a[NMAX], b[NMAX], x[2 * NMAX], y[2 * NMAX], s[NMAX], t[NMAX];
    uint64_t kind = harness_random_below(8);

    random_words(a, o->n);
    random_words(b, o->n);
    if (kind == 0) memset(a, 0xff, sizeof a);
    if (kind <= 1) memset(b, 0xff, sizeof b);
    if (kind == 2) a[harness_random_below(o->n)] = UINT64_MAX;
    if (kind == 3) memset(b, 0, sizeof b[0] * (1 + harness_random_below(o->n)));
    g->mul_wide(x, a, b);
    o->mul_wide(y, a, b);
    assert_words(o, "mul_wide of any words", y, x, 2 * o->n);
    g->sqr_wide(x, a);
    o->sqr_wide(y, a);
    assert_words(o, "sqr_wide of any words", y, x, 2 * o->n);
    memcpy(x, a, sizeof a[0] * o->n);
    random_element(o, x + o->n);
    if (kind <= 4) edge(o, x + o->n, 3); /* m - 1 */
    g->redc_wide(s, x);
    o->redc_wide(t, x);
    assert_words(o, "redc_wide of any below m R", t, s, o->n);
}

static void tables_agree(const field_ops *g, const field_ops *o)
{
    uint64_t a[NMAX], b[NMAX];

    for (unsigned i = 0; i < FIELD_EDGES; i++) {
        for (unsigned j = 0; j < FIELD_EDGES; j++) {
            edge(o, a, i);
            edge(o, b, j);
            compare(g, o, a, b);
        }
    }
    for (size_t i = harness_iters(50000); i-- > 0;) {
        random_element(o, a);
        random_element(o, b);
        compare(g, o, a, b);
        compare_words(g, o);
    }
    for (size_t i = harness_iters(200); i-- > 0;) {
        uint64_t x[NMAX], y[NMAX];
        random_element(o, a);
        g->inv(x, a);
        o->inv(y, a);
        assert_words(o, "inv", y, x, o->n);
        o->inv_var(y, a);
        assert_words(o, "inv_var", y, x, o->n);
    }
}

static void test_tables(void **state)
{
    (void)state;
    for_each_pair(tables_agree);
}

/* m - k for small k as factor and as square: the largest values before the last subtraction */
static void near_modulus(const field_ops *g, const field_ops *o)
{
    uint64_t a[NMAX], b[NMAX];

    edge(o, a, 3);
    for (unsigned i = 0; i < 40; i++) {
        edge(o, b, 3);
        for (unsigned j = 0; j < 40; j++) {
            compare(g, o, a, b);
            model_sub(o, b, b, (const uint64_t[NMAX]){1});
        }
        model_sub(o, a, a, (const uint64_t[NMAX]){1});
    }
}

static void test_near_modulus(void **state)
{
    (void)state;
    for_each_pair(near_modulus);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_near_modulus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
