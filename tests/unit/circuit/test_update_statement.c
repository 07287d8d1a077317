/*
 * unit/circuit/test_update_statement.c - sector updates: shapes, challenges, statements that are wrong
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "support.h"

#include "circuit/filecoin/update_impl.h"

/* ---- challenges ---- */

/* spec/filecoin-expected.md 1.1 (rust-fil-proofs, storage-proofs-update/src/challenges.rs): the first five of a partition, with
   the first element of TEST_SEED for comm_r_new */
#define COMM_R_NEW "101cbe4b9c42604f04c703c396f788c6cb2d6d7d58f45430b12eb2edd640076c"

typedef struct drawn {
    const char *size;
    size_t partition;
    uint64_t first[5];
} drawn;

static const drawn draws[] = {
    {"1k", 0, {21, 7, 3, 31, 0}},
    {"2k", 0, {53, 51, 56, 3, 0}},
    {"4k", 0, {117, 25, 62, 0, 72}},
    {"8k", 0, {245, 140, 15, 128, 28}},
    {"16k", 0, {245, 140, 15, 128, 28}},
    {"16k", 1, {286, 308, 493, 510, 508}},
    {"32k", 0, {245, 454, 3, 400, 193}},
    {"32k", 1, {542, 666, 955, 927, 911}},
    {"8m", 0, {36085, 32783, 44060, 10950, 3731}},
    {"8m", 1, {78878, 130797, 112892, 93994, 78379}},
    {"16m", 0, {101621, 16391, 109319, 25944, 41193}},
    {"16m", 1, {209950, 163702, 175679, 224741, 197410}},
    {"512m", 0, {1019125, 116736, 706220, 59698, 799498}},
    {"512m", 1, {2092548, 1213276, 1185483, 1164598, 1095197}},
    {"512m", 14, {15212432, 15665918, 15015423, 15012912, 15495223}},
    {"512m", 15, {16388544, 15794686, 16637142, 16319148, 16328348}},
    {"32g", 0, {1019125, 27985696, 15282860, 11586600, 44651330}},
    {"32g", 1, {109168525, 127316247, 80331041, 97065716, 72310052}},
    {"32g", 14, {990420169, 955146989, 968005601, 976863263, 944650706}},
    {"32g", 15, {1038629497, 1053983614, 1030421316, 1027373887, 1068685433}},
    {"64g", 0, {1019125, 13992848, 3820715, 18225541, 57316660}},
    {"64g", 1, {243386253, 197875851, 204632136, 171516766, 247789010}},
    {"64g", 14, {1997053129, 1920414070, 2003609080, 1900492803, 1963254685}},
    {"64g", 15, {2045262457, 2036941247, 2136653521, 2091356007, 2147167623}},
};

static void test_challenges(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof draws / sizeof draws[0]; i++) {
        const drawn *d = &draws[i];
        update_statement st = {0};
        uint64_t challenges[86];
        const fil_size *size;
        fil_kind kind;
        char name[32];

        (void)snprintf(name, sizeof name, "update-%s", d->size);
        assert_status_ok(fil_circuit_parse(&kind, &size, name));
        assert_status_ok(update_shape_of(&st.shape, kind, size));
        harness_from_hex(st.comm_r_new, 32, COMM_R_NEW);
        update_challenges(&st, d->partition, support_poseidon(), challenges);
        for (size_t k = 0; k < 5; k++) assert_int_equal(challenges[k], d->first[k]);
        for (size_t k = 0; k < st.shape.n_challenges; k++)
            assert_int_equal(challenges[k] >> st.shape.drawn_bits, d->partition);
    }
}

/* fixtures/filecoin/model/update-2kib.pub.json: all of a partition's */
static void test_all_challenges_and_public_inputs(void **state)
{
    static const uint64_t want[10] = {63, 27, 46, 6, 10, 6, 29, 4, 2, 44};
    static const char *const pub[UPDATE_N_PUBLIC] = {
        "0100000000000000000000000000000000000000000000000000000000000000",
        "9c5939b98d23f657c7afd24c5aff2990aa2d5909df04b6d70270a9036c98e94b",
        "10a619e642dd286a9ecef830ebf99d14b9f054ffabf9e61e2e5fce113c5c7437",
        "9c1da0523a68fe068ff649f402932fa1c6329f0156b636d80f23d5c312570431"};
    uint64_t got[10];
    fr inputs[UPDATE_N_PUBLIC];
    update_statement st;
    size_t size;
    uint8_t *json =
        harness_read_file(harness_fixture("filecoin/model/update-2kib.pub.json"), &size);

    (void)state;
    assert_status_ok(update_statement_read(&st, json, size, FIL_UPDATE));
    assert_int_equal(st.shape.size->bytes, 2048);
    update_challenges(&st, 0, support_poseidon(), got);
    for (size_t i = 0; i < 10; i++) assert_int_equal(got[i], want[i]);
    assert_status_ok(update_public_inputs(&st, 0, support_curve(), inputs));
    for (size_t i = 0; i < UPDATE_N_PUBLIC; i++) {
        scalar s;

        support_curve()->fr_to_scalar(&s, &inputs[i]);
        assert_hex_equal(s.b, 32, pub[i]);
    }
    assert_status_is(update_public_inputs(&st, 1, support_curve(), inputs), CUZK_EINVAL);
    assert_error_mentions("partition 1");
    free(json);
}

/* ---- shapes ---- */

static void test_shapes(void **state)
{
    static const struct {
        uint32_t nodes_log, partitions, challenges, apex, high, digests;
    } want[] = {
        {5, 1, 10, 8, 1, 1},       {6, 1, 10, 8, 1, 1},      {7, 1, 10, 8, 1, 1},
        {8, 1, 10, 8, 1, 1},       {9, 2, 10, 128, 1, 1},    {10, 2, 10, 128, 1, 1},
        {18, 4, 10, 128, 10, 1},   {19, 4, 10, 128, 10, 1},  {24, 16, 86, 128, 10, 8},
        {30, 16, 86, 128, 10, 10}, {31, 16, 86, 128, 10, 10}}; /* gen_challenge_bits of expected.md section 1 */
    update_shape s;

    (void)state;
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        const fil_size *size = fil_size_by_bytes(UINT64_C(32) << want[i].nodes_log);

        assert_status_ok(update_shape_of(&s, FIL_UPDATE, size));
        assert_int_equal(s.n_partitions, want[i].partitions);
        assert_int_equal(1u << s.partition_bits, want[i].partitions);
        assert_int_equal(s.n_challenges, want[i].challenges);
        assert_int_equal(s.n_apex, want[i].apex);
        assert_int_equal(s.high[s.high_choice], want[i].high);
        assert_int_equal(s.n_digests, want[i].digests);
        assert_int_equal(update_selector(&s, 0), (want[i].high == 10 ? 8u : 1u)
                                                     << s.partition_bits);
        assert_status_ok(update_shape_of(&s, FIL_UPDATE_POSEIDON, size));
        assert_int_equal(s.n_partitions, 1);
        assert_int_equal(s.n_challenges, want[i].challenges * want[i].partitions);
        assert_int_equal(s.n_apex, 0);
    }
    assert_status_is(update_shape_of(&s, FIL_UPDATE, fil_size_by_bytes(UINT64_C(1) << 30)),
                     CUZK_EINVAL);
    assert_status_is(update_shape_of(&s, FIL_POREP, fil_size_by_bytes(2048)), CUZK_EINVAL);
}

/* ---- reading ---- */

#define HASH_1 "0100000000000000000000000000000000000000000000000000000000000000"
#define HASH_2 "0200000000000000000000000000000000000000000000000000000000000000"
#define ZERO "0000000000000000000000000000000000000000000000000000000000000000"
#define MODULUS "01000000fffffffffe5bfeff02a4bd5305d8a10908d83933487d9d2953a7ed73"
#define BELOW_MODULUS "00000000fffffffffe5bfeff02a4bd5305d8a10908d83933487d9d2953a7ed73"

static const char good[] =
    "{\"sector_size\": 8388608, \"registered_update_proof\": 1, \"more\": [{}],"
    " \"comm_r_old\": \"" HASH_1 "\", \"comm_r_new\": \"" HASH_2 "\","
    " \"comm_d_new\": \"" BELOW_MODULUS "\"}";

/* `good` with one piece replaced is refused, or, where mentions is NULL, read. */
typedef struct edit {
    const char *from, *to;
    cuzk_class klass;
    const char *mentions;
} edit;

static const edit edits[] = {
    {"", "", CUZK_CLASS_NONE, NULL},
    {"\"registered_update_proof\": 1, ", "", CUZK_CLASS_NONE, NULL},
    {"_proof\": 1", "_proof\": null", CUZK_CLASS_NONE, NULL},
    {"\"sector_size\": 8388608, ", "", CUZK_CLASS_NONE, NULL},
    {"8388608, \"registered_update_proof\": 1", "16777216, \"registered_update_proof\": null",
     CUZK_CLASS_NONE, NULL},
    {"_proof\": 1", "_proof\": 0", CUZK_CLASS_SHAPE, "registered_update_proof 0 has 2048"},
    {"8388608", "2048", CUZK_CLASS_SHAPE, "2048"},
    {"8388608", "16777216", CUZK_CLASS_SHAPE, "16777216"},
    {"8388608", "3000", CUZK_CLASS_MALFORMED, "3000 is not a size"},
    {"8388608", "1073741824", CUZK_CLASS_MALFORMED, "1073741824 is not a size"},
    {"8388608", "\"8MiB\"", CUZK_CLASS_MALFORMED, "sector_size"},
    {"_proof\": 1", "_proof\": 5", CUZK_CLASS_MALFORMED, "registered_update_proof"},
    {"_proof\": 1", "_proof\": \"1\"", CUZK_CLASS_MALFORMED, "registered_update_proof"},
    {"\"sector_size\": 8388608, \"registered_update_proof\": 1, ", "", CUZK_CLASS_MALFORMED,
     "missing sector_size or registered_update_proof"},
    {"\"comm_r_old\"", "\"comm_r\"", CUZK_CLASS_MALFORMED, "missing comm_r_old"},
    {"\"comm_r_new\"", "\"comm_r\"", CUZK_CLASS_MALFORMED, "missing comm_r_new"},
    {"\"comm_d_new\"", "\"comm_d\"", CUZK_CLASS_MALFORMED, "missing comm_d_new"},
    {"\"comm_r_new\"", "\"comm_r_old\"", CUZK_CLASS_MALFORMED, "comm_r_old"},
    {HASH_2, ZERO, CUZK_CLASS_MALFORMED, "zero"},
    {HASH_2, MODULUS, CUZK_CLASS_MALFORMED, "not below the modulus"},
    {BELOW_MODULUS, MODULUS, CUZK_CLASS_MALFORMED, "comm_d_new"},
    {"\"" HASH_1, "\"0", CUZK_CLASS_MALFORMED, "these are 1 characters"},
    {"\"" HASH_1 "\"", "null", CUZK_CLASS_MALFORMED, "comm_r_old"},
    {"{\"sector_size\"", "[\"sector_size\"", CUZK_CLASS_MALFORMED, ""},
    {"\"}", "\"} x", CUZK_CLASS_MALFORMED, ""},
    {"\"}", "\"", CUZK_CLASS_MALFORMED, ""},
};

static void check_edit(const edit *e)
{
    char text[1024];
    const char *at = strstr(good, e->from);
    update_statement st;
    int n;

    assert_non_null(at);
    n = snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, e->to,
                 at + strlen(e->from));
    assert_in_range(n, 1, sizeof text - 1);
    (void)printf("%s -> %s\n", e->from, e->to);
    if (e->mentions == NULL) {
        assert_status_ok(update_statement_read(&st, (const uint8_t *)text, (size_t)n, FIL_UPDATE));
        return;
    }
    assert_status_is(update_statement_read(&st, (const uint8_t *)text, (size_t)n, FIL_UPDATE),
                     CUZK_EDATA);
    assert_error_class(e->klass);
    assert_error_mentions(e->mentions);
}

static void test_reading(void **state)
{
    update_statement st;

    (void)state;
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) check_edit(&edits[i]);
    assert_status_ok(
        update_statement_read(&st, (const uint8_t *)good, sizeof good - 1, FIL_UPDATE));
    assert_int_equal(st.shape.size->bytes, 8388608);
    assert_hex_equal(st.comm_r_old, 32, HASH_1);
    assert_hex_equal(st.comm_r_new, 32, HASH_2);
    assert_hex_equal(st.comm_d_new, 32, BELOW_MODULUS);
    assert_status_is(update_statement_read(&st, (const uint8_t *)good, sizeof good - 1, FIL_WINDOW),
                     CUZK_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_challenges),
        cmocka_unit_test(test_all_challenges_and_public_inputs),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_reading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
