/*
 * unit/base/test_file_target.c - outputs that are links, and two files that are written together
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "harness/harness.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_target.h"

static char folder[300], path_a[340], path_b[340];

/* A new folder of this test, and the paths of a and b in it. */
static void new_folder(const char *name)
{
    (void)snprintf(folder, sizeof folder, "%s", harness_temp_path(name));
    assert_status_ok(file_make_dir(folder));
    (void)snprintf(path_a, sizeof path_a, "%s/a", folder);
    (void)snprintf(path_b, sizeof path_b, "%s/b", folder);
}

static void assert_text(const char *path, const char *want)
{
    size_t size;
    uint8_t *got = harness_read_file(path, &size);

    assert_int_equal(size, strlen(want));
    assert_memory_equal(got, want, size);
    free(got);
}

static void assert_link(const char *path)
{
    struct stat s;

    assert_int_equal(lstat(path, &s), 0);
    assert_true(S_ISLNK(s.st_mode));
}

static void assert_entries(size_t want)
{
    struct dirent **list;
    int n = scandir(folder, &list, NULL, NULL);

    assert_int_equal(n, want + 2);
    for (int i = 0; i < n; i++) free(list[i]);
    free(list);
}

/* The link stays, and what it leads to is written: a file of another folder, a file that is not there yet. */
static void test_out_follows_links(void **state)
{
    char sub[340], target[360];

    (void)state;
    new_folder("links");
    (void)snprintf(sub, sizeof sub, "%s/sub", folder);
    (void)snprintf(target, sizeof target, "%s/t", sub);
    assert_status_ok(file_make_dir(sub));
    assert_int_equal(symlink("sub/t", path_a), 0); /* from the link's own folder */
    assert_int_equal(symlink(path_a, path_b), 0);  /* a link to a link */
    assert_status_ok(file_write_whole(path_b, "one", 3));
    assert_link(path_a);
    assert_link(path_b);
    assert_text(target, "one");
    assert_status_ok(file_write_whole(path_b, "two", 3));
    assert_link(path_b);
    assert_text(target, "two");
    assert_entries(3);
}

static void test_part_follows_links(void **state)
{
    static const uint8_t tag[32] = {1};
    uint64_t done;
    file_part *f;

    (void)state;
    new_folder("part-links");
    assert_int_equal(symlink("b", path_a), 0);
    assert_status_ok(file_part_open(&f, path_a, 3, tag, &done));
    assert_true(strstr(file_part_path(f), "/b.part") != NULL);
    assert_status_ok(file_part_write(f, 0, "abc", 3));
    assert_status_ok(file_part_commit(f));
    assert_link(path_a);
    assert_text(path_b, "abc");
    assert_entries(2);
}

static void link_refused(const char *to, const char *why)
{
    file_out *f = NULL;
    file_part *p = NULL;
    static const uint8_t tag[32] = {1};
    uint64_t done;

    assert_int_equal(symlink(to, path_a), 0);
    assert_status_is(file_out_open(&f, path_a), CUZK_EIO);
    assert_error_mentions(why);
    assert_status_is(file_part_open(&p, path_a, 3, tag, &done), CUZK_EIO);
    assert_error_mentions(why);
    assert_link(path_a);
    assert_entries(1);
    assert_int_equal(unlink(path_a), 0);
}

/* What /dev/stdout is: a link by way of /proc to a regular file, when the output was redirected. */
static void test_open_files_are_refused(void **state)
{
    char to[64];
    FILE *f;

    (void)state;
    new_folder("proc");
    f = fopen(path_b, "w");
    assert_non_null(f);
    (void)snprintf(to, sizeof to, "/proc/self/fd/%d", fileno(f));
    assert_int_equal(unlink(path_b), 0);
    link_refused(to, "open file of a process");
    assert_int_equal(fclose(f), 0);
    link_refused("a", "Too many levels");
    link_refused("/dev/null", "not a regular file");
    link_refused("no/such", "No such file");
    link_refused(".", "folder");
}

static void target(file_target *out, const char *path)
{
    assert_status_ok(file_target_of(out, path));
}

static void test_targets(void **state)
{
    char other[360];
    file_target a, b;

    (void)state;
    new_folder("targets");
    target(&a, path_a);
    target(&b, path_b);
    assert_false(file_target_equal(&a, &b));
    (void)snprintf(other, sizeof other, "%s/.//a", folder);
    target(&b, other);
    assert_true(file_target_equal(&a, &b));
    assert_int_equal(symlink("a", path_b), 0);
    target(&b, path_b);
    assert_true(file_target_equal(&a, &b));
    (void)snprintf(other, sizeof other, "%s/no/a", folder);
    assert_status_is(file_target_of(&b, other), CUZK_EIO);
    assert_status_is(file_target_of(&b, ""), CUZK_EIO);
}

static file_out *opened(const char *path, const char *text)
{
    file_out *f;

    assert_status_ok(file_out_open(&f, path));
    assert_status_ok(file_out_write(f, text, strlen(text)));
    return f;
}

static void test_both(void **state)
{
    (void)state;
    new_folder("both");
    assert_status_ok(file_out_commit_both(opened(path_a, "a1"), opened(path_b, "b1")));
    assert_text(path_a, "a1");
    assert_text(path_b, "b1");
    assert_status_ok(file_out_commit_both(opened(path_a, "a2"), opened(path_b, "b2")));
    assert_text(path_a, "a2");
    assert_text(path_b, "b2");
    assert_entries(2);
}

/* The second cannot have its name: the first is as before, there or not. */
static void test_neither(void **state)
{
    file_out *a, *b;

    (void)state;
    new_folder("neither");
    a = opened(path_a, "new");
    b = opened(path_b, "new");
    assert_status_ok(file_make_dir(path_b));
    assert_status_is(file_out_commit_both(a, b), CUZK_EIO);
    assert_error_mentions("b: Is a directory");
    assert_false(file_exists(path_a));
    assert_entries(1);
    assert_status_ok(file_write_whole(path_a, "old", 3));
    assert_int_equal(rmdir(path_b), 0);
    a = opened(path_a, "new");
    b = opened(path_b, "new");
    assert_status_ok(file_make_dir(path_b));
    assert_status_is(file_out_commit_both(a, b), CUZK_EIO);
    assert_text(path_a, "old");
    assert_entries(2);
    /* the first one's name was taken by a folder: it stays too */
    assert_int_equal(rmdir(path_b), 0);
    assert_int_equal(unlink(path_a), 0);
    a = opened(path_a, "new");
    b = opened(path_b, "new");
    assert_status_ok(file_make_dir(path_a));
    assert_status_is(file_out_commit_both(a, b), CUZK_EIO);
    assert_entries(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_out_follows_links),
        cmocka_unit_test(test_part_follows_links),
        cmocka_unit_test(test_open_files_are_refused),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_both),
        cmocka_unit_test(test_neither),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
