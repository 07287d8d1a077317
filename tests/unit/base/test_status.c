/*
 * unit/base/test_status.c - failures are recorded per thread, extended, copied across threads
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "harness/harness.h"

#include <pthread.h>

#include "base/status.h"

static cuzk_status fail_with(cuzk_status st)
{
    return FAIL(st, "value %d, limit %d", 7, 5);
}

static void test_fail_records(void **state)
{
    const cuzk_error *e;

    (void)state;
    assert_status_is(fail_with(CUZK_EDATA), CUZK_EDATA);
    e = cuzk_last_error();
    assert_int_equal(e->status, CUZK_EDATA);
    assert_int_equal(e->klass, CUZK_CLASS_MALFORMED);
    assert_string_equal(e->message, "value 7, limit 5");
    assert_string_equal(e->where, "");
    assert_non_null(strstr(e->file, "test_status.c"));
    assert_true(e->line > 0);
}

static void test_default_classes(void **state)
{
    static const struct {
        cuzk_status st;
        cuzk_class k;
    } want[] = {
        {CUZK_OK, CUZK_CLASS_NONE},          {CUZK_EINVAL, CUZK_CLASS_NONE},
        {CUZK_EDATA, CUZK_CLASS_MALFORMED},  {CUZK_ENOMEM, CUZK_CLASS_RESOURCE},
        {CUZK_EBUDGET, CUZK_CLASS_RESOURCE}, {CUZK_EIO, CUZK_CLASS_IO},
        {CUZK_EDEVICE, CUZK_CLASS_DEVICE},   {CUZK_ECANCELLED, CUZK_CLASS_NONE},
        {CUZK_ETIMEOUT, CUZK_CLASS_NONE},    {CUZK_EBUG, CUZK_CLASS_BUG},
    };

    (void)state;
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++)
        assert_int_equal(status_default_class(want[i].st), want[i].k);
}

static void test_fail_data_has_class_and_place(void **state)
{
    (void)state;
    assert_status_is(FAIL_DATA(SHAPE, "sector 3", "%zu sectors", (size_t)9), CUZK_EDATA);
    assert_error_class(CUZK_CLASS_SHAPE);
    assert_string_equal(cuzk_last_error()->where, "sector 3");
    assert_string_equal(cuzk_last_error()->message, "9 sectors");
}

static void test_add_where(void **state)
{
    (void)state;
    assert_status_is(FAIL_DATA(SHAPE, "challenge 1", "x"), CUZK_EDATA);
    status_add_where("sector %d", 3);
    assert_string_equal(cuzk_last_error()->where, "sector 3, challenge 1");
    status_add_where("%s", "");
    assert_string_equal(cuzk_last_error()->where, "sector 3, challenge 1");
    assert_status_is(fail_with(CUZK_EDATA), CUZK_EDATA);
    status_add_where("file a");
    assert_string_equal(cuzk_last_error()->where, "file a");
    assert_string_equal(cuzk_last_error()->message, "value 7, limit 5");
}

/* Texts longer than their fields are cut, and what an outer place says comes first. */
static void test_long_texts_are_cut(void **state)
{
    char text[1000];
    const cuzk_error *e = cuzk_last_error();

    (void)state;
    memset(text, 'm', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_status_is(FAIL_DATA(LIMIT, text, "%s", text), CUZK_EDATA);
    assert_int_equal(strlen(e->message), sizeof e->message - 1);
    assert_int_equal(strlen(e->where), sizeof e->where - 1);
    status_add_where("outer");
    assert_int_equal(strlen(e->where), sizeof e->where - 1);
    assert_memory_equal(e->where, "outer, mmm", 10);
    text[125] = '\0';
    assert_status_is(FAIL_DATA(LIMIT, "inner", "x"), CUZK_EDATA);
    status_add_where("%s", text);
    assert_int_equal(strlen(e->where), sizeof e->where - 1);
    assert_memory_equal(e->where + 125, ", ", 3);
}

/* The text of a failure may be made of the failure before it. */
static void test_fail_may_quote_itself(void **state)
{
    const cuzk_error *e = cuzk_last_error();

    (void)state;
    assert_status_is(FAIL_DATA(SHAPE, "here", "inner"), CUZK_EDATA);
    assert_status_is(
        status_fail("f", 1, CUZK_EIO, CUZK_CLASS_IO, e->where, "outer: %s", e->message), CUZK_EIO);
    assert_string_equal(e->where, "here");
    assert_string_equal(e->message, "outer: inner");
}

static void *fail_on_thread(void *arg)
{
    cuzk_error *out = arg;
    bool clean = cuzk_last_error()->status == CUZK_OK && cuzk_last_error()->file != NULL;

    if (clean) (void)status_fail("thread.c", 77, CUZK_EIO, CUZK_CLASS_IO, "there", "on a thread");
    *out = *cuzk_last_error();
    return NULL;
}

static void test_threads_and_adopt(void **state)
{
    pthread_t t;
    cuzk_error e;

    (void)state;
    assert_status_is(fail_with(CUZK_EDATA), CUZK_EDATA);
    assert_int_equal(pthread_create(&t, NULL, fail_on_thread, &e), 0);
    assert_int_equal(pthread_join(t, NULL), 0);
    assert_string_equal(cuzk_last_error()->message, "value 7, limit 5");
    assert_status_is(status_adopt(&e), CUZK_EIO);
    assert_string_equal(cuzk_last_error()->message, "on a thread");
    assert_string_equal(cuzk_last_error()->where, "there");
    assert_int_equal(cuzk_last_error()->line, 77);
    assert_status_is(status_adopt(cuzk_last_error()), CUZK_EIO);
    assert_string_equal(cuzk_last_error()->message, "on a thread");
}

static cuzk_status try_it(cuzk_status st, int *after)
{
    TRY(st);
    ++*after;
    return CUZK_OK;
}

static cuzk_status try_out(cuzk_status fails, int *after)
{
    cuzk_status st = CUZK_OK;

    TRY_OUT(fails);
    ++*after;
out:
    return st;
}

static void test_try(void **state)
{
    int after = 0;

    (void)state;
    assert_status_is(try_it(CUZK_EIO, &after), CUZK_EIO);
    assert_status_is(try_out(CUZK_EIO, &after), CUZK_EIO);
    assert_int_equal(after, 0);
    assert_status_ok(try_it(CUZK_OK, &after));
    assert_status_ok(try_out(CUZK_OK, &after));
    assert_int_equal(after, 2);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(cuzk_status_name(CUZK_OK), "CUZK_OK");
    assert_string_equal(cuzk_status_name(CUZK_EBUG), "CUZK_EBUG");
    assert_string_equal(cuzk_status_text(CUZK_EBUDGET), "no memory budget");
    assert_string_equal(cuzk_class_name(CUZK_CLASS_NONE), "");
    assert_string_equal(cuzk_class_name(CUZK_CLASS_BUG), "bug");
    assert_string_equal(cuzk_class_name(CUZK_CLASS_UNSATISFIED), "unsatisfied");
    /* a number from elsewhere is no reason to crash */
    assert_non_null(cuzk_status_name((cuzk_status)1000));
    assert_non_null(cuzk_status_text((cuzk_status)-1));
    assert_non_null(cuzk_class_name((cuzk_class)1000));
    assert_true(cuzk_version()[0] >= '0' && cuzk_version()[0] <= '9');
}

static void test_buffer_clear(void **state)
{
    cuzk_buffer b = {malloc(4), 4};

    (void)state;
    cuzk_buffer_clear(&b);
    assert_null(b.data);
    assert_int_equal(b.size, 0);
    cuzk_buffer_clear(&b);
    cuzk_buffer_clear(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fail_records),
        cmocka_unit_test(test_default_classes),
        cmocka_unit_test(test_fail_data_has_class_and_place),
        cmocka_unit_test(test_add_where),
        cmocka_unit_test(test_long_texts_are_cut),
        cmocka_unit_test(test_fail_may_quote_itself),
        cmocka_unit_test(test_threads_and_adopt),
        cmocka_unit_test(test_try),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_buffer_clear),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
