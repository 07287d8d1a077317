/*
 * unit/algebra/test_miller.c - products of pairings from Miller loops of many terms, with and without prepared lines
 *
 * The judge is the pairing of each term alone (test_pairing.c has its known answers).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "curve_tests.h"

#define TERMS 35 /* more than two chunks of a Miller loop */

typedef struct terms {
    g1_any p[TERMS];
    g2_any q[TERMS];
    g2_prepared prepared[TERMS];
    pairing_term t[TERMS];
    gt_any e[TERMS]; /* each alone */
} terms;

/** Infinities among the points, equal and opposite terms among the pairs; every other term is prepared. */
static void make_terms(const curve *c, terms *x)
{
    for (size_t i = 0; i < TERMS; i++) {
        random_g1(c, &x->p[i]);
        random_g2(c, &x->q[i]);
        if (i % 7 == 3) memset(&x->p[i], 0, sizeof x->p[i]);
        if (i % 7 == 4) memset(&x->q[i], 0, sizeof x->q[i]);
        if (i == 9) x->p[i] = x->p[8];
        if (i == 9 || i == 10) x->q[i] = x->q[8];
        if (i == 10) c->g1_neg(&x->p[i], &x->p[8]);
        memset(&x->prepared[i], 0xee, sizeof x->prepared[i]);
        c->g2_prepare(&x->prepared[i], &x->q[i]);
        c->pairing(&x->e[i], &x->p[i], &x->q[i]);
    }
}

/* which: 0 none is prepared, 1 every other, 2 all */
static void set_terms(terms *x, unsigned which)
{
    for (size_t i = 0; i < TERMS; i++) {
        bool prepared = which == 2 || (which == 1 && i % 2 == 1);
        x->t[i] = (pairing_term){.p = &x->p[i],
                                 .q = prepared ? NULL : &x->q[i],
                                 .prepared = prepared ? &x->prepared[i] : NULL};
    }
}

static void check_product(const curve *c, const terms *x, size_t from, size_t n)
{
    gt_any got, want;

    c->gt_set_one(&want);
    for (size_t i = from; i < from + n; i++) c->gt_mul(&want, &want, &x->e[i]);
    c->miller(&got, &x->t[from], n);
    c->final_exp(&got, &got);
    assert_true(c->gt_eq(&got, &want));
}

static void products_of(const curve *c)
{
    static const size_t sizes[] = {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 32, 33, TERMS};
    terms *x = malloc(sizeof *x);

    assert_non_null(x);
    make_terms(c, x);
    for (unsigned which = 0; which < 3; which++) {
        set_terms(x, which);
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            check_product(c, x, TERMS - sizes[i], sizes[i]);
        for (size_t i = 0; i < TERMS; i++) check_product(c, x, i, 1);
    }
    free(x);
}

static void test_products(void **state)
{
    (void)state;
    for_each_table(products_of);
}

/* Partial products, as threads make them, then one final exponentiation. */
static void partial_of(const curve *c)
{
    terms *x = malloc(sizeof *x);
    gt_any f, g, want;

    assert_non_null(x);
    make_terms(c, x);
    set_terms(x, 1);
    c->gt_set_one(&f);
    c->gt_set_one(&want);
    for (size_t i = 0; i < TERMS; i += 10) {
        c->miller(&g, &x->t[i], TERMS - i < 10 ? TERMS - i : 10);
        c->gt_mul(&f, &f, &g);
    }
    c->final_exp(&f, &f);
    for (size_t i = 0; i < TERMS; i++) c->gt_mul(&want, &want, &x->e[i]);
    assert_true(c->gt_eq(&f, &want));
    free(x);
}

static void test_partial(void **state)
{
    (void)state;
    for_each_table(partial_of);
}

/* ---- GT ---- */

static void powers_of(const curve *c)
{
    gt_any e, f, g;
    g1_any p;
    fr k[3];

    c->pairing(&e, &c->g1_gen, &c->g2_gen);
    assert_true(c->gt_in_subgroup(&e));
    c->gt_inv(&f, &e);
    c->gt_mul(&f, &f, &e);
    assert_true(c->gt_is_one(&f));
    for (size_t i = 0; i < harness_iters(6); i++) {
        scalar s;
        random_fr(c, &k[0]);
        c->fr_to_scalar(&s, &k[0]);
        memset(s.b + 16, 0, 16); /* 128 bits */
        assert_true(c->fr_from_scalar(&k[1], &s));
        c->fr_neg(&k[2], &k[1]);
        for (size_t j = 0; j < 3; j++) {
            c->gt_pow_var(&f, &e, &k[j]);
            c->g1_mul(&p, &c->g1_gen, &k[j]);
            c->pairing(&g, &p, &c->g2_gen);
            assert_true(c->gt_eq(&f, &g));
            assert_true(c->gt_in_subgroup(&f));
        }
        f.w[harness_random_below(c->fp_size / 8 * 12)] ^= 1;
        assert_false(c->gt_in_subgroup(&f));
    }
}

static void test_powers(void **state)
{
    (void)state;
    for_each_table(powers_of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_partial),
        cmocka_unit_test(test_powers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
