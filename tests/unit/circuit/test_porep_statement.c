/*
 * unit/circuit/test_porep_statement.c - PoRep statements: reading, what follows from them, C1 outputs that are not theirs
 *
 * Public inputs are compared with those of the reference, which hold replica_id, challenges and all parents.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "porep_public.h"

/* ---- public inputs ---- */

static void check_case(const char *folder)
{
    porep_statement st = read_statement(folder);
    porep_derived d;

    porep_derive(&d, &st);
    for (uint32_t k = 0; k < d.n_partitions; k++) check_entry(folder, &d, k, k);
}

static void test_v1_1(void **state)
{
    (void)state;
    check_case("2kib/porep-v1_1");
}

static void test_features(void **state)
{
    (void)state;
    check_case("2kib/porep-v1");
    check_case("2kib/porep-synthetic");
    check_case("2kib/porep-ni");
}

static void test_sizes(void **state)
{
    (void)state;
    check_case("4kib/porep");
    check_case("16kib/porep");
    check_case("32kib/porep");
    check_case("8mib/porep");
    check_case("16kib/porep-11layers");
    check_case("32kib/porep-11layers");
}

static void test_no_such_partition(void **state)
{
    porep_statement st = read_statement("2kib/porep-v1_1");
    porep_derived d;

    (void)state;
    porep_derive(&d, &st);
    assert_status_is(porep_public_inputs(&d, 1, support_curve(), NULL), CUZK_EINVAL);
}

/* ---- vectors: spec/filecoin-expected.md 1.1 ---- */

static void test_synthetic_challenges(void **state)
{
    static const uint32_t synthetic[] = {178, 297, 869, 211, 875, 477, 94,  781, 124, 332, 856,
                                         801, 176, 692, 429, 691, 290, 204, 986, 210, 973};
    static const uint32_t chosen[] = {176, 781, 801, 986, 290, 211, 692, 856, 986, 332};
    porep_derived d = {.replica_id = {55}};

    (void)state;
    d.st.comm_r[0] = 101;
    memset(d.st.seed, 1, sizeof d.st.seed);
    porep_synthetic_keys(&d);
    for (uint32_t i = 0; i < 21; i++)
        assert_int_equal(porep_synthetic_node(d.generation_key, i, 10), synthetic[i]);
    for (uint32_t j = 0; j < 10; j++)
        assert_int_equal(synthetic[porep_synthetic_index(d.selection_key, j, 21)], chosen[j]);
}

/* Digests of all parents of all nodes, as the network's parent_cache.json has them. */
static void check_parents(uint64_t bytes, uint32_t registered, const char *want)
{
    const fil_size *s = fil_size_by_bytes(bytes);
    porep_graph g;
    sha256_ctx c;
    uint8_t digest[32];

    porep_graph_init(&g, s, registered);
    sha256_init(&c);
    for (uint32_t v = 0; v < UINT32_C(1) << s->nodes_log; v++) {
        uint32_t parents[14];
        uint8_t b[56];

        porep_drg_parents(&g, v, parents);
        porep_exp_parents(&g, v, parents + 6);
        for (size_t i = 0; i < 14; i++) store_u32le(b + 4 * i, parents[i]);
        sha256_update(&c, b, sizeof b);
    }
    sha256_final(&c, digest);
    assert_hex_equal(digest, 32, want);
}

static void test_parents(void **state)
{
    (void)state;
    check_parents(2048, 0, "3da49221e2ed55371b86d0bf3d6526fcf128af61bed904f966428db1b531750d");
    check_parents(2048, 5, "840057702eea7652cf97e04306c30fe57174714d90de156a25eddd6075c25b97");
    if (harness_level() == HARNESS_CHECK) return;
    check_parents(8 << 20, 1, "a76604f2f59f2744c7151653bbb1d8596b6b57d295e6fa6c1f0c41d725b502ce");
    check_parents(8 << 20, 6, "03cd13565ded97c240a5f52e54295ad127bd0461b57904cb3a4d79b097bbecab");
}

/* Many nodes at once, of graphs small and large, have the parents that each has alone. */
static void test_parents_many(void **state)
{
    static const uint64_t bytes[] = {2048, 8 << 20, UINT64_C(32) << 30};
    static const uint32_t registered[] = {0, 1, 8};
    uint32_t nodes[70], many[71][POREP_EXP_PARENTS], one[POREP_EXP_PARENTS];

    (void)state;
    for (size_t k = 0; k < 3; k++) {
        const fil_size *s = fil_size_by_bytes(bytes[k]);
        porep_graph g;
        porep_graph_init(&g, s, registered[k]);
        for (size_t n = 0; n <= 70; n += n < 3 ? 1 : 29) {
            for (size_t i = 0; i < n; i++)
                nodes[i] = (uint32_t)harness_random_below(UINT64_C(1) << s->nodes_log);
            memset(many, 0xff, sizeof many);
            porep_exp_parents_many(&g, nodes, n, many);
            for (size_t i = 0; i < n; i++) {
                porep_exp_parents(&g, nodes[i], one);
                assert_memory_equal(many[i], one, sizeof one);
                for (size_t j = 0; j < POREP_EXP_PARENTS; j++)
                    assert_true(one[j] < UINT32_C(1) << s->nodes_log);
            }
            assert_int_equal(many[n][0], UINT32_MAX);
        }
    }
}

/* ---- reading ---- */

#define MEMBERS \
    "\"layers\":2,\"registered_seal_proof\":5,\"miner_id\":18446744073709551615,\"sector_" \
    "number\":7," \
    "\"ticket\":\"" HASH "\",\"seed\":\"" HASH "\",\"comm_d\":\"" HASH "\",\"comm_r\":\"" HASH \
    "\""
#define HASH "0100000000000000000000000000000000000000000000000000000000000000"
#define ZERO "0000000000000000000000000000000000000000000000000000000000000000"
#define MODULUS "01000000fffffffffe5bfeff02a4bd5305d8a10908d83933487d9d2953a7ed73"

static void refused(const char *json, cuzk_class klass, const char *tells)
{
    porep_statement st;

    assert_status_is(porep_statement_read(&st, (const uint8_t *)json, strlen(json)), CUZK_EDATA);
    (void)printf("%s: %s\n", cuzk_last_error()->where, cuzk_last_error()->message);
    assert_error_class(klass);
    assert_error_mentions(tells);
}

static void test_reading(void **state)
{
    static const char json[] = "{\"x\":[{}],\"sector_size\":2048," MEMBERS "}";
    porep_statement st;

    (void)state;
    assert_status_ok(porep_statement_read(&st, (const uint8_t *)json, sizeof json - 1));
    assert_int_equal(st.miner_id, UINT64_MAX);
    assert_int_equal(st.sector_number, 7);
    assert_int_equal(st.shape.size->bytes, 2048);
    assert_int_equal(st.shape.layers, 2);
    assert_int_equal(st.registered, 5);
}

static void test_refused(void **state)
{
    (void)state;
    refused("", CUZK_CLASS_MALFORMED, "empty");
    refused("[]", CUZK_CLASS_MALFORMED, "an object wanted");
    refused("{" MEMBERS "}", CUZK_CLASS_MALFORMED, "missing sector_size");
    refused("{\"sector_size\":2048}", CUZK_CLASS_MALFORMED, "missing layers");
    refused("{\"sector_size\":2048," MEMBERS "} {}", CUZK_CLASS_MALFORMED, "trailing");
    refused("{\"sector_size\":2048,\"seed\":\"" HASH "\"," MEMBERS "}", CUZK_CLASS_MALFORMED,
            "twice");
    refused("{\"sector_size\":2047," MEMBERS "}", CUZK_CLASS_MALFORMED, "2047 is not a size");
    refused("{\"sector_size\":1024," MEMBERS "}", CUZK_CLASS_MALFORMED, "1024 is not a size");
    refused("{\"sector_size\":8388608," MEMBERS "}", CUZK_CLASS_SHAPE,
            "5 is not of sectors of 8388608 bytes");
    refused("{\"sector_size\":\"2KiB\"," MEMBERS "}", CUZK_CLASS_MALFORMED, "a number wanted");
    refused("{\"layers\":3}", CUZK_CLASS_MALFORMED, "missing sector_size");
    refused("{\"layers\":12}", CUZK_CLASS_MALFORMED, "0..11");
    refused("{\"registered_seal_proof\":20}", CUZK_CLASS_MALFORMED, "0..19");
    refused("{\"registered_seal_proof\":null}", CUZK_CLASS_MALFORMED, "a number wanted");
    refused("{\"miner_id\":18446744073709551616}", CUZK_CLASS_MALFORMED, "miner_id");
    refused("{\"ticket\":\"00\"}", CUZK_CLASS_MALFORMED, "64 hexadecimal digits");
    refused("{\"comm_r\":[1]}", CUZK_CLASS_MALFORMED, "64 hexadecimal digits");
}

/* One member of the good statement changed. */
static void test_values(void **state)
{
    static const struct {
        const char *member, *value;
        cuzk_class klass;
        const char *tells;
    } rows[] = {
        {"layers", "3", CUZK_CLASS_SHAPE, "3 layers, sectors of 2048 bytes have 2"},
        {"layers", "11", CUZK_CLASS_SHAPE, "11 layers, sectors of 2048 bytes have 2"},
        {"comm_r", "\"" ZERO "\"", CUZK_CLASS_MALFORMED, "comm_r is zero"},
        {"comm_d", "\"" ZERO "\"", CUZK_CLASS_MALFORMED, "comm_d is zero"},
        {"seed", "\"" ZERO "\"", CUZK_CLASS_MALFORMED, "seed is zero"},
        {"comm_r", "\"" MODULUS "\"", CUZK_CLASS_MALFORMED, "comm_r is not below the modulus"},
        {"comm_d", "\"" MODULUS "\"", CUZK_CLASS_MALFORMED, "comm_d is not below the modulus"},
    };
    static const char *const good[][2] = {
        {"sector_size", "2048"},        {"layers", "2"},
        {"registered_seal_proof", "5"}, {"miner_id", "1"},
        {"sector_number", "1"},         {"ticket", "\"" ZERO "\""},
        {"seed", "\"" MODULUS "\""},    {"comm_d", "\"" HASH "\""},
        {"comm_r", "\"" HASH "\""}};

    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        char json[1024] = "{";

        for (size_t i = 0; i < 9; i++) {
            bool changed = strcmp(good[i][0], rows[r].member) == 0;
            size_t at = strlen(json);

            (void)snprintf(json + at, sizeof json - at, "%s\"%s\":%s", i == 0 ? "" : ",",
                           good[i][0], changed ? rows[r].value : good[i][1]);
        }
        json[strlen(json)] = '}'; /* the rest is zeros */
        refused(json, rows[r].klass, rows[r].tells);
    }
}

/* ---- C1 outputs ---- */

typedef struct bad {
    const char *file;
    cuzk_class klass;
    const char *tells[3];
} bad;

/* The rows of TABLE.md that need the statement, or tell of nodes; those that need hashes pass here. */
static const bad bads[] = {
    {"porep-r-path-index", CUZK_CLASS_INCONSISTENT, {"partition 0, challenge 0, comm_r_last path"}},
    {"porep-label-node", CUZK_CLASS_INCONSISTENT, {"partition 0, challenge 0, node"}},
    {"porep-drg-order", CUZK_CLASS_INCONSISTENT, {"partition 0, challenge 0, drg parent 1"}},
    {"porep-challenge-order",
     CUZK_CLASS_STATEMENT,
     {"partition 0, challenge 0", "is not the derived one"}},
    {"porep-comm-r", CUZK_CLASS_STATEMENT, {"comm_r"}},
    {"porep-comm-d", CUZK_CLASS_STATEMENT, {"comm_d"}},
    {"porep-replica-id", CUZK_CLASS_STATEMENT, {"replica_id", "ticket"}},
    {"porep-ticket", CUZK_CLASS_STATEMENT, {"ticket", "replica_id does not follow"}},
    {"porep-seed", CUZK_CLASS_STATEMENT, {"seed", "challenges"}},
    {"porep-registered-synthetic", CUZK_CLASS_STATEMENT, {"Synthetic", "challenges"}},
    {"wrap-sector", CUZK_CLASS_STATEMENT, {"sector number", "replica_id does not follow"}},
    {"porep-label-parent", CUZK_CLASS_NONE, {NULL}},
    {"porep-drg-column-row", CUZK_CLASS_NONE, {NULL}},
    {"porep-key-order-OK", CUZK_CLASS_NONE, {NULL}},
};

static porep_c1 *read_c1(const char *path, const porep_shape *shape, mem *m)
{
    porep_c1 *c1 = NULL;
    uint8_t *data;
    size_t size;

    data = harness_read_file(harness_fixture(path), &size);
    assert_status_ok(porep_c1_read(&c1, data, size, shape, m));
    free(data);
    return c1;
}

static void test_damaged_files(void **state)
{
    porep_statement st = read_statement("2kib/porep-v1_1");
    porep_derived d;
    mem *m = support_mem();

    (void)state;
    porep_derive(&d, &st);
    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
        char path[128];
        porep_c1 *c1;

        (void)snprintf(path, sizeof path, "filecoin/bad/%s.json", bads[i].file);
        c1 = read_c1(path, &st.shape, m);
        if (bads[i].klass == CUZK_CLASS_NONE) {
            assert_status_ok(porep_check_statement(c1, &d));
        } else {
            assert_status_is(porep_check_statement(c1, &d), CUZK_EDATA);
            (void)printf("%s: %s: %s\n", bads[i].file, cuzk_last_error()->where,
                         cuzk_last_error()->message);
            assert_error_class(bads[i].klass);
            for (size_t k = 0; k < 3 && bads[i].tells[k] != NULL; k++)
                assert_error_mentions(bads[i].tells[k]);
        }
        porep_c1_free(c1);
    }
    support_close(m);
}

static void test_good_files(void **state)
{
    static const char *const folders[] = {
        "2kib/porep-v1_1",      "2kib/porep-v1",       "2kib/porep-synthetic", "2kib/porep-ni",
        "4kib/porep",           "16kib/porep",         "32kib/porep",          "8mib/porep",
        "16kib/porep-11layers", "32kib/porep-11layers"};
    mem *m = support_mem();

    (void)state;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        porep_statement st = read_statement(folders[i]);
        porep_derived d;
        porep_c1 *c1;
        char path[128];

        (void)printf("%s\n", folders[i]);
        porep_derive(&d, &st);
        (void)snprintf(path, sizeof path, "filecoin/%s/c1.json", folders[i]);
        c1 = read_c1(path, &st.shape, m);
        assert_status_ok(porep_check_statement(c1, &d));
        porep_c1_free(c1);
    }
    support_close(m);
}

/* Every number that the circuit reads as an index: changed alone, it is found, at its place. */
static void test_indices(void **state)
{
    porep_statement st = read_statement("2kib/porep-v1_1");
    porep_derived d;
    mem *m = support_mem();
    porep_c1 *c1 = read_c1("filecoin/2kib/porep-v1_1/c1.json", &st.shape, m);
    const porep_layout *l = &c1->layout;
    uint32_t others = 0, n = l->n_numbers;

    (void)state;
    porep_derive(&d, &st);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t *at = c1->numbers + n + i, was = *at; /* of the second challenge */
        cuzk_status got;

        *at ^= 1;
        got = porep_check_statement(c1, &d);
        *at = was;
        if (got == CUZK_OK) {
            others++; /* a column's index, a layer, nodes of later labelling proofs */
            continue;
        }
        assert_error_class(CUZK_CLASS_INCONSISTENT);
        assert_error_mentions("partition 0, challenge 1");
    }
    assert_int_equal(others, 15 + 2 * (l->layers + 1) - 1);
    porep_c1_free(c1);
    support_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_v1_1),
        cmocka_unit_test(test_features),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_no_such_partition),
        cmocka_unit_test(test_synthetic_challenges),
        cmocka_unit_test(test_parents),
        cmocka_unit_test(test_parents_many),
        cmocka_unit_test(test_reading),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_damaged_files),
        cmocka_unit_test(test_good_files),
        cmocka_unit_test(test_indices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
