/*
 * unit/circuit/test_update_vanilla.c - update proofs that are wrong: class, place and message, read alone and synthesised
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "update_support.h"

#include "base/bytes.h"

/* Offsets in a 2 KiB partition: comm_c, 8 apex leafs; then 10 challenges of r_old, d_new, r_new. */
#define APEX (32 + 8)
#define CHALLENGE(n) (APEX + 8 * 32 + 8 + (size_t)(n) * (2 * 556 + 364))
#define R_OLD 0u
#define D_NEW 556u
#define R_NEW (556u + 364u)
#define ROOT 4u
#define LEAF 36u
#define R_SIBLINGS(level) (68u + 8 + (level) * (8u + 7 * 32 + 8) + 8)
#define R_INDEX(level) (R_SIBLINGS(level) + 7 * 32)
#define D_SIBLING(level) (68u + 8 + (level) * (8u + 32 + 8) + 8)
#define D_INDEX(level) (D_SIBLING(level) + 32)

/* A case, its circuit, and a copy of its first partition that a test may bend. */
typedef struct bench {
    mem *m;
    update_statement st;
    r1cs_system *sys;
    uint8_t *file;
    size_t size;
} bench;

static void bench_open(bench *b)
{
    *b = (bench){.m = support_mem()};
    update_case_statement(&b->st, "2kib/update");
    assert_status_ok(
        update_system_of(&b->sys, support_poseidon(), FIL_UPDATE, b->st.shape.size, b->m));
    b->file = update_case_read("2kib/update", 0, &b->size);
    assert_int_equal(b->size, CHALLENGE(10));
}

static void bench_close(bench *b)
{
    free(b->file);
    r1cs_free(b->sys);
    support_close(b->m);
}

/* What bytes get: the status, with the error recorded; sys NULL: checked alone. */
static cuzk_status check_bytes(const bench *b, const uint8_t *data, size_t size,
                               const r1cs_system *sys, const fil_redundant *r, pool *p)
{
    update_vanilla *v = NULL;
    r1cs_assignment *w = NULL;
    r1cs_fault fault;
    cuzk_status st = update_vanilla_read(&v, &b->st, 0, data, size, support_poseidon(), b->m);

    if (st == CUZK_OK && sys == NULL) st = update_vanilla_check(v, r, p, NULL);
    if (st == CUZK_OK && sys != NULL) st = update_synthesize(&w, sys, v, r, p, NULL, b->m);
    assert_true(sys == NULL || (st == CUZK_OK) == (w != NULL));
    if (w != NULL) {
        assert_status_ok(r1cs_check(sys, w, p, NULL, &fault));
        assert_false(fault.found);
    }
    r1cs_assignment_free(w);
    update_vanilla_free(v);
    return st;
}

/* Both ways through the check refuse in the same words. */
static void refuse(const bench *b, const uint8_t *data, size_t size)
{
    cuzk_error first;

    assert_status_is(check_bytes(b, data, size, NULL, NULL, NULL), CUZK_EDATA);
    first = *cuzk_last_error();
    assert_status_is(check_bytes(b, data, size, b->sys, NULL, NULL), CUZK_EDATA);
    assert_int_equal(first.klass, cuzk_last_error()->klass);
    assert_string_equal(first.where, cuzk_last_error()->where);
    assert_string_equal(first.message, cuzk_last_error()->message);
}

/* fixtures/filecoin/bad/TABLE.md, its update rows: the class, and what the place and message must tell */
typedef struct bad {
    const char *file;
    cuzk_class klass;
    const char *tells[2];
} bad;

static const bad bads[] = {
    {"update-empty.bin", CUZK_CLASS_MALFORMED, {"0 bytes", "partition 0"}},
    {"update-truncated.bin", CUZK_CLASS_MALFORMED, {"end of input at offset 7532", "challenge 4"}},
    {"update-trailing.bin", CUZK_CLASS_MALFORMED, {"8 trailing bytes", "15064"}},
    {"update-comm-c.bin",
     CUZK_CLASS_STATEMENT,
     {"comm_r_old is not the hash of comm_c and the root", "partition 0"}},
    {"update-apex-count.bin",
     CUZK_CLASS_MALFORMED,
     {"2305843009213693952 apex leafs", "offset 32"}},
    {"update-apex-leaf.bin", CUZK_CLASS_INCONSISTENT, {"apex leafs", "comm_d_new"}},
    {"update-challenge-count.bin", CUZK_CLASS_SHAPE, {"9 challenges, expected 10", "partition 0"}},
    {"update-r-old-leaf.bin", CUZK_CLASS_INCONSISTENT, {"challenge 0, r_old", "path"}},
    {"update-last-sibling.bin", CUZK_CLASS_INCONSISTENT, {"challenge 9, r_new", "path"}},
};

static void test_damaged_files(void **state)
{
    bench b;

    (void)state;
    bench_open(&b);
    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
        char path[128];
        uint8_t *file;
        size_t size;

        (void)snprintf(path, sizeof path, "filecoin/bad/%s", bads[i].file);
        file = harness_read_file(harness_fixture(path), &size);
        refuse(&b, file, size);
        (void)printf("%s: %s: %s\n", bads[i].file, cuzk_last_error()->where,
                     cuzk_last_error()->message);
        assert_error_class(bads[i].klass);
        for (size_t k = 0; k < 2; k++) assert_error_mentions(bads[i].tells[k]);
        free(file);
    }
    bench_close(&b);
}

/* One bit at a place of the good file. */
typedef struct bend {
    size_t at;
    cuzk_class klass;
    const char *where, *mentions;
} bend;

static const bend bends[] = {
    {CHALLENGE(0) + R_OLD + ROOT, CUZK_CLASS_STATEMENT, "partition 0", "comm_r_old"},
    {CHALLENGE(0) + R_NEW + ROOT, CUZK_CLASS_STATEMENT, "partition 0", "comm_r_new"},
    {APEX + (size_t)7 * 32, CUZK_CLASS_INCONSISTENT, "partition 0, apex leafs", "comm_d_new"},
    {CHALLENGE(3) + R_OLD + LEAF, CUZK_CLASS_INCONSISTENT, "partition 0, challenge 3, r_old",
     "path"},
    {CHALLENGE(3) + R_OLD + R_SIBLINGS(1) + (size_t)6 * 32, CUZK_CLASS_INCONSISTENT,
     "partition 0, challenge 3, r_old", "path"},
    {CHALLENGE(7) + R_NEW + LEAF, CUZK_CLASS_INCONSISTENT, "partition 0, challenge 7, r_new",
     "the old one plus"},
    {CHALLENGE(7) + R_NEW + R_SIBLINGS(0), CUZK_CLASS_INCONSISTENT,
     "partition 0, challenge 7, r_new", "path"},
    {CHALLENGE(9) + D_NEW + LEAF, CUZK_CLASS_INCONSISTENT, "partition 0, challenge 9, r_new",
     "the old one plus"},
    {CHALLENGE(9) + D_NEW + D_SIBLING(2), CUZK_CLASS_INCONSISTENT,
     "partition 0, challenge 9, d_new", "comm_d_new"},
    {CHALLENGE(1) + R_OLD + 1, CUZK_CLASS_MALFORMED, "partition 0, challenge 1, r_old",
     "variant 256 at offset 1780, limit 2"},
    {CHALLENGE(1) + R_OLD + R_INDEX(1) + 4, CUZK_CLASS_MALFORMED,
     "partition 0, challenge 1, r_old, path element 1", "limit 7"},
    {CHALLENGE(2) + D_NEW + 68, CUZK_CLASS_SHAPE, "partition 0, challenge 2, d_new",
     "7 path elements, expected 6"},
};

static void test_bent_values(void **state)
{
    bench b;

    (void)state;
    bench_open(&b);
    for (size_t i = 0; i < sizeof bends / sizeof bends[0]; i++) {
        b.file[bends[i].at] ^= 1;
        refuse(&b, b.file, b.size);
        (void)printf("%s: %s\n", cuzk_last_error()->where, cuzk_last_error()->message);
        assert_error_class(bends[i].klass);
        assert_string_equal(cuzk_last_error()->where, bends[i].where);
        assert_error_mentions(bends[i].mentions);
        b.file[bends[i].at] ^= 1;
    }
    bench_close(&b);
}

/* Of several faults the one of the first challenge is told, on any number of threads. */
static void test_the_first_fault_is_told(void **state)
{
    pool *p = NULL;
    bench b;

    (void)state;
    bench_open(&b);
    assert_status_ok(pool_open(&p, 3, NULL));
    b.file[CHALLENGE(8) + R_OLD + LEAF] ^= 1;
    b.file[CHALLENGE(2) + R_NEW + R_SIBLINGS(0)] ^= 1;
    for (size_t round = 0; round < harness_iters(20); round++) {
        assert_status_is(check_bytes(&b, b.file, b.size, NULL, NULL, p), CUZK_EDATA);
        assert_string_equal(cuzk_last_error()->where, "partition 0, challenge 2, r_new");
    }
    pool_close(p);
    bench_close(&b);
}

/* ---- what the circuit does not read ---- */

typedef struct unread {
    size_t at;
    const char *where, *mentions;
} unread;

static const unread unreads[] = {
    {CHALLENGE(4) + R_OLD + R_INDEX(1), "partition 0, challenge 4, r_old", "index fields"},
    {CHALLENGE(0) + D_NEW + D_INDEX(5), "partition 0, challenge 0, d_new", "index fields"},
    {CHALLENGE(9) + R_NEW + R_INDEX(0), "partition 0, challenge 9, r_new", "index fields"},
    {CHALLENGE(5) + R_OLD + ROOT, "partition 0, challenge 5, r_old", "root field"},
    {CHALLENGE(0) + D_NEW + ROOT, "partition 0, challenge 0, d_new", "root field"},
    {CHALLENGE(6) + R_NEW + ROOT, "partition 0, challenge 6, r_new", "root field"},
    {CHALLENGE(6) + D_NEW + D_SIBLING(3), "partition 0, challenge 6, d_new", "sibling"},
    {CHALLENGE(1) + D_NEW + D_SIBLING(4), "partition 0, challenge 1, d_new", "sibling"},
    {CHALLENGE(1) + D_NEW + D_SIBLING(5), "partition 0, challenge 1, d_new", "sibling"},
};

/* A warning, and a witness that satisfies every row; with strict, a refusal. */
static void test_what_the_circuit_does_not_read(void **state)
{
    const fil_redundant strict = {.strict = true};
    bench b;

    (void)state;
    bench_open(&b);
    assert_status_ok(check_bytes(&b, b.file, b.size, b.sys, &strict, NULL));
    for (size_t i = 0; i < sizeof unreads / sizeof unreads[0]; i++) {
        unsigned warnings = 0;
        const fil_redundant warn = {.warn = update_count_warning, .ctx = &warnings};

        b.file[unreads[i].at] ^= 1;
        assert_status_ok(check_bytes(&b, b.file, b.size, b.sys, &warn, NULL));
        assert_status_ok(check_bytes(&b, b.file, b.size, NULL, &warn, NULL));
        assert_int_equal(warnings, 2);
        assert_status_ok(check_bytes(&b, b.file, b.size, NULL, NULL, NULL));
        for (unsigned k = 0; k < 2; k++) {
            assert_status_is(check_bytes(&b, b.file, b.size, k == 0 ? NULL : b.sys, &strict, NULL),
                             CUZK_EDATA);
            assert_error_class(CUZK_CLASS_REDUNDANT);
            assert_string_equal(cuzk_last_error()->where, unreads[i].where);
            assert_error_mentions(unreads[i].mentions);
        }
        b.file[unreads[i].at] ^= 1;
    }
    bench_close(&b);
}

/* ---- any bytes ---- */

/* Whatever bit changes: refused, if only as redundant; wherever the file is cut: refused as malformed. */
static void test_any_bit_and_any_cut(void **state)
{
    const fil_redundant strict = {.strict = true};
    bench b;

    (void)state;
    bench_open(&b);
    for (size_t round = 0; round < harness_iters(100); round++) {
        size_t bit = harness_random_below(8 * b.size);

        b.file[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_status_is(check_bytes(&b, b.file, b.size, NULL, &strict, NULL), CUZK_EDATA);
        b.file[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (size_t n = 0; n < b.size; n += 1 + harness_random_below(150)) {
        uint8_t *cut =
            malloc(n == 0 ? 1 : n); /* of its exact size, so that reading on is noticed */

        assert_non_null(cut);
        memcpy(cut, b.file, n);
        assert_status_is(check_bytes(&b, cut, n, NULL, NULL, NULL), CUZK_EDATA);
        assert_error_class(CUZK_CLASS_MALFORMED);
        free(cut);
    }
    bench_close(&b);
}

/* A sound proof under a statement that differs. */
static void test_another_statement(void **state)
{
    bench b;

    (void)state;
    bench_open(&b);
    b.st.comm_r_old[3] ^= 1;
    refuse(&b, b.file, b.size);
    assert_error_class(CUZK_CLASS_STATEMENT);
    assert_error_mentions("comm_r_old");
    b.st.comm_r_old[3] ^= 1;
    b.st.comm_r_new[3] ^= 1;
    refuse(&b, b.file, b.size);
    assert_error_class(CUZK_CLASS_STATEMENT);
    assert_error_mentions("comm_r_new");
    b.st.comm_r_new[3] ^= 1;
    b.st.comm_d_new[3] ^= 1;
    refuse(&b, b.file, b.size);
    assert_error_class(CUZK_CLASS_INCONSISTENT);
    assert_error_mentions("comm_d_new");
    b.st.comm_d_new[3] ^= 1;
    assert_status_ok(check_bytes(&b, b.file, b.size, b.sys, NULL, NULL));
    bench_close(&b);
}

/* A proof of one partition is not that of another; nor is one of another size. */
static void test_another_partition_or_size(void **state)
{
    static const char *const folders[] = {"2kib/update", "4kib/update", "16kib/update",
                                          "32kib/update", "8mib/update"};
    mem *m = support_mem();
    update_statement st[5];
    update_vanilla *v = NULL;
    uint8_t *file[5];
    size_t size[5];

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        update_case_statement(&st[i], folders[i]);
        file[i] = update_case_read(folders[i], 0, &size[i]);
    }
    for (size_t i = 0; i < 5; i++)
        for (size_t k = 0; k < 5; k++) {
            if (i == k) continue;
            assert_status_is(
                update_vanilla_read(&v, &st[i], 0, file[k], size[k], support_poseidon(), m),
                CUZK_EDATA);
            assert_null(v);
        }
    assert_status_ok(update_vanilla_read(&v, &st[4], 2, file[4], size[4], support_poseidon(), m));
    assert_status_is(update_vanilla_check(v, NULL, NULL, NULL), CUZK_EDATA);
    assert_error_class(CUZK_CLASS_INCONSISTENT);
    assert_error_mentions("partition 2");
    update_vanilla_free(v);
    v = NULL;
    assert_status_is(update_vanilla_read(&v, &st[4], 4, file[4], size[4], support_poseidon(), m),
                     CUZK_EINVAL);
    assert_error_mentions("partition 4, there are 4");
    for (size_t i = 0; i < 5; i++) free(file[i]);
    support_close(m);
}

/* All challenges of a partition share its path above the apex tree: 8 MiB, levels 16 and 17. */
static void test_partition_path_differs(void **state)
{
    mem *m = support_mem();
    update_statement st;
    update_vanilla *v = NULL;
    size_t size, r_size = 1516, d_size = 4 + 64 + 8 + 18 * 48, at;
    uint8_t *file = update_case_read("8mib/update", 1, &size);

    (void)state;
    update_case_statement(&st, "8mib/update");
    assert_int_equal(size, 32 + 8 + 128 * 32 + 8 + 10 * (2 * r_size + d_size));
    at = size - r_size - 40 - 48; /* the last challenge's sibling at level 16 */
    file[at] ^= 1;
    assert_status_ok(update_vanilla_read(&v, &st, 1, file, size, support_poseidon(), m));
    assert_status_is(update_vanilla_check(v, NULL, NULL, NULL), CUZK_EDATA);
    assert_error_class(CUZK_CLASS_INCONSISTENT);
    assert_string_equal(cuzk_last_error()->where, "partition 1, challenge 9, d_new");
    assert_error_mentions("not that of challenge 0");
    file[at] ^= 1;
    assert_status_ok(update_vanilla_check(v, NULL, NULL, NULL));
    update_vanilla_free(v);
    free(file);
    support_close(m);
}

/* Values that change after they were read (mapped files) are used in no way that leaves its bounds. */
static void test_bytes_that_change_meanwhile(void **state)
{
    bench b;

    (void)state;
    bench_open(&b);
    for (size_t round = 0; round < harness_iters(20); round++) {
        update_vanilla *v = NULL;
        r1cs_assignment *w = NULL;
        size_t from = round % 2 == 0 ? 0 : CHALLENGE(1); /* past what the first checks look at */
        uint8_t *file = malloc(b.size);

        assert_non_null(file);
        memcpy(file, b.file, b.size);
        assert_status_ok(update_vanilla_read(&v, &b.st, 0, file, b.size, support_poseidon(), b.m));
        if (round < 2)
            memset(file + from, 0xff, b.size - from);
        else
            harness_random_bytes(file + from, b.size - from);
        assert_status_is(update_synthesize(&w, b.sys, v, NULL, NULL, NULL, b.m), CUZK_EDATA);
        assert_null(w);
        update_vanilla_free(v);
        free(file);
    }
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damaged_files),
        cmocka_unit_test(test_bent_values),
        cmocka_unit_test(test_the_first_fault_is_told),
        cmocka_unit_test(test_what_the_circuit_does_not_read),
        cmocka_unit_test(test_any_bit_and_any_cut),
        cmocka_unit_test(test_another_statement),
        cmocka_unit_test(test_another_partition_or_size),
        cmocka_unit_test(test_partition_path_differs),
        cmocka_unit_test(test_bytes_that_change_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
