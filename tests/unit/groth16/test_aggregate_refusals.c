/*
 * unit/groth16/test_aggregate_refusals.c - what a verifier of aggregates must refuse or call false; failures of the prover
 *
 * Rows of spec/filecoin-aggregate.md section 8, and every place of the two-seals aggregate: a flipped bit, another valid element.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "aggregate_support.h"
#include "algebra/batch.h"

#define N_AT AGGREGATE_COUNT_AT

/** A fixture's statements, powers and aggregate: mostly of two seals, V2. */
typedef struct two {
    rig r;
    agg_case c;
    aggregate_srs *srs;
    uint8_t *proof;
    size_t size;
    aggregate_version version;
} two;

static const struct {
    const char *file;
    void (*open)(agg_case *c, rig *r, size_t n);
    size_t n;
    aggregate_version version;
} fixtures[] = {
    {AGG_DIR "two-seals-v2.bin", agg_seals, 2, AGGREGATE_V2},
    {AGG_DIR "two-seals-v1.bin", agg_seals, 2, AGGREGATE_V1},
    {"filecoin/2kib/porep-ni/proof-aggregate-v2.bin", agg_ni, 13, AGGREGATE_V2},
};

static void open_fixture(two *t, unsigned k)
{
    rig_open(&t->r, cpu_table_best(), 2);
    fixtures[k].open(&t->c, &t->r, fixtures[k].n);
    agg_fixture_srs(&t->srs, &t->r);
    t->proof = harness_read_file(harness_fixture(fixtures[k].file), &t->size);
    t->version = fixtures[k].version;
}

static void two_open(two *t)
{
    open_fixture(t, 0);
}

static void two_close(two *t)
{
    free(t->proof);
    aggregate_srs_free(t->srs);
    agg_case_clear(&t->c);
    rig_close(&t->r);
}

typedef enum outcome { ACCEPTED, WRONG, REFUSED } outcome;

static outcome outcome_of(two *t, const uint8_t *proof, size_t size)
{
    bool valid = false;
    cuzk_status st = agg_verify(&valid, &t->c, t->srs, t->version, proof, size, NULL);

    if (st == CUZK_OK) return valid ? ACCEPTED : WRONG;
    assert_int_equal(st, CUZK_EDATA);
    return REFUSED;
}

/* ---- bytes ---- */

static void lengths_and_counts(void **state)
{
    static const uint32_t counts[] = {0, 1, 3, 4, 6, 32768, 1u << 20, 1u << 21, UINT32_MAX};
    two t;
    (void)state;

    two_open(&t);
    uint8_t *bad = malloc(t.size + 1);
    assert_non_null(bad);
    memcpy(bad, t.proof, t.size);
    bad[t.size] = 0;
    assert_int_equal(outcome_of(&t, bad, t.size), ACCEPTED);
    assert_int_equal(outcome_of(&t, bad, t.size + 1), REFUSED);
    assert_error_class(CUZK_CLASS_MALFORMED);
    assert_error_mentions("aggregate of 5237 bytes, one of 2 proofs has 5236");
    for (size_t cut = 0; cut < t.size; cut += cut < N_AT + 8 ? 31 : 293)
        assert_int_equal(outcome_of(&t, t.proof, cut), REFUSED);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        store_u32le(bad + N_AT, counts[i]);
        assert_int_equal(outcome_of(&t, bad, t.size), REFUSED);
    }
    free(bad);
    two_close(&t);
}

/** Every bit of a fixture's aggregate, or so many at random. */
static void flip(unsigned k, size_t some)
{
    size_t n, seen[3] = {0};
    two t;

    open_fixture(&t, k);
    n = some == 0 ? t.size * 8 : harness_iters(some);
    for (size_t i = 0; i < n; i++) {
        size_t bit = some == 0 ? i : harness_random_below(t.size * 8);
        t.proof[bit / 8] ^= (uint8_t)(1u << bit % 8);
        outcome o = outcome_of(&t, t.proof, t.size);
        if (o == ACCEPTED) harness_fail("%s: accepted with bit %zu flipped", fixtures[k].file, bit);
        seen[o]++;
        t.proof[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    assert_true(seen[REFUSED] > 0);
    assert_int_equal(outcome_of(&t, t.proof, t.size), ACCEPTED);
    two_close(&t);
}

/* All bits of all take minutes: in check-all those of the first, in check-long the others' too. */
static void flipped_bits(void **state)
{
    enum harness_level level = harness_level();
    (void)state;

    flip(0, level == HARNESS_CHECK ? 250 : 0);
    for (unsigned k = 1; k < sizeof fixtures / sizeof fixtures[0]; k++)
        flip(k, level == HARNESS_CHECK ? 100 : level == HARNESS_ALL ? 1000 : 0);
}

/** Every field with another valid element: its negative (points: a flag bit), and one of another value. */
static void other_elements(void **state)
{
    /* sizes of the fields of an aggregate of two, in order: 5 GT, G1, n, 10 GT, 2 G1, then the final values and openings */
    static const uint16_t sizes[] = {288, 288, 288, 288, 288, 48,  4,   288, 288, 288,
                                     288, 288, 288, 288, 288, 288, 288, 48,  48,  48,
                                     96,  48,  96,  96,  48,  48,  96,  96,  48,  48};
    uint8_t gt[GT_BYTES], g1[48], g2[96], g1_inf[48] = {0xc0}, g2_inf[96] = {0xc0};
    const batch_ops *b = batch_get(cpu_table_best());
    size_t at = 0;
    gt_any e;
    two t;
    (void)state;

    two_open(&t);
    const curve *cv = t.c.cv;
    cv->pairing(&e, &cv->g1_gen, &cv->g2_gen);
    assert_true(b->gt_write(gt, &e));
    cv->g1_write(g1, &cv->g1_gen, POINT_ZCASH_COMPRESSED);
    cv->g2_write(g2, &cv->g2_gen, POINT_ZCASH_COMPRESSED);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; at += sizes[i++]) {
        uint8_t kept[GT_BYTES], *f = t.proof + at;
        if (sizes[i] == 4) continue;
        memcpy(kept, f, sizes[i]);
        memcpy(f, sizes[i] == 288 ? gt : sizes[i] == 96 ? g2 : g1, sizes[i]);
        assert_int_equal(outcome_of(&t, t.proof, t.size), WRONG);
        memcpy(f, kept, sizes[i]);
        if (sizes[i] == 288) continue;
        f[0] ^= 0x20;
        assert_int_equal(outcome_of(&t, t.proof, t.size), WRONG);
        memcpy(f, sizes[i] == 96 ? g2_inf : g1_inf, sizes[i]);
        assert_int_equal(outcome_of(&t, t.proof, t.size), WRONG);
        memcpy(f, kept, sizes[i]);
    }
    assert_int_equal(at, t.size);
    two_close(&t);
}

static void bad_elements(void **state)
{
    two t;
    (void)state;

    two_open(&t);
    memset(t.proof, 0, GT_BYTES); /* -1 */
    assert_int_equal(outcome_of(&t, t.proof, t.size), REFUSED);
    assert_error_mentions("com_ab.0: not in the subgroup");
    memset(t.proof, 0xff, GT_BYTES);
    assert_int_equal(outcome_of(&t, t.proof, t.size), REFUSED);
    assert_error_mentions("com_ab.0: a coefficient is not below");
    two_close(&t);

    two_open(&t);
    t.proof[t.size - 48] &= 0x7f;
    assert_int_equal(outcome_of(&t, t.proof, t.size), REFUSED);
    assert_error_mentions("pi_w.1: wrong flag bits");
    two_close(&t);
}

/* ---- claims ---- */

static cuzk_status claim_with(two *t, const aggregate_srs *srs, size_t n, uint32_t capacity,
                              bool *valid)
{
    aggregate_run run = {.s = t->r.s, .p = t->r.pool, .m = t->r.m};
    aggregate_vk key;

    assert_status_ok(aggregate_vk_read(&key, srs));
    if (capacity != 0) key.capacity = capacity;
    aggregate_claim claim = {.key = &key,
                             .vk = t->c.vk,
                             .pub = t->c.pub,
                             .n = n,
                             .statement = t->c.statement,
                             .version = AGGREGATE_V2};
    *valid = false;
    return aggregate_verify(valid, &run, &claim, t->proof, t->size, NULL);
}

static void wrong_claims(void **state)
{
    two t;
    bool valid;
    (void)state;

    two_open(&t);
    for (size_t i = 0; i < t.c.n * t.c.n_pub; i += 13) {
        fr kept = t.c.pub[i];
        t.c.cv->fr_add(&t.c.pub[i], &kept, &t.c.cv->fr_one);
        assert_int_equal(outcome_of(&t, t.proof, t.size), WRONG);
        t.c.pub[i] = kept;
    }
    for (size_t i = 0; i < 32; i += 5) {
        t.c.statement[i] ^= 0x10;
        assert_int_equal(outcome_of(&t, t.proof, t.size), WRONG);
        t.c.statement[i] ^= 0x10;
    }
    /* another key */
    g2_any delta = t.c.vk->delta_g2;
    t.c.vk->delta_g2 = t.c.vk->gamma_g2;
    assert_int_equal(outcome_of(&t, t.proof, t.size), WRONG);
    t.c.vk->delta_g2 = delta;

    /* the powers of alpha and beta exchanged */
    dev_points p[4];
    memcpy(p, t.srs->power, sizeof p);
    for (unsigned v = 0; v < 4; v++) t.srs->power[v] = p[v ^ 1];
    assert_int_equal(outcome_of(&t, t.proof, t.size), WRONG);
    memcpy(t.srs->power, p, sizeof p);

    /* one statement is padded to two, and these are equal */
    assert_status_ok(claim_with(&t, t.srs, 1, 0, &valid));
    assert_true(valid);
    assert_status_is(claim_with(&t, t.srs, 0, 0, &valid), CUZK_EDATA);
    assert_error_class(CUZK_CLASS_SHAPE);
    assert_status_is(claim_with(&t, t.srs, 3, 0, &valid), CUZK_EDATA);
    assert_error_mentions("3 statements are padded to 4, the aggregate has 2 proofs");
    assert_status_is(claim_with(&t, t.srs, SIZE_MAX, 0, &valid), CUZK_EDATA);
    assert_status_is(claim_with(&t, t.srs, 2, 1, &valid), CUZK_EDATA);
    assert_error_class(CUZK_CLASS_LIMIT);
    two_close(&t);
}

/** Order and padding of 13 proofs. */
static void order_and_padding(void **state)
{
    aggregate_srs *srs;
    agg_case c;
    size_t size;
    bool valid;
    rig r;
    (void)state;

    rig_open(&r, cpu_table_best(), 2);
    agg_ni(&c, &r, 16); /* 13, then the first three again */
    agg_fixture_srs(&srs, &r);
    uint8_t *proof =
        harness_read_file(harness_fixture("filecoin/2kib/porep-ni/proof-aggregate-v2.bin"), &size);
    assert_status_ok(agg_verify(&valid, &c, srs, AGGREGATE_V2, proof, size, NULL));
    assert_false(valid);
    for (size_t i = 13; i < 16; i++)
        memcpy(c.pub + i * c.n_pub, c.pub + 12 * c.n_pub, c.n_pub * sizeof *c.pub);
    assert_status_ok(agg_verify(&valid, &c, srs, AGGREGATE_V2, proof, size, NULL));
    assert_true(valid); /* padded by the caller as it would have been */
    for (size_t i = 0; i < c.n_pub; i++) {
        fr t = c.pub[i];
        c.pub[i] = c.pub[c.n_pub + i];
        c.pub[c.n_pub + i] = t;
    }
    assert_status_ok(agg_verify(&valid, &c, srs, AGGREGATE_V2, proof, size, NULL));
    assert_false(valid);
    free(proof);
    aggregate_srs_free(srs);
    agg_case_clear(&c);
    rig_close(&r);
}

/* ---- the prover ---- */

static void bad_provers(void **state)
{
    two t;
    bytes_out o;
    (void)state;

    two_open(&t);
    aggregate_run run = {.s = t.r.s, .p = t.r.pool, .m = t.r.m};
    aggregate_key *key;
    assert_status_ok(aggregate_key_new(&key, t.srs, 4, false, t.r.pool, NULL, t.r.m));
    bytes_out_init(&o, t.r.m);
    assert_status_is(
        aggregate_prove(&o, &run, key, t.c.proofs, 2, t.c.statement, AGGREGATE_V1, NULL),
        CUZK_EINVAL);
    assert_status_is(
        aggregate_prove(&o, &run, key, t.c.proofs, 0, t.c.statement, AGGREGATE_V1, NULL),
        CUZK_EINVAL);
    aggregate_key_free(key);
    assert_status_ok(aggregate_key_new(&key, t.srs, 2, false, t.r.pool, NULL, t.r.m));
    assert_status_is(
        aggregate_prove(&o, &run, key, t.c.proofs, 2, t.c.statement, (aggregate_version)2, NULL),
        CUZK_EINVAL);
    /* e(infinity, B) is 1, which has no encoding */
    memset(&t.c.proofs[1].c, 0, sizeof t.c.proofs[1].c);
    assert_status_is(
        aggregate_prove(&o, &run, key, t.c.proofs, 2, t.c.statement, AGGREGATE_V2, NULL),
        CUZK_EDATA);
    assert_error_class(CUZK_CLASS_SHAPE);
    assert_int_equal(o.size, 0);
    bytes_out_clear(&o);
    aggregate_key_free(key);
    two_close(&t);
}

static void cancelled(void **state)
{
    two t;
    cancel *stop;
    bytes_out o;
    aggregate_key *key;
    bool valid;
    (void)state;

    two_open(&t);
    assert_status_ok(cancel_new(&stop));
    assert_status_ok(aggregate_key_new(&key, t.srs, 2, false, t.r.pool, NULL, t.r.m));
    cancel_request(stop);
    aggregate_run run = {.s = t.r.s, .p = t.r.pool, .stop = stop, .m = t.r.m};
    bytes_out_init(&o, t.r.m);
    assert_status_is(
        aggregate_prove(&o, &run, key, t.c.proofs, 2, t.c.statement, AGGREGATE_V2, NULL),
        CUZK_ECANCELLED);
    assert_int_equal(o.size, 0);
    aggregate_vk vk;
    assert_status_ok(aggregate_vk_read(&vk, t.srs));
    aggregate_claim claim = {&vk, t.c.vk, t.c.pub, t.c.n, t.c.statement, AGGREGATE_V2};
    assert_status_is(aggregate_verify(&valid, &run, &claim, t.proof, t.size, NULL),
                     CUZK_ECANCELLED);
    aggregate_key *none;
    assert_status_is(aggregate_key_new(&none, t.srs, 2, false, t.r.pool, stop, t.r.m),
                     CUZK_ECANCELLED);
    bytes_out_clear(&o);
    aggregate_key_free(key);
    cancel_free(stop);
    two_close(&t);
}

/** Every allocation fails once: a clean status, and nothing is left. */
static void no_memory(void **state)
{
    two t;
    (void)state;

    two_open(&t);
    size_t before = mem_used(t.r.m);
    bool done[2] = {false, false};
    for (unsigned long k = 1; !done[0] || !done[1]; k++) {
        bytes_out o;
        bool valid = false;
        cuzk_status st;
        assert_true(k < 200);
        mem_inject_fault(t.r.m, k);
        st = agg_prove(&o, &t.c, t.srs, AGGREGATE_V2, NULL);
        done[0] = !mem_fault_hit(t.r.m);
        mem_inject_fault(t.r.m, 0);
        assert_int_equal(st, done[0] ? CUZK_OK : CUZK_ENOMEM);
        if (st == CUZK_OK) assert_bytes_equal(o.data, t.proof, t.size);
        bytes_out_clear(&o);
        mem_inject_fault(t.r.m, k);
        st = agg_verify(&valid, &t.c, t.srs, AGGREGATE_V2, t.proof, t.size, NULL);
        done[1] = !mem_fault_hit(t.r.m);
        mem_inject_fault(t.r.m, 0);
        assert_int_equal(st, done[1] ? CUZK_OK : CUZK_ENOMEM);
        assert_int_equal(valid, done[1]);
        assert_int_equal(mem_used(t.r.m), before);
    }
    two_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_and_counts), cmocka_unit_test(flipped_bits),
        cmocka_unit_test(other_elements),     cmocka_unit_test(bad_elements),
        cmocka_unit_test(wrong_claims),       cmocka_unit_test(order_and_padding),
        cmocka_unit_test(bad_provers),        cmocka_unit_test(cancelled),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
