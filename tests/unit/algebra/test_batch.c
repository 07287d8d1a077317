/*
 * unit/algebra/test_batch.c - arrays of points, products of pairings, values of the pairing as bytes: every table
 *
 * The judge is the curve's own table (one point, one pairing at a time); known answers are of spec/filecoin-aggregate.md 9.1.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "algebra/batch.h"
#include "base/hash.h"
#include "harness/harness.h"

#define N 19u

static void random_fr(const curve *cv, fr *r)
{
    scalar s;
    do {
        harness_random_bytes(s.b, sizeof s.b);
        s.b[31] &= 0x7f;
    } while (!cv->fr_from_scalar(r, &s));
}

/** 0, 1, -1, |x|, x^2, x^3 and their neighbours, then random. */
static void edge_fr(const curve *cv, fr *r, size_t i)
{
    fr x, one = cv->fr_one;

    cv->fr_from_u64(&x, 0xd201000000010000u);
    cv->fr_from_u64(r, 0);
    switch (i % N) {
    case 0: return;
    case 1: *r = one; return;
    case 2: cv->fr_neg(r, &one); return;
    case 3: *r = x; return;
    case 4: cv->fr_sub(r, &x, &one); return;
    case 5: cv->fr_mul(r, &x, &x); return;
    case 6:
        cv->fr_mul(r, &x, &x);
        cv->fr_sub(r, r, &one);
        return;
    case 7: cv->fr_pow_var(r, &x, 3); return;
    case 8:
        cv->fr_pow_var(r, &x, 3);
        cv->fr_sub(r, r, &one);
        return;
    case 9: cv->fr_from_u64(r, UINT64_MAX); return;
    case 10: cv->fr_from_u64(r, 8); return;
    case 11: cv->fr_neg(r, &x); return;
    default: random_fr(cv, r);
    }
}

static void each_table(void (*f)(const curve *cv, const batch_ops *b))
{
    for (cpu_table t = 0; t < CPU_TABLES; t++) {
        if (!cpu_table_supported(t)) continue;
        f(curve_get(CURVE_ID_BLS12_381, t), batch_get(t));
    }
}

static void random_points(const curve *cv, g1_any *p, g2_any *q, size_t n)
{
    fr k;
    for (size_t i = 0; i < n; i++) {
        random_fr(cv, &k);
        if (p != NULL) cv->g1_mul(&p[i], &cv->g1_gen, &k);
        if (q != NULL) cv->g2_mul(&q[i], &cv->g2_gen, &k);
    }
}

static void scale_g1_g2(const curve *cv, const batch_ops *b)
{
    g1_any p[N], r[N], want;
    g2_any q[N], s[N], want2;
    fr k[N];

    random_points(cv, p, q, N);
    memset(&p[N - 1], 0, sizeof p[0]);
    memset(&q[N - 1], 0, sizeof q[0]);
    for (size_t i = 0; i < N; i++) edge_fr(cv, &k[i], i);
    b->g1_scale(r, p, k, N);
    b->g2_scale(s, q, k, N);
    for (size_t i = 0; i < N; i++) {
        cv->g1_mul(&want, &p[i], &k[i]);
        cv->g2_mul(&want2, &q[i], &k[i]);
        assert_true(cv->g1_eq(&r[i], &want));
        assert_true(cv->g2_eq(&s[i], &want2));
    }
    b->g1_scale(p, p, k, N); /* in place */
    assert_bytes_equal(p, r, sizeof p);
    b->g1_scale(r, p, k, 0);
}

static void test_scale(void **state)
{
    (void)state;
    each_table(scale_g1_g2);
}

static void fold_g1_g2(const curve *cv, const batch_ops *b)
{
    g1_any p[N], a[N], r[N], want;
    g2_any q[N], c[N], s[N], want2;
    fr k;

    for (size_t round = 0; round < N; round++) {
        edge_fr(cv, &k, round);
        random_points(cv, p, q, N);
        random_points(cv, a, c, N);
        /* sums that cancel, that double, and infinities */
        cv->g1_mul(&a[0], &p[0], &k);
        cv->g1_neg(&a[0], &a[0]);
        cv->g2_mul(&c[0], &q[0], &k);
        cv->g2_neg(&c[0], &c[0]);
        cv->g1_mul(&a[1], &p[1], &k);
        cv->g2_mul(&c[1], &q[1], &k);
        memset(&a[2], 0, sizeof a[2]);
        memset(&c[2], 0, sizeof c[2]);
        memset(&p[3], 0, sizeof p[3]);
        memset(&q[3], 0, sizeof q[3]);
        b->g1_fold(r, a, p, &k, N);
        b->g2_fold(s, c, q, &k, N);
        for (size_t i = 0; i < N; i++) {
            cv->g1_mul(&want, &p[i], &k);
            cv->g1_add(&want, &want, &a[i]);
            cv->g2_mul(&want2, &q[i], &k);
            cv->g2_add(&want2, &want2, &c[i]);
            assert_true(cv->g1_eq(&r[i], &want));
            assert_true(cv->g2_eq(&s[i], &want2));
        }
    }
}

static void test_fold(void **state)
{
    (void)state;
    each_table(fold_g1_g2);
}

static void butterflies(const curve *cv, const batch_ops *b)
{
    g1_any u[N], t[N], sum[N], difference[N], x;
    fr k[N];

    random_points(cv, u, NULL, N);
    random_points(cv, t, NULL, N);
    for (size_t i = 0; i < N; i++) edge_fr(cv, &k[i], i);
    cv->g1_mul(&u[12], &t[12], &k[12]); /* a sum that doubles, a difference that cancels */
    cv->g1_neg(&u[13], &t[13]);
    k[13] = cv->fr_one;
    memset(&u[14], 0, sizeof u[14]);
    memset(&t[15], 0, sizeof t[15]);
    memset(&u[16], 0, sizeof u[16]);
    memset(&t[16], 0, sizeof t[16]);
    for (size_t i = 0; i < N; i++) {
        cv->g1_mul(&x, &t[i], &k[i]);
        cv->g1_add(&sum[i], &u[i], &x);
        cv->g1_neg(&x, &x);
        cv->g1_add(&difference[i], &u[i], &x);
    }
    b->g1_butterfly(u, t, k, N);
    for (size_t i = 0; i < N; i++) {
        assert_true(cv->g1_eq(&u[i], &sum[i]));
        assert_true(cv->g1_eq(&t[i], &difference[i]));
    }
}

static void test_butterfly(void **state)
{
    (void)state;
    each_table(butterflies);
}

/** Products of n pairs with n_p vectors of G1, each against pairings one at a time. */
static void product(const curve *cv, const batch_ops *b, const g1_any *const *p, size_t n_p,
                    const g2_any *q, size_t n)
{
    gt_any f[BATCH_MILLER], want, e;

    b->miller(f, p, n_p, q, n);
    for (size_t j = 0; j < n_p; j++) {
        b->gt_pow_product(&want, NULL, NULL, 0);
        for (size_t i = 0; i < n; i++) {
            cv->pairing(&e, &p[j][i], &q[i]);
            cv->gt_mul(&want, &want, &e);
        }
        cv->final_exp(&e, &f[j]);
        assert_true(cv->gt_eq(&e, &want));
    }
}

static void products(const curve *cv, const batch_ops *b)
{
    g1_any p[BATCH_MILLER][N];
    g2_any q[N];
    gt_any one;
    /* around whole groups of lanes, and what is too little for one */
    static const size_t sizes[] = {0, 1, 3, 4, 5, 8, 9, 11, 12, 13, 16, N};

    for (size_t j = 0; j < BATCH_MILLER; j++) random_points(cv, p[j], q, N);
    const g1_any *const ps[BATCH_MILLER] = {p[0], p[1], p[2]};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
        product(cv, b, ps, 1 + k % BATCH_MILLER, q, sizes[k]);
    for (size_t n_p = 1; n_p <= BATCH_MILLER; n_p++) product(cv, b, ps, n_p, q, 16);
    memset(&p[1][4], 0, sizeof p[1][4]); /* infinities */
    memset(&q[7], 0, sizeof q[7]);
    for (size_t k = 4; k < sizeof sizes / sizeof sizes[0]; k += 3)
        product(cv, b, ps, BATCH_MILLER, q, sizes[k]);
    b->gt_pow_product(&one, NULL, NULL, 0);
    assert_true(cv->gt_is_one(&one));
}

static void test_products(void **state)
{
    (void)state;
    each_table(products);
}

static void powers(const curve *cv, const batch_ops *b)
{
    gt_any a[N], want, e, r;
    g1_any p[N];
    fr k[N];

    random_points(cv, p, NULL, N);
    b->gt_pow_product(&want, NULL, NULL, 0);
    for (size_t i = 0; i < N; i++) {
        cv->pairing(&a[i], &p[i], &cv->g2_gen);
        edge_fr(cv, &k[i], i);
        cv->gt_pow_var(&e, &a[i], &k[i]);
        b->gt_pow_product(&r, &a[i], &k[i], 1);
        assert_true(cv->gt_eq(&r, &e));
        cv->gt_mul(&want, &want, &e);
        b->gt_pow_product(&r, a, k, i + 1);
        assert_true(cv->gt_eq(&r, &want));
    }
}

static void test_powers(void **state)
{
    (void)state;
    each_table(powers);
}

static void bytes(const curve *cv, const batch_ops *b)
{
    uint8_t plain[GT_PLAIN_BYTES], enc[GT_BYTES], hash[32], again[GT_BYTES];
    gt_any e, r, one, kept;

    cv->pairing(&e, &cv->g1_gen, &cv->g2_gen);
    b->gt_write_plain(plain, &e);
    assert_hex_equal(plain, 48,
                     "b68917caaa0543a808c53908f694d1b6e7b38de90ce9d83d505ca1ef1b442d27"
                     "27d7d06831d8b2a7920afc71d8eb5012");
    sha256(hash, plain, sizeof plain);
    assert_hex_equal(hash, 32, "ff9912603bb02b77bc6ec1deaeddf9d1fee40ac17a781fb13c9c6e7a9f74d22b");
    assert_true(b->gt_write(enc, &e));
    sha256(hash, enc, sizeof enc);
    assert_hex_equal(hash, 32, "2276128cd9326ecb99f8bb25ea892beed11ca9e3323e9d5aca77d51c66f026ae");
    assert_int_equal(b->gt_read(&r, enc), GT_OK);
    assert_true(cv->gt_eq(&r, &e));

    for (size_t i = 0; i < 8; i++) {
        g1_any p;
        random_points(cv, &p, NULL, 1);
        cv->pairing(&e, &p, &cv->g2_gen);
        assert_true(b->gt_write(enc, &e));
        assert_int_equal(b->gt_read(&r, enc), GT_OK);
        assert_true(cv->gt_eq(&r, &e));
        assert_true(b->gt_write(again, &r));
        assert_bytes_equal(again, enc, sizeof enc);
    }

    b->gt_pow_product(&one, NULL, NULL, 0);
    assert_false(b->gt_write(again, &one));
    memset(again, 0, sizeof again); /* -1 */
    kept = r;
    assert_int_equal(b->gt_read(&r, again), GT_NOT_IN_SUBGROUP);
    assert_memory_equal(&r, &kept, sizeof r);
    for (size_t i = 0; i < 6; i++) {
        memcpy(again, enc, sizeof enc);
        memcpy(again + 48 * i, cv->p_le, 48);
        assert_int_equal(b->gt_read(&r, again), GT_NOT_CANONICAL);
        again[48 * i] = (uint8_t)(again[48 * i] - 1); /* p - 1: canonical, another element */
        assert_int_equal(b->gt_read(&r, again), GT_NOT_IN_SUBGROUP);
    }
    for (size_t k = 0; k < 64;
         k++) { /* any other element of the torus is of another order, but for a few in 2^1000 */
        memcpy(again, enc, sizeof enc);
        again[harness_random_below(sizeof enc)] ^= (uint8_t)(1u << harness_random_below(8));
        assert_int_not_equal(b->gt_read(&r, again), GT_OK);
    }
    assert_string_equal(gt_err_text(GT_NOT_IN_SUBGROUP), "not in the subgroup of order r");
}

static void test_bytes(void **state)
{
    (void)state;
    each_table(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scale),     cmocka_unit_test(test_fold),
        cmocka_unit_test(test_butterfly), cmocka_unit_test(test_products),
        cmocka_unit_test(test_powers),    cmocka_unit_test(test_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
