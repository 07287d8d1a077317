/*
 * unit/algebra/test_curve.c - curve tables: facts, scalar field, groups; all tables of a curve give the same bits
 *
 * Primes, generators and roots of unity are typed in from the circom format notes (section 5 for the roots), EIP-197 and
 * draft-irtf-cfrg-pairing-friendly-curves-11.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "curve_tests.h"

static const struct {
    const char *name, *json_name;
    size_t fp_size;
    unsigned fr_bits, two_adicity;
    const char *r, *p;         /* big-endian hex */
    const char *g1[2], *g2[4]; /* decimal */
    struct {
        unsigned gen;
        const char *root; /* of order 2^two_adicity, hex */
    } roots[2];
} facts[CURVE_IDS] = {
    [CURVE_ID_BN254] =
        {"bn254",
         "bn128",
         32,
         254,
         28,
         "30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001",
         "30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47",
         {"1", "2"},
         {"10857046999023057135944570762232829481370756359578518086990519993285655852781",
          "11559732032986387107991004021392285783925812861821192530917403151452391805634",
          "8495653923123431417604973247489272438418190587263600148770280649306958101930",
          "4082367875863433681332203403145435568316851327593401208105741076214120093531"},
         {{5, "2a3c09f0a58a7e8500e0a7eb8ef62abc402d111e41112ed49bd61b6e725b19f0"}}},
    [CURVE_ID_BLS12_381] =
        {"bls12-381",
         "bls12381",
         48,
         255,
         32,
         "73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001",
         "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9fefffff"
         "fffaaab",
         {"3685416753713387016781088315183077757961620795782546409894578378688607592378376318836054"
          "947676345821548104185464507",
          "1339506544944476473020471379941921221584933875938349620426543736416511423956333506472724"
          "655353366534992391756441569"},
         {"3527010695874666181871391160110601448900299527927752402199086442397937857357150268733476"
          "00343865175952761926303160",
          "3059144344244213709971259814753781636986470325476647558659373206291635324768958432433509"
          "563104347017837885763365758",
          "1985150602287291935568054521177171638300868978215655730859378665066344726373823718423869"
          "104263333984641494340347905",
          "9275536654923324557472019657760378807577401934535929700250279787939768770026755649809492"
          "89727957565575433344219582"},
         {{5, "0212d79e5b416b6f0fd56dc8d168d6c0c4024ff270b3e0941b788f500b912f1f"},
          {7, "16a2a19edfe81f20d09b681922c813b4b63683508c2280b93829971f439f0d2b"}}},
};

static void check_le_hex(const uint8_t *le, size_t size, const char *want)
{
    uint8_t b[48];
    memcpy(b, le, size);
    reverse(b, size);
    assert_hex_equal(b, size, want);
}

static void check_fr_hex(const curve *c, const fr *a, const char *want)
{
    scalar s;
    c->fr_to_scalar(&s, a);
    check_le_hex(s.b, 32, want);
}

static void facts_of(const curve *c)
{
    char text[CURVE_DEC_MAX];
    fr t;

    assert_string_equal(c->name, facts[c->id].name);
    assert_string_equal(c->json_name, facts[c->id].json_name);
    assert_int_equal(c->fp_size, facts[c->id].fp_size);
    assert_int_equal(c->g1_size, 2 * c->fp_size);
    assert_int_equal(c->g2_size, 4 * c->fp_size);
    assert_int_equal(c->fr_bits, facts[c->id].fr_bits);
    assert_int_equal(c->two_adicity, facts[c->id].two_adicity);
    check_le_hex(c->r_le, 32, facts[c->id].r);
    check_le_hex(c->p_le, c->fp_size, facts[c->id].p);
    for (unsigned k = 0; k < 2; k++) {
        c->g1_coord_dec(text, &c->g1_gen, k);
        assert_string_equal(text, facts[c->id].g1[k]);
    }
    for (unsigned k = 0; k < 4; k++) {
        c->g2_coord_dec(text, &c->g2_gen, k);
        assert_string_equal(text, facts[c->id].g2[k]);
    }
    assert_true(c->fr_is_zero(&c->fr_zero));
    c->fr_from_u64(&t, 1);
    assert_true(c->fr_eq(&t, &c->fr_one));
    c->fr_to_dec(text, &c->fr_one);
    assert_string_equal(text, "1");
    assert_true(c->g1_in_subgroup_plain(&c->g1_gen));
    assert_true(c->g2_in_subgroup_plain(&c->g2_gen));
}

static void test_facts(void **state)
{
    (void)state;
    for_each_table(facts_of);
    for (unsigned t = 0; t < CPU_TABLES; t++) {
        for (unsigned id = 0; id < CURVE_IDS; id++) {
            if (!cpu_table_supported((cpu_table)t)) continue;
            assert_int_equal(curve_get((curve_id)id, (cpu_table)t)->id, id);
            assert_int_equal(curve_get((curve_id)id, (cpu_table)t)->table,
                             t == CPU_TABLE_IFMA && id == CURVE_ID_BN254 ? CPU_TABLE_ADX : t);
        }
    }
}

static void test_names(void **state)
{
    static const char *const bn[] = {"bn254", "bn128", "alt_bn128"};
    static const char *const bls[] = {"bls12-381", "bls12381"};
    static const char *const bad[] = {"", "bn", "bn2544", "BN254", "bls12-377", "bls12-381 "};
    curve_id id;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_true(curve_id_from_name(&id, bn[i]));
        assert_int_equal(id, CURVE_ID_BN254);
    }
    for (size_t i = 0; i < 2; i++) {
        assert_true(curve_id_from_name(&id, bls[i]));
        assert_int_equal(id, CURVE_ID_BLS12_381);
    }
    for (size_t i = 0; i < 6; i++) assert_false(curve_id_from_name(&id, bad[i]));
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned j = 0; j < i; j++)
            assert_string_not_equal(point_err_text((point_err)i), point_err_text((point_err)j));
    }
}

static void roots_of(const curve *c)
{
    for (size_t i = 0; i < 2 && facts[c->id].roots[i].gen != 0; i++) {
        unsigned gen = facts[c->id].roots[i].gen;
        fr w, t, minus_one;
        c->fr_root(&w, gen, c->two_adicity);
        check_fr_hex(c, &w, facts[c->id].roots[i].root);
        c->fr_neg(&minus_one, &c->fr_one);
        for (unsigned k = c->two_adicity; k > 0; k--) {
            c->fr_root(&t, gen, k);
            assert_true(c->fr_eq(&t, &w)); /* each root is the square of the next */
            if (k == 1) assert_true(c->fr_eq(&w, &minus_one));
            c->fr_mul(&w, &w, &w);
        }
        c->fr_root(&t, gen, 0);
        assert_true(c->fr_eq(&t, &c->fr_one));
    }
}

static void test_roots(void **state)
{
    (void)state;
    for_each_table(roots_of);
}

static void fr_laws_of(const curve *c)
{
    for (size_t i = 0; i < harness_iters(50); i++) {
        fr x, y, z, l, m;
        random_fr(c, &x);
        random_fr(c, &y);
        random_fr(c, &z);
        if (i == 0) x = c->fr_zero;
        if (i == 1) c->fr_neg(&x, &c->fr_one);
        c->fr_add(&l, &x, &y);
        c->fr_mul(&l, &l, &z);
        c->fr_mul(&m, &y, &z);
        c->fr_mul(&x, &x, &z);
        c->fr_add(&m, &m, &x);
        assert_true(c->fr_eq(&l, &m)); /* (x + y) z = x z + y z */
        c->fr_sub(&l, &x, &y);
        c->fr_neg(&l, &l);
        c->fr_add(&l, &l, &x);
        assert_true(c->fr_eq(&l, &y)); /* -(x - y) + x = y */
        c->fr_inv(&m, &y);
        c->fr_mul(&m, &m, &y);
        assert_true(c->fr_eq(&m, &c->fr_one));
        c->fr_pow_var(&l, &x, 5);
        c->fr_mul(&m, &x, &x);
        c->fr_mul(&m, &m, &m);
        c->fr_mul(&m, &m, &x);
        assert_true(c->fr_eq(&l, &m));
        c->fr_pow_var(&l, &x, 0);
        assert_true(c->fr_eq(&l, &c->fr_one));
    }
}

static void test_fr_laws(void **state)
{
    (void)state;
    for_each_table(fr_laws_of);
}

static void fr_scalars_of(const curve *c)
{
    char text[CURVE_DEC_MAX], r_dec[CURVE_DEC_MAX];
    scalar s, back;
    fr a = c->fr_one, b;

    memcpy(s.b, c->r_le, 32);
    assert_false(c->fr_from_scalar(&a, &s)); /* r */
    assert_true(c->fr_eq(&a, &c->fr_one));
    add_small(s.b, 32, 1);
    assert_false(c->fr_from_scalar(&a, &s));
    memset(s.b, 0xff, 32);
    assert_false(c->fr_from_scalar(&a, &s));
    memcpy(s.b, c->r_le, 32);
    s.b[0]--; /* r is odd */
    assert_true(c->fr_from_scalar(&a, &s));
    c->fr_neg(&b, &c->fr_one);
    assert_true(c->fr_eq(&a, &b));
    c->fr_to_scalar(&back, &a);
    assert_bytes_equal(back.b, s.b, 32);

    c->fr_to_dec(r_dec, &a); /* r - 1, which does not end in 9; then r */
    assert_true(c->fr_from_dec(&b, r_dec, strlen(r_dec)));
    assert_true(c->fr_eq(&a, &b));
    r_dec[strlen(r_dec) - 1]++;
    assert_false(c->fr_from_dec(&b, r_dec, strlen(r_dec)));
    assert_false(c->fr_from_dec(&b, "", 0));
    assert_false(c->fr_from_dec(&b, "12a", 3));
    assert_true(c->fr_from_dec(&b, "12a", 2));
    c->fr_to_dec(text, &b);
    assert_string_equal(text, "12");

    for (size_t i = 0; i < harness_iters(20); i++) {
        fr d;
        assert_true(c->fr_random(&a));
        assert_true(c->fr_random(&d));
        assert_false(c->fr_eq(&a, &d));
        c->fr_to_scalar(&s, &a);
        assert_true(c->fr_from_scalar(&b, &s));
        assert_true(c->fr_eq(&a, &b));
    }
}

static void test_fr_scalars(void **state)
{
    (void)state;
    for_each_table(fr_scalars_of);
}

/* The bits of 512 samples: each of the low 253 is set in about half of them. */
static void fr_random_bits_of(const curve *c)
{
    unsigned count[253] = {0};
    for (int i = 0; i < 512; i++) {
        scalar s;
        fr a;
        assert_true(c->fr_random(&a));
        c->fr_to_scalar(&s, &a);
        for (unsigned b = 0; b < 253; b++) count[b] += s.b[b / 8] >> (b % 8) & 1u;
    }
    for (unsigned b = 0; b < 253; b++) {
        assert_in_range(count[b], 120, 392); /* 12 standard deviations */
    }
}

static void test_fr_random_bits(void **state)
{
    (void)state;
    for_each_table(fr_random_bits_of);
}

#define DOT 33

static void fr_arrays_of(const curve *c)
{
    for (size_t n = 0; n <= DOT; n++) {
        fr a[DOT], b[DOT], inv[DOT], tmp[DOT], sum = c->fr_zero, t;
        for (size_t i = 0; i < n; i++) {
            random_fr(c, &a[i]);
            random_fr(c, &b[i]);
            if (n % 3 == 1) c->fr_neg(&a[i], &c->fr_one); /* largest values */
            if (n % 3 == 1) b[i] = a[i];
            if (n % 3 == 2 && i % 4 == 0) a[i] = c->fr_zero;
            c->fr_mul(&t, &a[i], &b[i]);
            c->fr_add(&sum, &sum, &t);
            inv[i] = a[i];
        }
        c->fr_dot(&t, a, b, n);
        assert_true(c->fr_eq(&t, &sum));
        c->fr_batch_inv(inv, tmp, n);
        for (size_t i = 0; i < n; i++) {
            c->fr_inv(&t, &a[i]);
            assert_true(c->fr_eq(&t, &inv[i]));
            c->fr_mul(&t, &t, &a[i]);
            assert_true(c->fr_is_zero(&a[i]) ? c->fr_is_zero(&t) : c->fr_eq(&t, &c->fr_one));
        }
    }
}

static void test_fr_arrays(void **state)
{
    (void)state;
    for_each_table(fr_arrays_of);
}

static void groups_of(const curve *c)
{
    fr two, k;
    g1_any p, q, inf1;
    g2_any s, t, inf2;

    c->fr_from_u64(&two, 2);
    memset(&inf1, 0, sizeof inf1);
    memset(&inf2, 0, sizeof inf2);
    for (size_t i = 0; i < harness_iters(5); i++) {
        random_g1(c, &p);
        random_g2(c, &s);
        c->g1_add(&q, &p, &p);
        c->g1_mul(&p, &p, &two);
        assert_true(c->g1_eq(&p, &q));
        c->g2_add(&t, &s, &s);
        c->g2_mul(&s, &s, &two);
        assert_true(c->g2_eq(&s, &t));
        c->g1_neg(&q, &p);
        assert_false(c->g1_eq(&p, &q));
        c->g1_add(&q, &p, &q);
        assert_true(c->g1_is_inf(&q));
        assert_true(c->g1_eq(&q, &inf1));
        c->g2_neg(&t, &s);
        assert_false(c->g2_eq(&s, &t));
        c->g2_add(&t, &t, &s);
        assert_true(c->g2_is_inf(&t));
        assert_true(c->g2_eq(&t, &inf2));
        c->g1_add(&q, &q, &p);
        assert_true(c->g1_eq(&p, &q));
        c->g2_add(&t, &s, &t);
        assert_true(c->g2_eq(&s, &t));
        c->g1_mul(&q, &p, &c->fr_zero);
        assert_true(c->g1_is_inf(&q));
        c->g2_mul(&t, &s, &c->fr_zero);
        assert_true(c->g2_is_inf(&t));
        random_fr(c, &k);
        c->g1_mul(&q, &inf1, &k);
        assert_true(c->g1_is_inf(&q));
        c->g2_mul(&t, &inf2, &k);
        assert_true(c->g2_is_inf(&t));
        assert_true(c->g1_in_subgroup(&p));
        assert_true(c->g2_in_subgroup(&s));
    }
}

static void test_groups(void **state)
{
    (void)state;
    for_each_table(groups_of);
}

/* (0, 2) is on y^2 = x^3 + 4, and of order 3. Random points outside are tested in test_g1.c and test_g2.c. */
static void outside_of(const curve *c)
{
    static const char *const xy[2] = {"0", "2"};
    static const size_t len[2] = {1, 1};
    g1_any p, q;

    if (c->id != CURVE_ID_BLS12_381) return;
    assert_int_equal(c->g1_from_dec(&p, xy, len), POINT_OK);
    assert_false(c->g1_in_subgroup(&p));
    assert_false(c->g1_in_subgroup_plain(&p));
    c->g1_add(&q, &p, &c->g1_gen);
    assert_false(c->g1_in_subgroup(&q));
    assert_false(c->g1_in_subgroup_plain(&q));
}

static void test_outside(void **state)
{
    (void)state;
    for_each_table(outside_of);
}

/* Every further table against the portable one, bit for bit. */
static void same_bits_of(const curve *c)
{
    const curve *g = curve_get(c->id, CPU_TABLE_GENERIC);
    if (c == g) return;
    for (size_t i = 0; i < harness_iters(10); i++) {
        fr k, x, y;
        g1_any p, q;
        g2_any s, t;
        gt_any e, f;
        random_fr(c, &k);
        c->fr_inv(&x, &k);
        g->fr_inv(&y, &k);
        assert_bytes_equal(&x, &y, sizeof x);
        c->g1_mul(&p, &c->g1_gen, &k);
        g->g1_mul(&q, &g->g1_gen, &k);
        assert_bytes_equal(&p, &q, c->g1_size);
        c->g2_mul(&s, &c->g2_gen, &x);
        g->g2_mul(&t, &g->g2_gen, &x);
        assert_bytes_equal(&s, &t, c->g2_size);
        c->pairing(&e, &p, &s);
        g->pairing(&f, &p, &s);
        assert_bytes_equal(&e, &f, 12 * c->fp_size);
    }
}

static void test_same_bits(void **state)
{
    (void)state;
    if (cpu_table_best() == CPU_TABLE_GENERIC) harness_skip("no CPU feature adx");
    for_each_table(same_bits_of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts),      cmocka_unit_test(test_names),
        cmocka_unit_test(test_roots),      cmocka_unit_test(test_fr_laws),
        cmocka_unit_test(test_fr_scalars), cmocka_unit_test(test_fr_random_bits),
        cmocka_unit_test(test_fr_arrays),  cmocka_unit_test(test_groups),
        cmocka_unit_test(test_outside),    cmocka_unit_test(test_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
