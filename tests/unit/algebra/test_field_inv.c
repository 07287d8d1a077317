/*
 * unit/algebra/test_field_inv.c - inverses by three ways, batches, powers, square roots, roots of unity, sums of products
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "field_tests.h"

static const uint64_t zero[NMAX] = {0};

static void check_inverse(const field_ops *o, field_in a)
{
    uint64_t x[NMAX], y[NMAX], z[NMAX];

    o->inv(x, a);
    o->inv_var(y, a);
    o->pow_var(z, a, o->exp_inv, o->n);
    assert_words(o, "inv_var = inv", y, x, o->n);
    assert_words(o, "a^(m-2) = inv", z, x, o->n);
    assert_canonical(o, "inv", x);
    o->mul(y, x, a);
    assert_words(o, "a inv(a)", y, o->is_zero(a) ? zero : o->mont_one, o->n);
}

static void inverses_of(const field_ops *o)
{
    uint64_t a[NMAX];

    for (unsigned k = 0; k < FIELD_EDGES; k++) {
        edge(o, a, k);
        check_inverse(o, a);
    }
    for (unsigned k = 0; k + 1 < o->bits;
         k++) { /* few bits: the shortest and longest runs of division steps */
        memset(a, 0, sizeof a);
        a[k / 64] = (uint64_t)1 << (k % 64);
        check_inverse(o, a);
        model_sub(o, a, zero, a);
        check_inverse(o, a);
    }
    for (size_t i = harness_iters(500); i-- > 0;) {
        random_element(o, a);
        check_inverse(o, a);
    }
    for (size_t i = harness_iters(20000); i-- > 0;) { /* the fast one alone, far more often */
        uint64_t x[NMAX];
        random_element(o, a);
        o->inv_var(x, a);
        o->mul(x, x, a);
        assert_words(o, "a inv_var(a)", x, o->is_zero(a) ? zero : o->mont_one, o->n);
    }
}

static void test_inverses(void **state)
{
    (void)state;
    for_each_field(inverses_of);
}

static void batches_of(const field_ops *o)
{
    static const size_t sizes[] = {0, 1, 2, 3, 7, 8, 33};
    uint64_t a[33 * NMAX], b[33 * NMAX], tmp[33 * NMAX], want[NMAX];

    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        for (unsigned zeros = 0; zeros < 4; zeros++) { /* none, some, the ends, all */
            size_t n = sizes[k];
            for (size_t i = 0; i < n; i++) {
                bool is_zero = zeros == 3 || (zeros == 1 && harness_random_below(3) == 0) ||
                               (zeros == 2 && (i == 0 || i + 1 == n));
                do {
                    random_element(o, &a[i * o->n]);
                } while (o->is_zero(&a[i * o->n]));
                if (is_zero) memset(&a[i * o->n], 0, o->n * sizeof *a);
            }
            memcpy(b, a, n * o->n * sizeof *a);
            o->batch_inv(b, tmp, n);
            for (size_t i = 0; i < n; i++) {
                o->inv(want, &a[i * o->n]);
                assert_words(o, "batch_inv", &b[i * o->n], want, o->n);
            }
            o->batch_inv_var(a, tmp, n);
            for (size_t i = 0; i < n; i++)
                assert_words(o, "batch_inv_var", &a[i * o->n], &b[i * o->n], o->n);
        }
    }
}

static void test_batches(void **state)
{
    (void)state;
    for_each_field(batches_of);
}

/* a^e from the top bit down */
static void plain_pow(const field_ops *o, uint64_t *r, field_in a, const uint64_t *e, unsigned len)
{
    uint64_t acc[NMAX];
    o->set_one(acc);
    for (unsigned i = 64 * len; i-- > 0;) {
        o->mul(acc, acc, acc);
        if ((e[i / 64] >> (i % 64) & 1) != 0) o->mul(acc, acc, a);
    }
    memcpy(r, acc, o->n * sizeof *r);
}

static void powers_of(const field_ops *o)
{
    uint64_t a[NMAX], x[NMAX], y[NMAX], e[NMAX];

    for (size_t i = harness_iters(100); i-- > 0;) {
        unsigned len = (unsigned)harness_random_below(o->n + 1);
        random_element(o, a);
        random_words(e, len);
        if (len > 0) e[len - 1] >>= harness_random_below(64); /* leading zeros of all lengths */
        o->pow_var(x, a, e, len);
        plain_pow(o, y, a, e, len);
        assert_words(o, "pow_var", x, y, o->n);
        for (e[0] = 0; e[0] < 18; e[0]++) {
            o->pow_var(x, a, e, 1);
            plain_pow(o, y, a, e, 1);
            assert_words(o, "pow_var, small", x, y, o->n);
        }
        o->pow_var(x, a, o->modulus, o->n);
        assert_words(o, "a^m = a", x, a, o->n);
    }
    o->pow_var(x, zero, e, 0);
    assert_true(o->is_one(x)); /* 0^0 */
}

static void test_powers(void **state)
{
    (void)state;
    for_each_field(powers_of);
}

static void check_sqrt(const field_ops *o, field_in a)
{
    uint64_t s[NMAX], r[NMAX], minus[NMAX], marked[NMAX];
    bool a_is, minus_is;

    o->sqr(s, a);
    memset(r, 0xa5, sizeof r);
    assert_true(o->sqrt(r, s));
    o->sqr(minus, r);
    assert_words(o, "sqrt^2", minus, s, o->n);
    /* m = 3 mod 4: of a and -a one is a square, or a = 0 */
    o->neg(minus, a);
    memset(r, 0xa5, sizeof r);
    memcpy(marked, r, sizeof r);
    a_is = o->sqrt(r, a);
    if (!a_is) assert_words(o, "untouched", r, marked, o->n);
    memset(r, 0xa5, sizeof r);
    minus_is = o->sqrt(r, minus);
    if (!minus_is) assert_words(o, "untouched", r, marked, o->n);
    assert_true(o->is_zero(a) ? a_is && minus_is : a_is != minus_is);
}

static void sqrt_of(const field_ops *o)
{
    uint64_t a[NMAX];
    if (o->sqrt == NULL) return;
    for (unsigned k = 0; k < FIELD_EDGES; k++) {
        edge(o, a, k);
        check_sqrt(o, a);
    }
    for (size_t i = harness_iters(200); i-- > 0;) {
        random_element(o, a);
        check_sqrt(o, a);
    }
}

static void test_sqrt(void **state)
{
    (void)state;
    for_each_field(sqrt_of);
}

static void check_root(const field_ops *o, unsigned gen)
{
    uint64_t r[NMAX], s[NMAX], minus_one[NMAX];

    o->neg(minus_one, o->mont_one);
    o->root(r, gen, 0);
    assert_true(o->is_one(r));
    for (unsigned log_n = 1; log_n <= o->two_adicity; log_n++) {
        o->root(r, gen, log_n);
        o->root(s, gen, log_n - 1);
        o->sqr(r, r);
        assert_words(o, "root(k)^2 = root(k - 1)", r, s, o->n);
        o->root(r, gen, log_n);
        for (unsigned i = 1; i < log_n; i++) o->sqr(r, r);
        assert_words(o, "root(k)^(2^(k-1)) = -1", r, minus_one, o->n);
    }
}

static void roots_of(const field_ops *o)
{
    static const struct {
        const char *field;
        unsigned gen;
        const char *root; /* of the largest power of two, big-endian */
    } known[] = {
        /* shared/spec/circom-formats.md section 5 */
        {"bn254 fr", 5, "2a3c09f0a58a7e8500e0a7eb8ef62abc402d111e41112ed49bd61b6e725b19f0"},
        {"bls12-381 fr", 5, "0212d79e5b416b6f0fd56dc8d168d6c0c4024ff270b3e0941b788f500b912f1f"},
        {"bls12-381 fr", 7, "16a2a19edfe81f20d09b681922c813b4b63683508c2280b93829971f439f0d2b"},
        {"tiny fr", 7, NULL},
    };
    if (o->root == NULL) return;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        uint64_t r[NMAX];
        uint8_t be[32];
        if (strcmp(known[k].field, o->name) != 0) continue;
        check_root(o, known[k].gen);
        if (known[k].root == NULL) continue;
        o->root(r, known[k].gen, o->two_adicity);
        o->to_be_bytes(be, r);
        assert_hex_equal(be, 32, known[k].root);
    }
}

static void test_roots(void **state)
{
    (void)state;
    for_each_field(roots_of);
}

static void dots_of(const field_ops *o)
{
    uint64_t a[50 * NMAX], b[50 * NMAX], got[NMAX], want[NMAX], t[NMAX];
    if (o->dot == NULL) return;
    for (size_t n = 0; n <= 50; n += n < 4 ? 1 : 23) {
        for (int extreme = 0; extreme < 2; extreme++) {
            memset(want, 0, sizeof want);
            for (size_t i = 0; i < n; i++) {
                random_element(o, &a[i * o->n]);
                random_element(o, &b[i * o->n]);
                if (extreme) { /* (m - 1)^2, over and over */
                    edge(o, &a[i * o->n], 3);
                    edge(o, &b[i * o->n], 3);
                }
                o->mul(t, &a[i * o->n], &b[i * o->n]);
                o->add(want, want, t);
            }
            o->dot(got, a, b, n);
            assert_words(o, "dot", got, want, o->n);
        }
    }
}

static void test_dots(void **state)
{
    (void)state;
    for_each_field(dots_of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inverses), cmocka_unit_test(test_batches),
        cmocka_unit_test(test_powers),   cmocka_unit_test(test_sqrt),
        cmocka_unit_test(test_roots),    cmocka_unit_test(test_dots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
