/*
 * unit/circuit/test_redundant.c - warned of, refused, or passed over
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "support.h"

#include "circuit/filecoin/redundant.h"

typedef struct heard {
    unsigned n;
    char text[256];
} heard;

static void hear(void *ctx, cuzk_class klass, const char *where, const char *message)
{
    heard *h = ctx;

    assert_int_equal(klass, CUZK_CLASS_REDUNDANT);
    h->n++;
    (void)snprintf(h->text, sizeof h->text, "%s: %s", where, message);
}

static void test_warned_of(void **state)
{
    heard h = {0};
    fil_redundant r = {.warn = hear, .ctx = &h};

    (void)state;
    assert_status_ok(fil_redundant_found(&r, "partition 1", "index %d", 3));
    assert_int_equal(h.n, 1);
    assert_string_equal(h.text, "partition 1: index 3");
}

static void test_refused(void **state)
{
    heard h = {0};
    fil_redundant r = {.strict = true, .warn = hear, .ctx = &h};

    (void)state;
    assert_status_is(fil_redundant_found(&r, "partition 1", "index %d", 3), CUZK_EDATA);
    assert_error_class(CUZK_CLASS_REDUNDANT);
    assert_string_equal(cuzk_last_error()->where, "partition 1");
    assert_string_equal(cuzk_last_error()->message, "index 3");
    assert_int_equal(h.n, 0);
    r.warn = NULL;
    assert_status_is(fil_redundant_found(&r, "partition 2", "x"), CUZK_EDATA);
}

static void test_nobody_wants_to_know(void **state)
{
    const fil_redundant r = {.strict = false};

    (void)state;
    assert_status_ok(fil_redundant_found(&r, "", "x"));
    assert_status_ok(fil_redundant_found(NULL, "", "x"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_warned_of),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_nobody_wants_to_know),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
