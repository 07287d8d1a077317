/*
 * unit/base/test_json.c - what the reader takes, what it refuses and where
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "harness/harness.h"

#include "base/json.h"

/* All tokens of a document, each as its letter and text, into out. */
static cuzk_status read_all(char *out, size_t cap, const void *data, size_t size)
{
    static const char letters[] = "{}[]ksntf0.";
    json_in j;
    json_token t = {.type = JSON_NULL};
    size_t at = 0;

    out[0] = '\0';
    TRY(json_init(&j, data, size));
    while (t.type != JSON_END) {
        TRY(json_next(&j, &t));
        at += (size_t)snprintf(out + at, cap - at, "%c%.*s ", letters[t.type], (int)t.len, t.text);
        assert_true(at < cap);
    }
    return CUZK_OK;
}

static void takes(const char *text, const char *want)
{
    char got[4000];

    assert_status_ok(read_all(got, sizeof got, text, strlen(text)));
    assert_string_equal(got, want);
}

static void test_takes(void **state)
{
    (void)state;
    takes("{}", "{ } . ");
    takes("[]", "[ ] . ");
    takes(" \t\r\n[ ] \n", "[ ] . ");
    takes("0", "n0 . ");
    takes("\"\"", "s . ");
    takes("true", "t . ");
    takes("[true,false,null]", "[ t f 0 ] . ");
    takes("{\"a\":1,\"b\":[2,{\"c\":\"d\"}],\"\":{}}", "{ ka n1 kb [ n2 { kc sd } ] k { } } . ");
    takes("{ \"a\" : [ ] , \"b\" : { } }", "{ ka [ ] kb { } } . ");
    takes("[0,-0,1,-1,10,0.5,-0.0,1e5,1E+5,1e-05,1.25e9,123456789012345678901234567890]",
          "[ n0 n-0 n1 n-1 n10 n0.5 n-0.0 n1e5 n1E+5 n1e-05 n1.25e9 "
          "n123456789012345678901234567890 ] . ");
    takes("[\"a\\\"b\\\\c\\/d\\b\\f\\n\\r\\t\\u00e9\"]",
          "[ sa\\\"b\\\\c\\/d\\b\\f\\n\\r\\t\\u00e9 ] . ");
    takes("\"\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xf0\x90\x80\x80\xf4\x8f\xbf"
          "\xbf\"",
          "s\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xf0\x90\x80\x80\xf4\x8f\xbf"
          "\xbf . ");
    takes("\"\\ud800\\udc00\\uDBFF\\uDFFF\\uffff\\u0000\"",
          "s\\ud800\\udc00\\uDBFF\\uDFFF\\uffff\\u0000 . ");
}

/* text (size bytes) is refused, and the message has `why`. */
static void refuses_bytes(const char *text, size_t size, const char *why)
{
    char got[4000];
    uint8_t *copy = malloc(size + 1); /* an exact block: a read beyond it is seen by sanitizers */

    assert_non_null(copy);
    memcpy(copy, text, size);
    assert_status_is(read_all(got, sizeof got, copy, size), CUZK_EDATA);
    free(copy);
    assert_error_class(CUZK_CLASS_MALFORMED);
    assert_error_mentions(why);
}

static void refuses(const char *text, const char *why)
{
    refuses_bytes(text, strlen(text), why);
}

static void test_refuses_structure(void **state)
{
    (void)state;
    refuses("", "empty");
    refuses(" \n", "empty");
    refuses("\xef\xbb\xbf{}", "byte 0");
    refuses("\xff\xfe{\0}\0", "byte 0xff at offset 0");
    refuses("{} x", "trailing bytes at offset 3");
    refuses("{}{}", "trailing bytes at offset 2");
    refuses("[]]", "trailing bytes at offset 2");
    refuses("1 2", "trailing bytes at offset 2");
    refuses("1,", "trailing bytes at offset 1");
    refuses("[", "end of input at offset 1");
    refuses("{", "end of input at offset 1");
    refuses("[1", "end of input at offset 2");
    refuses("[1,", "end of input at offset 3");
    refuses("[1,]", "']' at offset 3");
    refuses("[,1]", "',' at offset 1");
    refuses("[1,,2]", "',' at offset 3");
    refuses("[1 2]", "'2' at offset 3");
    refuses("[1}", "'}' at offset 2");
    refuses("{]", "']' at offset 1");
    refuses("{\"a\"", "end of input at offset 4");
    refuses("{\"a\" 1}", "'1' at offset 5");
    refuses("{\"a\"::1}", "':' at offset 5");
    refuses("{\"a\":}", "'}' at offset 5");
    refuses("{\"a\":1", "end of input at offset 6");
    refuses("{\"a\":1,}", "'}' at offset 7");
    refuses("{,}", "',' at offset 1");
    refuses("{\"a\":1 \"b\":2}", "'\"' at offset 7");
    refuses("{\"a\":1]", "']' at offset 6");
    refuses("{a:1}", "'a' at offset 1");
    refuses("{1:1}", "'1' at offset 1");
    refuses("{'a':1}", "''' at offset 1");
    refuses("}", "'}' at offset 0");
    refuses("]", "']' at offset 0");
    refuses(":", "':' at offset 0");
    refuses("[1] // x", "trailing bytes at offset 4");
    refuses("/* */ 1", "'/' at offset 0");
    refuses("\v1", "byte 0x0b at offset 0");
    refuses("\xc2\xa0"
            "1",
            "byte 0xc2 at offset 0");
    refuses_bytes("1\0", 2, "trailing bytes at offset 1");
    refuses_bytes("\0", 1, "byte 0x00 at offset 0");
    refuses_bytes("[\0]", 3, "byte 0x00 at offset 1");
}

static void test_refuses_words_and_numbers(void **state)
{
    (void)state;
    refuses("t", "end of input at offset 1");
    refuses("tru", "end of input at offset 3");
    refuses("trux", "'x' at offset 3");
    refuses("truee", "trailing bytes at offset 4");
    refuses("True", "'T' at offset 0");
    refuses("nul", "offset 3");
    refuses("fals ", "offset 4");
    refuses("NaN", "'N' at offset 0");
    refuses("Infinity", "'I' at offset 0");
    refuses("-Infinity", "'I' at offset 1");
    refuses("-", "end of input at offset 1");
    refuses("+1", "'+' at offset 0");
    refuses(".5", "'.' at offset 0");
    refuses("01", "'1' at offset 1");
    refuses("-01", "'1' at offset 2");
    refuses("[00]", "'0' at offset 2");
    refuses("1.", "end of input at offset 2");
    refuses("[1.]", "']' at offset 3");
    refuses("1.e5", "'e' at offset 2");
    refuses("1e", "end of input at offset 2");
    refuses("1e+", "end of input at offset 3");
    refuses("1e5.5", "trailing bytes at offset 3");
    refuses("1.2.3", "trailing bytes at offset 3");
    refuses("0x10", "trailing bytes at offset 1");
    refuses("1_000", "trailing bytes at offset 1");
    refuses("--1", "'-' at offset 1");
    refuses("[1a]", "'a' at offset 2");
}

static void test_refuses_strings(void **state)
{
    (void)state;
    refuses("\"", "end of input at offset 1");
    refuses("\"abcdefghijklmnop", "end of input at offset 17");
    refuses("\"\\", "end of input at offset 2");
    refuses("\"\\\"", "end of input at offset 3");
    refuses("\"\\x\"", "'x' at offset 2");
    refuses("\"\\'\"", "''' at offset 2");
    refuses_bytes("\"\\\0\"", 4, "byte 0x00 at offset 2");
    refuses("\"\\u", "hex digits wanted at offset 3");
    refuses("\"\\u123\"", "hex digits wanted at offset 3");
    refuses("\"\\u12g4\"", "hex digits wanted at offset 3");
    refuses("\"\\U1234\"", "'U' at offset 2");
    refuses("\"\\ud800\"", "surrogate pair at offset 1");
    refuses("\"\\ud800x\"", "surrogate pair at offset 1");
    refuses("\"\\ud800\\n\"", "surrogate pair at offset 1");
    refuses("\"\\ud800\\u0041\"", "surrogate pair at offset 1");
    refuses("\"\\ud800\\ud800\"", "surrogate pair at offset 1");
    refuses("\"\\ud800\\udc0\"", "surrogate pair at offset 1");
    refuses("\"\\ud800\\u", "surrogate pair at offset 1");
    refuses("\"a\\udc00\"", "surrogate pair at offset 2");
    refuses("\"a\\udc00\\udc00\"", "surrogate pair at offset 2");
    refuses("\"a\nb\"", "byte 0x0a at offset 2");
    refuses("\"a\tb\"", "byte 0x09 at offset 2");
    refuses("\"\x1f\"", "byte 0x1f at offset 1");
    refuses_bytes("\"\0\"", 3, "byte 0x00 at offset 1");
    refuses("{\"a\x01\":1}", "byte 0x01 at offset 3");
}

/* RFC 3629: overlong forms, surrogates, beyond U+10FFFF, cut sequences, stray bytes */
static void test_refuses_bad_utf8(void **state)
{
    static const char *const bad[] = {
        "\x80",         "\xbf",
        "\xc0\x80",     "\xc1\xbf",
        "\xc2",         "\xc2\x7f",
        "\xc2\xc0",     "\xe0\x9f\xbf",
        "\xe0\xa0",     "\xe1\x80\x7f",
        "\xed\xa0\x80", "\xed\xbf\xbf",
        "\xef\xbf",     "\xf0\x8f\xbf\xbf",
        "\xf0\x90\x80", "\xf4\x90\x80",
        "\xf4\x8f\xbf", "\xf5\x80\x80\x80",
        "\xfe",         "\xff",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        for (size_t lead = 0; lead < 10;
             lead++) { /* at each place of the eight bytes looked at together */
            char text[32], why[64];

            (void)snprintf(text, sizeof text, "\"%.*s%s\"", (int)lead, "abcdefghij", bad[i]);
            (void)snprintf(why, sizeof why, "byte 0x%02x at offset %zu, UTF-8 wanted",
                           (uint8_t)bad[i][0], lead + 1);
            refuses(text, why);
        }
    }
}

/* A string of 17 x with c at `place`: taken or refused as c says. */
static void check_byte_at(size_t place, unsigned c)
{
    char text[19], got[64];
    bool fine = c >= 0x20 && c < 0x80;

    memset(text, 'x', sizeof text);
    text[0] = text[18] = '"';
    text[1 + place] = (char)(uint8_t)c;
    if (c == '\\') { /* an escape: what comes next has to fit, the closing quote does not */
        if (place < 16) text[2 + place] = 'n';
        fine = place < 16;
    }
    assert_int_equal(read_all(got, sizeof got, text, sizeof text) == CUZK_OK, fine);
}

/* The scan that looks at eight bytes together errs at none of their places. */
static void test_every_byte_at_every_place(void **state)
{
    (void)state;
    for (size_t place = 0; place < 17; place++)
        for (unsigned c = 0; c < 256; c++)
            if (c != '"') check_byte_at(place, c);
}

/* Every prefix of a document is refused, and reads nothing beyond its end. */
static void test_prefixes(void **state)
{
    static const char text[] =
        "{\"k\\u0041\":[1,-2.5e+3,true,false,null,\"\\ud83d\\ude00\xc3\xa9\"],"
        "\"o\":{\"a\":{},\"b\":[]}}";

    (void)state;
    for (size_t n = 0; n < sizeof text - 1; n++)
        refuses_bytes(text, n, n == 0 ? "empty" : "offset");
}

static void test_depth(void **state)
{
    static const char open_key[5] = {'{', '"', 'a', '"', ':'};
    char text[2 * 200 + 1], got[4000];
    size_t limit = JSON_MAX_DEPTH;

    (void)state;
    memset(text, '[', JSON_MAX_DEPTH);
    memset(text + JSON_MAX_DEPTH, ']', JSON_MAX_DEPTH);
    assert_status_ok(read_all(got, sizeof got, text, 2 * limit));
    memset(text, '[', 200);
    refuses_bytes(text, 200, "depth 65 at offset 64, limit 64");
    for (size_t i = 0; i < 65; i++) memcpy(text + 5 * i, open_key, 5);
    refuses_bytes(text, sizeof open_key * 65, "depth 65");
}

/* A change of any byte either leaves a document that ends, or is an error: no crash, no endless loop. */
static void test_random_damage(void **state)
{
    static const char text[] = "{\"k\\u0041\":[1,-2.5e+3,true,false,null,"
                               "\"\\ud83d\\ude00\xc3\xa9\"],\"o\":{\"a\":{},\"b\":[0]}}";
    static const char likely[] = "{}[]\",:\\u0123456789eE+-.truefalsn \xc3\x80";

    (void)state;
    for (size_t i = 0, n = harness_iters(20000); i < n; i++) {
        char damaged[sizeof text], got[4000];
        size_t size = sizeof text - 1;
        cuzk_status st;

        memcpy(damaged, text, sizeof text);
        for (size_t k = 0, hits = 1 + harness_random_below(3); k < hits; k++)
            damaged[harness_random_below(size)] = likely[harness_random_below(sizeof likely)];
        st = read_all(got, sizeof got, damaged, size);
        assert_true(st == CUZK_OK || st == CUZK_EDATA);
    }
}

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

static void test_end_again(void **state)
{
    json_in j = open_text(" 1 ");

    (void)state;
    assert_int_equal(next(&j).type, JSON_NUMBER);
    assert_int_equal(next(&j).type, JSON_END);
    assert_int_equal(next(&j).type, JSON_END);
}

static void test_offsets(void **state)
{
    json_in j = open_text(" { \"a\" : 12 , \"b\" : [ null ] }");
    static const size_t want[] = {1, 3, 9, 14, 20, 22, 27, 29};

    (void)state;
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++)
        assert_int_equal(next(&j).offset, want[i]);
}

/* The end of an array is read where it comes, and nowhere else. */
static void test_array_end(void **state)
{
    static const char text[] = "[ ] [1 ,[] ]";
    json_in j;
    json_token t;

    (void)state;
    assert_status_ok(json_init(&j, text, 3));
    assert_false(json_array_end(&j));
    assert_status_ok(json_expect(&j, JSON_ARRAY, NULL, "array"));
    assert_true(json_array_end(&j));
    assert_false(json_array_end(&j));
    assert_status_ok(json_expect(&j, JSON_END, NULL, "end"));

    assert_status_ok(json_init(&j, text + 4, 8));
    assert_status_ok(json_expect(&j, JSON_ARRAY, NULL, "array"));
    assert_false(json_array_end(&j));
    assert_status_ok(json_expect(&j, JSON_NUMBER, NULL, "number"));
    assert_false(json_array_end(&j));
    assert_status_ok(json_expect(&j, JSON_ARRAY, NULL, "array"));
    assert_true(json_array_end(&j));
    assert_true(json_array_end(&j));
    assert_status_ok(json_expect(&j, JSON_END, NULL, "end"));

    /* not after a comma, not in an object */
    assert_status_ok(json_init(&j, "[1,]", 4));
    assert_status_ok(json_expect(&j, JSON_ARRAY, NULL, "array"));
    assert_status_ok(json_expect(&j, JSON_NUMBER, NULL, "number"));
    assert_false(json_array_end(&j));
    assert_status_is(json_next(&j, &t), CUZK_EDATA);
    assert_status_ok(json_init(&j, "{]", 2));
    assert_status_ok(json_expect(&j, JSON_OBJECT, NULL, "object"));
    assert_false(json_array_end(&j));
}

static void test_skip(void **state)
{
    json_in j = open_text("{\"a\":{\"x\":[1,{\"y\":[]}]},\"b\":1,\"c\":[[],[2]],\"d\":\"e\"}");
    json_token t;

    (void)state;
    assert_int_equal(next(&j).type, JSON_OBJECT);
    for (const char *k = "abcd"; *k != '\0'; k++) {
        char name[2] = {*k, '\0'};

        t = next(&j);
        assert_int_equal(t.type, JSON_KEY);
        assert_true(json_is(&t, name));
        assert_status_ok(json_skip(&j));
    }
    assert_int_equal(next(&j).type, JSON_OBJECT_END);
    assert_int_equal(next(&j).type, JSON_END);

    j = open_text("[[1,[2]],3]");
    assert_int_equal(next(&j).type, JSON_ARRAY);
    t = next(&j);
    assert_status_ok(json_skip_rest(&j, &t));
    t = next(&j);
    assert_int_equal(t.type, JSON_NUMBER);
    assert_status_ok(json_skip_rest(&j, &t));
    assert_int_equal(next(&j).type, JSON_ARRAY_END);

    j = open_text("{\"a\":[1,2,}");
    assert_status_is(json_skip(&j), CUZK_EDATA);
    j = open_text("[1,[2,[3]");
    assert_status_is(json_skip(&j), CUZK_EDATA);
}

static void test_expect(void **state)
{
    json_in j = open_text("[1]");
    json_token t;

    (void)state;
    assert_status_ok(json_expect(&j, JSON_ARRAY, NULL, "list"));
    assert_status_is(json_expect(&j, JSON_STRING, &t, "name"), CUZK_EDATA);
    assert_error_class(CUZK_CLASS_MALFORMED);
    assert_error_mentions("name: a number at offset 1, a string wanted");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_takes),
        cmocka_unit_test(test_refuses_structure),
        cmocka_unit_test(test_refuses_words_and_numbers),
        cmocka_unit_test(test_refuses_strings),
        cmocka_unit_test(test_refuses_bad_utf8),
        cmocka_unit_test(test_every_byte_at_every_place),
        cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_random_damage),
        cmocka_unit_test(test_end_again),
        cmocka_unit_test(test_offsets),
        cmocka_unit_test(test_array_end),
        cmocka_unit_test(test_skip),
        cmocka_unit_test(test_expect),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
