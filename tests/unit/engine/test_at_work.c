/*
 * unit/engine/test_at_work.c - what a process that died leaves behind, and what is held against its jobs
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "harness/harness.h"

#include <fcntl.h>
#include <unistd.h>

#include "engine/at_work.h"

#define SIGNAL_AT 12 /* in the file's header */
#define OOM_AT 16
#define BOOT_AT 24

static char path[512];
static mem *m;
static at_work *w;
static work_before before;

static void open_it(void)
{
    assert_status_ok(at_work_open(&w, path, m, &before));
}

/* A process that dies leaves its rows; closing the file is all that the kernel does. */
static void die_of(int signal)
{
    if (signal != 0) at_work_crashed(w, signal);
    at_work_close(w);
    open_it();
}

static void overwrite(off_t at, const void *p, size_t n)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, p, n, at), (ssize_t)n);
    (void)close(fd);
}

static unsigned held(const char *job)
{
    return at_work_strikes(w, job).quarters;
}

static int start(void **state)
{
    static unsigned n;
    char name[32];

    (void)state;
    (void)snprintf(name, sizeof name, "work-%u", n++);
    (void)snprintf(path, sizeof path, "%s", harness_temp_path(name));
    assert_status_ok(mem_open(&m, "test", 0, NULL));
    open_it();
    assert_int_equal(before.end, WORK_ENDED);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    at_work_close(w);
    mem_close(m);
    return 0;
}

/* What was done is not there any more, in whatever order it ended. */
static void test_done(void **state)
{
    uint32_t a = at_work_begin(w, "a", false), b = at_work_begin(w, "b", false),
             a2 = at_work_begin(w, "a", false);

    (void)state;
    assert_true(a != b && b != a2 && a != a2);
    at_work_end(w, b);
    at_work_end(w, a);
    at_work_end(w, a2);
    at_work_end(w, AT_WORK_NONE);
    die_of(0);
    assert_int_equal(before.end, WORK_ENDED);
    assert_int_equal(before.jobs, 0);
    assert_int_equal(held("a"), 0);
}

/* A crash is everybody's who was at work, a second one only his who was there alone. */
static void test_crashes(void **state)
{
    uint32_t c;
    work_strikes s;

    (void)state;
    (void)at_work_begin(w, "a", false);
    (void)at_work_begin(w, "a", false);
    (void)at_work_begin(w, "b", false);
    c = at_work_begin(w, "c", false);
    at_work_end(w, c);
    die_of(11);
    assert_int_equal(before.end, WORK_CRASHED);
    assert_int_equal(before.signal, 11);
    assert_int_equal(before.jobs, 2);
    assert_int_equal(held("a"), AT_WORK_STRIKE);
    assert_int_equal(held("b"), AT_WORK_STRIKE);
    assert_int_equal(held("c"), 0);
    (void)at_work_begin(w, "a", false); /* alone */
    die_of(6);
    s = at_work_strikes(w, "a");
    assert_int_equal(s.quarters, 2 * AT_WORK_STRIKE);
    assert_int_equal(s.deaths, 2);
    assert_int_equal(s.last, WORK_CRASHED);
    assert_int_equal(s.signal, 6);
    assert_int_equal(held("b"), AT_WORK_STRIKE);
    (void)at_work_begin(w, "b", false); /* beside one that nothing is held against */
    (void)at_work_begin(w, "urgent", false);
    die_of(11);
    assert_int_equal(held("b"), AT_WORK_STRIKE + 1);
    assert_int_equal(held("urgent"), AT_WORK_STRIKE);
}

/* Who has another process at work is to blame only where nobody is at work here. */
static void test_outside(void **state)
{
    (void)state;
    (void)at_work_begin(w, "a", false);
    (void)at_work_begin(w, "command", true);
    die_of(11);
    assert_int_equal(before.jobs, 1);
    assert_int_equal(held("a"), AT_WORK_STRIKE);
    assert_int_equal(held("command"), 0);
    (void)at_work_begin(w, "command", true);
    die_of(11);
    assert_int_equal(held("command"), AT_WORK_STRIKE);
}

/* kill -9 counts little; the machine's restart counts nothing; want of memory counts. */
static void test_other_ends(void **state)
{
    static const char other[] = "another boot";
    uint64_t many = UINT64_C(1) << 60;

    (void)state;
    (void)at_work_begin(w, "a", false);
    die_of(0);
    assert_int_equal(before.end, WORK_KILLED);
    assert_int_equal(held("a"), 1);
    (void)at_work_begin(w, "a", false);
    overwrite(BOOT_AT, other, sizeof other);
    die_of(0);
    assert_int_equal(before.end, WORK_ENDED);
    assert_int_equal(held("a"), 1);
    (void)at_work_begin(w, "a", false);
    overwrite(OOM_AT, &many, sizeof many);
    die_of(0);
    assert_int_equal(before.end, WORK_OUT_OF_MEMORY);
    assert_int_equal(held("a"), 1 + AT_WORK_STRIKE);
    assert_string_equal(work_end_name(before.end), "out of memory");
}

static void test_forgiven(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        (void)at_work_begin(w, "a", false);
        die_of(11);
    }
    assert_int_equal(held("a"), 3 * AT_WORK_STRIKE);
    at_work_forgive(w, "a", AT_WORK_STRIKE); /* it got further */
    assert_int_equal(held("a"), AT_WORK_STRIKE);
    assert_int_equal(at_work_strikes(w, "a").deaths, 1);
    die_of(0);
    assert_int_equal(held("a"), AT_WORK_STRIKE);
    at_work_forgive(w, "nobody", 0);
    at_work_forgive(w, "a", 0);
    die_of(0);
    assert_int_equal(held("a"), 0);
}

/* More than there are rows: what has none is not counted, and of what is held the oldest goes. */
static void test_many(void **state)
{
    uint32_t row[1100];
    char id[16];

    (void)state;
    for (unsigned i = 0; i < 1100; i++) row[i] = at_work_begin(w, "a", false);
    assert_true(row[1023] != AT_WORK_NONE && row[1024] == AT_WORK_NONE);
    at_work_end(w, row[7]);
    assert_int_equal(at_work_begin(w, "a", false), row[7]);
    for (unsigned i = 0; i < 1024; i++) at_work_end(w, row[i]);
    for (unsigned i = 0; i < 300; i++) {
        (void)snprintf(id, sizeof id, "job-%u", i);
        (void)at_work_begin(w, id, false);
    }
    die_of(11);
    assert_int_equal(before.jobs, 300);
    assert_int_equal(held("job-0"), 0);
    assert_int_equal(held("job-299"), AT_WORK_STRIKE);
}

/* A file of something else, and one cut short, are taken over as empty ones. */
static void test_other_files(void **state)
{
    (void)state;
    (void)at_work_begin(w, "a", false);
    overwrite(0, "nonsense", 8);
    die_of(0);
    assert_int_equal(before.end, WORK_ENDED);
    assert_int_equal(held("a"), 0);
    (void)at_work_begin(w, "a", false);
    assert_int_equal(truncate(path, 1000), 0);
    die_of(0);
    assert_int_equal(held("a"), 0);
    (void)at_work_begin(w, "a", false);
    die_of(SIGNAL_AT);
    assert_int_equal(held("a"), AT_WORK_STRIKE);
}

static void test_no_file(void **state)
{
    at_work *none = NULL;

    (void)state;
    assert_status_is(at_work_open(&none, "/nowhere/x.work", m, &before), CUZK_EIO);
    assert_null(none);
    assert_int_equal(at_work_begin(NULL, "a", false), AT_WORK_NONE);
    at_work_end(NULL, 3);
    at_work_forgive(NULL, "a", 0);
    at_work_crashed(NULL, 11);
    assert_int_equal(at_work_strikes(NULL, "a").quarters, 0);
    at_work_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_done, start, stop),
        cmocka_unit_test_setup_teardown(test_crashes, start, stop),
        cmocka_unit_test_setup_teardown(test_outside, start, stop),
        cmocka_unit_test_setup_teardown(test_other_ends, start, stop),
        cmocka_unit_test_setup_teardown(test_forgiven, start, stop),
        cmocka_unit_test_setup_teardown(test_many, start, stop),
        cmocka_unit_test_setup_teardown(test_other_files, start, stop),
        cmocka_unit_test_setup_teardown(test_no_file, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
