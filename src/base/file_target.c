/*
 * base/file_target.c - where a path leads: its folder, opened, and the name there
 *
 * A file that appears by a rename would take the place of a link that has its name, so links are followed before. Those of
 * /proc (and with them /dev/stdout and /dev/fd/N) are not names of files but open files of a process: they are refused, for
 * whoever holds the file open would not see what a rename puts in its place.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/file_target.h"

#include "base/file_fail.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#define MAX_LINKS 40 /* as the kernel's own limit */

cuzk_status file_open_folder(char *path, const char **base, int *dir)
{
    char *slash = strrchr(path, '/');
    const char *folder = ".";

    *base = path;
    if (slash != NULL) {
        *base = slash + 1;
        folder = slash == path ? "/" : path;
    }
    if ((*base)[0] == '\0')
        return FAIL(CUZK_EIO, "cannot write %s: it names no file", path[0] == '\0' ? "''" : path);
    if (slash != NULL && slash != path) *slash = '\0';
    *dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (slash != NULL && slash != path) *slash = '/';
    return *dir < 0 ? file_fail("cannot write", path, errno) : CUZK_OK;
}

/** *path becomes where the link that it is leads to; base is its last part. */
static CUZK_STATUS follow(char **path, const char *base, const char *to)
{
    size_t keep = to[0] == '/' ? 0 : (size_t)(base - *path), n = strlen(to) + 1;
    char *next = malloc(keep + n);

    if (next == NULL) return FAIL(CUZK_ENOMEM, "cannot write %s: out of memory", *path);
    memcpy(next, *path, keep);
    memcpy(next + keep, to, n);
    free(*path);
    *path = next;
    return CUZK_OK;
}

cuzk_status file_open_target(char **path, const char **base, int *dir)
{
    for (unsigned i = 0; i < MAX_LINKS; i++) {
        char to[PATH_MAX];
        struct statfs fs;
        ssize_t n;

        TRY(file_open_folder(*path, base, dir));
        n = readlinkat(*dir, *base, to, sizeof to);
        if (n < 0)
            return CUZK_OK; /* no link, or not there: whoever opens it says what else is wrong */
        if ((size_t)n == sizeof to) return file_fail("cannot write", *path, ENAMETOOLONG);
        to[n] = '\0';
        if (fstatfs(*dir, &fs) != 0 || fs.f_type == PROC_SUPER_MAGIC)
            return FAIL(CUZK_EIO,
                        "cannot write %s: it is an open file of a process, not a name for one",
                        *path);
        (void)close(*dir);
        *dir = -1;
        TRY(follow(path, *base, to));
    }
    return file_fail("cannot write", *path, ELOOP);
}

cuzk_status file_target_of(file_target *out, const char *path)
{
    cuzk_status st;
    struct stat s;
    const char *base;
    int dir = -1;
    char *p = strdup(path);

    if (p == NULL) return FAIL(CUZK_ENOMEM, "%s: out of memory", path);
    TRY_OUT(file_open_target(&p, &base, &dir));
    if (fstat(dir, &s) != 0 || strlen(base) >= sizeof out->name) {
        st = file_fail("cannot write", p, strlen(base) >= sizeof out->name ? ENAMETOOLONG : errno);
        goto out;
    }
    *out = (file_target){.device = (uint64_t)s.st_dev, .inode = (uint64_t)s.st_ino};
    (void)snprintf(out->name, sizeof out->name, "%s", base);
out:
    if (dir >= 0) (void)close(dir);
    free(p);
    return st;
}

cuzk_status file_remove_target(const char *path)
{
    cuzk_status st;
    const char *base;
    int dir = -1;
    char *p = strdup(path);

    if (p == NULL) return FAIL(CUZK_ENOMEM, "%s: out of memory", path);
    TRY_OUT(file_open_target(&p, &base, &dir));
    if (unlinkat(dir, base, 0) != 0 && errno != ENOENT) st = file_fail("cannot remove", p, errno);
out:
    if (dir >= 0) (void)close(dir);
    free(p);
    return st;
}

bool file_target_equal(const file_target *a, const file_target *b)
{
    return a->device == b->device && a->inode == b->inode && strcmp(a->name, b->name) == 0;
}
