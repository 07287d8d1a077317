/*
 * unit/groth16/test_aggregate.c - aggregates to the byte of bellperson's, by prover and verifier
 *
 * Fixtures and the values of spec/filecoin-aggregate.md section 9 are of bellperson 0.27.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "aggregate_support.h"
#include "base/hash.h"

/* ---- the fixtures ---- */

typedef struct golden_agg {
    const char *file;
    void (*open)(agg_case *c, rig *r, size_t n);
    size_t n;
    aggregate_version version;
    const char *statement, *hcom, *r, *x[4], *zeta;
    unsigned rounds;
} golden_agg;

#define TWO_T "15de14005a99d27417d222c23f20de1b52fa2e25dc6306fe9bfbfce29a5d05cd"
#define TWO_HCOM "05876a8314746305284a0a728c5cb75c8a3e38673516b5dac6be25b817a0036d"
#define TWO_R "b380f7e40bc0202bdf1a344286460407a9b217175224d9e0b5e5ccb3882e6e0d"

static const golden_agg golden_aggs[] = {
    {AGG_DIR "two-seals-v1.bin",
     agg_seals,
     2,
     AGGREGATE_V1,
     TWO_T,
     TWO_HCOM,
     TWO_R,
     {"2a8a27457def9b5b9497eb7630548318fa928f9b5d218d5afa6fa9a688ac901c"},
     "ced5c2aa2e45b7d7ce75dafbddfbb549df14aeef4f3a15573b2b1ebf5078694d",
     1},
    {AGG_DIR "two-seals-v2.bin",
     agg_seals,
     2,
     AGGREGATE_V2,
     TWO_T,
     TWO_HCOM,
     TWO_R,
     {"84cd77bbb701b3221fd53da6e1ff7800508944345fbe663142c7e5445c82620c"},
     "93c4e3fb5c441d507de988ef4f1390761d933f470a935586349a85c2fe94ef1b",
     1},
    {"filecoin/2kib/porep-ni/proof-aggregate-v2.bin",
     agg_ni,
     13,
     AGGREGATE_V2,
     "07179506282f15e70457894b01807312baeda794d9c90bceccb3ce4c5671c23e",
     "13477babf5d753fb6b330e8a02796f61325cd6028686d9c2d7e2bc885f8a4b65",
     "1f3f376eb544ffdba377b2ba6a59d1c17a84b3ad6ed3bd3677b20a4fd94c6d50",
     {"df96661bc5ed83fe0634435489971e0aa62b808282128e0b86fa41f887c82262",
      "472e799b886e787f4dfc217b42b70a13b0407a6be49d7a94c3ebaf4528ebc359",
      "f0b929b074beaaf7c88c085e370d05f42274ffc087ddeac55c775962ce3d211d",
      "86c51003068dd4b5f8b996a156f757c6fec61a86075d1f94ca956c0a1326c720"},
     "9172f983a35680871e330ca6d74716cb70b75add1d8fb2a2347fc0b54aacf205",
     4},
};

static void assert_fr(const curve *cv, const fr *a, const char *hex)
{
    scalar s;
    cv->fr_to_scalar(&s, a);
    assert_hex_equal(s.b, 32, hex);
}

static void assert_challenges(const curve *cv, const aggregate_challenges *c, const golden_agg *g)
{
    assert_int_equal(c->rounds, g->rounds);
    assert_fr(cv, &c->hcom, g->hcom);
    assert_fr(cv, &c->r, g->r);
    for (unsigned i = 0; i < g->rounds; i++) assert_fr(cv, &c->x[i], g->x[i]);
    assert_fr(cv, &c->zeta, g->zeta);
}

static void golden_on(cpu_table t, unsigned threads)
{
    for (size_t i = 0; i < sizeof golden_aggs / sizeof golden_aggs[0]; i++) {
        const golden_agg *g = &golden_aggs[i];
        aggregate_challenges seen;
        aggregate_srs *srs;
        agg_case c;
        bytes_out o;
        size_t size;
        uint32_t n;
        bool valid;
        rig r;
        rig_open(&r, t, threads);
        g->open(&c, &r, g->n);
        agg_fixture_srs(&srs, &r);
        uint8_t *want = harness_read_file(harness_fixture(g->file), &size);
        assert_hex_equal(c.statement, 32, g->statement);

        assert_status_ok(agg_prove(&o, &c, srs, g->version, &seen));
        assert_int_equal(o.size, size);
        assert_bytes_equal(o.data, want, size);
        assert_challenges(c.cv, &seen, g);

        memset(&seen, 0, sizeof seen);
        valid = false;
        assert_status_ok(agg_verify(&valid, &c, srs, g->version, want, size, &seen));
        assert_true(valid);
        assert_challenges(c.cv, &seen, g);
        assert_status_ok(agg_verify(&valid, &c, srs, 1 - g->version, want, size, NULL));
        assert_false(valid);
        assert_int_equal(aggregate_size(aggregate_padded(g->n)), size);
        assert_status_ok(aggregate_inspect(&n, want, size, t, r.pool, r.m));
        assert_int_equal(n, aggregate_padded(g->n));

        bytes_out_clear(&o);
        free(want);
        aggregate_srs_free(srs);
        agg_case_clear(&c);
        rig_close(&r);
    }
}

static void fixtures_to_the_byte(void **state)
{
    (void)state;
    golden_on(cpu_table_best(), 2);
}

static void fixtures_on_other_tables(void **state)
{
    (void)state;
    golden_on(CPU_TABLE_GENERIC, 1);
}

/* ---- what is known by its digest ---- */

static void digests_of_others(void **state)
{
    static const struct {
        void (*open)(agg_case *c, rig *r, size_t n);
        size_t n;
        aggregate_version version;
        const char *sha256;
    } t[] = {
        {agg_seals, 1, AGGREGATE_V1,
         "6234757c83006c55b97bf5a73c7aa62528185b607c7860554fcf18ffaf96d4f2"},
        {agg_seals, 1, AGGREGATE_V2,
         "d0576f8ba149c2895832eb9b02325436ed12478a79cfa6167ce8944317c2172e"},
        {agg_seals, 3, AGGREGATE_V1,
         "49636f6ed30742fc50c4c7ca9e2a87afb7bf4d0b71abf80c2dbefeed980e242b"},
        {agg_seals, 3, AGGREGATE_V2,
         "060d8d20f3ba7c38ed90d93d08750f4b015f26fa1d106680f2cc904a60a09a19"},
        {agg_seals, 16, AGGREGATE_V1,
         "d5d8fb459f466310994a46d8c443effab574460dc1e76e4846d746eb4a892131"},
        {agg_seals, 16, AGGREGATE_V2,
         "56cbabbb231da5261167012ba3908d41506d1741e323a06d6c3f7deeaeeb1596"},
        {agg_updates, 3, AGGREGATE_V2,
         "6193f01ef5a3a12ce376439ab413516afea3f387efe702b0199fd4d46068a055"},
        {agg_updates, 1, AGGREGATE_V2,
         "1582f09855f5ccaa5bd4bbf13a683229afa95557b13d988356729a4d99a225bf"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
        aggregate_srs *srs;
        agg_case c;
        bytes_out o;
        uint8_t hash[32];
        bool valid = false;
        rig r;
        rig_open(&r, cpu_table_best(), 2);
        t[i].open(&c, &r, t[i].n);
        agg_fixture_srs(&srs, &r);
        assert_status_ok(agg_prove(&o, &c, srs, t[i].version, NULL));
        sha256(hash, o.data, o.size);
        assert_hex_equal(hash, 32, t[i].sha256);
        assert_status_ok(agg_verify(&valid, &c, srs, t[i].version, o.data, o.size, NULL));
        assert_true(valid);
        bytes_out_clear(&o);
        aggregate_srs_free(srs);
        agg_case_clear(&c);
        rig_close(&r);
    }
}

/* ---- every count ---- */

static void count(rig *r, const aggregate_srs *srs, size_t n, aggregate_version v)
{
    agg_case c;
    bytes_out o;
    bool valid = false;
    fr one;

    agg_ni(&c, r, n);
    harness_random_bytes(c.statement, 32);
    assert_status_ok(agg_prove(&o, &c, srs, v, NULL));
    assert_int_equal(o.size, aggregate_size(aggregate_padded(n)));
    assert_status_ok(agg_verify(&valid, &c, srs, v, o.data, o.size, NULL));
    assert_true(valid);

    /* one input of one statement, whichever */
    fr *at = &c.pub[harness_random_below(n * c.n_pub)];
    one = c.cv->fr_one;
    c.cv->fr_add(at, at, &one);
    assert_status_ok(agg_verify(&valid, &c, srs, v, o.data, o.size, NULL));
    assert_false(valid);
    c.cv->fr_sub(at, at, &one);
    c.statement[harness_random_below(32)] ^= 1;
    assert_status_ok(agg_verify(&valid, &c, srs, v, o.data, o.size, NULL));
    assert_false(valid);
    bytes_out_clear(&o);
    agg_case_clear(&c);
}

static void every_count(void **state)
{
    size_t most = harness_level() == HARNESS_CHECK ? 20 : 300;
    aggregate_srs *srs;
    rig r;
    (void)state;

    rig_open(&r, cpu_table_best(), 2);
    agg_made_srs(&srs, &r, 2 * aggregate_padded(most));
    for (size_t n = 1; n <= most; n++) {
        size_t next = aggregate_padded(n);
        /* past 20 only around powers of two */
        if (n > 20 && n > next / 2 + 2 && n + 2 < next && n != most) continue;
        count(&r, srs, n, n % 3 == 0 ? AGGREGATE_V1 : AGGREGATE_V2);
    }
    aggregate_srs_free(srs);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixtures_to_the_byte),
        cmocka_unit_test(fixtures_on_other_tables),
        cmocka_unit_test(digests_of_others),
        cmocka_unit_test(every_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
