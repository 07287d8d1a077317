/*
 * base/file_out.c - files that appear whole or not at all
 *
 * Bytes go to a temporary file in the target's folder, held by descriptor so that a renamed folder
 * or a changed working directory does no harm. Commit is flush, fsync, rename, fsync of the folder.
 * A process that is killed leaves a .cuzk-*.tmp behind and the target as it was.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/file.h"

#include "base/file_fail.h"
#include "base/file_target.h"
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BUF_SIZE ((size_t)1 << 20)
#define TMP_TRIES 16

struct file_out {
    char *path;       /* links followed; for messages */
    const char *base; /* last part of path */
    char tmp[40];
    int dir, fd;
    uint64_t flushed; /* bytes in the file; the next buf_len are in buf */
    size_t buf_len;
    uint8_t *buf;
};

static void file_out_free(file_out *f)
{
    if (f->fd >= 0) {
        (void)close(f->fd); /* the file is unlinked next: what close says no longer matters */
        (void)unlinkat(f->dir, f->tmp, 0);
    }
    if (f->dir >= 0) (void)close(f->dir);
    free(f->buf);
    free(f->path);
    free(f);
}

static cuzk_status open_tmp(file_out *f)
{
    for (int i = 0; i < TMP_TRIES; i++) {
        uint64_t r;

        if (os_random(&r, sizeof r) != 0)
            return file_fail("cannot name a file beside", f->path, errno);
        (void)snprintf(f->tmp, sizeof f->tmp, ".cuzk-%016llx.tmp",
                       (unsigned long long)r); /* fits */
        f->fd = openat(f->dir, f->tmp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (f->fd >= 0) return CUZK_OK;
        if (errno != EEXIST) break;
    }
    return file_fail("cannot write", f->path, errno);
}

cuzk_status file_out_open(file_out **out, const char *path)
{
    cuzk_status st = CUZK_OK;
    struct stat s;
    file_out *f = calloc(1, sizeof *f);

    if (f == NULL) return FAIL(CUZK_ENOMEM, "cannot write %s: out of memory", path);
    f->dir = f->fd = -1;
    f->path = strdup(path);
    f->buf = malloc(BUF_SIZE);
    if (f->path == NULL || f->buf == NULL) {
        st = FAIL(CUZK_ENOMEM, "cannot write %s: out of memory", path);
        goto out;
    }
    TRY_OUT(file_open_target(&f->path, &f->base, &f->dir));
    /* now, and not after hours of work: rename would replace a device or a pipe, and fail on a folder */
    if (fstatat(f->dir, f->base, &s, AT_SYMLINK_NOFOLLOW) == 0)
        TRY_OUT(file_check_regular(&s, "cannot write", path));
    TRY_OUT(open_tmp(f));
    *out = f;
    f = NULL;
out:
    if (f != NULL) file_out_free(f);
    return st;
}

cuzk_status file_write_at(int fd, const char *path, uint64_t off, const uint8_t *p, size_t n)
{
    while (n != 0) {
        ssize_t got = pwrite(fd, p, n, (off_t)off);

        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return file_fail("cannot write", path, got < 0 ? errno : ENOSPC);
        p += got;
        off += (uint64_t)got;
        n -= (size_t)got;
    }
    return CUZK_OK;
}

static cuzk_status write_all(file_out *f, uint64_t off, const uint8_t *p, size_t n)
{
    return file_write_at(f->fd, f->path, off, p, n);
}

static cuzk_status flush(file_out *f)
{
    TRY(write_all(f, f->flushed, f->buf, f->buf_len));
    f->flushed += f->buf_len;
    f->buf_len = 0;
    return CUZK_OK;
}

cuzk_status file_out_write(file_out *f, const void *p, size_t n)
{
    if (n == 0) return CUZK_OK;
    if (n > BUF_SIZE - f->buf_len) TRY(flush(f));
    if (n >= BUF_SIZE) {
        TRY(write_all(f, f->flushed, p, n));
        f->flushed += n;
        return CUZK_OK;
    }
    memcpy(f->buf + f->buf_len, p, n);
    f->buf_len += n;
    return CUZK_OK;
}

cuzk_status file_out_write_at(file_out *f, uint64_t off, const void *p, size_t n)
{
    uint64_t end = file_out_pos(f);

    if (off > end || n > end - off)
        return FAIL(CUZK_EINVAL, "write %s: %zu bytes at offset %llu of %llu written", f->path, n,
                    (unsigned long long)off, (unsigned long long)end);
    TRY(flush(f));
    return write_all(f, off, p, n);
}

uint64_t file_out_pos(const file_out *f)
{
    return f->flushed + f->buf_len;
}

cuzk_status file_appear(const char *path, const char *base, int dir, const char *tmp)
{
    if (renameat(dir, tmp, dir, base) != 0) return file_fail("cannot write", path, errno);
    /* some file systems know no fsync of folders and say EINVAL; the file is there all the same */
    if (fsync(dir) != 0 && errno != EINVAL)
        return file_fail("cannot write the folder of", path, errno);
    return CUZK_OK;
}

/** All bytes are on the disk. */
static cuzk_status settle(file_out *f)
{
    TRY(flush(f));
    return fsync(f->fd) == 0 ? CUZK_OK : file_fail("cannot write", f->path, errno);
}

/** The file has its name; from here on it is the caller's: nothing to unlink. */
static cuzk_status let_go(file_out *f)
{
    int fd = f->fd;

    f->fd = -1;
    return close(fd) == 0 ? CUZK_OK : file_fail("cannot close", f->path, errno);
}

cuzk_status file_out_commit(file_out *f)
{
    cuzk_status st;

    TRY_OUT(settle(f));
    TRY_OUT(file_appear(f->path, f->base, f->dir, f->tmp));
    st = let_go(f);
out:
    file_out_free(f);
    return st;
}

/** What is there under f's name gets the name `aside` too. *any (false before): something is. */
static cuzk_status keep_old(const file_out *f, const char *aside, bool *any)
{
    struct stat s;

    if (fstatat(f->dir, f->base, &s, AT_SYMLINK_NOFOLLOW) != 0) return CUZK_OK;
    TRY(file_check_regular(&s, "cannot write", f->path));
    *any = linkat(f->dir, f->base, f->dir, aside, 0) == 0;
    if (*any) return CUZK_OK;
    /* a file system without hard links: then there is a moment without the file */
    *any = renameat(f->dir, f->base, f->dir, aside) == 0;
    return *any ? CUZK_OK : file_fail("cannot write", f->path, errno);
}

static void put_back(const file_out *f, const char *aside, bool any)
{
    if (any)
        (void)renameat(f->dir, aside, f->dir, f->base);
    else
        (void)unlinkat(f->dir, f->base, 0);
}

cuzk_status file_out_commit_both(file_out *first, file_out *second)
{
    cuzk_status st;
    char aside[sizeof first->tmp + 4];
    bool any = false;

    (void)snprintf(aside, sizeof aside, "%s.old", first->tmp); /* as unique as that; fits */
    TRY_OUT(settle(first));
    TRY_OUT(settle(second));
    TRY_OUT(keep_old(first, aside, &any));
    st = file_appear(first->path, first->base, first->dir, first->tmp);
    if (st == CUZK_OK) st = let_go(first);
    if (st == CUZK_OK) st = file_appear(second->path, second->base, second->dir, second->tmp);
    if (st != CUZK_OK) put_back(first, aside, any);
    if (any) (void)unlinkat(first->dir, aside, 0);
    if (st == CUZK_OK) st = let_go(second);
out:
    file_out_free(first);
    file_out_free(second);
    return st;
}

void file_out_abort(file_out *f)
{
    if (f != NULL) file_out_free(f);
}

cuzk_status file_write_whole(const char *path, const void *p, size_t n)
{
    cuzk_status st;
    file_out *f = NULL;

    TRY_OUT(file_out_open(&f, path));
    TRY_OUT(file_out_write(f, p, n));
    st = file_out_commit(f);
    f = NULL;
out:
    file_out_abort(f);
    return st;
}
