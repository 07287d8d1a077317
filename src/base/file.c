/*
 * base/file.c - mapping files for reading; which files there are, and which one is which
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/file.h"

#include "base/file_fail.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* What an empty file's data points to: a mapping of no bytes does not exist. */
static const uint8_t nothing[1];

cuzk_status file_fail(const char *doing, const char *path, int err)
{
    char buf[128];
    bool full = err == ENOSPC || err == EDQUOT || err == ENOMEM || err == EMFILE || err == ENFILE;

    return status_fail(__FILE__, __LINE__, CUZK_EIO, full ? CUZK_CLASS_RESOURCE : CUZK_CLASS_IO, "",
                       "%s %s: %s", doing, path, strerror_r(err, buf, sizeof buf));
}

cuzk_status file_check_regular(const struct stat *s, const char *doing, const char *path)
{
    if (S_ISDIR(s->st_mode)) return FAIL(CUZK_EIO, "%s %s: it is a folder", doing, path);
    if (!S_ISREG(s->st_mode)) return FAIL(CUZK_EIO, "%s %s: it is not a regular file", doing, path);
    return CUZK_OK;
}

cuzk_status file_map_open(file_map *out, const char *path)
{
    cuzk_status st = CUZK_OK;
    struct stat s;
    void *p = NULL;
    char *copy = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe must not make us wait */

    if (fd < 0) return file_fail("cannot open", path, errno);
    if (fstat(fd, &s) != 0) {
        st = file_fail("cannot look at", path, errno);
        goto out;
    }
    TRY_OUT(file_check_regular(&s, "cannot read", path));
    copy = strdup(path);
    if (copy == NULL) {
        st = FAIL(CUZK_ENOMEM, "cannot open %s: out of memory", path);
        goto out;
    }
    if (s.st_size > 0) {
        p = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (p == MAP_FAILED) {
            st = file_fail("cannot map", path, errno);
            goto out;
        }
    }
    out->data = p == NULL ? nothing : p;
    out->size = (size_t)s.st_size;
    out->path = copy;
    copy = NULL;
out:
    free(copy);
    (void)close(fd); /* only read from: nothing can be lost */
    return st;
}

void file_map_close(file_map *f)
{
    if (f == NULL || f->data == NULL) return;
    if (f->size != 0) (void)munmap((void *)(uintptr_t)f->data, f->size);
    free(f->path);
    f->data = NULL;
    f->size = 0;
    f->path = NULL;
}

void file_map_will_need(const file_map *f, size_t off, size_t len)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), lead;

    if (off >= f->size) return;
    if (len > f->size - off) len = f->size - off;
    lead = off & (page - 1);
    /* a hint: a kernel that cannot read ahead is as good as one that does not */
    (void)madvise((void *)(uintptr_t)(f->data + (off - lead)), len + lead, MADV_WILLNEED);
}

void file_map_done(const file_map *f, size_t off, size_t len)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), from, to;

    if (off >= f->size) return;
    if (len > f->size - off) len = f->size - off;
    from = (off + page - 1) & ~(page - 1); /* whole pages inside the range alone */
    to = (off + len) & ~(page - 1);
    if (from < to) (void)madvise((void *)(uintptr_t)(f->data + from), to - from, MADV_DONTNEED);
}

cuzk_status file_make_dir(const char *path)
{
    cuzk_status st = CUZK_OK;
    struct stat s;
    char *p = strdup(path);
    size_t n;

    if (p == NULL) return FAIL(CUZK_ENOMEM, "cannot make folder %s: out of memory", path);
    n = strlen(p);
    for (size_t i = 1; i <= n; i++) {
        char c = p[i];
        int err;

        if (c != '/' && c != '\0') continue;
        p[i] = '\0';
        err = mkdir(p, 0777) == 0 ? 0 : errno;
        /* a parent on a read-only or foreign file system may refuse although it is there */
        if (err != 0 && (stat(p, &s) != 0 || !S_ISDIR(s.st_mode))) {
            st = file_fail("cannot make folder", p, err == EEXIST ? ENOTDIR : err);
            goto out;
        }
        p[i] = c;
    }
    if (n == 0) st = file_fail("cannot make folder", "''", ENOENT);
out:
    free(p);
    return st;
}

cuzk_status file_id_of(file_id *out, const char *path)
{
    struct stat s;

    if (stat(path, &s) != 0) return file_fail("cannot look at", path, errno);
    *out = (file_id){.device = s.st_dev,
                     .inode = s.st_ino,
                     .size = (uint64_t)s.st_size,
                     .mtime_ns = (int64_t)s.st_mtim.tv_sec * 1000000000 + s.st_mtim.tv_nsec};
    return CUZK_OK;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

cuzk_status file_list(const char *dir, file_list_fn fn, void *ctx)
{
    cuzk_status st = CUZK_OK;
    struct dirent **list;
    int n = scandir(dir, &list, NULL, by_bytes);

    if (n < 0) return file_fail("cannot list", dir, errno);
    for (int i = 0; i < n; i++) {
        const char *name = list[i]->d_name;
        if (st == CUZK_OK && strcmp(name, ".") != 0 && strcmp(name, "..") != 0) st = fn(ctx, name);
        free(list[i]);
    }
    free(list);
    return st;
}

bool file_exists(const char *path)
{
    struct stat s;

    return stat(path, &s) == 0;
}
