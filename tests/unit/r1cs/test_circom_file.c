/*
 * unit/r1cs/test_circom_file.c - the container: every way in which it can lie
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "support.h"

#include "r1cs/circom.h"

#define MAX_SIZE 1024

typedef struct image {
    uint8_t b[MAX_SIZE];
    size_t n;
} image;

static void put(image *f, const void *p, size_t n)
{
    assert_true(f->n + n <= MAX_SIZE);
    memcpy(f->b + f->n, p, n);
    f->n += n;
}

static void put_u32(image *f, uint32_t v)
{
    uint8_t b[4];

    store_u32le(b, v);
    put(f, b, 4);
}

static void put_section(image *f, uint32_t id, uint64_t size, const void *p, size_t n)
{
    uint8_t b[8];

    put_u32(f, id);
    store_u64le(b, size);
    put(f, b, 8);
    put(f, p, n);
}

static image start(const char *magic, uint32_t version, uint32_t n_sections)
{
    image f = {.n = 0};

    put(&f, magic, 4);
    put_u32(&f, version);
    put_u32(&f, n_sections);
    return f;
}

static void refuse(const image *f, const char *what, cuzk_class klass, const char *text)
{
    circom_file out;
    /* of its exact size, so that a read beyond it is noticed */
    uint8_t *copy = malloc(f->n + 1);

    assert_non_null(copy);
    memcpy(copy + 1, f->b, f->n);
    memset(&out, 0x55, sizeof out);
    assert_status_is(circom_file_read(&out, copy + 1, f->n, what), CUZK_EDATA);
    assert_error_class(klass);
    assert_error_mentions(text);
    assert_int_equal(out.n_sections, 0x55555555);
    free(copy);
}

static void any_order_and_unknown_ids(void **state)
{
    image f = start("zkey", 1, 4);
    circom_file out;
    bytes_in in;

    (void)state;
    put_section(&f, 9, 3, "abc", 3);
    put_section(&f, 1, 0, "", 0);
    put_section(&f, UINT32_MAX, 1, "x", 1);
    put_section(&f, 0, 5, "12345", 5);
    assert_status_ok(circom_file_read(&out, f.b, f.n, "zkey"));
    assert_string_equal(out.magic, "zkey");
    assert_int_equal(out.version, 1);
    assert_int_equal(out.n_sections, 4);
    assert_status_ok(circom_file_section(&out, 9, "H", &in));
    assert_int_equal(in.size, 3);
    assert_int_equal(in.pos, 0);
    assert_memory_equal(in.data, "abc", 3);
    assert_status_ok(circom_file_section(&out, 1, "header", &in));
    assert_int_equal(in.size, 0);
    assert_true(circom_file_has(&out, UINT32_MAX));
    assert_false(circom_file_has(&out, 2));
    assert_status_is(circom_file_section(&out, 2, "groth header", &in), CUZK_EDATA);
    assert_error_class(CUZK_CLASS_MALFORMED);
    assert_error_mentions("no section 2 (groth header)");
}

static void versions(void **state)
{
    static const char *const magic[] = {"r1cs", "wtns", "zkey", "ptau"};
    static const uint32_t version[] = {1, 2, 1, 1};
    circom_file out;

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        image f = start(magic[i], version[i], 0);

        assert_status_ok(circom_file_read(&out, f.b, f.n, magic[i]));
        f = start(magic[i], version[i] + 1, 0);
        refuse(&f, magic[i], CUZK_CLASS_MALFORMED, "version");
        f = start(magic[i], version[i], 0);
        refuse(&f, magic[(i + 1) % 4], CUZK_CLASS_MALFORMED, "not a");
    }
}

static void every_truncation(void **state)
{
    image f = start("wtns", 2, 2);
    size_t whole;
    circom_file out;

    (void)state;
    put_section(&f, 1, 4, "abcd", 4);
    put_section(&f, 2, 6, "efghij", 6);
    whole = f.n;
    assert_status_ok(circom_file_read(&out, f.b, f.n, "wtns"));
    for (f.n = 0; f.n < whole; f.n++) refuse(&f, "wtns", CUZK_CLASS_MALFORMED, "");
    f.n = whole;
    put(&f, "!", 1);
    refuse(&f, "wtns", CUZK_CLASS_MALFORMED, "1 bytes after the last section");
}

static void lies(void **state)
{
    static const uint64_t sizes[] = {5,         6, UINT32_MAX, UINT64_C(1) << 63, UINT64_MAX - 3,
                                     UINT64_MAX};
    image f;

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        f = start("r1cs", 1, 1);
        put_section(&f, 1, sizes[i], "abcd", 4);
        refuse(&f, "r1cs", CUZK_CLASS_MALFORMED, "the file has 4 more");
    }
    f = start("r1cs", 1, 2);
    put_section(&f, 7, 2, "ab", 2);
    put_section(&f, 7, 2, "ab", 2);
    refuse(&f, "r1cs", CUZK_CLASS_MALFORMED, "section id 7 occurs twice");
    f = start("r1cs", 1, UINT32_MAX);
    put_section(&f, 7, 2, "ab", 2);
    refuse(&f, "r1cs", CUZK_CLASS_MALFORMED, "4294967295 sections");
    f = start("r1cs", 1, CIRCOM_MAX_SECTIONS + 1);
    for (uint32_t i = 0; i <= CIRCOM_MAX_SECTIONS; i++) put_section(&f, i, 0, "", 0);
    refuse(&f, "r1cs", CUZK_CLASS_LIMIT, "33 sections, limit 32");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_order_and_unknown_ids),
        cmocka_unit_test(versions),
        cmocka_unit_test(every_truncation),
        cmocka_unit_test(lies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
