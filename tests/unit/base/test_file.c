/*
 * unit/base/test_file.c - mapping, and files that appear whole or not at all
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "harness/harness.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/file_fail.h"

/* Entries of a folder but for . and .. */
static size_t count_entries(const char *path)
{
    struct dirent **list;
    int n = scandir(path, &list, NULL, NULL);

    assert_true(n >= 2);
    for (int i = 0; i < n; i++) free(list[i]);
    free(list);
    return (size_t)n - 2;
}

/* A new folder below the test's own. */
static const char *new_folder(const char *name)
{
    const char *path = harness_temp_path(name);

    assert_status_ok(file_make_dir(path));
    return path;
}

static const char *join(char *buf, size_t cap, const char *folder, const char *name)
{
    (void)snprintf(buf, cap, "%s/%s", folder, name);
    return buf;
}

static void test_map(void **state)
{
    const char *path = harness_temp_path("map");
    file_map f;
    size_t n = 3 * 4096 + 5;
    uint8_t *data = malloc(n);

    (void)state;
    assert_non_null(data);
    harness_random_bytes(data, n);
    harness_write_file(path, data, n);
    assert_status_ok(file_map_open(&f, path));
    assert_int_equal(f.size, n);
    assert_string_equal(f.path, path);
    assert_bytes_equal(f.data, data, n);
    file_map_will_need(&f, 0, n);
    file_map_will_need(&f, 4097, SIZE_MAX);
    file_map_will_need(&f, n, 1);
    file_map_will_need(&f, SIZE_MAX, 1);
    file_map_done(&f, 0, n);
    file_map_done(&f, 4097, SIZE_MAX);
    file_map_done(&f, n, 1);
    file_map_done(&f, SIZE_MAX, 1);
    assert_bytes_equal(f.data, data, n); /* they come back when they are read */
    file_map_close(&f);
    assert_null(f.data);
    file_map_close(&f);
    file_map_close(NULL);
    free(data);
}

static void test_map_empty(void **state)
{
    const char *path = harness_temp_path("empty");
    file_map f;

    (void)state;
    harness_write_file(path, "", 0);
    assert_status_ok(file_map_open(&f, path));
    assert_non_null(f.data);
    assert_int_equal(f.size, 0);
    file_map_will_need(&f, 0, 1);
    file_map_close(&f);
}

static void map_refused(const char *path, const char *why)
{
    file_map f = {(const uint8_t *)"kept", 4, NULL};

    assert_status_is(file_map_open(&f, path), CUZK_EIO);
    assert_error_class(CUZK_CLASS_IO);
    assert_error_mentions(path);
    assert_error_mentions(why);
    assert_int_equal(f.size, 4);
}

static void test_map_refuses(void **state)
{
    const char *fifo = harness_temp_path("fifo");

    (void)state;
    map_refused(harness_temp_path("missing"), "No such file");
    map_refused(new_folder("folder"), "folder");
    map_refused("/dev/null", "not a regular file");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    map_refused(fifo, "not a regular file"); /* and does not wait for a writer */
    map_refused("", "No such file");
}

static void test_out_appears_on_commit(void **state)
{
    const char *folder = new_folder("out");
    char path[300];
    file_out *f = NULL;
    uint8_t *got;
    size_t size;

    (void)state;
    (void)join(path, sizeof path, folder, "a");
    assert_status_ok(file_out_open(&f, path));
    assert_status_ok(file_out_write(f, "hello ", 6));
    assert_status_ok(file_out_write(f, "", 0));
    assert_status_ok(file_out_write(f, "world", 5));
    assert_true(file_out_pos(f) == 11);
    assert_false(file_exists(path));
    assert_status_ok(file_out_write_at(f, 0, "J", 1));
    assert_status_ok(file_out_write(f, "!", 1));
    assert_status_ok(file_out_write_at(f, 11, "?", 1));
    assert_status_is(file_out_write_at(f, 12, "x", 1), CUZK_EINVAL);
    assert_status_is(file_out_write_at(f, 11, "xy", 2), CUZK_EINVAL);
    assert_status_is(file_out_write_at(f, UINT64_MAX, "x", 1), CUZK_EINVAL);
    assert_status_ok(file_out_commit(f));
    got = harness_read_file(path, &size);
    assert_int_equal(size, 12);
    assert_memory_equal(got, "Jello world?", 12);
    free(got);
    assert_int_equal(count_entries(folder), 1);
}

/* Blocks around the buffer's size, in all orders. */
static void test_out_large(void **state)
{
    static const size_t parts[] = {1, 1048575, 1, 1048576, 1048577, 3, 3000000, 0, 1048574, 5};
    const char *path = harness_temp_path("large");
    file_out *f = NULL;
    size_t total = 0, at = 0, size;
    uint8_t *data, *got;

    (void)state;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) total += parts[i];
    data = malloc(total);
    assert_non_null(data);
    harness_random_bytes(data, total);
    assert_status_ok(file_out_open(&f, path));
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; at += parts[i], i++)
        assert_status_ok(file_out_write(f, data + at, parts[i]));
    assert_true(file_out_pos(f) == total);
    assert_status_ok(file_out_write_at(f, total / 2, "mid", 3));
    memcpy(data + total / 2, (const char[3]){'m', 'i', 'd'}, 3);
    assert_status_ok(file_out_commit(f));
    got = harness_read_file(path, &size);
    assert_int_equal(size, total);
    assert_bytes_equal(got, data, total);
    free(got);
    free(data);
}

static void test_abort_leaves_nothing(void **state)
{
    const char *folder = new_folder("abort");
    char path[300];
    file_out *f = NULL;
    uint8_t *got;
    size_t size;

    (void)state;
    (void)join(path, sizeof path, folder, "a");
    assert_status_ok(file_write_whole(path, "old", 3));
    assert_status_ok(file_out_open(&f, path));
    assert_status_ok(file_out_write(f, "new", 3));
    assert_int_equal(count_entries(folder), 2);
    file_out_abort(f);
    file_out_abort(NULL);
    assert_int_equal(count_entries(folder), 1);
    got = harness_read_file(path, &size);
    assert_memory_equal(got, "old", 4);
    free(got);
    assert_status_ok(file_write_whole(path, "newer", 5));
    got = harness_read_file(path, &size);
    assert_memory_equal(got, "newer", 6);
    free(got);
    assert_int_equal(count_entries(folder), 1);
}

static void out_refused(const char *path, const char *why)
{
    file_out *f = NULL;

    assert_status_is(file_out_open(&f, path), CUZK_EIO);
    assert_null(f);
    assert_error_class(CUZK_CLASS_IO);
    assert_error_mentions(path);
    assert_error_mentions(why);
}

static void test_out_refuses(void **state)
{
    const char *folder = new_folder("refused");
    char path[300];

    (void)state;
    out_refused("/dev/null", "not a regular file");
    out_refused(folder, "folder");
    out_refused(join(path, sizeof path, folder, "no/such/x"), "No such file");
    out_refused(join(path, sizeof path, folder, ""), "names no file");
    out_refused("", "names no file");
    out_refused("/proc/cuzk-test", "cannot write"); /* a folder where nothing can be made */
    assert_int_equal(count_entries(folder), 0);
}

/* Modes follow the umask, as for any program that writes a file. */
static void test_out_mode(void **state)
{
    const char *path = harness_temp_path("mode");
    mode_t old = umask(027);
    struct stat s;

    (void)state;
    assert_status_ok(file_write_whole(path, "x", 1));
    (void)umask(old);
    assert_int_equal(stat(path, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0640);
}

/* The working directory may change between open and commit. */
static void test_out_relative(void **state)
{
    const char *folder = new_folder("relative");
    char path[300], cwd[4096];
    file_out *f = NULL;

    (void)state;
    assert_non_null(getcwd(cwd, sizeof cwd));
    assert_int_equal(chdir(folder), 0);
    assert_status_ok(file_out_open(&f, "here"));
    assert_status_ok(file_out_write(f, "x", 1));
    assert_int_equal(chdir(cwd), 0);
    assert_status_ok(file_out_commit(f));
    assert_true(file_exists(join(path, sizeof path, folder, "here")));
}

/* A file that may not grow: the write fails as on a full disk, and nothing is left. */
static void test_out_when_writing_fails(void **state)
{
    const char *folder = new_folder("full");
    char path[300];
    file_out *f = NULL;
    struct rlimit old, small;
    cuzk_status st;
    size_t n = 3 << 20;
    uint8_t *data = calloc(1, n);

    (void)state;
    assert_non_null(data);
    (void)join(path, sizeof path, folder, "a");
    assert_status_ok(file_out_open(&f, path));
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 1 << 20;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    st = file_out_write(f, data, n);
    if (st == CUZK_OK)
        st = file_out_commit(f); /* must not come to this */
    else
        file_out_abort(f);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_status_is(st, CUZK_EIO);
    assert_error_mentions(path);
    assert_error_mentions("File too large");
    assert_int_equal(count_entries(folder), 0);
    free(data);
}

/* The commit's own flush fails, and the commit cleans up. */
static void test_commit_when_flush_fails(void **state)
{
    const char *folder = new_folder("full2");
    char path[300];
    file_out *f = NULL;
    struct rlimit old, small;
    cuzk_status st;

    (void)state;
    (void)join(path, sizeof path, folder, "a");
    assert_status_ok(file_out_open(&f, path));
    assert_status_ok(file_out_write(f, "0123456789", 10));
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 4;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    st = file_out_commit(f);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_status_is(st, CUZK_EIO);
    assert_int_equal(count_entries(folder), 0);
}

/* The name is taken by a folder while we write: the rename fails, and the commit cleans up. */
static void test_commit_when_rename_fails(void **state)
{
    const char *folder = new_folder("taken");
    char path[300];
    file_out *f = NULL;

    (void)state;
    (void)join(path, sizeof path, folder, "a");
    assert_status_ok(file_out_open(&f, path));
    assert_status_ok(file_out_write(f, "x", 1));
    assert_status_ok(file_make_dir(path));
    assert_status_is(file_out_commit(f), CUZK_EIO);
    assert_error_mentions("Is a directory");
    assert_int_equal(count_entries(folder), 1);
    assert_int_equal(count_entries(path), 0);
}

/* What exit codes are made of: a full disk is a resource, a refused path is not. */
static void test_classes(void **state)
{
    (void)state;
    assert_status_is(file_fail("cannot write", "x", ENOSPC), CUZK_EIO);
    assert_error_class(CUZK_CLASS_RESOURCE);
    assert_error_mentions("cannot write x: No space left on device");
    assert_status_is(file_fail("cannot write", "x", EDQUOT), CUZK_EIO);
    assert_error_class(CUZK_CLASS_RESOURCE);
    assert_status_is(file_fail("cannot write", "x", EACCES), CUZK_EIO);
    assert_error_class(CUZK_CLASS_IO);
}

static void test_make_dir(void **state)
{
    char path[300];
    const char *base = new_folder("dirs");

    (void)state;
    (void)join(path, sizeof path, base, "a/b//c/");
    assert_status_ok(file_make_dir(path));
    assert_true(file_exists(path));
    assert_status_ok(file_make_dir(path));
    assert_status_ok(file_make_dir("/"));
    assert_status_ok(file_make_dir("."));
    harness_write_file(join(path, sizeof path, base, "file"), "x", 1);
    assert_status_is(file_make_dir(path), CUZK_EIO);
    assert_error_mentions("Not a directory");
    assert_status_is(file_make_dir(join(path, sizeof path, base, "file/x")), CUZK_EIO);
    assert_status_is(file_make_dir(""), CUZK_EIO);
}

static void test_exists(void **state)
{
    const char *path = harness_temp_path("exists");

    (void)state;
    assert_false(file_exists(path));
    harness_write_file(path, "x", 1);
    assert_true(file_exists(path));
    assert_true(file_exists("/"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map),
        cmocka_unit_test(test_map_empty),
        cmocka_unit_test(test_map_refuses),
        cmocka_unit_test(test_out_appears_on_commit),
        cmocka_unit_test(test_out_large),
        cmocka_unit_test(test_abort_leaves_nothing),
        cmocka_unit_test(test_out_refuses),
        cmocka_unit_test(test_out_mode),
        cmocka_unit_test(test_out_relative),
        cmocka_unit_test(test_out_when_writing_fails),
        cmocka_unit_test(test_commit_when_flush_fails),
        cmocka_unit_test(test_commit_when_rename_fails),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_make_dir),
        cmocka_unit_test(test_exists),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
