/*
 * unit/base/test_text_lanes.c - what AVX-512 reads of base64 and of byte arrays is what the portable code reads, and not much less
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "harness/harness.h"

#include "base/text_lanes.h"

#define BLOCK 64

static bool missing(void)
{
    if (text_has_avx512()) return false;
    print_message("not on this machine\n");
    return true;
}

static void make_digits(uint8_t digits[256])
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    memset(digits, BASE64_FOREIGN, 256);
    for (uint8_t i = 0; i < 64; i++) digits[(uint8_t)alphabet[i]] = i;
}

/* The text ends where its memory does, and so does the output. */
static void check_base64(const uint8_t *text, size_t len, const uint8_t digits[256])
{
    uint8_t *exact = malloc(len + 1), *out = malloc(len / BLOCK * 48 + 1), *want = malloc(len + 1);
    size_t done, all;

    assert_true(exact != NULL && out != NULL && want != NULL);
    memcpy(exact + 1, text, len);
    done = base64_groups_avx512(out, exact + 1, len, digits);
    all = base64_groups(want, exact + 1, len, digits);
    assert_int_equal(done % BLOCK, 0);
    assert_true(done <= all && all - done < BLOCK);
    assert_bytes_equal(out, want, done / 4 * 3);
    free(exact);
    free(out);
    free(want);
}

static void test_base64(void **state)
{
    uint8_t digits[256], text[400] = {0}, byte;

    (void)state;
    if (missing()) return;
    make_digits(digits);
    for (size_t len = 0; len <= sizeof text; len++) {
        for (size_t i = 0; i < len; i++) {
            do harness_random_bytes(&byte, 1);
            while (digits[byte] == BASE64_FOREIGN);
            text[i] = byte;
        }
        check_base64(text, len, digits);
        if (len == 0) continue;
        text[harness_random_below(len)] = (uint8_t)(len % 3 == 0 ? '=' : 0x80 | text[0]);
        check_base64(text, len, digits);
    }
    for (unsigned c = 0; c < 256; c++) { /* each character there is, in each kind of place */
        for (size_t at = 0; at < 5; at++) {
            memset(text, 'A', sizeof text);
            text[64 + at] = (uint8_t)c;
            check_base64(text, 192, digits);
        }
    }
}

/* The array of `text` from behind its first element, which has one digit. */
static void check_bytes(const char *text, size_t cap)
{
    size_t len = strlen(text), n, n_all, used, all, more;
    uint8_t *exact = malloc(len), *out = malloc(cap + 1), *want = malloc(cap + 1);

    assert_true(exact != NULL && out != NULL && want != NULL);
    memcpy(exact, text, len);
    memset(out, 0xaa, cap + 1);
    n = json_bytes_avx512(exact + 2, exact + len, out, cap, &used);
    assert_true(n <= cap);
    for (size_t i = n; i <= cap; i++) assert_int_equal(out[i], 0xaa);
    n_all = json_bytes(exact + 2, exact + len, want, cap, &all);
    if (used > all) { /* the array's last element, which the portable code leaves */
        assert_int_equal(n, n_all + 1);
        assert_int_equal(exact[2 + used], ']');
        assert_int_equal(out[n_all], strtoul(text + 2 + all + 1, NULL, 10));
        n--;
    } else { /* what is left, the portable code finds */
        n += json_bytes(exact + 2 + used, exact + len, out + n, cap - n, &more);
        assert_int_equal(n, n_all);
        assert_int_equal(used + more, all);
    }
    assert_bytes_equal(out, want, n);
    free(exact);
    free(out);
    free(want);
}

/* How much of a plain array it reads: all that leaves a block, or all. */
static void test_reads_whole_arrays(void **state)
{
    char text[600] = "[7";
    uint8_t out[100];
    size_t used, len = 2;

    (void)state;
    if (missing()) return;
    for (unsigned i = 0; i < 100; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, ",%u", 255 - 2 * i);
    memset(text + len, ' ', sizeof text - len);
    text[len] = ']';
    assert_int_equal(json_bytes_avx512((const uint8_t *)text + 2,
                                       (const uint8_t *)text + sizeof text, out, 100, &used),
                     100);
    assert_int_equal(used, len - 2);
    for (unsigned i = 0; i < 100; i++) assert_int_equal(out[i], 255 - 2 * i);
}

static void test_bytes(void **state)
{
    static const char *const odd[] = {"256", "300",  "999", "1000", "00",  "01", "007", "-1",
                                      "",    "1.5",  " 1",  "1 ",   "1e1", "a",  "]",   "[",
                                      ",",   "0255", "260", "255",  "0",   "9",  ":",   "/"};
    char text[700];

    (void)state;
    if (missing()) return;
    for (size_t round = 0; round < harness_iters(4000); round++) {
        size_t len = 2, n = (size_t)harness_random_below(120), cap = n;
        size_t at = round % 2 == 0 ? SIZE_MAX : (size_t)harness_random_below(n + 1);

        memcpy(text, "[5", 3);
        for (size_t i = 0; i < n; i++) {
            uint64_t most = (round & 4) != 0 ? 256 : 1 + harness_random_below(256);

            text[len++] = ',';
            if (i == at)
                len += (size_t)snprintf(text + len, 6, "%s",
                                        odd[harness_random_below(sizeof odd / sizeof odd[0])]);
            else
                len += (size_t)snprintf(text + len, 4, "%u", (unsigned)harness_random_below(most));
        }
        (void)snprintf(
            text + len, 120, "]%s",
            round % 3 == 0
                ? ""
                : ",\"more\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23]");
        if (round % 5 == 0 && cap > 0) cap = (size_t)harness_random_below(cap);
        check_bytes(text, cap);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base64),
        cmocka_unit_test(test_reads_whole_arrays),
        cmocka_unit_test(test_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
