/*
 * unit/circuit/test_porep_c1.c - C1 outputs: the reference's are read to the last byte, damaged ones refused as TABLE.md asks
 *
 * What was read is judged by bincode_form_sha256 of the case: the digest of the same output in the other form.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "support.h"

#include <inttypes.h>

#include "base/base64.h"
#include "base/hash.h"
#include "base/json.h"
#include "circuit/filecoin/porep_c1_write.h"

/* ---- good ones ---- */

/* A member of the case's statement.json: hexadecimal text or a number. */
static void member(const char *folder, const char *name, char text[65], uint64_t *number)
{
    char path[256];
    uint8_t *json;
    size_t size, n;
    json_in j;
    json_token t;

    (void)snprintf(path, sizeof path, "filecoin/%s/statement.json", folder);
    json = harness_read_file(harness_fixture(path), &size);
    assert_status_ok(json_init(&j, json, size));
    assert_status_ok(json_expect(&j, JSON_OBJECT, NULL, "statement"));
    for (;;) {
        assert_status_ok(json_next(&j, &t));
        assert_int_equal(t.type, JSON_KEY);
        if (json_is(&t, name)) break;
        assert_status_ok(json_skip(&j));
    }
    assert_status_ok(json_next(&j, &t));
    if (number != NULL) assert_status_ok(json_u64(&t, UINT64_MAX, number, name));
    if (text != NULL) {
        assert_int_equal(t.len, 64);
        assert_status_ok(json_unescape(&t, text, &n));
    }
    free(json);
}

static porep_shape shape_of(const char *folder)
{
    uint64_t bytes, layers;

    member(folder, "sector_size", NULL, &bytes);
    member(folder, "layers", NULL, &layers);
    return (porep_shape){fil_size_porep(bytes, (uint32_t)layers), (uint32_t)layers};
}

static void check_values(const porep_c1 *c1, const char *folder)
{
    const struct {
        const char *name;
        const uint8_t *value;
    } v[] = {{"comm_r", c1->comm_r},
             {"comm_d", c1->comm_d},
             {"replica_id", c1->replica_id},
             {"seed", c1->seed},
             {"ticket", c1->ticket}};
    uint64_t number;
    char text[65];

    for (size_t i = 0; i < 5; i++) {
        member(folder, v[i].name, text, NULL);
        assert_hex_equal(v[i].value, 32, text);
    }
    member(folder, "registered_seal_proof", NULL, &number);
    assert_int_equal(c1->registered, number);
    member(folder, "partitions", NULL, &number);
    assert_int_equal(c1->n_partitions, number);
    if (!c1->wrapped) return;
    member(folder, "sector_number", NULL, &number);
    assert_int_equal(c1->sector_number, number);
}

/* The bytes of the other form are read back to the same, and no shorter or longer ones are taken. */
static void check_bincode(const bytes_out *o, const porep_c1 *c1, mem *m)
{
    porep_shape shape = {c1->size, c1->layout.layers};
    size_t n = (size_t)c1->n_partitions * c1->n_challenges;
    uint8_t *exact = malloc(o->size + 1);
    porep_c1 *got = NULL;

    assert_non_null(exact);
    memcpy(exact, o->data, o->size);
    exact[o->size] = 0;
    assert_status_ok(porep_c1_read_bincode(&got, exact, o->size, c1->registered, &shape, m));
    assert_bytes_equal(got->hashes, c1->hashes, n * c1->layout.n_hashes * 32);
    assert_bytes_equal(got->numbers, c1->numbers, n * c1->layout.n_numbers * 8);
    assert_bytes_equal(got->comm_r, c1->comm_r, sizeof c1->comm_r * 5);
    porep_c1_free(got);
    got = NULL;
    assert_status_is(porep_c1_read_bincode(&got, exact, o->size + 1, c1->registered, &shape, m),
                     CUZK_EDATA);
    assert_error_mentions("1 trailing byte");
    assert_status_is(porep_c1_read_bincode(&got, exact, o->size - 1, c1->registered, &shape, m),
                     CUZK_EDATA);
    assert_error_class(CUZK_CLASS_MALFORMED);
    assert_null(got);
    free(exact);
}

/* Reads a file of a case, compares all of it, and what it took. */
static void check_file(const char *folder, const char *file, const porep_shape *expected,
                       bool wrapped)
{
    mem *m = support_mem();
    porep_c1 *c1 = NULL;
    bytes_out o;
    uint8_t digest[32], *data;
    char path[256], text[65];
    size_t size;

    (void)snprintf(path, sizeof path, "filecoin/%s/%s", folder, file);
    data = harness_read_file(harness_fixture(path), &size);
    (void)printf("%s\n", path);
    assert_status_ok(porep_c1_read(&c1, data, size, expected, m));
    assert_true(mem_peak(m) < 2 * size);
    free(data);
    assert_int_equal(c1->wrapped, wrapped);
    check_values(c1, folder);
    bytes_out_init(&o, m);
    porep_c1_write_bincode(&o, c1);
    assert_status_ok(bytes_out_status(&o));
    sha256(digest, o.data, o.size);
    member(folder, "bincode_form_sha256", text, NULL);
    assert_hex_equal(digest, 32, text);
    check_bincode(&o, c1, m);
    bytes_out_clear(&o);
    porep_c1_free(c1);
    support_close(m);
}

static void check_case(const char *folder, bool usual_layers)
{
    porep_shape shape = shape_of(folder);

    check_file(folder, "c1.json", &shape, false);
    if (usual_layers) check_file(folder, "c1.json", NULL, false);
}

static void test_v1_1(void **state)
{
    (void)state;
    check_case("2kib/porep-v1_1", true);
    check_file("2kib/porep-v1_1", "c1-wrapped.json", NULL, true);
}

static void test_2kib(void **state)
{
    (void)state;
    check_case("2kib/porep-v1", true);
    check_case("2kib/porep-synthetic", true);
    check_case("2kib/porep-ni", true);
}

static void test_sizes(void **state)
{
    (void)state;
    check_case("4kib/porep", true);
    check_case("16kib/porep", true);
    check_case("32kib/porep", true);
    check_case("8mib/porep", true);
    check_case("16kib/porep-11layers", false);
    check_case("32kib/porep-11layers", false);
}

/* API 1.0.0 alone has the predecessor last. */
static void test_names(void **state)
{
    static const char *const names[] = {"StackedDrg2KiBV1", "StackedDrg8MiBV1_1",
                                        "StackedDrg512MiBV1_1_Feat_SyntheticPoRep",
                                        "StackedDrg32GiBV1_2_Feat_NonInteractivePoRep"};
    static const uint64_t bytes[] = {2048, 8 << 20, 512 << 20, UINT64_C(32) << 30};
    static const uint32_t partitions[] = {1, 1, 1, 126};

    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        const fil_size *s = fil_size_by_bytes(bytes[i]);
        char name[64];

        porep_name(name, 5 * i, s);
        assert_string_equal(name, names[i]);
        assert_int_equal(porep_partitions(s, porep_feature_of(5 * i)), partitions[i]);
    }
    assert_int_equal(porep_partitions(fil_size_by_bytes(bytes[3]), POREP_SYNTHETIC), 10);
    assert_int_equal(porep_partitions(fil_size_by_bytes(2048), POREP_NON_INTERACTIVE), 13);
}

/* ---- damaged ones: TABLE.md's rows that a reader can judge ---- */

typedef struct bad {
    const char *file;
    cuzk_class klass;
    const char *tells[2];
} bad;

#define MALFORMED CUZK_CLASS_MALFORMED
#define SHAPE CUZK_CLASS_SHAPE

static const bad bads[] = {
    {"porep-index-8.json", MALFORMED, {"index: 8", "0..7"}},
    {"porep-zero-seed.json", MALFORMED, {"seed is zero", ""}},
    {"porep-zero-comm-r.json", MALFORMED, {"comm_r is zero", ""}},
    {"porep-zero-comm-d.json", MALFORMED, {"comm_d is zero", ""}},
    {"porep-fr-is-r.json", MALFORMED, {"not below the modulus", "partition 0, challenge 0"}},
    {"porep-fr-plus-r.json", MALFORMED, {"leaf", "not below the modulus"}},
    {"porep-comm-r-plus-r.json", MALFORMED, {"comm_r is not below the modulus", ""}},
    {"porep-one-challenge.json", SHAPE, {"1 challenge, expected 2", "partition 0"}},
    {"porep-three-challenges.json", SHAPE, {"3 challenges, expected 2", "partition 0"}},
    {"porep-empty-partition.json", SHAPE, {"0 challenges, expected 2", "partition 0"}},
    {"porep-no-partition.json", SHAPE, {"0 partitions, expected 1", ""}},
    {"porep-two-partitions.json", SHAPE, {"2 partitions, expected 1", ""}},
    {"porep-short-path.json", SHAPE, {"1 path element, expected 2", "comm_r_last path"}},
    {"porep-long-path.json", SHAPE, {"7 path elements, expected 6", "comm_d path"}},
    {"porep-six-siblings.json", SHAPE, {"6 siblings, expected 7", "partition 0, challenge "}},
    {"porep-three-rows.json", SHAPE, {"3 rows, expected 2", "partition 0, challenge "}},
    {"porep-36-parents.json", SHAPE, {"36 parents, expected 37", "labeling proof"}},
    {"porep-5-drg.json", SHAPE, {"5 drg parents, expected 6", "partition 0, challenge "}},
    {"porep-sub-in-base.json", SHAPE, {"Sub, expected Single", "partition 0, challenge "}},
    {"porep-registered-8mib.json",
     SHAPE,
     {"StackedDrg8MiBV1_1", "vanilla_proofs StackedDrg2KiBV1"}},
    {"porep-registered-unknown.json", MALFORMED, {"unknown registered_proof StackedDrg2KiBV9", ""}},
    {"porep-vanilla-key.json",
     MALFORMED,
     {"vanilla_proofs", "key StackedDrg2KiBV1_1, expected StackedDrg2KiBV1"}},
    {"porep-missing-registered-proof.json", MALFORMED, {"missing registered_proof", ""}},
    {"porep-missing-vanilla-proofs.json", MALFORMED, {"missing vanilla_proofs", ""}},
    {"porep-missing-comm-r.json", MALFORMED, {"missing comm_r", ""}},
    {"porep-missing-replica-id.json", MALFORMED, {"missing replica_id", ""}},
    {"porep-missing-seed.json", MALFORMED, {"missing seed", ""}},
    {"porep-byte-256.json", MALFORMED, {"256 at offset", "0..255"}},
    {"porep-byte-negative.json", MALFORMED, {"-1 at offset", ""}},
    {"porep-byte-float.json", MALFORMED, {"1.5 at offset", ""}},
    {"porep-byte-string.json", MALFORMED, {"comm_d[0]: a number wanted", ""}},
    {"porep-31-bytes.json", MALFORMED, {"31 bytes, expected 32", ""}},
    {"porep-33-bytes.json", MALFORMED, {"33 bytes at offset", "allowed 32"}},
    {"porep-hash-null.json", MALFORMED, {"null at offset", ""}},
    {"porep-truncated.json", MALFORMED, {"end of input at offset 50210", "partition 0, challenge"}},
    {"porep-trailing.json", MALFORMED, {"trailing bytes at offset 100421", ""}},
    {"porep-bom.json", MALFORMED, {"byte order mark at byte 0", ""}},
    {"porep-empty.json", MALFORMED, {"empty", ""}},
    {"porep-deep.json", MALFORMED, {"depth 65 at offset 64, limit 64", ""}},
    {"porep-dup-key.json", MALFORMED, {"\"seed\"", "twice"}},
    {"porep-not-utf8.json", MALFORMED, {"UTF-8 wanted", ""}},
    {"porep-huge-number.json", MALFORMED, {"allowed 0..", ""}},
    {"porep-binary.json", MALFORMED, {"at offset 0", ""}},
    {"wrap-size.json", SHAPE, {"SectorSize 34359738368", "2048"}},
    {"wrap-base64.json", MALFORMED, {"Phase1Out", "at offset 1000"}},
    {"wrap-base64-short.json", MALFORMED, {"Phase1Out", "base64"}},
    {"wrap-negative.json", MALFORMED, {"SectorNum", "-1"}},
    {"wrap-inner-object.json", MALFORMED, {"Phase1Out", "a string wanted"}},
};

static void refuse(const bad *b)
{
    porep_shape shape = {fil_size_by_bytes(2048), 2};
    mem *m = support_mem();
    porep_c1 *c1 = NULL;
    cuzk_error first;
    char path[128];
    uint8_t *data;
    size_t size;

    (void)snprintf(path, sizeof path, "filecoin/bad/%s", b->file);
    data = harness_read_file(harness_fixture(path), &size);
    assert_status_is(porep_c1_read(&c1, data, size, NULL, m), CUZK_EDATA);
    first = *cuzk_last_error();
    assert_status_is(porep_c1_read(&c1, data, size, &shape, m), CUZK_EDATA);
    assert_string_equal(cuzk_last_error()->message, first.message);
    assert_null(c1);
    assert_true(mem_peak(m) < 200000);
    (void)printf("%s: %s: %s\n", b->file, cuzk_last_error()->where, cuzk_last_error()->message);
    assert_error_class(b->klass);
    for (size_t k = 0; k < 2; k++) assert_error_mentions(b->tells[k]);
    free(data);
    support_close(m);
}

static void test_damaged_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) refuse(&bads[i]);
}

static void test_accepted_files(void **state)
{
    static const char *const files[] = {"porep-extra-field-OK.json", "porep-key-order-OK.json"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        mem *m = support_mem();
        porep_c1 *c1 = NULL;
        char path[128];
        uint8_t *data;
        size_t size;

        (void)snprintf(path, sizeof path, "filecoin/bad/%s", files[i]);
        data = harness_read_file(harness_fixture(path), &size);
        assert_status_ok(porep_c1_read(&c1, data, size, NULL, m));
        check_values(c1, "2kib/porep-v1_1");
        porep_c1_free(c1);
        free(data);
        support_close(m);
    }
}

/* ---- made here ---- */

typedef struct text {
    char *s;
    size_t size;
} text;

static text load(const char *file)
{
    char path[128];
    text t;

    (void)snprintf(path, sizeof path, "filecoin/2kib/porep-v1_1/%s", file);
    t.s = (char *)harness_read_file(harness_fixture(path), &t.size);
    return t;
}

/* The text with one occurrence of `from` made `to`. */
static text replaced(const text *t, const char *from, const char *to)
{
    char *at = strstr(t->s, from);
    size_t before, n = strlen(to);
    text out;

    assert_non_null(at);
    before = (size_t)(at - t->s);
    out.size = t->size - strlen(from) + n;
    out.s = malloc(out.size + 1);
    assert_non_null(out.s);
    memcpy(out.s, t->s, before);
    memcpy(out.s + before, to, n);
    memcpy(out.s + before + n, at + strlen(from), t->size - before - strlen(from) + 1);
    return out;
}

static cuzk_status read_text(const text *t, const porep_shape *expected)
{
    mem *m = support_mem();
    porep_c1 *c1 = NULL;
    cuzk_status st = porep_c1_read(&c1, (const uint8_t *)t->s, t->size, expected, m);

    porep_c1_free(c1);
    support_close(m);
    return st;
}

static void check_replaced(const char *file, const char *from, const char *to, cuzk_class klass,
                           const char *tells)
{
    text t = load(file), u = replaced(&t, from, to);
    cuzk_status st = read_text(&u, NULL);

    (void)printf("%s -> %s\n", from, to);
    if (klass == CUZK_CLASS_NONE) {
        assert_status_ok(st);
    } else {
        assert_status_is(st, CUZK_EDATA);
        assert_error_class(klass);
        assert_error_mentions(tells);
    }
    free(t.s);
    free(u.s);
}

static void test_members(void **state)
{
    (void)state;
    check_replaced("c1.json", "\"_h\":null", "\"_g\":[{}]", CUZK_CLASS_NONE, "");
    check_replaced("c1.json", "\"node\"", "\"node\":0,\"node\"", MALFORMED, "\"node\"");
    check_replaced("c1.json", "\"comm_d_proofs\"", "\"comm_d_proof\"", MALFORMED,
                   "missing comm_d_proofs");
    check_replaced("c1.json", "\"Single\":", "\"Single\":{},\"Single\":", MALFORMED,
                   "missing root");
    check_replaced("c1.json", "\"Single\":", "\"Both\":", MALFORMED, "missing Single");
    check_replaced("c1.json", "\"data\":{", "\"data\":{\"Top\":{},", SHAPE, "Top, expected Single");
    check_replaced("c1.json", "\"index\":", "\"index\":-", MALFORMED, "index: -");
    check_replaced("c1.json", "\"layer_index\":1", "\"layer_index\":4294967296", MALFORMED,
                   "layer_index: 4294967296");
    check_replaced("c1.json", "\"StackedDrg2KiBV1\":[",
                   "\"StackedDrg2KiBV1\":{},\"StackedDrg2KiBV1\":[", MALFORMED, "an array wanted");
    check_replaced("c1.json",
                   "{\"registered_proof\":", "{\"SectorNum\":1,\"registered_proof\":", MALFORMED,
                   "keys of a wrapper");
    check_replaced("c1.json", "]]},\"comm_r\"", "]],\"x\":1},\"comm_r\"", MALFORMED,
                   "the end of vanilla_proofs wanted");
}

static void test_wrapper(void **state)
{
    (void)state;
    check_replaced("c1-wrapped.json", "eyJyZWdpc3Rl", "\\u0065yJyZWdpc3Rl", CUZK_CLASS_NONE, "");
    check_replaced("c1-wrapped.json",
                   "{\"SectorNum\":", "{\"Other\":[1],\"SectorNum\":", CUZK_CLASS_NONE, "");
    check_replaced("c1-wrapped.json", "\"SectorSize\":2048", "\"Sector\":2048", MALFORMED,
                   "missing SectorSize");
    check_replaced("c1-wrapped.json", "{\"SectorNum\":", "{\"seed\":[],\"SectorNum\":", MALFORMED,
                   "0 bytes, expected 32");
    check_replaced("c1-wrapped.json", "{\"SectorNum\":",
                   "{\"registered_proof\":\"StackedDrg2KiBV1\",\"SectorNum\":", MALFORMED,
                   "keys of a wrapper");
    /* {"SectorNum":1,... inside the wrapper is a key like any other, and the C1 output is missing */
    check_replaced("c1-wrapped.json", "\"Phase1Out\":\"", "\"Phase1Out\":\"e30=\",\"x\":\"",
                   MALFORMED, "missing registered_proof");
}

/* The statement's shape decides, where it is given. */
static void test_expected(void **state)
{
    porep_shape size = {fil_size_by_bytes(8 << 20), 2}, layers = {fil_size_by_bytes(2048), 11};
    text t = load("c1.json");

    (void)state;
    assert_status_is(read_text(&t, &size), CUZK_EDATA);
    assert_error_class(SHAPE);
    assert_error_mentions("StackedDrg2KiBV1_1, expected sectors of 8388608 bytes");
    assert_status_is(read_text(&t, &layers), CUZK_EDATA);
    assert_error_class(SHAPE);
    assert_error_mentions("2 rows, expected 11");
    free(t.s);
}

/* A small file that says it is of 126 partitions allocates as a small file does. */
static void test_lying_names(void **state)
{
    text t = load("c1.json"), u, v;
    mem *m = support_mem();
    porep_c1 *c1 = NULL;

    (void)state;
    u = replaced(&t, "StackedDrg2KiBV1_1", "StackedDrg64GiBV1_2_Feat_NonInteractivePoRep");
    v = replaced(&u, "\"StackedDrg2KiBV1\"", "\"StackedDrg64GiBV1\"");
    assert_status_is(porep_c1_read(&c1, (const uint8_t *)v.s, v.size, NULL, m), CUZK_EDATA);
    assert_error_class(SHAPE);
    assert_true(mem_peak(m) < 2 * v.size);
    support_close(m);
    free(t.s);
    free(u.s);
    free(v.s);
}

/* ---- bincode ---- */

typedef struct bin {
    mem *m;
    porep_c1 *c1;
    bytes_out o;
    porep_shape shape;
} bin;

static void bin_open(bin *b)
{
    text t = load("c1.json");

    b->m = support_mem();
    b->c1 = NULL;
    assert_status_ok(porep_c1_read(&b->c1, (const uint8_t *)t.s, t.size, NULL, b->m));
    free(t.s);
    bytes_out_init(&b->o, b->m);
    porep_c1_write_bincode(&b->o, b->c1);
    b->shape = (porep_shape){b->c1->size, b->c1->layout.layers};
}

static void bin_close(bin *b)
{
    bytes_out_clear(&b->o);
    porep_c1_free(b->c1);
    support_close(b->m);
}

/* One byte made `value`, refused, and put back. */
static void bin_refused(bin *b, size_t at, uint8_t value, cuzk_class klass, const char *tells)
{
    porep_c1 *c1 = NULL;
    uint8_t was = b->o.data[at];

    b->o.data[at] = value;
    assert_status_is(porep_c1_read_bincode(&c1, b->o.data, b->o.size, 5, &b->shape, b->m),
                     CUZK_EDATA);
    (void)printf("%zu: %s: %s\n", at, cuzk_last_error()->where, cuzk_last_error()->message);
    assert_error_class(klass);
    assert_error_mentions(tells);
    assert_null(c1);
    b->o.data[at] = was;
}

static void test_bincode(void **state)
{
    bin b;
    porep_c1 *c1 = NULL;
    /* one challenge of 2 KiB: trees D (4 + 64 + 8 + 6 * 48) and R, a column, ... */
    size_t d = 16, r = d + 364, column = r + 556, drg = column + 76 + 556;

    (void)state;
    bin_open(&b);
    bin_refused(&b, 0, 2, MALFORMED, "2 partitions announced at offset 0");
    bin_refused(&b, 0, 0, SHAPE, "0 partitions, expected 1");
    bin_refused(&b, 8, 1, SHAPE, "1 challenges, expected 2");
    bin_refused(&b, 15, 0x80, MALFORMED, "challenges announced at offset 8");
    bin_refused(&b, d, 1, SHAPE, "comm_d path");
    bin_refused(&b, r, 9, MALFORMED, "variant 9");
    bin_refused(&b, r + 4 + 31, 0x74, MALFORMED, "not below the modulus");
    bin_refused(&b, column + 4, 3, SHAPE, "3 rows, expected 2");
    bin_refused(&b, drg, 5, SHAPE, "5 drg parents, expected 6");
    bin_refused(&b, drg + 8 + 632 + 4, 1, SHAPE, "drg parent 1");
    bin_refused(&b, b.o.size - (size_t)5 * 32 + 31, 0x74, MALFORMED,
                "comm_r is not below the modulus");
    for (size_t i = 0; i < harness_iters(500); i++)
        assert_status_is(porep_c1_read_bincode(&c1, b.o.data,
                                               (size_t)harness_random_below(b.o.size), 5, &b.shape,
                                               b.m),
                         CUZK_EDATA);
    assert_status_is(porep_c1_read_bincode(&c1, b.o.data, b.o.size, 20, &b.shape, b.m),
                     CUZK_EINVAL);
    b.shape.size = fil_size_by_bytes(1024);
    assert_status_is(porep_c1_read_bincode(&c1, b.o.data, b.o.size, 0, &b.shape, b.m), CUZK_EINVAL);
    bin_close(&b);
}

/* ---- allocations that fail ---- */

/* Each in turn: no output, nothing left, and the next try reads. */
static void sweep(const uint8_t *data, size_t size, bool bincode)
{
    porep_shape shape = {fil_size_by_bytes(2048), 2};
    unsigned long k = 1;

    for (bool hit = true; hit; k++) {
        mem *m = support_mem();
        porep_c1 *c1 = NULL;
        cuzk_status st;

        mem_inject_fault(m, k);
        st = bincode ? porep_c1_read_bincode(&c1, data, size, 5, &shape, m)
                     : porep_c1_read(&c1, data, size, &shape, m);
        hit = mem_fault_hit(m);
        mem_inject_fault(m, 0);
        if (hit) {
            assert_int_equal(st, CUZK_ENOMEM);
            assert_null(c1);
        } else {
            assert_status_ok(st);
        }
        porep_c1_free(c1);
        support_close(m);
    }
    assert_true(k > 3);
}

static void test_faults(void **state)
{
    text plain = load("c1.json"), wrapped = load("c1-wrapped.json");
    text escaped = replaced(&wrapped, "eyJyZWdpc3Rl", "\\u0065yJyZWdpc3Rl");
    bin b;

    (void)state;
    sweep((const uint8_t *)plain.s, plain.size, false);
    sweep((const uint8_t *)wrapped.s, wrapped.size, false);
    sweep((const uint8_t *)escaped.s, escaped.size, false);
    bin_open(&b);
    sweep(b.o.data, b.o.size, true);
    bin_close(&b);
    free(plain.s);
    free(wrapped.s);
    free(escaped.s);
}

/* No prefix is read as a whole, none reads beyond its end. */
static void test_prefixes(void **state)
{
    text t = load("c1.json");

    (void)state;
    for (size_t i = 0; i < harness_iters(200); i++) {
        text u = {NULL, (size_t)harness_random_below(t.size)};

        u.s = malloc(u.size + 1);
        assert_non_null(u.s);
        memcpy(u.s, t.s, u.size);
        assert_status_is(read_text(&u, NULL), CUZK_EDATA);
        free(u.s);
    }
    free(t.s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_v1_1),          cmocka_unit_test(test_2kib),
        cmocka_unit_test(test_sizes),         cmocka_unit_test(test_names),
        cmocka_unit_test(test_damaged_files), cmocka_unit_test(test_accepted_files),
        cmocka_unit_test(test_members),       cmocka_unit_test(test_wrapper),
        cmocka_unit_test(test_expected),      cmocka_unit_test(test_lying_names),
        cmocka_unit_test(test_prefixes),      cmocka_unit_test(test_bincode),
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
