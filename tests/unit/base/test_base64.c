/*
 * unit/base/test_base64.c - RFC 4648's vectors, every length, and texts that are no base64
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "harness/harness.h"

#include "base/base64.h"

static void test_vectors(void **state)
{
    static const char *const texts[] = {"",         "Zg==",     "Zm8=",    "Zm9v",
                                        "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};

    (void)state;
    for (size_t i = 0; i < 7; i++) {
        uint8_t out[8];
        size_t n = 99;

        assert_true(base64_size(strlen(texts[i])) <= sizeof out);
        assert_status_ok(base64_decode(out, &n, texts[i], strlen(texts[i]), "text"));
        assert_int_equal(n, i);
        assert_bytes_equal(out, "foobar", n);
    }
}

static size_t encode(char *out, const uint8_t *in, size_t n)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t len = 0;

    for (size_t i = 0; i < n; i += 3) {
        uint32_t v = (uint32_t)in[i] << 16;

        if (i + 1 < n) v |= (uint32_t)in[i + 1] << 8;
        if (i + 2 < n) v |= in[i + 2];
        for (unsigned k = 0; k < 4; k++)
            out[len++] = i + k > n ? '=' : alphabet[v >> (18 - 6 * k) & 63];
    }
    return len;
}

/* What was encoded comes back; one foreign character anywhere is found where it is. */
static void test_lengths(void **state)
{
    uint8_t in[200], out[200];
    char text[300];

    (void)state;
    for (size_t n = 0; n <= sizeof in; n++) {
        size_t len, got, at;

        harness_random_bytes(in, n);
        len = encode(text, in, n);
        assert_status_ok(base64_decode(out, &got, text, len, "text"));
        assert_int_equal(got, n);
        assert_bytes_equal(out, in, n);
        if (n == 0) continue;
        at = (size_t)harness_random_below(len - (3 - n % 3) % 3);
        text[at] = '*';
        assert_status_is(base64_decode(out, &got, text, len, "text"), CUZK_EDATA);
        assert_error_class(CUZK_CLASS_MALFORMED);
        (void)snprintf(text, sizeof text, "text: byte 0x2a at offset %zu", at);
        assert_error_mentions(text);
    }
}

static void test_refused(void **state)
{
    static const char *const texts[] = {
        "Z",    "Zg",    "Zg=",   "Zm8",    "Zm9vY",  "=",          "==",      "====",
        "Z===", "Zg===", "Zm8==", "Zm9v=",  "Zg=x",   "Zg==Zg==",   "Zm9v\n",  "Zm 9v",
        "Zh==", "Zm9=",  "Zm-v",  "Zm9v==", "Zm9v==", "\xc3\xa9==", "Zm9vZm8", "Zm9vZ=8="};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        uint8_t out[8];
        size_t n;

        assert_status_is(base64_decode(out, &n, texts[i], strlen(texts[i]), "text"), CUZK_EDATA);
        assert_error_class(CUZK_CLASS_MALFORMED);
        assert_error_mentions("text: ");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
