/*
 * unit/base/test_json_value.c - what tokens say: text, integers, byte arrays; strings written and read back
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "harness/harness.h"

#include "base/json.h"

static json_in open_text(const char *text)
{
    json_in j;

    assert_status_ok(json_init(&j, text, strlen(text)));
    return j;
}

static json_token next(json_in *j)
{
    json_token t;

    assert_status_ok(json_next(j, &t));
    return t;
}

static void unescapes(const char *text, const char *want, size_t want_len)
{
    json_in j = open_text(text);
    json_token t = next(&j);
    char out[200];
    size_t n = 99;

    assert_true(t.len < sizeof out);
    memset(out, 'z', sizeof out);
    assert_status_ok(json_unescape(&t, out, &n));
    assert_int_equal(n, want_len);
    assert_memory_equal(out, want, want_len);
    assert_int_equal(out[n], '\0');
    assert_int_equal(out[t.len + 1], 'z');
    if (strlen(want) == want_len) assert_true(json_is(&t, want));
    assert_false(json_is(&t, "something else"));
}

static void test_unescape(void **state)
{
    json_in j = open_text("1");
    json_token t = next(&j);
    char out[8];
    size_t n;

    (void)state;
    unescapes("\"\"", "", 0);
    unescapes("\"plain\"", "plain", 5);
    unescapes("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", 8);
    unescapes("\"\\u0041\\u007f\\u0080\\u07ff\\u0800\\uffff\"",
              "A\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf", 12);
    unescapes("\"\\ud800\\udc00\\udbff\\udfff\"", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", 8);
    unescapes("\"a\\u0000b\"", "a\0b", 3);
    unescapes("\"\xc3\xa9\\u00E9\"", "\xc3\xa9\xc3\xa9", 4);
    assert_status_is(json_unescape(&t, out, &n), CUZK_EDATA);
    assert_false(json_is(&t, "1"));
}

/* A key cannot hide behind an escape. */
static void test_is_sees_through_escapes(void **state)
{
    json_in j =
        open_text("[\"\\u0061bc\",\"ab\\u0063\",\"ab\",\"a\\u0062\",\"abcd\",\"abc\\u0064\"]");

    (void)state;
    (void)next(&j);
    for (size_t i = 0; i < 6; i++) {
        json_token t = next(&j);

        assert_int_equal(json_is(&t, "abc"), i < 2);
    }
}

static void test_u64(void **state)
{
    static const struct {
        const char *text;
        uint64_t max, want;
        bool ok;
    } cases[] = {
        {"0", 0, 0, true},
        {"1", 0, 0, false},
        {"255", 255, 255, true},
        {"256", 255, 0, false},
        {"18446744073709551615", UINT64_MAX, UINT64_MAX, true},
        {"18446744073709551616", UINT64_MAX, 0, false},
        {"28446744073709551615", UINT64_MAX, 0, false},
        {"99999999999999999999999999999999", UINT64_MAX, 0, false},
        {"18446744073709551614", UINT64_MAX - 1, UINT64_MAX - 1, true},
        {"18446744073709551615", UINT64_MAX - 1, 0, false},
        {"9", 8, 0, false},
        {"10", 8, 0, false},
        {"20", 19, 0, false},
        {"-1", 10, 0, false},
        {"-0", 10, 0, false},
        {"1.0", 10, 0, false},
        {"1e1", 10, 0, false},
        {"\"1\"", 10, 0, false},
        {"null", 10, 0, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        json_in j = open_text(cases[i].text);
        json_token t = next(&j);
        uint64_t v = 77;

        if (cases[i].ok) {
            assert_status_ok(json_u64(&t, cases[i].max, &v, "count"));
            assert_true(v == cases[i].want);
        } else {
            assert_status_is(json_u64(&t, cases[i].max, &v, "count"), CUZK_EDATA);
            assert_error_mentions("count");
            assert_true(v == 77);
        }
    }
}

static void test_seen(void **state)
{
    json_in j = open_text("{\"dup\":1}");
    json_token t = next(&j);
    uint64_t seen = 0;

    (void)state;
    t = next(&j);
    assert_status_ok(json_seen(&seen, 0, &t));
    assert_status_ok(json_seen(&seen, 63, &t));
    assert_status_is(json_seen(&seen, 63, &t), CUZK_EDATA);
    assert_error_mentions("\"dup\" at offset 1 is there twice");
    assert_status_is(json_seen(&seen, 64, &t), CUZK_EINVAL);
}

/* Input and output are exact blocks: a step beyond either is seen by sanitizers. */
static cuzk_status bytes_of(const char *text, size_t cap, uint8_t *out, size_t *n)
{
    size_t size = strlen(text);
    char *copy = malloc(size);
    uint8_t *exact = calloc(cap == 0 ? 1 : cap, 1);
    json_in j;
    json_token t;
    cuzk_status st;

    assert_non_null(copy);
    assert_non_null(exact);
    for (size_t i = 0; i < size; i++) copy[i] = text[i];
    st = json_init(&j, copy, size);
    if (st == CUZK_OK) st = json_byte_array(&j, exact, cap, n, "comm");
    if (st == CUZK_OK) {
        memcpy(out, exact, *n);
        st = json_expect(&j, JSON_END, &t, "comm");
    }
    free(copy);
    free(exact);
    return st;
}

static void bytes_refused(const char *text, size_t cap, const char *why)
{
    uint8_t out[16];
    size_t n = 99;

    assert_true(cap <= sizeof out);
    assert_status_is(bytes_of(text, cap, out, &n), CUZK_EDATA);
    assert_error_mentions(why);
    assert_int_equal(n, 99);
}

static void test_byte_array_prefixes(void **state)
{
    static const char text[] = "[1,22,200,3,44,255,6,7]";

    (void)state;
    for (size_t n = 1; n < sizeof text - 1; n++) {
        char part[sizeof text];

        (void)snprintf(part, sizeof part, "%.*s", (int)n, text);
        bytes_refused(part, 16, "end of input");
    }
}

static void test_byte_array(void **state)
{
    uint8_t out[16] = {0};
    size_t n = 99;

    (void)state;
    assert_status_ok(bytes_of("[]", 0, out, &n));
    assert_int_equal(n, 0);
    assert_status_ok(bytes_of("[7]", 1, out, &n));
    assert_hex_equal(out, n, "07");
    assert_status_ok(bytes_of("[0,1,10,99,100,255,0,200,9]", 9, out, &n));
    assert_hex_equal(out, n, "00010a6364ff00c809");
    assert_status_ok(bytes_of("[ 0 ,1 , 10,\n99,100 ,255,0,200,9 ]", 9, out, &n));
    assert_hex_equal(out, n, "00010a6364ff00c809");
    bytes_refused("[0,1,2]", 2, "comm: 3 bytes at offset 0, allowed 2");
    bytes_refused("[1,2,3,4,5,6,7,8,9]", 7, "comm: 9 bytes at offset 0, allowed 7");
    bytes_refused("[0]", 0, "allowed 0");
    bytes_refused("[1,256,3,4]", 16, "comm[1]: 256 at offset 3, allowed 0..255");
    bytes_refused("[1,999,3,4]", 16, "comm[1]: 999");
    bytes_refused("[1,1000,3,4]", 16, "comm[1]: 1000");
    bytes_refused("[1,-1,3,4]", 16, "comm[1]: -1");
    bytes_refused("[1,1.5,3,4]", 16, "comm[1]: 1.5");
    bytes_refused("[1,1e1,3,4]", 16, "comm[1]: 1e1");
    bytes_refused("[1,01,3,4]", 16, "offset 4");
    bytes_refused("[1,00,3,4]", 16, "offset 4");
    bytes_refused("[1,,3,4,5]", 16, "',' at offset 3");
    bytes_refused("[1,2,3,4,]", 16, "']' at offset 9");
    bytes_refused("[1,2,3,4", 16, "end of input");
    bytes_refused("[1,2,3,4,", 16, "end of input");
    bytes_refused("[1,\"2\",3]", 16, "comm[1]: a number wanted at offset 3");
    bytes_refused("[1,[2],3]", 16, "comm[1]: a number wanted at offset 3");
    bytes_refused("{}", 16, "comm: an object at offset 0, an array wanted");
    bytes_refused("[1,:2,3,4]", 16, "':' at offset 3");
    bytes_refused("[1,/2,3,4]", 16, "'/' at offset 3");
    bytes_refused("[1,2\x80,3,4]", 16, "byte 0x80 at offset 4");
}

/* Random bytes as a machine prints them come back, whatever follows. */
static void test_byte_array_random(void **state)
{
    enum { N = 5000 };
    uint8_t in[N], out[N];
    char *text = malloc(4 * N + 3);

    (void)state;
    assert_non_null(text);
    for (size_t i = 0, rounds = harness_iters(20); i < rounds; i++) {
        size_t n = harness_random_below(N + 1), at = 0, got = 0;

        harness_random_bytes(in, N);
        text[at++] = '[';
        for (size_t k = 0; k < n; k++)
            at += (size_t)snprintf(text + at, 6, k == 0 ? "%u" : ",%u", in[k]);
        text[at++] = ']';
        text[at] = '\0';
        assert_status_ok(bytes_of(text, n, out, &got));
        assert_int_equal(got, n);
        assert_bytes_equal(out, in, n);
    }
    free(text);
}

static void test_put_string(void **state)
{
    mem *m = NULL;
    bytes_out o;
    json_in j;
    json_token t;
    char all[128], back[700];
    size_t n;

    (void)state;
    assert_status_ok(mem_open(&m, "t", 0, NULL));
    bytes_out_init(&o, m);
    json_put_string(&o, "a\"\\/\b\f\n\r\t\x01\x7f\xc3\xa9\xff\xed\xa0\x80.");
    bytes_put_u8(&o, 0);
    assert_status_ok(bytes_out_status(&o));
    assert_string_equal((char *)o.data, "\"a\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u007f\xc3\xa9"
                                        "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd.\"");
    bytes_out_clear(&o);

    for (size_t i = 1; i < 128; i++) all[i - 1] = (char)i;
    all[127] = '\0';
    json_put_string(&o, all);
    assert_status_ok(json_init(&j, o.data, o.size));
    t = next(&j);
    assert_true(t.len < sizeof back);
    assert_status_ok(json_unescape(&t, back, &n));
    assert_string_equal(back, all);
    bytes_out_clear(&o);
    mem_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unescape),
        cmocka_unit_test(test_is_sees_through_escapes),
        cmocka_unit_test(test_u64),
        cmocka_unit_test(test_seen),
        cmocka_unit_test(test_byte_array),
        cmocka_unit_test(test_byte_array_prefixes),
        cmocka_unit_test(test_byte_array_random),
        cmocka_unit_test(test_put_string),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
