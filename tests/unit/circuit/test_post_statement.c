/*
 * unit/circuit/test_post_statement.c - statements: both forms, what is refused, challenges and public inputs
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "support.h"

#include "circuit/filecoin/post_impl.h"

static post_statement *read_text(const char *json, fil_kind kind, mem *m)
{
    post_statement *st = NULL;

    assert_status_ok(post_statement_read(&st, (const uint8_t *)json, strlen(json), kind, m));
    return st;
}

#define HASH_1 "0100000000000000000000000000000000000000000000000000000000000000"
#define HASH_2 "0200000000000000000000000000000000000000000000000000000000000000"
#define MODULUS "01000000fffffffffe5bfeff02a4bd5305d8a10908d83933487d9d2953a7ed73"
#define BELOW_MODULUS "00000000fffffffffe5bfeff02a4bd5305d8a10908d83933487d9d2953a7ed73"

static const char good[] =
    "{\"sector_size\": 2048, \"registered_post_proof\": 10, \"api_version\": \"1.2.0\", "
    "\"miner_id\": 1000,"
    " \"randomness\": \"" HASH_1 "\", \"more\": {\"a\": [1, 2]}, \"sectors\": ["
    "{\"sector_number\": 7, \"comm_r\": \"" HASH_1 "\", \"challenges\": [1]},"
    "{\"comm_r\": \"" BELOW_MODULUS "\", \"sector_number\": 18446744073709551615}]}";

static void test_reads_ours(void **state)
{
    mem *m = support_mem();
    post_statement *st = read_text(good, FIL_WINDOW, m);
    fr inputs[22];
    size_t first, n;

    (void)state;
    assert_int_equal(st->kind, FIL_WINDOW);
    assert_int_equal(st->size->bytes, 2048);
    assert_int_equal(st->api, FIL_API_1_2_0);
    assert_int_equal(st->miner_id, 1000);
    assert_hex_equal(st->randomness, 32, HASH_1);
    assert_int_equal(st->n_sectors, 2);
    assert_int_equal(st->sectors[0].sector_number, 7);
    assert_int_equal(st->sectors[1].sector_number, UINT64_MAX);
    assert_hex_equal(st->sectors[1].comm_r, 32, BELOW_MODULUS);
    assert_int_equal(post_partitions(st), 1);
    assert_int_equal(post_n_public(st), 22);
    post_partition_sectors(st, 0, &first, &n);
    assert_int_equal(first, 0);
    assert_int_equal(n, 2);
    post_partition_sectors(st, SIZE_MAX, &first, &n);
    assert_int_equal(n, 0);
    assert_status_ok(post_public_inputs(st, 0, support_curve(), inputs));
    assert_status_is(post_public_inputs(st, 1, support_curve(), inputs), CUZK_EINVAL);
    assert_error_mentions("partition 1");
    post_statement_free(st);
    support_close(m);
}

/* curio: lib/proof/post_vproof_test.go; spec/filecoin-expected.md section 7 has the challenges */
static void test_reads_curios(void **state)
{
    static const uint64_t challenges[] = {707914199, 439148358,  967788220, 548708700,  1061661429,
                                          6202012,   1055504637, 389535735, 1000069704, 600088878};
    mem *m = support_mem();
    post_statement *st = NULL;
    size_t size;
    uint8_t *json =
        harness_read_file(harness_fixture("filecoin/curio/window-32gib-statement.json"), &size);
    uint8_t *vanilla =
        harness_read_file(harness_fixture("filecoin/curio/window-32gib-vanilla.bin"), &size);

    (void)state;
    assert_status_ok(post_statement_read(&st, json, strlen((const char *)json), FIL_WINDOW, m));
    assert_int_equal(st->size->bytes, UINT64_C(32) << 30);
    assert_int_equal(st->api, FIL_API_1_0_0);
    assert_int_equal(st->miner_id, 1000);
    assert_int_equal(st->n_sectors, 1);
    assert_int_equal(st->sectors[0].sector_number, 1);
    assert_bytes_equal(st->sectors[0].comm_r, vanilla + 8, 32);
    for (uint32_t n = 0; n < 10; n++) assert_int_equal(post_challenge(st, 1, 0, n), challenges[n]);
    /* with the older API versions a sector's place counts, with 1.2.0 it does not */
    assert_int_equal(post_challenge(st, 1, 1, 0), post_challenge(st, 1, 0, 10));
    st->api = FIL_API_1_1_0;
    assert_int_equal(post_challenge(st, 1, 1, 0), post_challenge(st, 1, 0, 10));
    st->api = FIL_API_1_2_0;
    assert_int_equal(post_challenge(st, 1, 1, 0), challenges[0]);
    post_statement_free(st);
    free(json);
    free(vanilla);
    support_close(m);
}

/* `good` with one piece replaced must be refused. */
typedef struct edit {
    const char *from, *to;
    fil_kind kind;
    cuzk_class klass;
    const char *mentions;
} edit;

static const edit edits[] = {
    {"2048", "4096", FIL_WINDOW, CUZK_CLASS_SHAPE, "4096"},
    {"2048", "3000", FIL_WINDOW, CUZK_CLASS_SHAPE, "3000"},
    {"2048, \"registered_post_proof\": 10", "1024, \"registered_post_proof\": null", FIL_WINDOW,
     CUZK_CLASS_MALFORMED, "1024 is not a size"},
    {"2048", "-1", FIL_WINDOW, CUZK_CLASS_MALFORMED, "sector_size"},
    {"2048", "\"2KiB\"", FIL_WINDOW, CUZK_CLASS_MALFORMED, "sector_size"},
    {"\"sector_size\": 2048, ", "", FIL_WINDOW, CUZK_CLASS_MALFORMED, "missing sector_size"},
    {"10, \"api", "15, \"api", FIL_WINDOW, CUZK_CLASS_MALFORMED, "registered_post_proof"},
    {"10, \"api", "1.5, \"api", FIL_WINDOW, CUZK_CLASS_MALFORMED, "registered_post_proof"},
    {"10, \"api", "\"10\", \"api", FIL_WINDOW, CUZK_CLASS_MALFORMED, "registered_post_proof"},
    {"10, \"api", "5, \"api", FIL_WINDOW, CUZK_CLASS_INCONSISTENT, "1.2.0"},
    {"10, \"api", "11, \"api", FIL_WINDOW, CUZK_CLASS_SHAPE, "8388608"},
    {"10, \"api", "0, \"api", FIL_WINDOW, CUZK_CLASS_SHAPE, "winning"},
    {"10, \"api", "10, \"api", FIL_WINNING, CUZK_CLASS_SHAPE, "window"},
    {"10, \"api_version\": \"1.2.0\"", "null", FIL_WINDOW, CUZK_CLASS_MALFORMED, "api_version"},
    {"10, \"api_version\": \"1.2.0\"", "null, \"api_version\": null", FIL_WINDOW,
     CUZK_CLASS_MALFORMED, "api_version"},
    {"1.2.0", "1.3.0", FIL_WINDOW, CUZK_CLASS_MALFORMED, "api_version"},
    {"\"1.2.0\"", "120", FIL_WINDOW, CUZK_CLASS_MALFORMED, "api_version"},
    {"\"miner_id\": 1000,", "", FIL_WINDOW, CUZK_CLASS_MALFORMED, "missing miner_id"},
    {"1000", "18446744073709551616", FIL_WINDOW, CUZK_CLASS_MALFORMED, "miner_id"},
    {"\"randomness\": \"" HASH_1, "\"randomness\": \"" MODULUS, FIL_WINDOW, CUZK_CLASS_MALFORMED,
     "randomness"},
    {"\"randomness\": \"01", "\"randomness\": \"0", FIL_WINDOW, CUZK_CLASS_MALFORMED,
     "63 characters"},
    {"\"randomness\": \"01", "\"randomness\": \"0g", FIL_WINDOW, CUZK_CLASS_MALFORMED,
     "randomness"},
    {"\"randomness\": \"" HASH_1 "\"", "\"randomness\": null", FIL_WINDOW, CUZK_CLASS_MALFORMED,
     "randomness"},
    {"\"randomness\"", "\"Randomness\"", FIL_WINDOW, CUZK_CLASS_MALFORMED, "Randomness"},
    {"\"randomness\"", "\"miner_id\"", FIL_WINDOW, CUZK_CLASS_MALFORMED, "miner_id"},
    {"\"more\"", "\"Prover\": 5, \"more\"", FIL_WINDOW, CUZK_CLASS_MALFORMED, "two forms"},
    {"\"comm_r\": \"" HASH_1, "\"comm_r\": \"" MODULUS, FIL_WINDOW, CUZK_CLASS_MALFORMED,
     "sectors[0]"},
    {"\"comm_r\": \"00", "\"comm_r\": \"01", FIL_WINDOW, CUZK_CLASS_MALFORMED, "sectors[1]"},
    {"\"comm_r\": \"01", "\"comm_r\": \"00", FIL_WINDOW, CUZK_CLASS_MALFORMED, "zero"},
    {"\"comm_r\": \"01", "\"comm_r\": \"011", FIL_WINDOW, CUZK_CLASS_MALFORMED,
     "sectors[0].comm_r"},
    {"\"sector_number\": 7, ", "", FIL_WINDOW, CUZK_CLASS_MALFORMED, "sectors[0].sector_number"},
    {"\"sector_number\": 7, ", "\"sector_number\": 7, \"sector_number\": 7, ", FIL_WINDOW,
     CUZK_CLASS_MALFORMED, "sector_number"},
    {"\"sector_number\": 7", "\"sector_number\": 7.0", FIL_WINDOW, CUZK_CLASS_MALFORMED,
     "sectors[0].sector_number"},
    {"{\"sector_number\": 7", "5, {\"sector_number\": 7", FIL_WINDOW, CUZK_CLASS_MALFORMED,
     "sectors"},
    {"\"sectors\": [", "\"sectors\": [], \"x\": [", FIL_WINDOW, CUZK_CLASS_SHAPE, "0 sectors"},
    {"\"sectors\": [", "\"sectors\": 5, \"x\": [", FIL_WINDOW, CUZK_CLASS_MALFORMED, "sectors"},
    {"\"sectors\": [", "\"x\": [", FIL_WINDOW, CUZK_CLASS_MALFORMED, "missing sectors"},
    {"]}", "]", FIL_WINDOW, CUZK_CLASS_MALFORMED, ""},
    {"]}", "]} {}", FIL_WINDOW, CUZK_CLASS_MALFORMED, ""},
    {"{\"sector_size\"", "[\"sector_size\"", FIL_WINDOW, CUZK_CLASS_MALFORMED, ""},
};

/* text with the first (`last`: the last) occurrence of from replaced; the caller frees it */
static char *replaced(const char *text, const char *from, const char *to, bool last)
{
    const char *at = strstr(text, from), *next;
    size_t size = strlen(text) + strlen(to) + 1;
    char *out = malloc(size);

    assert_non_null(out);
    assert_non_null(at);
    while (last && (next = strstr(at + 1, from)) != NULL) at = next;
    (void)snprintf(out, size, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return out;
}

static void refuse(const char *json, const edit *e, mem *m)
{
    post_statement *st = NULL;

    (void)printf("%s -> %s\n", e->from, e->to);
    assert_status_is(post_statement_read(&st, (const uint8_t *)json, strlen(json), e->kind, m),
                     CUZK_EDATA);
    assert_error_class(e->klass);
    assert_error_mentions(e->mentions);
    assert_null(st);
}

static void test_refuses_edits(void **state)
{
    mem *m = support_mem();
    post_statement *st = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        char *json = replaced(good, edits[i].from, edits[i].to, strcmp(edits[i].from, "]}") == 0);

        refuse(json, &edits[i], m);
        free(json);
    }
    assert_status_is(post_statement_read(&st, (const uint8_t *)good, sizeof good - 1, FIL_POREP, m),
                     CUZK_EINVAL);
    support_close(m);
}

/* A cut statement is refused wherever the cut is. */
static void test_refuses_every_prefix(void **state)
{
    mem *m = support_mem();

    (void)state;
    for (size_t n = 0; n < sizeof good - 1; n++) {
        post_statement *st = NULL;
        uint8_t *json =
            malloc(n == 0 ? 1 : n); /* of its exact size, so that reading on is noticed */

        assert_non_null(json);
        memcpy(json, good, n);
        assert_status_is(post_statement_read(&st, json, n, FIL_WINDOW, m), CUZK_EDATA);
        assert_null(st);
        free(json);
    }
    support_close(m);
}

static const char curio[] =
    "{\"Randomness\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\",\"Proofs\":[{\"PoStProof\":8,"
    "\"ProofBytes\":"
    "null}],\"ChallengedSectors\":[{\"SealProof\":8,\"SectorNumber\":1,\"SealedCID\":{\"/\":"
    "\"bagboea4b5abcbx3jccdohrttzfneleehcpkmle4oltwuh4q3rcf5tpdodaoj6mtl\"}}],\"Prover\":1000}";

static const edit curio_edits[] = {
    {"AAA=", "AAB=", FIL_WINDOW, CUZK_CLASS_MALFORMED, "Randomness"}, /* bits beyond the end */
    {"AAA=", "AAAA", FIL_WINDOW, CUZK_CLASS_MALFORMED, "Randomness"},
    {"AAA=", "AA==", FIL_WINDOW, CUZK_CLASS_MALFORMED, "Randomness"},
    {"AAA=", "A*A=", FIL_WINDOW, CUZK_CLASS_MALFORMED, "Randomness"},
    {"AAAA", "AAA", FIL_WINDOW, CUZK_CLASS_MALFORMED, "Randomness"},
    {"AAAAA=", "P///8=", FIL_WINDOW, CUZK_CLASS_MALFORMED, "modulus"},
    {"8,\"Pr", "15,\"Pr", FIL_WINDOW, CUZK_CLASS_MALFORMED, "PoStProof"},
    {"8,\"Pr", "3,\"Pr", FIL_WINDOW, CUZK_CLASS_SHAPE, "winning"},
    {"{\"PoStProof\":8,", "{\"PoStProof\":9},{\"PoStProof\":8,", FIL_WINDOW,
     CUZK_CLASS_INCONSISTENT, "PoStProof"},
    {"\"PoStProof\":8,", "", FIL_WINDOW, CUZK_CLASS_MALFORMED, "missing PoStProof"},
    {"{\"PoStProof\":8,\"ProofBytes\":null}", "", FIL_WINDOW, CUZK_CLASS_MALFORMED,
     "missing PoStProof"},
    {"{\"PoStProof\":8,\"ProofBytes\":null}", "8", FIL_WINDOW, CUZK_CLASS_MALFORMED, "Proofs"},
    {"[{\"PoStProof\":8,\"ProofBytes\":null}]", "8", FIL_WINDOW, CUZK_CLASS_MALFORMED, "Proofs"},
    {"\"bagboea4b5abcb", "\"cagboea4b5abcb", FIL_WINDOW, CUZK_CLASS_MALFORMED, "SealedCID"},
    {"\"bagboea4b5abcb", "\"bagboea4b5abdb", FIL_WINDOW, CUZK_CLASS_MALFORMED, "SealedCID"},
    {"\"bagboea4b5abcb", "\"baaboea4b5abcb", FIL_WINDOW, CUZK_CLASS_MALFORMED, "SealedCID"},
    {"j6mtl", "j6mt1", FIL_WINDOW, CUZK_CLASS_MALFORMED, "SealedCID"},
    {"j6mtl", "j6mt", FIL_WINDOW, CUZK_CLASS_MALFORMED, "SealedCID"},
    {"{\"/\":", "{\"x\":", FIL_WINDOW, CUZK_CLASS_MALFORMED, "missing /"},
    {"\"SealedCID\":{", "\"SealedCID\":5,\"x\":{", FIL_WINDOW, CUZK_CLASS_MALFORMED, "SealedCID"},
    {"\"SealedCID\"", "\"X\"", FIL_WINDOW, CUZK_CLASS_MALFORMED, "SealedCID"},
    {"\"SectorNumber\":1,", "", FIL_WINDOW, CUZK_CLASS_MALFORMED, "SectorNumber"},
    {"\"Prover\":1000", "\"x\":1", FIL_WINDOW, CUZK_CLASS_MALFORMED, "missing Prover"},
    {"\"Prover\":1000", "\"Prover\":\"f01000\"", FIL_WINDOW, CUZK_CLASS_MALFORMED, "Prover"},
};

static void test_refuses_edits_of_curios(void **state)
{
    mem *m = support_mem();
    post_statement *st;

    (void)state;
    st = read_text(curio, FIL_WINDOW, m);
    post_statement_free(st);
    for (size_t i = 0; i < sizeof curio_edits / sizeof curio_edits[0]; i++) {
        char *json = replaced(curio, curio_edits[i].from, curio_edits[i].to, true);

        refuse(json, &curio_edits[i], m);
        free(json);
    }
    support_close(m);
}

/* registered sizes only where there is a number; api_version alone gives any size */
static void test_sizes_without_a_number(void **state)
{
    mem *m = support_mem();
    char *json = replaced(good, "2048, \"registered_post_proof\": 10",
                          "16384, \"registered_post_proof\": null", false);
    post_statement *st = read_text(json, FIL_WINDOW, m);
    char *older = replaced(json, "1.2.0", "1.1.0", false),
         *odd = replaced(json, "16384", "16385", false);

    (void)state;
    assert_int_equal(st->size->bytes, 16384);
    post_statement_free(st);
    st = read_text(older, FIL_WINDOW, m);
    assert_int_equal(st->api, FIL_API_1_1_0);
    post_statement_free(st);
    st = NULL;
    assert_status_is(post_statement_read(&st, (const uint8_t *)odd, strlen(odd), FIL_WINDOW, m),
                     CUZK_EDATA);
    assert_error_mentions("16385");
    assert_null(st);
    /* a winning statement has one sector */
    assert_status_is(post_statement_read(&st, (const uint8_t *)json, strlen(json), FIL_WINNING, m),
                     CUZK_EDATA);
    assert_error_class(CUZK_CLASS_SHAPE);
    assert_error_mentions("2 sectors");
    free(json);
    free(older);
    free(odd);
    support_close(m);
}

static void test_every_failing_allocation(void **state)
{
    size_t size;
    uint8_t *json =
        harness_read_file(harness_fixture("filecoin/2kib/window-v1/statement.json"), &size);

    (void)state;
    for (unsigned long k = 1;; k++) {
        mem *m = support_mem();
        post_statement *st = NULL;
        cuzk_status got;

        mem_inject_fault(m, k);
        got = post_statement_read(&st, json, size, FIL_WINDOW, m);
        if (!mem_fault_hit(m)) {
            assert_status_ok(got);
            post_statement_free(st);
            support_close(m);
            assert_true(k > 2);
            break;
        }
        assert_status_is(got, CUZK_ENOMEM);
        assert_null(st);
        support_close(m);
    }
    free(json);
}

static void test_canonical(void **state)
{
    uint8_t b[32];

    (void)state;
    harness_from_hex(b, 32, MODULUS);
    assert_false(fil_is_canonical(b));
    harness_from_hex(b, 32, BELOW_MODULUS);
    assert_true(fil_is_canonical(b));
    memset(b, 0xff, 32);
    assert_false(fil_is_canonical(b));
    memset(b, 0, 32);
    assert_true(fil_is_canonical(b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_ours),
        cmocka_unit_test(test_reads_curios),
        cmocka_unit_test(test_refuses_edits),
        cmocka_unit_test(test_refuses_every_prefix),
        cmocka_unit_test(test_refuses_edits_of_curios),
        cmocka_unit_test(test_sizes_without_a_number),
        cmocka_unit_test(test_every_failing_allocation),
        cmocka_unit_test(test_canonical),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
