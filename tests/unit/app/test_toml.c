/*
 * unit/app/test_toml.c - TOML: what a document means, what is refused and where
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "harness/harness.h"

#include "app/toml.h"

static toml *read_ok(const char *text)
{
    toml *t = NULL;

    assert_status_ok(toml_read(&t, text, strlen(text), "c.toml"));
    return t;
}

/** The entry at a path of keys separated by '/'. */
static const toml_value *at(const toml *t, const char *path)
{
    const toml_value *v = toml_root(t);
    char key[64];

    while (v != NULL && *path != 0) {
        size_t n = strcspn(path, "/");
        (void)snprintf(key, sizeof key, "%.*s", (int)n, path);
        v = toml_find(v, key);
        path += n + (path[n] == '/');
    }
    if (v == NULL) harness_fail("no entry");
    return v;
}

static void check_text(const toml *t, const char *path, const char *want)
{
    assert_int_equal(at(t, path)->type, TOML_STRING);
    assert_string_equal(at(t, path)->text, want);
}

static void check_integer(const toml *t, const char *path, int64_t want)
{
    assert_int_equal(at(t, path)->type, TOML_INTEGER);
    if (at(t, path)->integer != want)
        harness_fail("%s: %lld", path, (long long)at(t, path)->integer);
}

static void test_values(void **state)
{
    toml *t = read_ok("# a comment\r\n"
                      "i = 12 # behind\n"
                      "neg = -1_000\nplus = +0\nmin = -9223372036854775808\n"
                      "max=9_223_372_036_854_775_807\n"
                      "hex = 0xDead_beef\noct=0o755\nbin = 0b1_01\n"
                      "yes = true\nno = false\n"
                      "s = \"a\\tb\\\"\\\\ \\u00e9\\U0001F600\"\n"
                      "lit = 'C:\\x \"'\n"
                      "empty = \"\"\nempty_lit = ''\n"
                      "ml = \"\"\"\none\n  two \\\n   \n   three\"\"\"\"\"\n"
                      "mll = '''\nraw \\ ''two'' '''\n"
                      "\"quoted key\" = 1\n'lit.key' = 2\n3 = 4\n- = 5");

    (void)state;
    check_integer(t, "i", 12);
    check_integer(t, "neg", -1000);
    check_integer(t, "plus", 0);
    check_integer(t, "min", INT64_MIN);
    check_integer(t, "max", INT64_MAX);
    check_integer(t, "hex", 0xdeadbeef);
    check_integer(t, "oct", 0755);
    check_integer(t, "bin", 5);
    assert_int_equal(at(t, "yes")->type, TOML_BOOLEAN);
    assert_true(at(t, "yes")->boolean);
    assert_false(at(t, "no")->boolean);
    check_text(t, "s", "a\tb\"\\ \xc3\xa9\xf0\x9f\x98\x80");
    check_text(t, "lit", "C:\\x \"");
    check_text(t, "empty", "");
    check_text(t, "empty_lit", "");
    check_text(t, "ml", "one\n  two three\"\"");
    check_text(t, "mll", "raw \\ ''two'' ");
    check_integer(t, "quoted key", 1);
    check_integer(t, "lit.key", 2);
    check_integer(t, "3", 4);
    check_integer(t, "-", 5);
    toml_free(t);
    toml_free(NULL);
    t = read_ok("");
    assert_int_equal(toml_root(t)->n, 0);
    toml_free(t);
    t = read_ok("\xef\xbb\xbf"
                "a=1");
    check_integer(t, "a", 1);
    toml_free(t);
}

static void test_tables(void **state)
{
    toml *t = read_ok("top = 1\na.b.c = 2\na.d = 3\n"
                      "[x.y.z]\nk = 4\n[x]\nq.r = 5\n[x.y]\nk = 6\n"
                      "[ \"dotted.name\" . w ]\nk = 7\n"
                      "[in]\ntab = { a = 1, b.c = 2, d = { e = [1, 2] } }\nempty = {}\n"
                      "[fruit]\napple.color = 'red'\n[fruit.apple.texture]\nsmooth = true\n");

    (void)state;
    check_integer(t, "top", 1);
    check_integer(t, "a/b/c", 2);
    check_integer(t, "a/d", 3);
    check_integer(t, "x/y/z/k", 4);
    check_integer(t, "x/q/r", 5);
    check_integer(t, "x/y/k", 6);
    check_integer(t, "dotted.name/w/k", 7);
    check_integer(t, "in/tab/b/c", 2);
    assert_int_equal(at(t, "in/tab/d/e")->n, 2);
    assert_int_equal(at(t, "in/empty")->n, 0);
    assert_true(at(t, "fruit/apple/texture/smooth")->boolean);
    toml_free(t);
}

static void test_arrays(void **state)
{
    toml *t = read_ok("a = [ ]\nb = [1, 'two', [3], {x=4},] # mixed\n"
                      "c = [ # comment\n  'p',\n\n  # another\n  'q'\n  , 'r' ]\n");
    const toml_value *v;

    (void)state;
    assert_int_equal(at(t, "a")->n, 0);
    v = at(t, "b")->first;
    assert_int_equal(at(t, "b")->n, 4);
    assert_int_equal(v->integer, 1);
    assert_string_equal(v->next->text, "two");
    assert_int_equal(v->next->next->first->integer, 3);
    assert_int_equal(toml_find(v->next->next->next, "x")->integer, 4);
    assert_int_equal(at(t, "c")->n, 3);
    assert_string_equal(at(t, "c")->first->next->next->text, "r");
    char place[64];
    toml_place(t, at(t, "c")->first->next->at, place, sizeof place);
    assert_string_equal(place, "c.toml:7:3");
    toml_free(t);
}

static const struct {
    const char *text, *place, *message;
} bad[] = {
    {"a = 1\na = 2", "c.toml:2:1", "there twice"},
    {"a.b = 1\na.b = 2", "c.toml:2:3", "there twice"},
    {"a = 1\na.b = 2", "c.toml:2:1", "has a value already"},
    {"[a]\n[a]", "c.toml:2:2", "table a is there twice"},
    {"[a]\nb = 1\n[a.b]", "c.toml:3:4", "has a value"},
    {"[a]\nb = 1\n[a.b.c]", "c.toml:3:4", "has a value"},
    {"a = {x = 1}\n[a.b]", "c.toml:2:2", "in braces"},
    {"a = {x = 1}\na.y = 2", "c.toml:2:1", "in braces"},
    {"[f]\na.c = 1\n[f.a]", "c.toml:3:4", "there twice"},
    {"[a.b]\nz=9\n[a]\nb.c = 1", "c.toml:4:1", "under its header"},
    {"[[a]]", "c.toml:1:1", "arrays of tables"},
    {"a = 1.5", "c.toml:1:5", "floating-point"},
    {"a = 1e5", "c.toml:1:5", "floating-point"},
    {"a = -inf", "c.toml:1:5", "floating-point"},
    {"a = nan", "c.toml:1:5", "floating-point"},
    {"a = 1979-05-27", "c.toml:1:5", "dates"},
    {"a = 07:32:00", "c.toml:1:5", "dates"},
    {"a = 1979-05-27T07:32:00.5Z", "c.toml:1:5", "dates"},
    {"a = 9223372036854775808", "c.toml:1:5", "64 bits"},
    {"a = -9223372036854775809", "c.toml:1:5", "64 bits"},
    {"a = 0xffffffffffffffff", "c.toml:1:5", "64 bits"},
    {"a = 01", "c.toml:1:5", "no number"},
    {"a = 1__0", "c.toml:1:5", "no number"},
    {"a = _1", "c.toml:1:5", "no value"},
    {"a = 1_", "c.toml:1:5", "no number"},
    {"a = +0x1", "c.toml:1:5", "no number"},
    {"a = 0x", "c.toml:1:5", "no number"},
    {"a = 0b2", "c.toml:1:5", "no number"},
    {"a = True", "c.toml:1:5", "small letters"},
    {"a = yes", "c.toml:1:5", "text needs quotes"},
    {"a = /path", "c.toml:1:5", "value is missing"},
    {"a =", "c.toml:1:4", "value is missing"},
    {"a = # none", "c.toml:1:5", "value is missing"},
    {"a", "c.toml:1:2", "= is missing"},
    {"= 1", "c.toml:1:1", "key is missing"},
    {"a. = 1", "c.toml:1:4", "key is missing"},
    {"[]", "c.toml:1:2", "key is missing"},
    {"[a", "c.toml:1:3", "] is missing"},
    {"[a] b = 1", "c.toml:1:5", "goes on"},
    {"a = 1 b = 2", "c.toml:1:7", "goes on"},
    {"a = 'x", "c.toml:1:5", "does not end"},
    {"a = 'x\n'", "c.toml:1:5", "on its line"},
    {"a = \"\"\"x\"\"", "c.toml:1:5", "does not end"},
    {"a = \"\\q\"", "c.toml:1:6", "unknown escape"},
    {"a = \"\\", "c.toml:1:6", "unknown escape"},
    {"a = \"\\u12\"", "c.toml:1:6", "4 hexadecimal"},
    {"a = \"\\ud800\"", "c.toml:1:6", "no character"},
    {"a = \"\\U00110000\"", "c.toml:1:6", "no character"},
    {"a = \"\\u0000\"", "c.toml:1:6", "NUL"},
    {"a = 'x\x01'", "c.toml:1:7", "control character 01"},
    {"# x\x7f", "c.toml:1:4", "control character 7F"},
    {"a = '\xff'", "c.toml:1:6", "FF is no UTF-8"},
    {"a = 1\rb = 2", "c.toml:1:6", "goes on"},
    {"'''a''' = 1", "c.toml:1:1", "several lines"},
    {"a = [1 2]", "c.toml:1:8", "comma or ]"},
    {"a = [1,,2]", "c.toml:1:8", "value is missing"},
    {"a = [1", "c.toml:1:5", "array does not end"},
    {"a = {b = 1,}", "c.toml:1:12", "comma before }"},
    {"a = {b = 1\n}", "c.toml:1:5", "ends on its line"},
    {"a = {b = 1 c = 2}", "c.toml:1:12", "comma or }"},
    {"a = {b = 1, b = 2}", "c.toml:1:13", "there twice"},
    {"x = '\xc3\xa9\xc3\xa9' y", "c.toml:1:10", "goes on"}, /* columns count characters */
};

static void test_bad(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        toml *t = NULL;
        if (toml_read(&t, bad[i].text, strlen(bad[i].text), "c.toml") == CUZK_OK)
            harness_fail("accepted: %s", bad[i].text);
        assert_null(t);
        if (strcmp(cuzk_last_error()->where, bad[i].place) != 0 ||
            strstr(cuzk_last_error()->message, bad[i].message) == NULL)
            harness_fail("%s\n-> %s: %s", bad[i].text, cuzk_last_error()->where,
                         cuzk_last_error()->message);
        assert_error_class(CUZK_CLASS_MALFORMED);
    }
    toml *t = NULL;
    assert_status_is(toml_read(&t, "a\0b", 3, "c.toml"), CUZK_EDATA);
}

static void test_limits(void **state)
{
    char *b = malloc(TOML_MAX_SIZE + 1);
    toml *t = NULL;
    size_t n = 0;

    (void)state;
    assert_non_null(b);
    memset(b, '\n', TOML_MAX_SIZE + 1);
    assert_status_ok(toml_read(&t, b, TOML_MAX_SIZE, "c.toml"));
    toml_free(t);
    t = NULL;
    assert_status_is(toml_read(&t, b, TOML_MAX_SIZE + 1, "c.toml"), CUZK_EDATA);
    assert_error_class(CUZK_CLASS_LIMIT);
    for (unsigned k = 0; k < 40; k++) n += (size_t)snprintf(b + n, 100, "%s", k == 0 ? "a=[" : "[");
    assert_status_is(toml_read(&t, b, n, "c.toml"), CUZK_EDATA);
    assert_error_mentions("nesting");
    n = 0;
    for (unsigned k = 0; k < 40; k++) n += (size_t)snprintf(b + n, 100, "a.");
    assert_status_is(toml_read(&t, b, n, "c.toml"), CUZK_EDATA);
    assert_error_mentions("parts in a key");
    n = 0;
    for (unsigned k = 0; k <= TOML_MAX_ENTRIES; k++)
        n += (size_t)snprintf(b + n, 100, "k%u=1\n", k);
    assert_status_is(toml_read(&t, b, n, "c.toml"), CUZK_EDATA);
    assert_error_mentions("entries");
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values), cmocka_unit_test(test_tables), cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_bad),    cmocka_unit_test(test_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
