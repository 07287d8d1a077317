/*
 * exhaustive/test_curve_tiny.c - the curve templates over a BLS12 curve with p = 727 and r = 241: every point, every pair,
 * every scalar
 *
 * y^2 = x^3 + 7 has 723 = 3 * 241 points over Fp, and its twist 529477 = 13^3 * 241 over Fp2. The model of G1 is the chord
 * and tangent rule on plain integers. G2's subgroup and the pairing are checked against their discrete logarithms.
 * Where a loop would take more than seconds, `make check` walks it in steps and `make check-all` in full.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define CURVE_TINY
#define FIELD_ADX 0
#include "algebra/pairing_inl.h"
#include "harness/harness.h"

enum { P = 727, R = 241, POINTS = 723 };

/* point 0 is infinity */
static struct {
    unsigned x, y;
} points[POINTS];
static unsigned index_of[P][P]; /* of (x, y); 0 where no point is */
static unsigned inverse[P];
static fp element[P];
static g1_affine affine[POINTS];
static g2_affine subgroup2[R]; /* k H */

static size_t step(size_t at_check)
{
    return harness_level() == HARNESS_CHECK ? at_check : 1;
}

/* ---- the model: integers mod 727 ---- */

static int make_model(void **state)
{
    unsigned n = 1;
    g2_jac acc;
    g2_affine h;
    (void)state;

    for (unsigned a = 0; a < P; a++) {
        fp_from_u64(&element[a], a);
        for (unsigned b = 1; b < P; b++) {
            if (a * b % P == 1) inverse[a] = b;
        }
    }
    for (unsigned x = 0; x < P; x++) {
        for (unsigned y = 0; y < P; y++) {
            if (y * y % P != (x * x % P * x + 7) % P) continue;
            assert_true(n < POINTS);
            points[n].x = x;
            points[n].y = y;
            index_of[x][y] = n;
            affine[n].x = element[x];
            affine[n].y = element[y];
            n++;
        }
    }
    assert_int_equal(n, POINTS);
    g1_affine_set_inf(&affine[0]);

    g2_set_gen(&h);
    g2_jac_set_inf(&acc);
    for (unsigned k = 0; k < R; k++) {
        g2_to_affine(&subgroup2[k], &acc);
        g2_jac_add_affine(&acc, &acc, &h);
    }
    assert_true(g2_jac_is_inf(&acc));
    return 0;
}

static unsigned model_neg(unsigned a)
{
    return a == 0 ? 0 : index_of[points[a].x][(P - points[a].y) % P];
}

static unsigned model_add(unsigned a, unsigned b)
{
    unsigned l, x, y, xa = points[a].x, ya = points[a].y, xb = points[b].x, yb = points[b].y;
    if (a == 0) return b;
    if (b == 0) return a;
    if (b == model_neg(a)) return 0;
    if (a == b)
        l = 3 * xa % P * xa % P * inverse[2 * ya % P] % P;
    else
        l = (yb + P - ya) * inverse[(xb + P - xa) % P] % P;
    x = (l * l + 2 * P - xa - xb) % P;
    y = (l * (xa + P - x) + P - ya) % P;
    return index_of[x][y];
}

/* ---- points with a Z, and checks without inversions ---- */

static g1_jac jac_of(unsigned a, unsigned z)
{
    g1_jac r;
    fp zz;
    if (a == 0) {
        g1_jac_set_inf(&r);
        r.x = element[z]; /* any X and Y stand for infinity when Z = 0 */
        return r;
    }
    fp_sqr(&zz, &element[z]);
    fp_mul(&r.x, &affine[a].x, &zz);
    fp_mul(&zz, &zz, &element[z]);
    fp_mul(&r.y, &affine[a].y, &zz);
    r.z = element[z];
    return r;
}

static g1_xyzz xyzz_of(unsigned a, unsigned z)
{
    g1_jac j = jac_of(a, z);
    g1_xyzz r;
    g1_jac_to_xyzz(&r, &j);
    return r;
}

static g1_proj proj_of(unsigned a, unsigned z)
{
    g1_proj r;
    fp_set_zero(&r.x);
    fp_set_zero(&r.z);
    r.y = element[z];
    if (a == 0) return r;
    fp_mul(&r.x, &affine[a].x, &element[z]);
    fp_mul(&r.y, &affine[a].y, &element[z]);
    r.z = element[z];
    return r;
}

static void check_jac(const g1_jac *got, unsigned want)
{
    fp zz, t;
    assert_int_equal(fp_is_zero(&got->z), want == 0);
    if (want == 0) return;
    fp_sqr(&zz, &got->z);
    fp_mul(&t, &affine[want].x, &zz);
    assert_true(fp_eq(&t, &got->x));
    fp_mul(&zz, &zz, &got->z);
    fp_mul(&t, &affine[want].y, &zz);
    assert_true(fp_eq(&t, &got->y));
}

static void check_xyzz(const g1_xyzz *got, unsigned want)
{
    fp t, s;
    assert_int_equal(fp_is_zero(&got->zz), want == 0);
    if (want == 0) return;
    fp_mul(&t, &affine[want].x, &got->zz);
    assert_true(fp_eq(&t, &got->x));
    fp_mul(&t, &affine[want].y, &got->zzz);
    assert_true(fp_eq(&t, &got->y));
    fp_sqr(&t, &got->zz);
    fp_mul(&t, &t, &got->zz);
    fp_sqr(&s, &got->zzz);
    assert_true(fp_eq(&t, &s));
}

static void check_proj(const g1_proj *got, unsigned want)
{
    fp t;
    assert_int_equal(fp_is_zero(&got->z), want == 0);
    if (want == 0) {
        assert_true(fp_is_zero(&got->x));
        assert_false(fp_is_zero(&got->y));
        return;
    }
    fp_mul(&t, &affine[want].x, &got->z);
    assert_true(fp_eq(&t, &got->x));
    fp_mul(&t, &affine[want].y, &got->z);
    assert_true(fp_eq(&t, &got->y));
}

/* ---- G1 ---- */

static void test_all_pairs(void **state)
{
    (void)state;
    for (unsigned a = 0; a < POINTS; a++) {
        for (unsigned b = 0; b < POINTS; b++) {
            unsigned want = model_add(a, b), z = 1 + (a * 31 + b * 17) % (P - 1);
            g1_jac i = jac_of(a, z), j = jac_of(b, P - z), r;
            g1_xyzz x = xyzz_of(a, z), y = xyzz_of(b, P - z), s;
            g1_proj u = proj_of(a, z), v = proj_of(b, P - z), w;
            g1_jac_add(&r, &i, &j);
            check_jac(&r, want);
            g1_jac_add_affine(&r, &i, &affine[b]);
            check_jac(&r, want);
            g1_xyzz_add(&s, &x, &y);
            check_xyzz(&s, want);
            g1_xyzz_add_affine(&s, &x, &affine[b]);
            check_xyzz(&s, want);
            g1_proj_add(&w, &u, &v);
            check_proj(&w, want);
            g1_xyzz_sub_affine(&s, &x, &affine[b]);
            check_xyzz(&s, model_add(a, model_neg(b)));
            assert_int_equal(g1_jac_eq(&i, &j), a == b);
            assert_int_equal(g1_affine_eq(&affine[a], &affine[b]), a == b);
        }
    }
}

static void test_all_points(void **state)
{
    (void)state;
    for (unsigned a = 0; a < POINTS; a++) {
        unsigned twice = model_add(a, a), of_order = 0;
        g1_affine t = {0};
        g1_xyzz s;
        for (unsigned k = 0; k < R; k++) of_order = model_add(of_order, a);
        assert_int_equal(g1_in_subgroup(&affine[a]), of_order == 0);
        assert_int_equal(g1_in_subgroup_plain(&affine[a]), of_order == 0);
        assert_true(g1_is_on_curve(&affine[a]));
        g1_affine_neg(&t, &affine[a]);
        assert_true(g1_affine_eq(&t, &affine[model_neg(a)]));
        g1_xyzz_dbl_affine(&s, &affine[a]);
        check_xyzz(&s, twice);
        g1_xyzz_from_affine(&s, &affine[a]);
        check_xyzz(&s, a);
        for (unsigned z = 1; z < P; z += 25) {
            g1_jac j = jac_of(a, z), j2;
            g1_xyzz x = xyzz_of(a, z), x2;
            g1_proj v = proj_of(a, z);
            check_jac(&j, a);
            check_xyzz(&x, a);
            g1_to_affine(&t, &j);
            assert_true(g1_affine_eq(&t, &affine[a]));
            g1_to_affine_ct(&t, &j);
            assert_true(g1_affine_eq(&t, &affine[a]));
            g1_jac_neg(&j2, &j);
            check_jac(&j2, model_neg(a));
            g1_xyzz_neg(&x2, &x);
            check_xyzz(&x2, model_neg(a));
            g1_xyzz_to_jac(&j2, &x);
            check_jac(&j2, a);
            g1_jac_dbl(&j, &j);
            check_jac(&j, twice);
            g1_xyzz_dbl(&x, &x);
            check_xyzz(&x, twice);
            g1_proj_dbl(&v, &v);
            check_proj(&v, twice);
        }
    }
}

static void test_all_scalars(void **state)
{
    (void)state;
    for (unsigned a = 0; a < POINTS; a += (unsigned)step(3)) {
        unsigned want = 0;
        for (unsigned k = 0; k < R; k++) {
            uint64_t e = k;
            fr s;
            g1_jac r;
            fr_from_u64(&s, k);
            g1_mul(&r, &affine[a], &s);
            check_jac(&r, want);
            g1_mul_var(&r, &affine[a], &s);
            check_jac(&r, want);
            g1_mul_limbs_var(&r, &affine[a], &e, 1);
            check_jac(&r, want);
            want = model_add(want, a);
        }
    }
}

/* Every (x, y) is on the curve or not. */
static void test_all_coordinates(void **state)
{
    (void)state;
    for (unsigned x = 0; x < P; x++) {
        for (unsigned y = 0; y < P; y++) {
            g1_affine t = {element[x], element[y]};
            bool on = index_of[x][y] != 0 || (x == 0 && y == 0); /* (0, 0) stands for infinity */
            assert_int_equal(g1_is_on_curve(&t), on);
        }
    }
}

static void test_round_trips(void **state)
{
    static const point_enc enc[] = {POINT_LEM, POINT_ZCASH, POINT_ZCASH_COMPRESSED};
    uint8_t b[2 * FP_BYTES];
    g1_affine t = affine[0];
    (void)state;
    for (unsigned a = 0; a < POINTS; a++) {
        for (size_t e = 0; e < 3; e++) {
            g1_write(b, &affine[a], enc[e]);
            assert_int_equal(g1_read(&t, b, enc[e]), POINT_OK);
            assert_true(g1_affine_eq(&t, &affine[a]));
        }
    }
}

/* Point of this x whose y is, or is not, above p/2; 0: none. */
static unsigned find_point(unsigned x, bool larger)
{
    for (unsigned y = 0; y < P; y++) {
        if (index_of[x][y] != 0 && (y > P / 2) == larger) return index_of[x][y];
    }
    return 0;
}

/* Every x is decoded or refused, and every number above. */
static void test_compressed(void **state)
{
    (void)state;
    for (unsigned x = 0; x < 4096; x++) {
        for (unsigned larger = 0; larger < 2; larger++) {
            uint8_t b[FP_BYTES] = {(uint8_t)(0x80 | larger << 5)};
            g1_affine t = {0};
            point_err err;
            unsigned want;
            b[FP_BYTES - 1] = (uint8_t)x;
            b[FP_BYTES - 2] = (uint8_t)(x >> 8);
            err = g1_read(&t, b, POINT_ZCASH_COMPRESSED);
            if (x >= P) {
                assert_int_equal(err, POINT_NOT_CANONICAL);
                continue;
            }
            want = find_point(x, larger != 0);
            assert_int_equal(err, want != 0 ? POINT_OK : POINT_NOT_ON_CURVE);
            if (want != 0) assert_true(g1_affine_eq(&t, &affine[want]));
        }
    }
}

/* ---- Fp2 and G2 ---- */

static void test_fp2_roots(void **state)
{
    static bool square[P][P];
    (void)state;
    for (unsigned i = 0; i < P; i++) {
        for (unsigned j = 0; j < P; j++) {
            /* (i + j u)^2 */
            square[(i * i + P * P - j * j) % P][2 * i * j % P] = true;
        }
    }
    for (size_t k = 0; k < (size_t)P * P; k += step(7)) {
        size_t i = k / P, j = k % P;
        fp2 a = {element[i], element[j]}, r;
        assert_int_equal(fp2_sqrt_var(&r, &a), square[i][j]);
        if (!square[i][j]) continue;
        fp2_sqr(&r, &r);
        assert_true(fp2_eq(&r, &a));
    }
}

static void test_g2_points(void **state)
{
    size_t n = 1, in = 1;
    (void)state;
    for (size_t k = 0; k < (size_t)P * P; k += step(41)) {
        g2_affine p;
        p.x.c0 = element[k / P];
        p.x.c1 = element[k % P];
        g2_rhs(&p.y, &p.x);
        if (!fp2_sqrt_var(&p.y, &p.y)) continue;
        assert_false(fp2_is_zero(&p.y)); /* no point of order 2 */
        n += 2;
        assert_true(g2_is_on_curve(&p));
        assert_int_equal(g2_in_subgroup(&p), g2_in_subgroup_plain(&p));
        if (g2_in_subgroup(&p)) in += 2;
    }
    if (step(41) == 1) {
        assert_int_equal(n, 529477);
        assert_int_equal(in, R);
    }
    for (unsigned k = 0; k < R; k++) assert_true(g2_in_subgroup(&subgroup2[k]));
}

static void check_g2(const g2_jac *got, unsigned want)
{
    g2_jac w;
    g2_jac_from_affine(&w, &subgroup2[want % R]);
    assert_true(g2_jac_eq(got, &w));
}

static void test_g2_pairs(void **state)
{
    (void)state;
    for (unsigned a = 0; a < R; a++) {
        for (unsigned b = 0; b < R; b++) {
            unsigned z = 1 + (a * 31 + b * 17) % (P - 1);
            fp2 s = {element[z], element[b]}, t;
            g2_jac i, j, r;
            g2_xyzz x, y;
            fr k;
            g2_jac_from_affine(&i, &subgroup2[a]);
            g2_jac_from_affine(&j, &subgroup2[b]);
            fp2_sqr(&t, &s); /* j with a Z */
            fp2_mul(&j.x, &j.x, &t);
            fp2_mul(&t, &t, &s);
            fp2_mul(&j.y, &j.y, &t);
            fp2_mul(&j.z, &j.z, &s);
            g2_jac_add(&r, &i, &j);
            check_g2(&r, a + b);
            g2_jac_add_affine(&r, &j, &subgroup2[a]);
            check_g2(&r, a + b);
            g2_jac_to_xyzz(&y, &j);
            g2_jac_to_xyzz(&x, &i);
            g2_xyzz_add(&x, &x, &y);
            g2_xyzz_to_jac(&r, &x);
            check_g2(&r, a + b);
            g2_xyzz_add_affine(&y, &y, &subgroup2[a]);
            g2_xyzz_to_jac(&r, &y);
            check_g2(&r, a + b);
            if (b % step(8) != 0) continue;
            fr_from_u64(&k, b);
            g2_mul(&r, &subgroup2[a], &k);
            check_g2(&r, a * b);
            g2_mul_var(&r, &subgroup2[a], &k);
            check_g2(&r, a * b);
        }
    }
}

/* ---- pairing ---- */

static void pair(fp12 *r, const g1_affine *p, const g2_affine *q, size_t n)
{
    miller_pair m[2];
    size_t used = 0;
    fp12 f;
    for (size_t i = 0; i < n; i++) {
        if (miller_pair_init(&m[used], &p[i], &q[i])) used++;
    }
    miller_loop(&f, m, used);
    final_exp(r, &f);
}

/* e(a G, b H) = e(G, H)^(a b) for all a, b, and e(a G, b H) e(-G, a b H) = 1 */
static void test_pairings(void **state)
{
    static fp12 power[R];
    static g1_affine subgroup1[R];
    g1_affine p[2];
    g2_affine q[2];
    g1_jac acc;
    fp12 e;
    (void)state;

    g1_set_gen(&p[0]);
    g1_jac_set_inf(&acc);
    for (unsigned k = 0; k < R; k++) {
        g1_to_affine(&subgroup1[k], &acc);
        g1_jac_add_affine(&acc, &acc, &p[0]);
    }
    pair(&e, &subgroup1[1], &subgroup2[1], 1);
    assert_false(fp12_is_one(&e));
    fp12_set_one(&power[0]);
    for (unsigned k = 1; k < R; k++) fp12_mul(&power[k], &power[k - 1], &e);
    fp12_mul(&e, &power[R - 1], &e);
    assert_true(fp12_is_one(&e));
    for (unsigned a = 0; a < R; a++) {
        for (unsigned b = 0; b < R; b += (unsigned)step(12)) {
            pair(&e, &subgroup1[a], &subgroup2[b], 1);
            assert_true(fp12_eq(&e, &power[a * b % R]));
            p[0] = subgroup1[a];
            q[0] = subgroup2[b];
            g1_affine_neg(&p[1], &subgroup1[1]);
            q[1] = subgroup2[a * b % R];
            pair(&e, p, q, 2);
            assert_true(fp12_is_one(&e));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_pairs),   cmocka_unit_test(test_all_points),
        cmocka_unit_test(test_all_scalars), cmocka_unit_test(test_all_coordinates),
        cmocka_unit_test(test_round_trips), cmocka_unit_test(test_compressed),
        cmocka_unit_test(test_fp2_roots),   cmocka_unit_test(test_g2_points),
        cmocka_unit_test(test_g2_pairs),    cmocka_unit_test(test_pairings),
    };
    return cmocka_run_group_tests(tests, make_model, NULL);
}
