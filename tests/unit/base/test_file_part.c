/*
 * unit/base/test_file_part.c - large files that a killed process can be gone on with
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "harness/harness.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

#define SIZE 300000

static const uint8_t tag[32] = {1, 2, 3};
static const uint8_t other_tag[32] = {1, 2, 4};

/* A path of this test alone; PATH.part of it. */
static const char *path_of(const char *name, char part[512])
{
    const char *path = harness_temp_path(name);

    (void)snprintf(part, 512, "%s.part", path);
    return path;
}

static void assert_file(const char *path, const uint8_t *want, size_t n)
{
    size_t size;
    uint8_t *got = harness_read_file(path, &size);

    assert_int_equal(size, n);
    assert_bytes_equal(got, want, n);
    free(got);
}

static uint8_t *some_bytes(size_t n)
{
    uint8_t *p = malloc(n);

    assert_non_null(p);
    harness_random_bytes(p, n);
    return p;
}

static file_part *open_part(const char *path, const uint8_t *t, uint64_t want_done)
{
    file_part *f;
    uint64_t done = 99;

    assert_status_ok(file_part_open(&f, path, SIZE, t, &done));
    assert_int_equal(done, want_done);
    return f;
}

static void test_commit(void **state)
{
    char part[512];
    const char *path = path_of("commit", part);
    uint8_t *data = some_bytes(SIZE);
    file_part *f = open_part(path, tag, 0);
    (void)state;

    assert_string_equal(file_part_path(f), part);
    assert_status_ok(file_part_write(f, 100000, data + 100000, SIZE - 100000));
    assert_status_ok(file_part_checkpoint(f, 1));
    assert_status_ok(file_part_write(f, 0, data, 100000));
    assert_status_ok(file_part_write(f, SIZE, data, 0));
    assert_status_is(file_part_write(f, SIZE - 1, data, 2), CUZK_EINVAL);
    assert_status_is(file_part_write(f, UINT64_MAX, data, 2), CUZK_EINVAL);
    assert_false(file_exists(path));
    assert_status_ok(file_part_commit(f));
    assert_false(file_exists(part));
    assert_file(path, data, SIZE);

    /* over a file that is there; and one of no bytes */
    f = open_part(path, tag, 0);
    assert_file(path, data, SIZE);
    file_part_close(f, false);
    assert_false(file_exists(part));
    assert_file(path, data, SIZE);
    uint64_t done;
    assert_status_ok(file_part_open(&f, path, 0, tag, &done));
    assert_status_ok(file_part_commit(f));
    assert_file(path, data, 0);
    free(data);
}

static void test_resume(void **state)
{
    char part[512];
    const char *path = path_of("resume", part);
    uint8_t *data = some_bytes(SIZE);
    file_part *f = open_part(path, tag, 0);
    (void)state;

    assert_status_ok(file_part_write(f, 0, data, 1000));
    assert_status_ok(file_part_checkpoint(f, 7));
    file_part_close(f, true);
    f = open_part(path, tag, 7);
    assert_status_ok(file_part_write(f, 1000, data + 1000, SIZE - 1000));
    assert_status_ok(file_part_checkpoint(f, 8));
    assert_status_ok(file_part_checkpoint(f, UINT64_MAX));
    file_part_close(f, true);
    f = open_part(path, tag, UINT64_MAX);
    assert_status_ok(file_part_commit(f));
    assert_file(path, data, SIZE);

    /* other work begins again, with nothing of the former's left */
    f = open_part(path, tag, 0);
    assert_status_ok(file_part_write(f, 0, data, SIZE));
    assert_status_ok(file_part_checkpoint(f, 7));
    file_part_close(f, true);
    f = open_part(path, other_tag, 0);
    assert_status_ok(file_part_commit(f));
    memset(data, 0, SIZE);
    assert_file(path, data, SIZE);

    f = open_part(path, tag, 0);
    assert_status_ok(file_part_checkpoint(f, 7));
    file_part_close(f, true);
    uint64_t done;
    assert_status_ok(file_part_open(&f, path, SIZE + 1, tag, &done));
    assert_int_equal(done, 0);
    file_part_close(f, false);
    assert_false(file_exists(part));
    file_part_close(NULL, true);
    free(data);
}

/* A record that was being written when the power went: the one before it holds. */
static void test_torn_record(void **state)
{
    char part[512];
    const char *path = path_of("torn", part);
    (void)state;

    for (size_t at = 0; at < 64; at++) {
        size_t size;
        file_part *f = open_part(path, tag, 0);
        assert_status_ok(file_part_checkpoint(f, 1));
        assert_status_ok(file_part_checkpoint(f, 2));
        assert_status_ok(file_part_checkpoint(f, 3));
        file_part_close(f, true);
        uint8_t *bytes = harness_read_file(part, &size);
        assert_int_equal(size, SIZE + 4096 + 64);
        bytes[SIZE + 4096 + at] ^= 4; /* the third is in the second slot */
        harness_write_file(part, bytes, size);
        free(bytes);
        f = open_part(path, tag, 2);
        assert_status_ok(file_part_checkpoint(f, 5));
        file_part_close(f, true);
        f = open_part(path, tag, 5);
        file_part_close(f, false);
    }
}

static void test_killed(void **state)
{
    char part[512];
    const char *path = path_of("killed", part);
    uint8_t *data = some_bytes(SIZE);
    int how;
    (void)state;

    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        file_part *f;
        uint64_t done;
        if (file_part_open(&f, path, SIZE, tag, &done) != CUZK_OK) _exit(1);
        if (file_part_write(f, 0, data, SIZE) != CUZK_OK) _exit(1);
        if (file_part_checkpoint(f, 42) != CUZK_OK) _exit(1);
        (void)kill(getpid(), SIGKILL);
        _exit(1);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
    assert_false(file_exists(path));
    assert_status_ok(file_part_commit(open_part(path, tag, 42)));
    assert_file(path, data, SIZE);
    free(data);
}

/* A commit that fails leaves what a checkpoint told of, and else nothing. */
static void test_commit_fails(void **state)
{
    char part[512];
    const char *path = path_of("fails", part);
    uint8_t *data = some_bytes(SIZE);
    file_part *f = open_part(path, tag, 0);
    (void)state;

    assert_status_ok(file_make_dir(path)); /* meanwhile */
    assert_status_is(file_part_commit(f), CUZK_EIO);
    assert_error_mentions("Is a directory");
    assert_false(file_exists(part));
    assert_int_equal(rmdir(path), 0);
    f = open_part(path, tag, 0);
    assert_status_ok(file_part_write(f, 0, data, SIZE));
    assert_status_ok(file_part_checkpoint(f, 7));
    for (int i = 0; i < 3; i++) {
        assert_status_ok(file_make_dir(path));
        assert_status_is(file_part_commit(f), CUZK_EIO);
        assert_error_mentions("Is a directory");
        assert_int_equal(rmdir(path), 0);
        f = open_part(path, tag, 7);
    }
    assert_status_ok(file_part_commit(f));
    assert_file(path, data, SIZE);
    free(data);
}

static void test_locked(void **state)
{
    char part[512];
    const char *path = path_of("locked", part);
    file_part *f = open_part(path, tag, 0), *second;
    uint64_t done;
    (void)state;

    assert_status_is(file_part_open(&second, path, SIZE, tag, &done), CUZK_EIO);
    assert_error_mentions("another process");
    assert_true(file_exists(part)); /* it was not ours to remove */
    assert_status_ok(file_part_commit(f));
    file_part_close(open_part(path, tag, 0), false);
}

static void test_refuses(void **state)
{
    char part[512], in[600];
    const char *path = path_of("refuses", part);
    struct statvfs v;
    file_part *f;
    uint64_t done;
    (void)state;

    assert_status_ok(file_make_dir(path));
    assert_status_is(file_part_open(&f, path, SIZE, tag, &done), CUZK_EIO);
    assert_error_mentions("folder");
    assert_false(file_exists(part));
    (void)snprintf(in, sizeof in, "%s/none/x", path);
    assert_status_is(file_part_open(&f, in, SIZE, tag, &done), CUZK_EIO);
    (void)snprintf(in, sizeof in, "%s/", path);
    assert_status_is(file_part_open(&f, in, SIZE, tag, &done), CUZK_EIO);
    (void)snprintf(in, sizeof in, "%s/x", path);
    assert_status_is(file_part_open(&f, in, UINT64_MAX, tag, &done), CUZK_EINVAL);

    /* a link in the way, to anywhere, is not followed */
    (void)snprintf(part, sizeof part, "%s/x.part", path);
    assert_int_equal(symlink("/dev/null", part), 0);
    assert_status_is(file_part_open(&f, in, SIZE, tag, &done), CUZK_EIO);
    assert_int_equal(unlink(part), 0);

    /* more than the disk has: told at once, nothing left */
    assert_int_equal(statvfs(path, &v), 0);
    uint64_t more = 2 * (uint64_t)v.f_blocks * v.f_frsize;
    assert_status_is(file_part_open(&f, in, more, tag, &done), CUZK_EIO);
    assert_error_class(CUZK_CLASS_RESOURCE);
    assert_error_mentions("the disk has");
    assert_false(file_exists(part));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commit),       cmocka_unit_test(test_resume),
        cmocka_unit_test(test_torn_record),  cmocka_unit_test(test_killed),
        cmocka_unit_test(test_commit_fails), cmocka_unit_test(test_locked),
        cmocka_unit_test(test_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
