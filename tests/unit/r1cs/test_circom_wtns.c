/*
 * unit/r1cs/test_circom_wtns.c - witnesses of circom: the fixtures, the damaged ones, single bytes changed
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "support.h"

#include "r1cs/circom.h"

#define N_WIRES 6u /* of mult3 */
#define N_PUBLIC 2u

static void plain_value(const uint8_t *wtns, size_t size, size_t i, uint8_t out[32])
{
    circom_file f;
    bytes_in in;

    assert_status_ok(circom_file_read(&f, wtns, size, "wtns"));
    assert_status_ok(circom_file_section(&f, 2, "values", &in));
    memcpy(out, in.data + 32 * i, 32);
}

static void reads_fixtures(void **state)
{
    pool *p = NULL;

    (void)state;
    assert_status_ok(pool_open(&p, 2, NULL));
    for (size_t k = 0; k < support_n_circuits; k++) {
        const support_circuit *c = &support_circuits[k];
        const curve *cv = support_curve(c->id);
        mem *m = support_mem();
        size_t size;
        uint8_t *data = support_read(c, "witness.wtns", &size);
        circom_wtns_info info;
        r1cs_assignment *w = NULL;

        assert_status_ok(circom_wtns_info_read(&info, data, size));
        assert_int_equal(info.curve, c->id);
        for (uint32_t n_public = 0; n_public < 3; n_public++) {
            assert_status_ok(circom_wtns_read(&w, data, size, cv, info.n_values, n_public,
                                              n_public == 1 ? p : NULL, m));
            assert_null(w->sys);
            assert_int_equal(w->n_inputs, n_public + 1);
            assert_int_equal(w->n_inputs + w->n_aux, info.n_values);
            for (uint32_t i = 0; i < info.n_values; i++) {
                uint8_t want[32];
                scalar got;
                fr v;

                plain_value(data, size, i, want);
                r1cs_get(w, i <= n_public ? i : R1CS_AUX | (i - n_public - 1), &v);
                cv->fr_to_scalar(&got, &v);
                assert_bytes_equal(got.b, want, 32);
            }
            r1cs_assignment_free(w);
        }
        free(data);
        support_close(m);
    }
    pool_close(p);
}

/* Every file of fixtures/circom/bad that a witness reader can refuse, with the words of its refusal. */
static void refuses_bad_files(void **state)
{
    static const struct {
        const char *name, *text;
    } bad[] = {
        {"truncated", "the file has"},
        {"trailing", "32 bytes after the last section"},
        {"empty", "0 bytes"},
        {"magic", "not a wtns file"},
        {"unknown-prime", "prime"},
        {"n8-zero", "field size 0"},
        {"count-plus1", "7 values in a section of 192 bytes"},
        {"short-section", "6 values in a section of 160 bytes"},
        {"dup-values", "section id 2 occurs twice"},
        {"w0-not-one", "value 0 is not 1"},
    };
    static const char *const curves[] = {"bn128", "bls12381"};

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        const curve *cv = support_curve(k == 0 ? CURVE_ID_BN254 : CURVE_ID_BLS12_381);

        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
            mem *m = support_mem();
            char rel[128];
            size_t size;
            uint8_t *data;
            r1cs_assignment *w = NULL;

            (void)snprintf(rel, sizeof rel, "circom/bad/%s-wtns-%s.wtns", curves[k], bad[i].name);
            data = harness_read_file(harness_fixture(rel), &size);
            print_message("%s\n", rel);
            assert_status_is(circom_wtns_read(&w, data, size, cv, N_WIRES, N_PUBLIC, NULL, m),
                             CUZK_EDATA);
            assert_error_class(CUZK_CLASS_MALFORMED);
            assert_error_mentions(bad[i].text);
            assert_null(w);
            free(data);
            support_close(m);
        }
    }
}

static void names_what_does_not_match(void **state)
{
    const support_circuit bn = {CURVE_ID_BN254, "circom/bn128/mult3"};
    const support_circuit bls = {CURVE_ID_BLS12_381, "circom/bls12381/mult3"};
    const support_circuit *c[] = {&bn, &bls};
    mem *m = support_mem();

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        size_t size;
        uint8_t *data = support_read(c[k], "witness.wtns", &size);
        r1cs_assignment *w = NULL;

        assert_status_is(circom_wtns_read(&w, data, size, support_curve(c[1 - k]->id), N_WIRES,
                                          N_PUBLIC, NULL, m),
                         CUZK_EDATA);
        assert_error_class(CUZK_CLASS_SHAPE);
        assert_error_mentions("bn254");
        assert_error_mentions("bls12-381");
        assert_status_is(
            circom_wtns_read(&w, data, size, support_curve(c[k]->id), 856, N_PUBLIC, NULL, m),
            CUZK_EDATA);
        assert_error_class(CUZK_CLASS_SHAPE);
        assert_error_mentions("6 values");
        assert_error_mentions("856 wires");
        assert_status_is(
            circom_wtns_read(&w, data, size, support_curve(c[k]->id), N_WIRES, N_WIRES, NULL, m),
            CUZK_EDATA);
        assert_error_class(CUZK_CLASS_SHAPE);
        assert_null(w);
        free(data);
    }
    support_close(m);
}

/* A header with a byte too many. */
static void header_of_wrong_size(void **state)
{
    const support_circuit c = {CURVE_ID_BN254, "circom/bn128/mult3"};
    size_t size;
    uint8_t *data = support_read(&c, "witness.wtns", &size), *longer = malloc(size + 1);
    circom_wtns_info info;

    (void)state;
    assert_non_null(longer);
    memcpy(longer, data, 64);
    longer[64] = 0;
    memcpy(longer + 65, data + 64, size - 64);
    assert_int_equal(longer[16], 40);
    longer[16] = 41;
    assert_status_is(circom_wtns_info_read(&info, longer, size + 1), CUZK_EDATA);
    assert_error_class(CUZK_CLASS_MALFORMED);
    assert_error_mentions("header section: 41 bytes, must be 40");
    free(longer);
    free(data);
}

/* Every byte of a file, changed: refused, or a witness all the same; every value, made r: refused. */
static void any_byte_changed(void **state)
{
    const support_circuit c = {CURVE_ID_BN254, "circom/bn128/mult3"};
    const curve *cv = support_curve(c.id);
    mem *m = support_mem();
    size_t size;
    uint8_t *data = support_read(&c, "witness.wtns", &size);
    r1cs_assignment *w = NULL;

    (void)state;
    for (size_t i = 0; i < size; i++) {
        static const uint8_t flips[] = {1, 0x80, 0xff};

        for (size_t j = 0; j < sizeof flips; j++) {
            data[i] ^= flips[j];
            if (circom_wtns_read(&w, data, size, cv, N_WIRES, N_PUBLIC, NULL, m) == CUZK_OK) {
                assert_true(i >= 12 + 12 + 40 + 12 + 32); /* only values beyond the first */
                r1cs_assignment_free(w);
            } else {
                assert_error_class(CUZK_CLASS_MALFORMED);
            }
            data[i] ^= flips[j];
        }
    }
    for (size_t i = 1; i < N_WIRES; i++) {
        uint8_t *value = data + size - 32 * (N_WIRES - i), keep[32];
        char text[32];

        memcpy(keep, value, 32);
        memcpy(value, cv->r_le, 32);
        (void)snprintf(text, sizeof text, "value %zu is not", i);
        assert_status_is(circom_wtns_read(&w, data, size, cv, N_WIRES, N_PUBLIC, NULL, m),
                         CUZK_EDATA);
        assert_error_mentions(text);
        value[0]--; /* r - 1 */
        assert_status_ok(circom_wtns_read(&w, data, size, cv, N_WIRES, N_PUBLIC, NULL, m));
        r1cs_assignment_free(w);
        memcpy(value, keep, 32);
    }
    free(data);
    support_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_fixtures),
        cmocka_unit_test(refuses_bad_files),
        cmocka_unit_test(names_what_does_not_match),
        cmocka_unit_test(header_of_wrong_size),
        cmocka_unit_test(any_byte_changed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
