/*
 * unit/algebra/test_field.c - arithmetic of the prime fields against the model, laws, edge values, aliasing
 *
 * Every field of every curve on every table of this machine (field_tests.h).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "field_tests.h"

static const uint64_t zero[2 * NMAX] = {0};

/* f on all pairs of edges, and on random pairs */
static void for_pairs(const field_ops *o, size_t rounds,
                      void (*f)(const field_ops *o, field_in a, field_in b))
{
    uint64_t a[NMAX], b[NMAX];
    for (unsigned i = 0; i < FIELD_EDGES; i++) {
        for (unsigned j = 0; j < FIELD_EDGES; j++) {
            edge(o, a, i);
            edge(o, b, j);
            f(o, a, b);
        }
    }
    for (size_t i = harness_iters(rounds); i-- > 0;) {
        random_element(o, a);
        random_element(o, b);
        f(o, a, b);
    }
}

/* ---- sums ---- */

static void check_sums(const field_ops *o, field_in a, field_in b)
{
    uint64_t got[NMAX], want[NMAX], back[NMAX];

    o->add(got, a, b);
    model_add(o, want, a, b);
    assert_words(o, "add", got, want, o->n);
    o->sub(back, got, b);
    assert_words(o, "a + b - b", back, a, o->n);
    o->sub(got, a, b);
    model_sub(o, want, a, b);
    assert_words(o, "sub", got, want, o->n);
    o->neg(got, a);
    model_sub(o, want, zero, a);
    assert_words(o, "neg", got, want, o->n);
    o->cneg(back, a, true);
    assert_words(o, "cneg true", back, want, o->n);
    o->cneg(back, a, false);
    assert_words(o, "cneg false", back, a, o->n);
    o->dbl(got, a);
    model_add(o, want, a, a);
    assert_words(o, "dbl", got, want, o->n);
}

static void sums_of(const field_ops *o)
{
    for_pairs(o, 2000, check_sums);
}
static void test_sums(void **state)
{
    (void)state;
    for_each_field(sums_of);
}

/* ---- products ---- */

static void check_product(const field_ops *o, field_in a, field_in b)
{
    uint64_t got[NMAX], want[NMAX], back[NMAX], wide[2 * NMAX];

    o->mul(got, a, b);
    assert_canonical(o, "mul", got);
    model_mul(o, back, got, o->mont_one); /* times R */
    model_mul(o, want, a, b);
    assert_words(o, "mul, times R", back, want, o->n);
    o->mul(back, b, a);
    assert_words(o, "mul commutes", back, got, o->n);
    o->mul_inl(back, a, b);
    assert_words(o, "mul_inl", back, got, o->n);
    o->mul_wide(wide, a, b);
    model_mod(o, back, wide, 2 * o->n);
    assert_words(o, "mul_wide mod m", back, want, o->n);
    o->redc_wide(back, wide);
    assert_words(o, "redc of mul_wide", back, got, o->n);
    o->sqr(got, a);
    o->mul(want, a, a);
    assert_words(o, "sqr", got, want, o->n);
    o->sqr_wide(wide, a);
    o->redc_wide(got, wide);
    assert_words(o, "redc of sqr_wide", got, want, o->n);
}

static void products_of(const field_ops *o)
{
    for_pairs(o, 300, check_product);
}
static void test_products(void **state)
{
    (void)state;
    for_each_field(products_of);
}

static void check_laws(const field_ops *o, field_in a, field_in b)
{
    uint64_t c[NMAX], s[NMAX], t[NMAX], u[NMAX];
    random_element(o, c);

    o->mul(s, a, b);
    o->mul(s, s, c);
    o->mul(t, b, c);
    o->mul(t, a, t);
    assert_words(o, "(a b) c = a (b c)", s, t, o->n);
    o->add(s, b, c);
    o->mul(s, a, s);
    o->mul(t, a, b);
    o->mul(u, a, c);
    o->add(t, t, u);
    assert_words(o, "a (b + c) = a b + a c", s, t, o->n);
    o->add(s, a, b);
    o->sub(t, a, b);
    o->mul(s, s, t);
    o->sqr(t, a);
    o->sqr(u, b);
    o->sub(t, t, u);
    assert_words(o, "(a + b) (a - b) = a^2 - b^2", s, t, o->n);
    o->mul(s, a, o->mont_one);
    assert_words(o, "a 1 = a", s, a, o->n);
    o->mul(s, a, zero);
    assert_words(o, "a 0 = 0", s, zero, o->n);
}

static void laws_of(const field_ops *o)
{
    for_pairs(o, 2000, check_laws);
}
static void test_laws(void **state)
{
    (void)state;
    for_each_field(laws_of);
}

/* ---- wide values ---- */

/* any value below m R; one time in four an extreme: high half 0 or m - 1, low half zeros or ones */
static void random_wide(const field_ops *o, uint64_t *w)
{
    uint64_t kind = harness_random_below(16);
    random_element(o, w + o->n);
    random_words(w, o->n);
    if (kind < 2) edge(o, w + o->n, kind == 0 ? 0 : 3);
    if (kind == 2 || kind == 0) memset(w, 0, o->n * sizeof *w);
    if (kind == 3 || kind == 1) memset(w, 0xff, o->n * sizeof *w);
}

static void wide_of(const field_ops *o)
{
    for (size_t i = harness_iters(500); i-- > 0;) {
        uint64_t v[2 * NMAX], w[2 * NMAX], x[2 * NMAX], p[NMAX], q[NMAX], got[NMAX], want[NMAX];
        random_wide(o, v);
        random_wide(o, w);
        o->redc_wide(p, v);
        assert_canonical(o, "redc_wide", p);
        model_mul(o, got, p, o->mont_one);
        model_mod(o, want, v, 2 * o->n);
        assert_words(o, "redc_wide, times R", got, want, o->n);
        o->redc_wide(q, w);

        o->wide_add(x, v, w);
        assert_canonical(o, "high half of wide_add", x + o->n);
        o->redc_wide(got, x);
        o->add(want, p, q);
        assert_words(o, "redc of wide_add", got, want, o->n);
        o->wide_sub(x, v, w);
        assert_canonical(o, "high half of wide_sub", x + o->n);
        o->redc_wide(got, x);
        o->sub(want, p, q);
        assert_words(o, "redc of wide_sub", got, want, o->n);
        o->wide_sub(v, v, v);
        assert_words(o, "w - w", v, zero, 2 * o->n);
        o->wide_add_lazy(x, w, v);
        assert_words(o, "w + 0", x, w, 2 * o->n);
        o->wide_sub_lazy(x, w, w);
        assert_words(o, "w - w, lazy", x, zero, 2 * o->n);
    }
}

static void test_wide(void **state)
{
    (void)state;
    for_each_field(wide_of);
}

/* Karatsuba with sums that are not reduced: what fp2_mul does */
static void check_lazy(const field_ops *o, field_in a, field_in b)
{
    uint64_t c[NMAX], d[NMAX], s[NMAX], t[NMAX], want[NMAX];
    uint64_t ac[2 * NMAX], bd[2 * NMAX], x[2 * NMAX];
    random_element(o, c);
    random_element(o, d);

    o->add_lazy(s, a, b);
    o->add_lazy(t, c, d);
    o->mul_wide(x, s, t);
    o->mul_wide(ac, a, c);
    o->mul_wide(bd, b, d);
    o->wide_sub_lazy(x, x, ac);
    o->wide_sub_lazy(x, x, bd);
    o->redc_wide(s, x);
    o->mul(t, a, d);
    o->mul(want, b, c);
    o->add(want, t, want);
    assert_words(o, "(a + b)(c + d) - ac - bd", s, want, o->n);
    o->wide_add_lazy(x, ac, bd);
    o->redc_wide(s, x);
    o->mul(t, a, c);
    o->mul(want, b, d);
    o->add(want, t, want);
    assert_words(o, "ac + bd", s, want, o->n);
}

static void lazy_of(const field_ops *o)
{
    for_pairs(o, 1000, check_lazy);
}
static void test_lazy(void **state)
{
    (void)state;
    for_each_field(lazy_of);
}

/* ---- values ---- */

static void check_values(const field_ops *o, field_in a, field_in b)
{
    uint64_t x[NMAX], y[NMAX];
    bool same = memcmp(a, b, o->n * sizeof *a) == 0;

    assert_int_equal(o->eq(a, b), same);
    assert_true(o->eq(a, a));
    assert_int_equal(o->is_zero(a), memcmp(a, zero, o->n * sizeof *a) == 0);
    assert_int_equal(o->is_one(a), memcmp(a, o->mont_one, o->n * sizeof *a) == 0);
    assert_true(o->is_canonical(a));
    memcpy(x, a, sizeof x[0] * o->n);
    memcpy(y, b, sizeof y[0] * o->n);
    o->cmov(x, b, false);
    assert_words(o, "cmov false", x, a, o->n);
    o->cmov(x, b, true);
    assert_words(o, "cmov true", x, b, o->n);
    memcpy(x, a, sizeof x[0] * o->n);
    o->cswap(x, y, false);
    assert_words(o, "cswap false", x, a, o->n);
    assert_words(o, "cswap false, second", y, b, o->n);
    o->cswap(x, y, true);
    assert_words(o, "cswap true", x, b, o->n);
    assert_words(o, "cswap true, second", y, a, o->n);
}

static void values_of(const field_ops *o)
{
    uint64_t r[NMAX];

    for_pairs(o, 500, check_values);
    o->set_zero(r);
    assert_true(o->is_zero(r));
    o->set_one(r);
    assert_true(o->is_one(r));
    /* a difference in any one bit is seen; limbs at and above the modulus are not canonical */
    for (unsigned bit = 0; bit < 64 * o->n; bit++) {
        uint64_t a[NMAX], b[NMAX];
        random_element(o, a);
        memcpy(b, a, sizeof b);
        b[bit / 64] ^= (uint64_t)1 << (bit % 64);
        assert_false(o->eq(a, b));
        memcpy(b, o->modulus, sizeof b[0] * o->n);
        b[bit / 64] ^= (uint64_t)1 << (bit % 64);
        assert_int_equal(o->is_canonical(b), model_cmp(b, o->modulus, o->n) < 0);
        memset(b, 0, sizeof b);
        b[bit / 64] = (uint64_t)1 << (bit % 64);
        assert_false(o->is_zero(b));
    }
    assert_false(o->is_canonical(o->modulus));
}

static void test_values(void **state)
{
    (void)state;
    for_each_field(values_of);
}

static void check_aliasing(const field_ops *o, field_in a, field_in b)
{
    void (*const binary[])(field_out, field_in, field_in) = {o->add, o->sub, o->mul, o->mul_inl};
    void (*const unary[])(field_out, field_in) = {o->neg, o->dbl, o->sqr, o->inv_var};
    uint64_t want[NMAX], x[NMAX];

    for (size_t k = 0; k < sizeof binary / sizeof *binary; k++) {
        binary[k](want, a, b);
        memcpy(x, a, sizeof x[0] * o->n);
        binary[k](x, x, b);
        assert_words(o, "r = a", x, want, o->n);
        memcpy(x, b, sizeof x[0] * o->n);
        binary[k](x, a, x);
        assert_words(o, "r = b", x, want, o->n);
        binary[k](want, a, a);
        memcpy(x, a, sizeof x[0] * o->n);
        binary[k](x, x, x);
        assert_words(o, "r = a = b", x, want, o->n);
    }
    for (size_t k = 0; k < sizeof unary / sizeof *unary; k++) {
        unary[k](want, a);
        memcpy(x, a, sizeof x[0] * o->n);
        unary[k](x, x);
        assert_words(o, "r = a", x, want, o->n);
    }
}

static void aliasing_of(const field_ops *o)
{
    for_pairs(o, 200, check_aliasing);
}
static void test_aliasing(void **state)
{
    (void)state;
    for_each_field(aliasing_of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),     cmocka_unit_test(test_products),
        cmocka_unit_test(test_laws),     cmocka_unit_test(test_wide),
        cmocka_unit_test(test_lazy),     cmocka_unit_test(test_values),
        cmocka_unit_test(test_aliasing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
