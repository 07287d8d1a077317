/*
 * unit/groth16/test_zkey.c - zkey files: the legal ones read, the damaged ones refused with the place named
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "r1cs/circom.h"
#include "support.h"

static const char *const curves[] = {"bn128", "bls12381"};

static const char *bad_path(const char *curve_name, const char *file)
{
    char path[160];
    (void)snprintf(path, sizeof path, "circom/bad/%s-%s", curve_name, file);
    return harness_fixture(path);
}

static void test_refused_at_the_door(void **state)
{
    static const struct {
        const char *file, *mentions;
    } bad[] = {
        {"zkey-swap-C-H.zkey", "section"},
        {"zkey-truncated.zkey", ""},
        {"zkey-missing-H.zkey", "9"},
        {"zkey-short-A.zkey", "section 5"},
        {"zkey-empty-H.zkey", "section 9"},
        {"zkey-protocol2.zkey", "protocol 2"},
        {"zkey-wrong-q.zkey", "q"},
        {"zkey-domain7.zkey", "domain size 7"},
        {"zkey-domain-huge.zkey", "2^31"},
        {"zkey-coef-wire.zkey", "6"},
        {"zkey-coef-row.zkey", "2147483647"},
        {"zkey-coef-matrix.zkey", "matrix"},
        {"zkey-coef-count.zkey", "section 4"},
        {"zkey-coef-noncanonical.zkey", ""},
        {"zkey-section-size-wrap.zkey", ""},
        {"zkey-nsections-huge.zkey", ""},
        {"zkey-delta-inf.zkey", "delta1"},
    };
    rig r;
    (void)state;

    rig_open(&r, cpu_table_best(), 1);
    for (size_t c = 0; c < 2; c++)
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
            groth16_pk *pk = NULL;
            size_t used = mem_used(r.m);
            mem_reset_peak(r.m);
            assert_status_is(
                groth16_zkey_open(&pk, bad_path(curves[c], bad[i].file), r.table, r.pool, r.m),
                CUZK_EDATA);
            assert_error_mentions(bad[i].mentions);
            assert_null(pk);
            assert_true(mem_peak(r.m) - used < 1 << 20); /* nothing large before the check */
            assert_int_equal(mem_used(r.m), used);
        }
    rig_close(&r);
}

static cuzk_status prove_with(rig *r, const char *curve_name, const char *zkey, bool *valid,
                              bool *points_bad)
{
    groth16_pk *pk;
    r1cs_assignment *w;
    file_map wtns;
    groth16_job *job;
    groth16_proof p;
    cuzk_status st;

    assert_status_ok(groth16_zkey_open(&pk, bad_path(curve_name, zkey), r->table, r->pool, r->m));
    assert_status_ok(file_map_open(&wtns, circom_case(curve_name, "mult3", "witness.wtns")));
    assert_status_ok(circom_wtns_read(&w, wtns.data, wtns.size, pk->cv, pk->n_inputs + pk->n_aux,
                                      pk->n_inputs - 1, r->pool, r->m));
    groth16_prove_args args = {.pk = pk, .w = w, .m = r->m};
    *valid = false;
    st = groth16_prove_start(&job, r->s, &args);
    if (st == CUZK_OK) {
        assert_status_ok(groth16_prove_finish(&p, job));
        assert_status_ok(groth16_verify(r->s, pk->vk, &p, w->inputs + 1, w->n_inputs - 1, valid));
    }
    *points_bad =
        groth16_pk_check(pk, &(groth16_key_check){.subgroup = true}, r->pool) == CUZK_EDATA;
    r1cs_assignment_free(w);
    file_map_close(&wtns);
    groth16_pk_free(pk);
    return st;
}

static void test_reordered_is_legal(void **state)
{
    rig r;
    bool valid, points_bad;
    (void)state;

    rig_open(&r, cpu_table_best(), 1);
    for (size_t c = 0; c < 2; c++) {
        assert_status_ok(prove_with(&r, curves[c], "zkey-reordered-OK.zkey", &valid, &points_bad));
        assert_true(valid);
        assert_false(points_bad);
    }
    rig_close(&r);
}

static void test_bad_points(void **state)
{
    rig r;
    bool valid, points_bad;
    (void)state;

    rig_open(&r, cpu_table_best(), 1);
    for (size_t c = 0; c < 2; c++) {
        assert_status_is(prove_with(&r, curves[c], "zkey-A-off-curve.zkey", &valid, &points_bad),
                         CUZK_EDATA);
        assert_true(points_bad);
        assert_error_mentions("A[2]");
        assert_status_is(prove_with(&r, curves[c], "zkey-A-noncanonical.zkey", &valid, &points_bad),
                         CUZK_EDATA);
        assert_true(points_bad);
        /* A point outside the subgroup is not looked for while proving; the proof does not verify. */
        (void)!prove_with(&r, curves[c], "zkey-B2-subgroup.zkey", &valid, &points_bad);
        assert_false(valid);
        assert_true(points_bad);
        assert_error_mentions("B2[3]");
    }
    (void)!prove_with(&r, "bls12381", "zkey-A-subgroup.zkey", &valid, &points_bad);
    assert_false(valid);
    assert_true(points_bad);
    rig_close(&r);
}

static void test_info(void **state)
{
    groth16_zkey_info info;
    size_t size;
    (void)state;

    for (size_t c = 0; c < 2; c++) {
        uint8_t *data = harness_read_file(circom_case(curves[c], "mult3", "circuit.zkey"), &size);
        assert_status_ok(groth16_zkey_info_read(&info, data, size));
        assert_int_equal(info.n_vars, 6);
        assert_int_equal(info.n_public, 2);
        assert_int_equal(info.domain_size, 8);
        assert_int_equal(info.n_contributions, 1);
        free(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused_at_the_door),
        cmocka_unit_test(test_reordered_is_legal),
        cmocka_unit_test(test_bad_points),
        cmocka_unit_test(test_info),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
