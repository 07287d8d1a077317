/*
 * unit/circuit/test_post_vanilla.c - vanilla proofs that are wrong: class, place and message, read alone and synthesised
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "support.h"

#include <inttypes.h>

#include "base/bytes.h"
#include "circuit/filecoin/post_impl.h"

/* fixtures/filecoin/bad/TABLE.md, its window rows: the class, and what the place and message must tell */
typedef struct bad {
    const char *file;
    cuzk_class klass;
    const char *tells[2];
} bad;

static const bad bads[] = {
    {"window-empty.bin", CUZK_CLASS_MALFORMED, {"0 bytes", "sector 0"}},
    {"window-truncated.bin", CUZK_CLASS_MALFORMED, {"end of input at offset 5679", "sector 0"}},
    {"window-trailing.bin", CUZK_CLASS_MALFORMED, {"1 trailing byte", "5680"}},
    {"window-sector-id.bin", CUZK_CLASS_STATEMENT, {"sector number", "sector 0"}},
    {"window-comm-r.bin", CUZK_CLASS_STATEMENT, {"comm_r", "sector 0"}},
    {"window-nsectors-0.bin", CUZK_CLASS_SHAPE, {"0 sectors, expected 1", "sector 0"}},
    {"window-nsectors-2.bin", CUZK_CLASS_SHAPE, {"2 sectors, expected 1", "sector 0"}},
    {"window-count-huge.bin", CUZK_CLASS_MALFORMED, {"1152921504606846976 proofs", "sector 0"}},
    {"window-count-9.bin", CUZK_CLASS_SHAPE, {"9 proofs, expected 10", "sector 0"}},
    {"window-variant-1.bin", CUZK_CLASS_SHAPE, {"Sub, expected Single", "sector 0, challenge 0"}},
    {"window-variant-7.bin", CUZK_CLASS_MALFORMED, {"variant 7", "limit 2"}},
    {"window-root.bin", CUZK_CLASS_INCONSISTENT, {"sector 0, challenge 0", "root"}},
    {"window-leaf.bin", CUZK_CLASS_INCONSISTENT, {"sector 0, challenge 0", "path"}},
    {"window-path-count-huge.bin",
     CUZK_CLASS_MALFORMED,
     {"9223372036854775808 path elements", "challenge 0"}},
    {"window-path-sibling.bin", CUZK_CLASS_INCONSISTENT, {"sector 0, challenge 0", "path"}},
    {"window-path-index.bin", CUZK_CLASS_INCONSISTENT, {"sector 0, challenge 0", "path"}},
    {"window-path-index-huge.bin", CUZK_CLASS_MALFORMED, {"index 1099511627776", "limit 7"}},
    {"window-comm-c.bin",
     CUZK_CLASS_INCONSISTENT,
     {"comm_r is not the hash of comm_c and comm_r_last", "sector 0"}},
    {"window-comm-r-last.bin",
     CUZK_CLASS_INCONSISTENT,
     {"comm_r_last differs from the root", "sector 0"}},
    {"window-noncanonical.bin",
     CUZK_CLASS_MALFORMED,
     {"comm_r_last at offset 5648", "not below the modulus"}},
    {"window-random.bin", CUZK_CLASS_SHAPE, {"sectors, expected 1", "sector 0"}},
};

/* What a partition's files get: the status, with the error recorded. */
static cuzk_status check_files(const post_case *c, size_t partition, const post_input *in,
                               const r1cs_system *sys, pool *p, mem *m)
{
    post_vanilla *v = NULL;
    r1cs_assignment *w = NULL;
    size_t first, n;
    cuzk_status st;

    post_partition_sectors(c->st, partition, &first, &n);
    st = post_vanilla_read(&v, c->st, partition, in, n, support_poseidon(), m);
    if (st == CUZK_OK && sys == NULL) st = post_vanilla_check(v, p, NULL);
    if (st == CUZK_OK && sys != NULL) st = post_synthesize(&w, sys, v, p, NULL, m);
    assert_true(sys == NULL || (st == CUZK_OK) == (w != NULL));
    r1cs_assignment_free(w);
    post_vanilla_free(v);
    return st;
}

/* Both ways through the check refuse in the same words. */
static void refuse(const post_case *c, size_t partition, const post_input *in,
                   const r1cs_system *sys, mem *m)
{
    cuzk_error first;

    assert_status_is(check_files(c, partition, in, NULL, NULL, m), CUZK_EDATA);
    first = *cuzk_last_error();
    assert_status_is(check_files(c, partition, in, sys, NULL, m), CUZK_EDATA);
    assert_int_equal(first.klass, cuzk_last_error()->klass);
    assert_string_equal(first.where, cuzk_last_error()->where);
    assert_string_equal(first.message, cuzk_last_error()->message);
}

/* The case that the damaged files are made from, its first partition, and the circuit. */
typedef struct bench {
    mem *m;
    post_case c;
    r1cs_system *sys;
    post_input in[2];
} bench;

static void bench_open(bench *b)
{
    b->m = support_mem();
    b->sys = NULL;
    post_case_open(&b->c, "2kib/window-v1_1", FIL_WINDOW, b->m);
    assert_status_ok(post_system_of(&b->sys, support_poseidon(), b->c.kind, b->c.st->size, b->m));
    b->in[0] = b->c.inputs[0];
    b->in[1] = b->c.inputs[1];
}

static void bench_close(bench *b)
{
    r1cs_free(b->sys);
    post_case_close(&b->c);
    support_close(b->m);
}

static void test_damaged_files(void **state)
{
    bench b;

    (void)state;
    bench_open(&b);
    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
        char path[128];
        uint8_t *file;

        (void)snprintf(path, sizeof path, "filecoin/bad/%s", bads[i].file);
        file = harness_read_file(harness_fixture(path), &b.in[0].size);
        b.in[0].data = file;
        refuse(&b.c, 0, b.in, b.sys, b.m);
        (void)printf("%s: %s: %s\n", bads[i].file, cuzk_last_error()->where,
                     cuzk_last_error()->message);
        assert_error_class(bads[i].klass);
        for (size_t k = 0; k < 2; k++) assert_error_mentions(bads[i].tells[k]);
        free(file);
    }
    bench_close(&b);
}

/* The same fault in any sector of any partition is found there; of several, the first is reported. */
static void test_places(void **state)
{
    bench b;
    uint8_t *bent[3];
    pool *p = NULL;

    (void)state;
    bench_open(&b);
    assert_status_ok(pool_open(&p, 3, NULL));
    for (size_t i = 0; i < 3; i++) {
        bent[i] = malloc(b.c.inputs[i].size);
        assert_non_null(bent[i]);
        memcpy(bent[i], b.c.files[i], b.c.inputs[i].size);
        bent[i][56 + 3 * 556 + 4 + 32] ^= 1; /* the fourth proof's leaf */
    }
    b.in[1].data = bent[1];
    refuse(&b.c, 0, b.in, b.sys, b.m);
    assert_string_equal(cuzk_last_error()->where, "sector 1, challenge 3");
    b.in[0].data = bent[0];
    for (size_t round = 0; round < harness_iters(20); round++) {
        assert_status_is(check_files(&b.c, 0, b.in, b.sys, p, b.m), CUZK_EDATA);
        assert_string_equal(cuzk_last_error()->where, "sector 0, challenge 3");
    }
    b.in[0] =
        (post_input){bent[2], b.c.inputs[2].size}; /* sector 2 is the second partition's only one */
    refuse(&b.c, 1, b.in, b.sys, b.m);
    assert_string_equal(cuzk_last_error()->where, "sector 2, challenge 3");
    for (size_t i = 0; i < 3; i++) free(bent[i]);
    pool_close(p);
    bench_close(&b);
}

/* Whatever bit changes: refused; wherever the file is cut: refused as malformed. */
static void test_any_bit_and_any_cut(void **state)
{
    bench b;
    size_t size;
    uint8_t *file;

    (void)state;
    bench_open(&b);
    size = b.in[0].size;
    file = malloc(size);
    assert_non_null(file);
    memcpy(file, b.c.files[0], size);
    b.in[0].data = file;
    for (size_t round = 0; round < harness_iters(150); round++) {
        size_t bit = harness_random_below(8 * size);

        file[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_status_is(check_files(&b.c, 0, b.in, NULL, NULL, b.m), CUZK_EDATA);
        file[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    free(file);
    for (size_t n = 0; n < size; n += 1 + harness_random_below(40)) {
        file = malloc(n == 0 ? 1 : n); /* of its exact size, so that reading on is noticed */
        assert_non_null(file);
        memcpy(file, b.c.files[0], n);
        b.in[0] = (post_input){file, n};
        assert_status_is(check_files(&b.c, 0, b.in, NULL, NULL, b.m), CUZK_EDATA);
        assert_error_class(CUZK_CLASS_MALFORMED);
        free(file);
    }
    bench_close(&b);
}

/* Sectors are climbed together; still the first sector's fault is told, whether it is in its paths or in what precedes them. */
static void test_faults_of_several_sectors(void **state)
{
    uint8_t *path[2], *head[2];
    bench b;

    (void)state;
    bench_open(&b);
    for (size_t i = 0; i < 2; i++) {
        size_t size = b.c.inputs[i].size;

        path[i] = malloc(size);
        head[i] = malloc(size);
        assert_non_null(path[i]);
        assert_non_null(head[i]);
        memcpy(path[i], b.c.files[i], size);
        memcpy(head[i], b.c.files[i], size);
        path[i][56 + 7 * 556 + 4 + 32] ^= 1; /* the eighth proof's leaf */
        head[i][size - 64] ^= 1;             /* comm_c */
    }
    for (unsigned kinds = 0; kinds < 4; kinds++) {
        b.in[0].data = (kinds & 1) != 0 ? path[0] : head[0];
        b.in[1].data = (kinds & 2) != 0 ? path[1] : head[1];
        refuse(&b.c, 0, b.in, b.sys, b.m);
        assert_string_equal(cuzk_last_error()->where,
                            (kinds & 1) != 0 ? "sector 0, challenge 7" : "sector 0");
        b.in[0].data = b.c.inputs[0].data;
        refuse(&b.c, 0, b.in, b.sys, b.m);
        assert_string_equal(cuzk_last_error()->where,
                            (kinds & 2) != 0 ? "sector 1, challenge 7" : "sector 1");
    }
    for (size_t i = 0; i < 2; i++) {
        free(path[i]);
        free(head[i]);
    }
    bench_close(&b);
}

/* A sound proof under a statement that differs. */
static void test_another_statement(void **state)
{
    bench b;
    post_statement *st;
    post_sector_statement *s;

    (void)state;
    bench_open(&b);
    st = b.c.st;
    s = st->sectors;
    assert_status_ok(check_files(&b.c, 0, b.in, NULL, NULL, b.m));

    st->randomness[0] ^= 1;
    refuse(&b.c, 0, b.in, b.sys, b.m);
    assert_error_class(CUZK_CLASS_STATEMENT);
    assert_error_mentions("challenged at");
    st->randomness[0] ^= 1;

    st->api = FIL_API_1_0_0; /* the first sector's challenges stay, the second's do not */
    refuse(&b.c, 0, b.in, b.sys, b.m);
    assert_error_class(CUZK_CLASS_STATEMENT);
    assert_error_mentions("sector 1, challenge");
    st->api = FIL_API_1_2_0;

    s[1].sector_number++;
    refuse(&b.c, 0, b.in, b.sys, b.m);
    assert_error_class(CUZK_CLASS_STATEMENT);
    assert_error_mentions("sector 1");
    s[1].sector_number--;

    s[0].comm_r[5] ^= 1;
    refuse(&b.c, 0, b.in, b.sys, b.m);
    assert_error_class(CUZK_CLASS_STATEMENT);
    s[0].comm_r[5] ^= 1;
    assert_status_ok(check_files(&b.c, 0, b.in, b.sys, NULL, b.m));
    bench_close(&b);
}

static void test_counts_of_inputs(void **state)
{
    bench b;
    post_vanilla *v = NULL;

    (void)state;
    bench_open(&b);
    assert_status_is(post_vanilla_read(&v, b.c.st, 0, b.in, 1, support_poseidon(), b.m),
                     CUZK_EDATA);
    assert_error_class(CUZK_CLASS_SHAPE);
    assert_error_mentions("1 sector proofs for partition 0, expected 2");
    assert_status_is(post_vanilla_read(&v, b.c.st, 1, b.in, 2, support_poseidon(), b.m),
                     CUZK_EDATA);
    assert_error_class(CUZK_CLASS_SHAPE);
    assert_status_is(post_vanilla_read(&v, b.c.st, 2, b.in, 2, support_poseidon(), b.m),
                     CUZK_EINVAL);
    assert_error_mentions("partition 2");
    assert_null(v);
    bench_close(&b);
}

/* Files of one size under a statement of another: every pair is refused as not fitting. */
static void test_files_of_another_size(void **state)
{
    static const char *const folders[] = {"2kib/window-v1_1-short", "4kib/window", "16kib/window",
                                          "32kib/window", "8mib/window"};
    mem *m = support_mem();
    post_case c[5];

    (void)state;
    for (size_t i = 0; i < 5; i++) post_case_open(&c[i], folders[i], FIL_WINDOW, m);
    for (size_t i = 0; i < 5; i++)
        for (size_t k = 0; k < 5; k++) {
            post_vanilla *v = NULL;
            post_input in[2] = {c[k].inputs[0], c[k].inputs[0]};

            if (i == k) continue;
            assert_status_is(
                post_vanilla_read(&v, c[i].st, 0, in, c[i].st->n_sectors, support_poseidon(), m),
                CUZK_EDATA);
            assert_null(v);
        }
    for (size_t i = 0; i < 5; i++) post_case_close(&c[i]);
    support_close(m);
}

/* Kinds differ in their number of challenges. */
static void test_files_of_another_kind(void **state)
{
    mem *m = support_mem();
    post_case window, winning;
    post_vanilla *v = NULL;

    (void)state;
    post_case_open(&window, "2kib/window-v1_1-short", FIL_WINDOW, m);
    post_case_open(&winning, "2kib/winning", FIL_WINNING, m);
    assert_status_is(post_vanilla_read(&v, winning.st, 0, window.inputs, 1, support_poseidon(), m),
                     CUZK_EDATA);
    assert_error_mentions("10 proofs, expected 66");
    assert_status_is(post_vanilla_read(&v, window.st, 0, winning.inputs, 1, support_poseidon(), m),
                     CUZK_EDATA);
    assert_error_mentions("66 proofs, expected 10");
    post_case_close(&window);
    post_case_close(&winning);
    support_close(m);
}

/* A real sector's: curio, lib/proof/testgolden. */
static void test_curios_golden_proof(void **state)
{
    mem *m = support_mem();
    post_statement *st = NULL;
    post_vanilla *v = NULL;
    post_input in;
    size_t size;
    uint8_t *json =
        harness_read_file(harness_fixture("filecoin/curio/window-32gib-statement.json"), &size);
    uint8_t *file =
        harness_read_file(harness_fixture("filecoin/curio/window-32gib-vanilla.bin"), &in.size);

    (void)state;
    in.data = file;
    assert_status_ok(post_statement_read(&st, json, size, FIL_WINDOW, m));
    assert_status_ok(post_vanilla_read(&v, st, 0, &in, 1, support_poseidon(), m));
    assert_status_ok(post_vanilla_check(v, NULL, NULL));
    post_vanilla_free(v);
    file[56 + 5 * 2484 + 20 + 40] ^= 4; /* a sibling of the sixth proof */
    v = NULL;
    assert_status_ok(post_vanilla_read(&v, st, 0, &in, 1, support_poseidon(), m));
    assert_status_is(post_vanilla_check(v, NULL, NULL), CUZK_EDATA);
    assert_string_equal(cuzk_last_error()->where, "sector 0, challenge 5");
    post_vanilla_free(v);
    post_statement_free(st);
    free(json);
    free(file);
    support_close(m);
}

/* Values that change after they were read (mapped files) are used in no way that leaves its bounds. */
static void test_bytes_that_change_meanwhile(void **state)
{
    bench b;
    size_t size;
    uint8_t *file;

    (void)state;
    bench_open(&b);
    size = b.in[0].size;
    file = malloc(size);
    assert_non_null(file);
    for (size_t round = 0; round < harness_iters(20); round++) {
        post_vanilla *v = NULL;
        r1cs_assignment *w = NULL;

        memcpy(file, b.c.files[0], size);
        b.in[0].data = file;
        assert_status_ok(post_vanilla_read(&v, b.c.st, 0, b.in, 2, support_poseidon(), b.m));
        if (round == 0)
            memset(file + 8 + 32, 0xff, size - 40);
        else
            harness_random_bytes(file + 40, size - 40);
        assert_status_is(post_synthesize(&w, b.sys, v, NULL, NULL, b.m), CUZK_EDATA);
        assert_null(w);
        post_vanilla_free(v);
    }
    free(file);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damaged_files),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_faults_of_several_sectors),
        cmocka_unit_test(test_any_bit_and_any_cut),
        cmocka_unit_test(test_another_statement),
        cmocka_unit_test(test_counts_of_inputs),
        cmocka_unit_test(test_files_of_another_size),
        cmocka_unit_test(test_files_of_another_kind),
        cmocka_unit_test(test_curios_golden_proof),
        cmocka_unit_test(test_bytes_that_change_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
