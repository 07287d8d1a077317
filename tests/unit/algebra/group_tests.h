/*
 * unit/algebra/group_tests.h - the tests of one group's templates, shared by test_g1.c and test_g2.c
 *
 * Before inclusion: T_G(name) -> g1_name, T_F(name) -> fp_name, T_IS_G2. The model is the chord and tangent rule on affine
 * points. Inputs are points of the whole curve, of the subgroup and of small order, in every form with a random Z.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "algebra/cpu_table.h"
#include "algebra/curve_inl.h"
#include "harness/harness.h"

typedef T_G(field) field;
typedef T_G(affine) affine;
typedef T_G(jac) jac;
typedef T_G(xyzz) xyzz;
typedef T_G(proj) proj;

/* ---- random values ---- */

static void random_fp(fp *r)
{
    uint8_t b[FP_BYTES];
    do {
        harness_random_bytes(b, sizeof b);
        b[FP_BYTES - 1] &= (uint8_t)(0xff >> (8 * FP_BYTES - FP_BITS));
    } while (!fp_from_le_bytes(r, b));
}

static void random_field(field *r)
{
#if T_IS_G2
    random_fp(&r->c0);
    random_fp(&r->c1);
#else
    random_fp(r);
#endif
}

static void random_fr(fr *r)
{
    uint8_t b[FR_BYTES];
    do {
        harness_random_bytes(b, sizeof b);
        b[FR_BYTES - 1] &= (uint8_t)(0xff >> (8 * FR_BYTES - FR_BITS));
    } while (!fr_from_le_bytes(r, b));
}

/** A point of the curve, almost never of the subgroup (but of BN254's G1, which is all of its curve). */
static affine random_point(void)
{
    affine p;
    do {
        random_field(&p.x);
        T_G(rhs)(&p.y, &p.x);
#if T_IS_G2
    } while (!fp2_sqrt_var(&p.y, &p.y));
#else
    } while (!fp_sqrt(&p.y, &p.y));
#endif
    if (harness_random_below(2) != 0) T_G(affine_neg)(&p, &p);
    return p;
}

static affine infinity(void)
{
    affine p;
    T_G(affine_set_inf)(&p);
    return p;
}

static affine generator(void)
{
    affine p;
    T_G(set_gen)(&p);
    return p;
}

static affine neg(affine p)
{
    T_G(affine_neg)(&p, &p);
    return p;
}

/** The same point with a random Z. */
static jac blind(const affine *p)
{
    jac r;
    field z, zz;
    do random_field(&z);
    while (T_F(is_zero)(&z));
    T_G(jac_from_affine)(&r, p);
    T_F(sqr)(&zz, &z);
    T_F(mul)(&r.x, &r.x, &zz);
    T_F(mul)(&zz, &zz, &z);
    T_F(mul)(&r.y, &r.y, &zz);
    T_F(mul)(&r.z, &r.z, &z);
    return r;
}

static xyzz blind_xyzz(const affine *p)
{
    jac j = blind(p);
    xyzz r;
    T_G(jac_to_xyzz)(&r, &j);
    return r;
}

/* ---- the model, and checks ---- */

static affine model_add(const affine *p, const affine *q)
{
    affine r;
    field l, t;

    if (T_G(affine_is_inf)(p)) return *q;
    if (T_G(affine_is_inf)(q)) return *p;
    if (T_F(eq)(&p->x, &q->x)) {
        if (!T_F(eq)(&p->y, &q->y)) return infinity();
        T_F(sqr)(&l, &p->x);
        T_F(dbl)(&t, &l);
        T_F(add)(&l, &l, &t);
        T_F(dbl)(&t, &p->y);
    } else {
        T_F(sub)(&l, &q->y, &p->y);
        T_F(sub)(&t, &q->x, &p->x);
    }
    T_F(inv)(&t, &t);
    T_F(mul)(&l, &l, &t);
    T_F(sqr)(&r.x, &l);
    T_F(sub)(&r.x, &r.x, &p->x);
    T_F(sub)(&r.x, &r.x, &q->x);
    T_F(sub)(&t, &p->x, &r.x);
    T_F(mul)(&r.y, &l, &t);
    T_F(sub)(&r.y, &r.y, &p->y);
    return r;
}

/** k p by doubling and adding in the model, k of n limbs. */
static affine model_mul(const affine *p, const uint64_t *k, size_t n)
{
    affine r = infinity();
    for (size_t i = 64 * n; i-- > 0;) {
        r = model_add(&r, &r);
        if (k[i / 64] >> (i % 64) & 1) r = model_add(&r, p);
    }
    return r;
}

static void check_affine(const affine *got, const affine *want)
{
    assert_bytes_equal(got, want, sizeof *got);
}

static void check_jac(const jac *got, const affine *want)
{
    affine a;
    T_G(to_affine)(&a, got);
    check_affine(&a, want);
    T_G(to_affine_ct)(&a, got);
    check_affine(&a, want);
}

static void check_xyzz(const xyzz *got, const affine *want)
{
    jac j;
    T_G(xyzz_to_jac)(&j, got);
    check_jac(&j, want);
    if (!T_G(xyzz_is_inf)(got)) { /* ZZ^3 = ZZZ^2 */
        field l, r;
        T_F(sqr)(&l, &got->zz);
        T_F(mul)(&l, &l, &got->zz);
        T_F(sqr)(&r, &got->zzz);
        assert_true(T_F(eq)(&l, &r));
    }
}

static proj blind_proj(const affine *p)
{
    proj r;
    field z;
    do random_field(&z);
    while (T_F(is_zero)(&z));
    if (T_G(affine_is_inf)(p)) {
        T_F(set_zero)(&r.x);
        r.y = z;
        T_F(set_zero)(&r.z);
        return r;
    }
    T_F(mul)(&r.x, &p->x, &z);
    T_F(mul)(&r.y, &p->y, &z);
    r.z = z;
    return r;
}

static void check_proj(const proj *got, const affine *want)
{
    affine a;
    field i;
    T_F(inv)(&i, &got->z);
    T_F(mul)(&a.x, &got->x, &i);
    T_F(mul)(&a.y, &got->y, &i);
    check_affine(&a, want);
}

/** Every addition of p and q, in every form, and with result and operand in the same place. */
static void check_sum(const affine *p, const affine *q)
{
    affine want = model_add(p, q), minus = neg(*q), diff = model_add(p, &minus);
    jac a = blind(p), b = blind(q), r, ja;
    xyzz x = blind_xyzz(p), y = blind_xyzz(q), s;
    proj u = blind_proj(p), v = blind_proj(q), w;

    T_G(jac_from_affine)(&ja, p);
    T_G(jac_add)(&r, &a, &b);
    check_jac(&r, &want);
    T_G(jac_add)(&r, &ja, &b);
    check_jac(&r, &want);
    T_G(jac_add_affine)(&r, &a, q);
    check_jac(&r, &want);
    r = a;
    T_G(jac_add)(&r, &r, &b);
    check_jac(&r, &want);
    r = b;
    T_G(jac_add)(&r, &a, &r);
    check_jac(&r, &want);
    T_G(jac_add_affine)(&a, &a, q);
    check_jac(&a, &want);

    T_G(xyzz_add)(&s, &x, &y);
    check_xyzz(&s, &want);
    T_G(xyzz_add_affine)(&s, &x, q);
    check_xyzz(&s, &want);
    T_G(xyzz_sub_affine)(&s, &x, q);
    check_xyzz(&s, &diff);
    s = x;
    T_G(xyzz_add)(&s, &s, &y);
    check_xyzz(&s, &want);
    s = y;
    T_G(xyzz_add)(&s, &x, &s);
    check_xyzz(&s, &want);
    T_G(xyzz_add_affine)(&x, &x, q);
    check_xyzz(&x, &want);

    T_G(proj_add)(&w, &u, &v);
    check_proj(&w, &want);
    T_G(proj_add)(&u, &u, &v);
    check_proj(&u, &want);
}

static void check_double(const affine *p)
{
    affine want = model_add(p, p);
    jac a = blind(p);
    xyzz x = blind_xyzz(p), s;
    proj u = blind_proj(p);

    T_G(jac_dbl)(&a, &a);
    check_jac(&a, &want);
    T_G(xyzz_dbl)(&x, &x);
    check_xyzz(&x, &want);
    T_G(xyzz_dbl_affine)(&s, p);
    check_xyzz(&s, &want);
    T_G(proj_dbl)(&u, &u);
    check_proj(&u, &want);
    a = blind(p);
    T_G(jac_add)(&a, &a, &a);
    check_jac(&a, &want);
    x = blind_xyzz(p);
    T_G(xyzz_add)(&x, &x, &x);
    check_xyzz(&x, &want);
}

/* ---- tests ---- */

static void test_sums(void **state)
{
    affine inf = infinity(), g = generator();
    (void)state;
    check_sum(&inf, &inf);
    check_double(&inf);
    check_double(&g);
    for (size_t i = 0; i < harness_iters(30); i++) {
        affine p = random_point(), q = random_point(), minus = neg(p);
        check_sum(&p, &q);
        check_sum(&p, &p);
        check_sum(&p, &minus);
        check_sum(&p, &inf);
        check_sum(&inf, &p);
        check_double(&p);
    }
}

static void test_laws(void **state)
{
    (void)state;
    for (size_t i = 0; i < harness_iters(30); i++) {
        affine p = random_point(), q = random_point(), r = random_point();
        jac a = blind(&p), b = blind(&q), c = blind(&r), l, m, n;
        T_G(jac_add)(&l, &a, &b);
        T_G(jac_add)(&l, &l, &c);
        T_G(jac_add)(&m, &b, &c);
        T_G(jac_add)(&m, &a, &m);
        assert_true(T_G(jac_eq)(&l, &m)); /* (a + b) + c = a + (b + c) */
        T_G(jac_neg)(&n, &l);
        assert_false(T_G(jac_eq)(&l, &n));
        T_G(jac_add)(&n, &n, &m);
        assert_true(T_G(jac_is_inf)(&n));
        assert_false(T_G(jac_eq)(&l, &n));
        assert_false(T_G(jac_eq)(&n, &l));
        T_G(jac_set_inf)(&l);
        assert_true(T_G(jac_eq)(&l, &n));
    }
}

static void test_conversions(void **state)
{
    affine inf = infinity();
    jac j;
    xyzz x, y;
    (void)state;
    T_G(jac_from_affine)(&j, &inf);
    assert_true(T_G(jac_is_inf)(&j));
    check_jac(&j, &inf);
    T_G(xyzz_from_affine)(&x, &inf);
    assert_true(T_G(xyzz_is_inf)(&x));
    check_xyzz(&x, &inf);
    T_G(xyzz_neg)(&x, &x);
    check_xyzz(&x, &inf);
    T_G(jac_neg)(&j, &j);
    check_jac(&j, &inf);
    for (size_t i = 0; i < harness_iters(20); i++) {
        affine p = random_point(), minus = neg(p);
        j = blind(&p);
        check_jac(&j, &p);
        T_G(jac_neg)(&j, &j);
        check_jac(&j, &minus);
        x = blind_xyzz(&p);
        check_xyzz(&x, &p);
        T_G(xyzz_neg)(&y, &x);
        check_xyzz(&y, &minus);
        T_G(xyzz_from_affine)(&x, &p);
        check_xyzz(&x, &p);
        assert_true(T_G(is_on_curve)(&p));
        assert_false(T_G(affine_is_inf)(&p));
        assert_false(T_G(affine_eq)(&p, &minus));
        assert_true(T_G(affine_eq)(&p, &p));
        T_F(dbl)(&p.y, &p.y);
        assert_false(T_G(is_on_curve)(&p));
    }
    assert_true(T_G(is_on_curve)(&inf));
}

#define BATCH 17

static void test_batch_to_affine(void **state)
{
    affine p[BATCH], out[BATCH];
    jac in[BATCH];
    field tmp[BATCH];
    (void)state;
    for (size_t n = 0; n <= BATCH; n++) {
        for (size_t round = 0; round < 3; round++) { /* no infinity, some, all */
            for (size_t i = 0; i < n; i++) {
                p[i] = random_point();
                if (round == 2 || (round == 1 && harness_random_below(2) == 0)) p[i] = infinity();
                in[i] = blind(&p[i]);
            }
            T_G(jac_batch_to_affine)(out, in, tmp, n);
            for (size_t i = 0; i < n; i++) check_affine(&out[i], &p[i]);
        }
    }
}

static void check_mul(const affine *p, const fr *k)
{
    uint64_t e[FR_LIMBS];
    affine want;
    jac r;
    fr_to_limbs(e, k);
    want = model_mul(p, e, FR_LIMBS);
    T_G(mul)(&r, p, k);
    check_jac(&r, &want);
    T_G(mul_var)(&r, p, k);
    check_jac(&r, &want);
    T_G(mul_limbs_var)(&r, p, e, FR_LIMBS);
    check_jac(&r, &want);
}

/* 0, 1, 2, r-1, r-2, all windows 15, single bits; points of the subgroup and others, where k is not reduced mod r */
static void test_mul(void **state)
{
    affine p[3] = {generator(), random_point(), infinity()};
    fr k;
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        for (uint64_t v = 0; v < 4; v++) {
            fr_from_u64(&k, v);
            check_mul(&p[i], &k);
            fr_neg(&k, &k);
            check_mul(&p[i], &k);
        }
        fr_from_u64(&k, UINT64_MAX);
        check_mul(&p[i], &k);
        for (size_t n = 0; n < harness_iters(4); n++) {
            uint64_t bit[FR_LIMBS] = {0};
            size_t b = harness_random_below(FR_BITS - 1);
            bit[b / 64] = (uint64_t)1 << (b % 64);
            assert_true(fr_from_limbs(&k, bit));
            check_mul(&p[i], &k);
            random_fr(&k);
            check_mul(&p[i], &k);
        }
    }
}

static void test_mul_distributes(void **state)
{
    (void)state;
    for (size_t i = 0; i < harness_iters(5); i++) {
        affine g = generator(), q;
        fr a, b, c;
        jac x, y, z;
        random_fr(&a);
        random_fr(&b);
        fr_add(&c, &a, &b);
        T_G(mul)(&x, &g, &a);
        T_G(mul)(&y, &g, &b);
        T_G(jac_add)(&x, &x, &y);
        T_G(mul)(&z, &g, &c);
        assert_true(T_G(jac_eq)(&x, &z)); /* (a + b) g = a g + b g */
        fr_mul(&c, &a, &b);
        T_G(to_affine)(&q, &y);
        T_G(mul)(&x, &q, &a);
        T_G(mul_var)(&z, &g, &c);
        assert_true(T_G(jac_eq)(&x, &z)); /* (a b) g = a (b g) */
    }
}

/* The fast test against the plain one: subgroup, curve, and points of the subgroup moved by one outside it. */
static void test_subgroup(void **state)
{
    affine inf = infinity(), g = generator();
    bool whole_curve = !T_IS_G2 && CURVE_H1_IS_1;
    (void)state;
    assert_true(T_G(in_subgroup)(&inf));
    assert_true(T_G(in_subgroup_plain)(&inf));
    assert_true(T_G(in_subgroup)(&g));
    assert_true(T_G(in_subgroup_plain)(&g));
    for (size_t i = 0; i < harness_iters(10); i++) {
        affine p = random_point(), q;
        jac j;
        fr k;
        assert_int_equal(T_G(in_subgroup)(&p), whole_curve);
        assert_int_equal(T_G(in_subgroup_plain)(&p), whole_curve);
        random_fr(&k);
        T_G(mul_var)(&j, &g, &k);
        T_G(to_affine)(&q, &j);
        assert_true(T_G(in_subgroup)(&q));
        assert_true(T_G(in_subgroup_plain)(&q));
        /* r p has the cofactor's order or a divisor of it */
        T_G(mul_limbs_var)(&j, &p, fr_modulus, FR_LIMBS);
        T_G(to_affine)(&p, &j);
        assert_int_equal(T_G(in_subgroup)(&p), whole_curve);
        q = model_add(&p, &q);
        assert_int_equal(T_G(in_subgroup)(&q), whole_curve);
        assert_int_equal(T_G(in_subgroup_plain)(&q), whole_curve);
    }
}

static void test_no_adx(void **state)
{
    (void)state;
    harness_skip("no CPU feature adx");
}

static int run_tests_of_group(void)
{
    const struct CMUnitTest skipped[] = {cmocka_unit_test(test_no_adx)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),        cmocka_unit_test(test_laws),
        cmocka_unit_test(test_conversions), cmocka_unit_test(test_batch_to_affine),
        cmocka_unit_test(test_mul),         cmocka_unit_test(test_mul_distributes),
        cmocka_unit_test(test_subgroup),
    };
    if (FIELD_ADX && !cpu_table_supported(CPU_TABLE_ADX))
        return cmocka_run_group_tests(skipped, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
