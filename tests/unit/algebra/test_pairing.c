/*
 * unit/algebra/test_pairing.c - the pairing on every table: known answers, bilinearity, products
 *
 * Known answers: e(alpha, beta) of each snarkjs key in vectors/circom, which snarkjs wrote into vk_alphabeta_12; Gt's
 * generator of zkcrypto/bls12_381 (commit 6bb9695, src/pairings.rs, Gt::generator: 72 words), by the SHA-256 of its
 * words, little-endian. Proofs made by snarkjs verify as products of four pairings.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/hash.h"
#include "base/json.h"
#include "curve_tests.h"

static const char *const circuits[] = {"allpub",  "eddsa", "hints", "linear",
                                       "merkle5", "mult3", "nopub"};
#define CIRCUITS (sizeof circuits / sizeof circuits[0])

/* ---- snarkjs' JSON ---- */

typedef struct text {
    const char *s;
    size_t len;
} text;

/** All strings inside the value of `key` of the object in data, in order; returns how many. */
static size_t json_strings(const uint8_t *data, size_t size, const char *key, text *out, size_t cap)
{
    json_in in;
    json_token t;
    size_t n = 0;

    assert_status_ok(json_init(&in, data, size));
    assert_status_ok(json_next(&in, &t));
    if (key != NULL) {
        do {
            assert_status_ok(json_next(&in, &t));
            if (t.type == JSON_KEY && json_is(&t, key)) break;
            if (t.type == JSON_KEY) assert_status_ok(json_skip(&in));
        } while (t.type != JSON_OBJECT_END);
        assert_int_equal(t.type, JSON_KEY);
        assert_status_ok(json_next(&in, &t));
    }
    assert_int_equal(t.type, JSON_ARRAY);
    for (unsigned depth = 1; depth > 0;) {
        assert_status_ok(json_next(&in, &t));
        if (t.type == JSON_ARRAY) depth++;
        if (t.type == JSON_ARRAY_END) depth--;
        if (t.type != JSON_STRING) continue;
        assert_true(n < cap);
        out[n++] = (text){t.text, t.len};
    }
    return n;
}

static void g1_of(const curve *c, g1_any *r, const text *t)
{
    const char *s[2] = {t[0].s, t[1].s};
    size_t len[2] = {t[0].len, t[1].len};
    assert_int_equal(c->g1_from_dec(r, s, len), POINT_OK);
}

static void g2_of(const curve *c, g2_any *r, const text *t)
{
    const char *s[4] = {t[0].s, t[1].s, t[2].s, t[3].s};
    size_t len[4] = {t[0].len, t[1].len, t[2].len, t[3].len};
    assert_int_equal(c->g2_from_dec(r, s, len), POINT_OK);
}

/** The file of a circuit, or NULL when this curve has no such circuit. */
static uint8_t *circuit_file(const curve *c, const char *circuit, const char *name, size_t *size)
{
    char rel[128];
    if (strcmp(circuit, "eddsa") == 0 && c->id != CURVE_ID_BN254) return NULL;
    snprintf(rel, sizeof rel, "circom/%s/%s/%s", c->json_name, circuit, name);
    return harness_read_file(harness_vector(rel), size);
}

/* ---- known answers ---- */

static void alphabeta_of(const curve *c)
{
    for (size_t n = 0; n < CIRCUITS; n++) {
        size_t size;
        uint8_t *vk = circuit_file(c, circuits[n], "verification_key.json", &size);
        char dec[CURVE_DEC_MAX];
        text alpha[3], beta[6], want[12];
        g1_any a;
        g2_any b;
        gt_any e;

        if (vk == NULL) continue;
        assert_int_equal(json_strings(vk, size, "vk_alpha_1", alpha, 3), 3);
        assert_int_equal(json_strings(vk, size, "vk_beta_2", beta, 6), 6);
        assert_int_equal(json_strings(vk, size, "vk_alphabeta_12", want, 12), 12);
        g1_of(c, &a, alpha);
        g2_of(c, &b, beta);
        assert_true(c->g2_in_subgroup(&b));
        c->pairing(&e, &a, &b);
        for (unsigned i = 0; i < 12; i++) {
            c->gt_coord_dec(dec, &e, i / 6, i / 2 % 3, i % 2);
            assert_int_equal(strlen(dec), want[i].len);
            assert_memory_equal(dec, want[i].s, want[i].len);
        }
        free(vk);
    }
}

static void test_alphabeta(void **state)
{
    (void)state;
    for_each_table(alphabeta_of);
}

static void gt_generator_of(const curve *c)
{
    uint8_t digest[32];
    gt_any e;
    if (c->id != CURVE_ID_BLS12_381) return;
    c->pairing(&e, &c->g1_gen, &c->g2_gen);
    sha256(digest, &e, sizeof e);
    assert_hex_equal(digest, 32,
                     "27f1510b09a43c80b7642e159e8da1d6f44ff8301906255dc4e74d5822d6b444");
}

static void test_gt_generator(void **state)
{
    (void)state;
    for_each_table(gt_generator_of);
}

/* e(-A, B) e(alpha, beta) e(IC, gamma) e(C, delta) = 1, and not with any point changed */
static void proofs_of(const curve *c)
{
    for (size_t n = 0; n < CIRCUITS; n++) {
        size_t vk_size, proof_size, public_size, n_public;
        uint8_t *vk = circuit_file(c, circuits[n], "verification_key.json", &vk_size), *proof,
                *public;
        text t[6], ic[192], input[64];
        g1_any p[4], term;
        g2_any q[4];

        if (vk == NULL) continue;
        proof = circuit_file(c, circuits[n], "proof.json", &proof_size);
        public = circuit_file(c, circuits[n], "public.json", &public_size);
        json_strings(proof, proof_size, "pi_a", t, 3);
        g1_of(c, &p[0], t);
        c->g1_neg(&p[0], &p[0]);
        json_strings(proof, proof_size, "pi_b", t, 6);
        g2_of(c, &q[0], t);
        json_strings(vk, vk_size, "vk_alpha_1", t, 3);
        g1_of(c, &p[1], t);
        json_strings(vk, vk_size, "vk_beta_2", t, 6);
        g2_of(c, &q[1], t);
        n_public = json_strings(public, public_size, NULL, input, 64);
        assert_int_equal(json_strings(vk, vk_size, "IC", ic, 192), 3 * (n_public + 1));
        g1_of(c, &p[2], ic);
        for (size_t i = 0; i < n_public; i++) {
            fr k;
            assert_true(c->fr_from_dec(&k, input[i].s, input[i].len));
            g1_of(c, &term, &ic[3 * (i + 1)]);
            c->g1_mul(&term, &term, &k);
            c->g1_add(&p[2], &p[2], &term);
        }
        json_strings(vk, vk_size, "vk_gamma_2", t, 6);
        g2_of(c, &q[2], t);
        json_strings(proof, proof_size, "pi_c", t, 3);
        g1_of(c, &p[3], t);
        json_strings(vk, vk_size, "vk_delta_2", t, 6);
        g2_of(c, &q[3], t);
        assert_true(c->pairing_check(p, q, 4));
        for (size_t i = 0; i < 4 && n % 4 == 1; i++) { /* two of the seven: it takes its time */
            g1_any kept1 = p[i];
            g2_any kept2 = q[i];
            c->g1_add(&p[i], &p[i], &c->g1_gen);
            assert_false(c->pairing_check(p, q, 4));
            p[i] = kept1;
            c->g2_neg(&q[i], &q[i]);
            assert_false(c->pairing_check(p, q, 4));
            q[i] = kept2;
        }
        free(vk);
        free(proof);
        free(public);
    }
}

static void test_proofs(void **state)
{
    (void)state;
    for_each_table(proofs_of);
}

/* ---- laws ---- */

static void bilinear_of(const curve *c)
{
    gt_any base, e, f, g;
    fr a, b, ab, r_minus_1;

    c->pairing(&base, &c->g1_gen, &c->g2_gen);
    assert_false(c->gt_is_one(&base)); /* not degenerate */
    c->fr_neg(&r_minus_1, &c->fr_one);
    c->gt_pow_var(&e, &base, &r_minus_1);
    c->gt_mul(&e, &e, &base);
    assert_true(c->gt_is_one(&e)); /* of order r */
    c->gt_pow_var(&e, &base, &c->fr_zero);
    assert_true(c->gt_is_one(&e));
    for (size_t i = 0; i < harness_iters(5); i++) {
        g1_any p, p2;
        g2_any q, q2;
        random_fr(c, &a);
        random_fr(c, &b);
        c->g1_mul(&p, &c->g1_gen, &a);
        c->g2_mul(&q, &c->g2_gen, &b);
        c->pairing(&e, &p, &q);
        c->fr_mul(&ab, &a, &b);
        c->gt_pow_var(&f, &base, &ab);
        assert_true(c->gt_eq(&e, &f)); /* e(a G, b H) = e(G, H)^(a b) */
        c->g1_add(&p2, &p, &c->g1_gen);
        c->pairing(&f, &p2, &q);
        c->pairing(&g, &c->g1_gen, &q);
        c->gt_mul(&g, &g, &e);
        assert_true(c->gt_eq(&f, &g)); /* e(P + G, Q) = e(P, Q) e(G, Q) */
        c->g2_add(&q2, &q, &c->g2_gen);
        c->pairing(&f, &p, &q2);
        c->pairing(&g, &p, &c->g2_gen);
        assert_false(c->gt_eq(&f, &g));
        c->gt_mul(&g, &g, &e);
        assert_true(c->gt_eq(&f, &g));
        c->g1_neg(&p2, &p);
        c->pairing(&f, &p2, &q);
        c->gt_mul(&f, &f, &e);
        assert_true(c->gt_is_one(&f));
    }
}

static void test_bilinear(void **state)
{
    (void)state;
    for_each_table(bilinear_of);
}

static void infinity_of(const curve *c)
{
    g1_any p[2] = {c->g1_gen, c->g1_gen}, inf1;
    g2_any q[2] = {c->g2_gen, c->g2_gen}, inf2;
    gt_any e;

    memset(&inf1, 0, sizeof inf1);
    memset(&inf2, 0, sizeof inf2);
    c->pairing(&e, &inf1, &c->g2_gen);
    assert_true(c->gt_is_one(&e));
    c->pairing(&e, &c->g1_gen, &inf2);
    assert_true(c->gt_is_one(&e));
    c->pairing(&e, &inf1, &inf2);
    assert_true(c->gt_is_one(&e));
    assert_true(c->pairing_check(p, q, 0));
    assert_false(c->pairing_check(p, q, 1));
    assert_false(c->pairing_check(p, q, 2));
    p[1] = inf1;
    assert_false(c->pairing_check(p, q, 2));
    q[0] = inf2;
    assert_true(c->pairing_check(p, q, 2));
}

static void test_infinity(void **state)
{
    (void)state;
    for_each_table(infinity_of);
}

/* numbers of pairs: the last is more than two chunks of a Miller loop */
static const size_t pairs[] = {1, 2, 3, 7, 8, 9, 19};
#define PAIRS 19

/* Pairs (a_i G, b_i H) and, last, (-sum a_i b_i G, H); infinities among them. */
static void products_of(const curve *c)
{
    g1_any p[PAIRS];
    g2_any q[PAIRS];
    for (size_t j = 0; j < sizeof pairs / sizeof pairs[0]; j++) {
        size_t n = pairs[j];
        fr sum = c->fr_zero, a, b;
        for (size_t i = 0; i + 1 < n; i++) {
            random_fr(c, &a);
            random_fr(c, &b);
            if (i % 5 == 3) a = c->fr_zero;
            if (i % 5 == 4) b = c->fr_zero;
            c->g1_mul(&p[i], &c->g1_gen, &a);
            c->g2_mul(&q[i], &c->g2_gen, &b);
            c->fr_mul(&a, &a, &b);
            c->fr_add(&sum, &sum, &a);
        }
        c->fr_neg(&sum, &sum);
        c->g1_mul(&p[n - 1], &c->g1_gen, &sum);
        q[n - 1] = c->g2_gen;
        assert_true(c->pairing_check(p, q, n));
        c->g1_add(&p[n - 1], &p[n - 1], &c->g1_gen);
        assert_false(c->pairing_check(p, q, n));
    }
}

static void test_products(void **state)
{
    (void)state;
    for_each_table(products_of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alphabeta), cmocka_unit_test(test_gt_generator),
        cmocka_unit_test(test_proofs),    cmocka_unit_test(test_bilinear),
        cmocka_unit_test(test_infinity),  cmocka_unit_test(test_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
