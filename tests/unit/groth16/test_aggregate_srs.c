/*
 * unit/groth16/test_aggregate_srs.c - the powers behind aggregates: read, checked, cut to a count, made from secrets
 *
 * The fixture was written by bellperson's setup_fake_srs; aggregate.json has its secrets.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "groth16/aggregate.h"
#include "support.h"

#define SRS "filecoin/2kib/aggregate/srs-16.srs"
#define ALPHA "36de3d7ad3e65d51776dc73c707d6ab3d7683ff8255791266ffb3117d088df06"
#define BETA "732d24ca3db5cb3ad271c882a340b8217b0f7b90ad579f2e671cb81e36c1f922"
#define G1_BYTES ((size_t)48)
#define G2_BYTES ((size_t)96)
#define POWERS ((size_t)32)

static const curve *bls(void)
{
    return curve_get(CURVE_ID_BLS12_381, cpu_table_best());
}

static size_t at_g1(unsigned v, size_t i)
{
    return 4 + v * (4 + POWERS * G1_BYTES) + i * G1_BYTES;
}

static size_t at_g2(unsigned v, size_t i)
{
    return at_g1(2, 0) + v * (4 + POWERS * G2_BYTES) + i * G2_BYTES;
}

static cuzk_status read_key(const uint8_t *data, size_t size, uint32_t n, mem *m)
{
    aggregate_srs *srs;
    aggregate_key *key;
    cuzk_status st = aggregate_srs_read(&srs, data, size, bls(), m);

    if (st != CUZK_OK) return st;
    st = aggregate_key_new(&key, srs, n, false, NULL, NULL, m);
    if (st == CUZK_OK) aggregate_key_free(key);
    aggregate_srs_free(srs);
    return st;
}

static void fixture_is_read(void **state)
{
    rig r;
    aggregate_srs *srs;
    aggregate_key *key;
    aggregate_vk vk;
    const curve *cv = bls();
    groth16_key_check deep = {.subgroup = true};
    (void)state;

    rig_open(&r, cpu_table_best(), 2);
    assert_status_ok(aggregate_srs_open(&srs, harness_fixture(SRS), cv, r.m));
    assert_int_equal(aggregate_srs_points(srs), 4 * POWERS);
    assert_int_equal(aggregate_srs_capacity(srs), 16);
    assert_status_ok(aggregate_srs_check(srs, &deep, r.pool));
    assert_status_ok(aggregate_vk_read(&vk, srs));
    assert_true(cv->g1_eq(&vk.g, &cv->g1_gen));
    assert_true(cv->g2_eq(&vk.h, &cv->g2_gen));
    for (uint32_t n = 2; n <= 16; n *= 2) {
        fr tau[2], t[2] = {cv->fr_one, cv->fr_one};
        scalar s;
        assert_status_ok(aggregate_key_new(&key, srs, n, n == 16, r.pool, NULL, r.m));
        for (unsigned k = 0; k < 2; k++) {
            harness_from_hex(s.b, 32, k == 0 ? ALPHA : BETA);
            assert_true(cv->fr_from_scalar(&tau[k], &s));
            for (uint32_t i = 0; i < 2 * n; i++) {
                g1_any g;
                g2_any h;
                cv->g1_mul(&g, &cv->g1_gen, &t[k]);
                cv->g2_mul(&h, &cv->g2_gen, &t[k]);
                assert_true(cv->g1_eq(&g, &key->g[k][i]));
                if (i < n) assert_true(cv->g2_eq(&h, &key->h[k][i]));
                if (i == 1) assert_true(cv->g1_eq(&g, &vk.g_tau[k]));
                if (i == 1) assert_true(cv->g2_eq(&h, &vk.h_tau[k]));
                cv->fr_mul(&t[k], &t[k], &tau[k]);
            }
        }
        aggregate_key_free(key);
    }
    assert_status_is(aggregate_key_new(&key, srs, 32, false, r.pool, NULL, r.m), CUZK_EDATA);
    assert_error_class(CUZK_CLASS_LIMIT);
    assert_error_mentions("the srs has 32 powers: aggregating 32 proofs takes 64");
    assert_status_is(aggregate_key_new(&key, srs, 1, false, r.pool, NULL, r.m), CUZK_EINVAL);
    assert_status_is(aggregate_key_new(&key, srs, 6, false, r.pool, NULL, r.m), CUZK_EINVAL);
    aggregate_srs_free(srs);
    rig_close(&r);
}

static void made_from_its_secrets(void **state)
{
    rig r;
    const curve *cv = bls();
    size_t size, want_size;
    fr tau[2];
    scalar s;
    (void)state;

    rig_open(&r, cpu_table_best(), 2);
    uint8_t *want = harness_read_file(harness_fixture(SRS), &want_size);
    for (unsigned k = 0; k < 2; k++) {
        harness_from_hex(s.b, 32, k == 0 ? ALPHA : BETA);
        assert_true(cv->fr_from_scalar(&tau[k], &s));
    }
    const char *path = harness_temp_path("made.srs");
    assert_status_ok(aggregate_srs_make(r.s, path, cv, &tau[0], &tau[1], POWERS, r.m));
    uint8_t *got = harness_read_file(path, &size);
    assert_int_equal(size, want_size);
    assert_bytes_equal(got, want, size);
    assert_status_is(aggregate_srs_make(r.s, path, cv, &tau[0], &tau[1], 1, r.m), CUZK_EINVAL);
    free(got);
    free(want);
    rig_close(&r);
}

static void structure_is_checked(void **state)
{
    rig r;
    size_t size;
    (void)state;

    rig_open(&r, cpu_table_best(), 1);
    uint8_t *data = harness_read_file(harness_fixture(SRS), &size);
    uint8_t *bad = malloc(size + 1);
    assert_non_null(bad);
    assert_int_equal(size, 16 + POWERS * (2 * G1_BYTES + 2 * G2_BYTES));

    for (size_t cut = 0; cut < size; cut += cut < 8 ? 1 : 37) {
        assert_status_is(read_key(data, cut, 2, r.m), CUZK_EDATA);
        assert_error_class(CUZK_CLASS_MALFORMED);
    }
    memcpy(bad, data, size);
    bad[size] = 0;
    assert_status_is(read_key(bad, size + 1, 2, r.m), CUZK_EDATA);
    assert_error_mentions("1 bytes behind its four vectors");

    static const uint32_t counts[] = {0, 1, AGGREGATE_SRS_MAX + 1, UINT32_MAX};
    for (unsigned v = 0; v < 4; v++) {
        size_t at = (v < 2 ? at_g1(v, 0) : at_g2(v - 2, 0)) - 4;
        for (size_t i = 0; i < 4; i++) {
            memcpy(bad, data, size);
            store_u32be(bad + at, counts[i]);
            assert_status_is(read_key(bad, size, 2, r.m), CUZK_EDATA);
            assert_error_class(CUZK_CLASS_LIMIT);
        }
        store_u32be(bad + at, AGGREGATE_SRS_MAX);
        assert_status_is(read_key(bad, size, 2, r.m), CUZK_EDATA);
        assert_error_mentions("fit in what is left");
    }
    free(bad);
    free(data);
    rig_close(&r);
}

/** A point of the curve over Fp that is not in G1, compressed. */
static void outside_subgroup(uint8_t out[G1_BYTES])
{
    const curve *cv = bls();
    g1_any p;

    for (unsigned x = 1;; x++) {
        memset(out, 0, G1_BYTES);
        out[0] = 0x80;
        out[G1_BYTES - 1] = (uint8_t)x;
        if (cv->g1_read(&p, out, POINT_ZCASH_COMPRESSED) != POINT_OK) continue;
        if (!cv->g1_in_subgroup(&p)) return;
    }
}

static void points_are_checked(void **state)
{
    rig r;
    size_t size;
    aggregate_srs *srs;
    aggregate_key *key;
    groth16_key_check deep = {.subgroup = true}, curve_only = {.subgroup = false};
    (void)state;

    rig_open(&r, cpu_table_best(), 2);
    uint8_t *data = harness_read_file(harness_fixture(SRS), &size);
    for (unsigned v = 0; v < 4; v++) {
        size_t at = v < 2 ? at_g1(v, 3) : at_g2(v - 2, 3);
        data[at] ^= 0x80;
        assert_status_is(read_key(data, size, 4, r.m), CUZK_EDATA);
        assert_error_class(CUZK_CLASS_MALFORMED);
        assert_error_mentions("[3]: wrong flag bits");
        assert_status_ok(aggregate_srs_read(&srs, data, size, bls(), r.m));
        assert_status_is(aggregate_srs_check(srs, &curve_only, r.pool), CUZK_EDATA);
        assert_error_mentions("[3]: wrong flag bits");
        aggregate_srs_free(srs);
        data[at] ^= 0x80;
    }
    /* not used for two proofs, so not looked at */
    data[at_g1(0, 9)] ^= 0x80;
    assert_status_ok(read_key(data, size, 2, r.m));
    assert_status_is(read_key(data, size, 8, r.m), CUZK_EDATA);
    data[at_g1(0, 9)] ^= 0x80;

    outside_subgroup(data + at_g1(1, 2));
    assert_status_is(read_key(data, size, 2, r.m), CUZK_EDATA);
    assert_error_mentions("g beta[2] is not in the subgroup");
    assert_status_ok(aggregate_srs_read(&srs, data, size, bls(), r.m));
    assert_status_ok(aggregate_srs_check(srs, &curve_only, r.pool));
    assert_status_is(aggregate_srs_check(srs, &deep, r.pool), CUZK_EDATA);
    assert_error_mentions("g beta[2] is not in the subgroup");
    assert_status_ok(aggregate_key_new(&key, srs, 2, true, r.pool, NULL, r.m));
    aggregate_key_free(key);
    aggregate_srs_free(srs);
    free(data);
    rig_close(&r);
}

static void other_curves_are_refused(void **state)
{
    rig r;
    size_t size;
    aggregate_srs *srs;
    const curve *bn = curve_get(CURVE_ID_BN254, cpu_table_best());
    (void)state;

    rig_open(&r, cpu_table_best(), 1);
    uint8_t *data = harness_read_file(harness_fixture(SRS), &size);
    assert_status_is(aggregate_srs_read(&srs, data, size, bn, r.m), CUZK_EINVAL);
    assert_status_is(
        aggregate_srs_make(r.s, harness_temp_path("bn.srs"), bn, &bn->fr_one, &bn->fr_one, 4, r.m),
        CUZK_EINVAL);
    assert_status_is(aggregate_srs_open(&srs, harness_temp_path("none.srs"), bls(), r.m), CUZK_EIO);
    free(data);
    rig_close(&r);
}

static void counts_are_padded(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        uint32_t padded;
    } t[] = {{0, 0},        {1, 2},         {2, 2},     {3, 4},       {4, 4},
             {5, 8},        {13, 16},       {126, 128}, {128, 128},   {129, 256},
             {8193, 16384}, {16384, 16384}, {16385, 0}, {SIZE_MAX, 0}};
    for (size_t i = 0; i < sizeof t / sizeof t[0]; i++)
        assert_int_equal(aggregate_padded(t[i].n), t[i].padded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixture_is_read),          cmocka_unit_test(made_from_its_secrets),
        cmocka_unit_test(structure_is_checked),     cmocka_unit_test(points_are_checked),
        cmocka_unit_test(other_curves_are_refused), cmocka_unit_test(counts_are_padded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
