/*
 * unit/groth16/test_proof_json.c - snarkjs's JSON, read and written back to the byte; verification of its proofs
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "support.h"

static const char *const curves[] = {"bn128", "bls12381"};
static const char *const names[] = {"mult3", "hints",  "merkle5", "eddsa",
                                    "nopub", "allpub", "linear"};

/** Runs f for each fixture: eddsa exists on bn128 alone. */
static void each(void (*f)(rig *r, const curve *cv, const char *curve_name, const char *name))
{
    rig r;
    rig_open(&r, cpu_table_best(), 2);
    for (size_t c = 0; c < 2; c++)
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            curve_id id;
            if (c == 1 && strcmp(names[i], "eddsa") == 0) continue;
            assert_true(curve_id_from_name(&id, curves[c]));
            f(&r, curve_get(id, r.table), curves[c], names[i]);
        }
    rig_close(&r);
}

static void round_trip(rig *r, const curve *cv, const char *c, const char *name)
{
    size_t size, n;
    groth16_proof p;
    groth16_vk *vk;
    fr *pub;
    bytes_out o;
    uint8_t *data = harness_read_file(circom_case(c, name, "proof.json"), &size);

    bytes_out_init(&o, r->m);
    assert_status_ok(groth16_proof_from_json(&p, cv, data, size));
    groth16_proof_to_json(&o, cv, &p);
    assert_int_equal(o.size, size);
    assert_memory_equal(o.data, data, size);
    free(data);
    bytes_out_clear(&o);

    bytes_out_init(&o, r->m);
    data = harness_read_file(circom_case(c, name, "public.json"), &size);
    assert_status_ok(groth16_public_from_json(&pub, &n, cv, data, size, r->m));
    groth16_public_to_json(&o, cv, pub, n);
    assert_int_equal(o.size, size);
    assert_memory_equal(o.data, data, size);
    mem_free(r->m, pub);
    free(data);
    bytes_out_clear(&o);

    bytes_out_init(&o, r->m);
    data = harness_read_file(circom_case(c, name, "verification_key.json"), &size);
    assert_status_ok(groth16_vk_from_json(&vk, data, size, r->table, r->m));
    assert_status_ok(groth16_vk_to_json(&o, vk));
    assert_int_equal(o.size, size);
    assert_memory_equal(o.data, data, size);
    groth16_vk_free(vk);
    free(data);
    bytes_out_clear(&o);
}

/* The shortest lists: a digit and a comma an element. */
static void test_short_numbers(void **state)
{
    const curve *cv;
    rig r;

    (void)state;
    rig_open(&r, cpu_table_best(), 1);
    cv = curve_get(CURVE_ID_BN254, r.table);
    for (size_t count = 0; count <= 64; count++) {
        uint8_t text[2 * 64 + 2] = "[";
        size_t size = 1, n;
        fr *pub;

        for (size_t i = 0; i < count; i++) {
            text[size++] = (uint8_t)('0' + i % 10);
            text[size++] = ',';
        }
        if (count != 0) size--;
        text[size++] = ']';
        assert_status_ok(groth16_public_from_json(&pub, &n, cv, text, size, r.m));
        assert_int_equal(n, count);
        for (size_t i = 0; i < n; i++) {
            scalar s;

            cv->fr_to_scalar(&s, &pub[i]);
            assert_int_equal(s.b[0], i % 10);
        }
        mem_free(r.m, pub);
    }
    rig_close(&r);
}

static void test_round_trip(void **state)
{
    (void)state;
    each(round_trip);
}

static void verify(rig *r, const curve *cv, const char *c, const char *name)
{
    size_t size, n;
    groth16_proof p, bad;
    groth16_vk *vk;
    fr *pub;
    bool valid;
    uint8_t *data = harness_read_file(circom_case(c, name, "proof.json"), &size);

    assert_status_ok(groth16_proof_from_json(&p, cv, data, size));
    free(data);
    data = harness_read_file(circom_case(c, name, "public.json"), &size);
    assert_status_ok(groth16_public_from_json(&pub, &n, cv, data, size, r->m));
    free(data);
    data = harness_read_file(circom_case(c, name, "verification_key.json"), &size);
    assert_status_ok(groth16_vk_from_json(&vk, data, size, r->table, r->m));
    free(data);

    assert_status_ok(groth16_verify(r->s, vk, &p, pub, n, &valid));
    assert_true(valid);
    groth16_proof many[3] = {p, p, p};
    fr *pubs = mem_new(r->m, 3 * n, sizeof *pubs, &(cuzk_status){0});
    for (size_t i = 0; i < 3 && n != 0; i++) memcpy(pubs + i * n, pub, n * sizeof *pub);
    assert_status_ok(groth16_verify_batch(r->s, vk, many, 3, pubs, &valid));
    assert_true(valid);

    bad = p;
    cv->g1_neg(&bad.a, &p.a);
    assert_status_ok(groth16_verify(r->s, vk, &bad, pub, n, &valid));
    assert_false(valid);
    many[1] = bad;
    assert_status_ok(groth16_verify_batch(r->s, vk, many, 3, pubs, &valid));
    assert_false(valid);
    many[1] = p;
    for (size_t i = 0; i < n; i++) { /* every public signal counts */
        fr before = pubs[n + i];
        cv->fr_add(&pubs[n + i], &before, &cv->fr_one);
        assert_status_ok(groth16_verify(r->s, vk, &p, pubs + n, n, &valid));
        assert_false(valid);
        assert_status_ok(groth16_verify_batch(r->s, vk, many, 3, pubs, &valid));
        assert_false(valid);
        pubs[n + i] = before;
    }
    assert_status_is(groth16_verify(r->s, vk, &p, pub, n + 1, &valid), CUZK_EDATA);
    assert_error_class(CUZK_CLASS_SHAPE);
    mem_free(r->m, pubs);
    mem_free(r->m, pub);
    groth16_vk_free(vk);
}

static void test_verify(void **state)
{
    (void)state;
    each(verify);
}

static void bad_json(const curve *cv, const char *text, const char *mentions)
{
    groth16_proof p;
    assert_status_is(groth16_proof_from_json(&p, cv, (const uint8_t *)text, strlen(text)),
                     CUZK_EDATA);
    assert_error_mentions(mentions);
}

static void test_bad_proof(void **state)
{
    const curve *cv = curve_get(CURVE_ID_BN254, cpu_table_best());
    (void)state;

    bad_json(cv, "", "empty");
    bad_json(cv, "[]", "proof");
    bad_json(cv, "{}", "pi_a");
    bad_json(cv, "{\"pi_a\":[\"1\",\"2\",\"1\"],\"pi_a\":[\"1\",\"2\",\"1\"]}", "pi_a");
    bad_json(cv, "{\"pi_a\":[\"1\",\"2\"]}", "pi_a");
    bad_json(cv, "{\"pi_a\":[\"1\",\"2\",\"2\"]}", "third coordinate");
    bad_json(cv, "{\"pi_a\":[\"1\",\"3\",\"1\"]}", "pi_a");
    bad_json(cv, "{\"pi_a\":[\"-1\",\"2\",\"1\"]}", "pi_a");
    bad_json(cv, "{\"pi_a\":[\"0x1\",\"2\",\"1\"]}", "pi_a");
    bad_json(cv, "{\"pi_a\":[\"\",\"2\",\"1\"]}", "pi_a");
    bad_json(cv, "{\"pi_a\":[1,2,1]}", "pi_a");
    bad_json(cv, "{\"curve\":\"bls12381\"}", "bls12381");
    bad_json(cv, "{\"protocol\":\"plonk\"}", "plonk");
}

static void test_bad_table(void **state)
{
    static const struct {
        const char *file, *mentions;
    } proofs[] = {{"proof-A-alias.json", "pi_a"},
                  {"proof-B-subgroup.json", "subgroup"},
                  {"proof-A-subgroup.json", "subgroup"}};
    rig r;
    groth16_proof p;
    fr *pub;
    size_t size, n;
    (void)state;

    rig_open(&r, cpu_table_best(), 1);
    for (size_t c = 0; c < 2; c++) {
        curve_id id;
        assert_true(curve_id_from_name(&id, curves[c]));
        const curve *cv = curve_get(id, r.table);
        for (size_t i = 0; i < (c == 0 ? 2u : 3u); i++) {
            char path[128];
            (void)snprintf(path, sizeof path, "circom/bad/%s-%s", curves[c], proofs[i].file);
            uint8_t *data = harness_read_file(harness_fixture(path), &size);
            assert_status_is(groth16_proof_from_json(&p, cv, data, size), CUZK_EDATA);
            assert_error_class(CUZK_CLASS_MALFORMED);
            assert_error_mentions(proofs[i].mentions);
            free(data);
        }
        char path[128];
        (void)snprintf(path, sizeof path, "circom/bad/%s-public-alias.json", curves[c]);
        uint8_t *data = harness_read_file(harness_fixture(path), &size);
        assert_status_is(groth16_public_from_json(&pub, &n, cv, data, size, r.m), CUZK_EDATA);
        assert_error_mentions("public signal 0");
        free(data);
    }
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_short_numbers),
        cmocka_unit_test(test_verify),     cmocka_unit_test(test_bad_proof),
        cmocka_unit_test(test_bad_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
