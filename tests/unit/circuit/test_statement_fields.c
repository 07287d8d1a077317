/*
 * unit/circuit/test_statement_fields.c - fields beside a statement: put in, put in place of others, refused
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "support.h"

#include "circuit/filecoin/statement_fields.h"

static cuzk_status merge(char *text, size_t cap, const char *json, const fil_field *fields,
                         size_t n)
{
    mem *m = support_mem();
    bytes_out o;
    cuzk_status st;

    bytes_out_init(&o, m);
    st = fil_statement_merge(&o, (const uint8_t *)json, json == NULL ? 0 : strlen(json), fields, n);
    assert_true(o.size < cap);
    if (o.size != 0) memcpy(text, o.data, o.size);
    text[o.size] = '\0';
    bytes_out_clear(&o);
    support_close(m);
    return st;
}

static void gives(const char *json, const fil_field *fields, size_t n, const char *want)
{
    char text[512];

    assert_status_ok(merge(text, sizeof text, json, fields, n));
    assert_string_equal(text, want);
}

static void test_merged(void **state)
{
    static const fil_field one[] = {{"miner-id", "7"}};
    static const fil_field more[] = {
        {"sector_size", "32GiB"}, {"seed", "a\"b"}, {"sector-number", "18446744073709551615"}};

    (void)state;
    gives("{}", one, 1, "{\"miner_id\":7}");
    gives(NULL, one, 1, "{\"miner_id\":7}");
    gives(" { \"a\" : [1, {}] , \"miner_id\":1} ", one, 1, "{\"miner_id\":7,\"a\" : [1, {}]}");
    gives("{\"miner\\u005fid\":1,\"x\":{\"miner_id\":2}}", one, 1,
          "{\"miner_id\":7,\"x\":{\"miner_id\":2}}");
    gives("{\"seed\":1,\"a\":2}", more, 3,
          "{\"sector_size\":34359738368,\"seed\":\"a\\\"b\",\"sector_number\":"
          "18446744073709551615,\"a\":2}");
    gives("{\"a\":1,\"a\":2}", NULL, 0, "{\"a\":1,\"a\":2}"); /* the reader refuses it */
}

static void test_sizes(void **state)
{
    fil_field f = {"sector-size", "2KiB"};

    (void)state;
    gives(NULL, &f, 1, "{\"sector_size\":2048}");
    f.value = "512MiB";
    gives(NULL, &f, 1, "{\"sector_size\":536870912}");
    f.value = "2048";
    gives(NULL, &f, 1, "{\"sector_size\":2048}");
}

static void test_refused(void **state)
{
    static const fil_field rows[] = {
        {"minerid", "7"},       {"miner-id", ""},        {"miner-id", "-1"},
        {"miner-id", "7x"},     {"miner-id", "1KiB"},    {"miner-id", "18446744073709551616"},
        {"sector-size", "GiB"}, {"sector-size", "2kib"}, {"sector-size", "17179869184GiB"},
        {"miner_id_", "7"}};
    static const fil_field twice[] = {{"miner-id", "1"}, {"miner_id", "1"}};
    char text[512];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_status_is(merge(text, sizeof text, "{}", &rows[i], 1), CUZK_EINVAL);
    assert_status_is(merge(text, sizeof text, "{}", twice, 2), CUZK_EINVAL);
    assert_error_mentions("miner_id is given twice");
    assert_status_is(merge(text, sizeof text, "[]", twice, 1), CUZK_EDATA);
    assert_status_is(merge(text, sizeof text, "{} {}", twice, 1), CUZK_EDATA);
    assert_status_is(merge(text, sizeof text, "{\"a\":1", twice, 1), CUZK_EDATA);
    assert_status_is(merge(text, sizeof text, "", twice, 1), CUZK_EDATA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merged),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
