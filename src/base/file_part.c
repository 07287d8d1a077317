/*
 * base/file_part.c - a large file that a killed process leaves in a state to go on from
 *
 * PATH.part holds `size` bytes and then two records, SLOT_STEP apart, written in turn: what the work is (tag), how far it
 * came (done), and a check. A record is written after the bytes it speaks of were synced, so the newest whole record is
 * true; one that was being written when the power went fails its check, and the other one holds.
 *
 *   record: "cuzkpart" | serial u64 | done u64 | tag[32] | first 8 bytes of SHA-256 of these 56; little-endian
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/file.h"

#include "base/file_fail.h"
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define SUFFIX ".part"
#define SLOT_STEP UINT64_C(4096)
#define RECORD_BYTES 64
#define TRAILER_BYTES (SLOT_STEP + RECORD_BYTES)

static const uint8_t magic[8] = {'c', 'u', 'z', 'k', 'p', 'a', 'r', 't'};

struct file_part {
    char *path, *tmp_path;
    const char *base, *tmp; /* their last parts */
    int dir, fd;
    uint64_t size, serial, done; /* serial and done: of the last record; serial 0: there is none */
    uint8_t tag[32];
};

static void check_of(uint8_t out[8], const uint8_t record[RECORD_BYTES])
{
    uint8_t hash[32];

    sha256(hash, record, RECORD_BYTES - 8);
    memcpy(out, hash, 8);
}

void file_part_close(file_part *f, bool keep)
{
    if (f == NULL) return;
    if (f->fd >= 0 && !keep) (void)unlinkat(f->dir, f->tmp, 0);
    if (f->fd >= 0) (void)close(f->fd); /* with it the lock; what is to last was synced */
    if (f->dir >= 0) (void)close(f->dir);
    free(f->path);
    free(f->tmp_path);
    free(f);
}

static cuzk_status open_locked(file_part *f)
{
    struct stat a, b;

    f->fd = openat(f->dir, f->tmp, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (f->fd < 0 || fstat(f->fd, &a) != 0) return file_fail("cannot write", f->tmp_path, errno);
    TRY(file_check_regular(&a, "cannot write", f->tmp_path));
    if (flock(f->fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) return file_fail("cannot lock", f->tmp_path, errno);
        return FAIL(CUZK_EIO, "cannot write %s: another process writes it", f->tmp_path);
    }
    /* whoever held the lock a moment ago may have renamed it */
    if (fstatat(f->dir, f->tmp, &b, AT_SYMLINK_NOFOLLOW) != 0 || a.st_dev != b.st_dev ||
        a.st_ino != b.st_ino)
        return FAIL(CUZK_EIO, "cannot write %s: another process has just finished it", f->tmp_path);
    return CUZK_OK;
}

/* Takes the record in a slot when it is whole, of this work, and newer. */
static bool read_slot(file_part *f, unsigned slot, uint64_t *done)
{
    uint8_t r[RECORD_BYTES], check[8];
    uint64_t serial;

    if (pread(f->fd, r, sizeof r, (off_t)(f->size + slot * SLOT_STEP)) != (ssize_t)sizeof r)
        return false;
    check_of(check, r);
    serial = load_u64le(r + 8);
    if (memcmp(r, magic, 8) != 0 || memcmp(r + 24, f->tag, 32) != 0 ||
        memcmp(r + 56, check, 8) != 0 || serial % 2 != slot || serial <= f->serial)
        return false;
    f->serial = serial;
    f->done = *done = load_u64le(r + 16);
    return true;
}

static cuzk_status take_room(file_part *f)
{
    off_t all = (off_t)(f->size + TRAILER_BYTES);
    struct statvfs v;
    int err;

    if (ftruncate(f->fd, 0) != 0) return file_fail("cannot write", f->tmp_path, errno);
    /* asked first: fallocate takes all there is before it finds that there is not enough */
    if (fstatvfs(f->fd, &v) == 0 && (uint64_t)v.f_bavail < f->size / v.f_frsize)
        return status_fail(__FILE__, __LINE__, CUZK_EIO, CUZK_CLASS_RESOURCE, "",
                           "cannot write %s: it takes %llu MiB, the disk has %llu MiB left",
                           f->path, (unsigned long long)(f->size >> 20),
                           (unsigned long long)v.f_bavail * v.f_frsize >> 20);
    do {
        err = fallocate(f->fd, 0, 0, all) == 0 ? 0 : errno;
    } while (err == EINTR);
    if (err == EOPNOTSUPP || err == ENOSYS) err = ftruncate(f->fd, all) == 0 ? 0 : errno;
    return err == 0 ? CUZK_OK : file_fail("cannot write", f->tmp_path, err);
}

static cuzk_status name_files(file_part *f, const char *path)
{
    size_t n;

    f->path = strdup(path);
    if (f->path == NULL) return FAIL(CUZK_ENOMEM, "cannot write %s: out of memory", path);
    TRY(file_open_target(&f->path, &f->base, &f->dir));
    n = strlen(f->path) + sizeof SUFFIX;
    f->tmp_path = malloc(n);
    if (f->tmp_path == NULL) return FAIL(CUZK_ENOMEM, "cannot write %s: out of memory", path);
    (void)snprintf(f->tmp_path, n, "%s" SUFFIX, f->path);
    f->tmp = f->tmp_path + (f->base - f->path);
    return CUZK_OK;
}

cuzk_status file_part_open(file_part **out, const char *path, uint64_t size, const uint8_t tag[32],
                           uint64_t *done)
{
    cuzk_status st = CUZK_OK;
    struct stat s;
    bool locked = false;
    uint64_t at = 0;
    file_part *f = calloc(1, sizeof *f);

    if (f == NULL) return FAIL(CUZK_ENOMEM, "cannot write %s: out of memory", path);
    f->dir = f->fd = -1;
    f->size = size;
    memcpy(f->tag, tag, sizeof f->tag);
    TRY_OUT(name_files(f, path));
    if (size > INT64_MAX - TRAILER_BYTES) {
        st = FAIL(CUZK_EINVAL, "cannot write %s: %llu bytes", path, (unsigned long long)size);
        goto out;
    }
    if (fstatat(f->dir, f->base, &s, AT_SYMLINK_NOFOLLOW) == 0)
        TRY_OUT(file_check_regular(&s, "cannot write", path));
    TRY_OUT(open_locked(f));
    locked = true;
    bool found = read_slot(f, 0, &at);
    found = read_slot(f, 1, &at) || found;
    if (!found) TRY_OUT(take_room(f));
    *done = found ? at : 0;
    *out = f;
    f = NULL;
out:
    file_part_close(f, !locked); /* what another one has locked is not ours to remove */
    return st;
}

cuzk_status file_part_write(file_part *f, uint64_t off, const void *p, size_t n)
{
    if (off > f->size || n > f->size - off)
        return FAIL(CUZK_EINVAL, "write %s: %zu bytes at offset %llu of %llu", f->tmp_path, n,
                    (unsigned long long)off, (unsigned long long)f->size);
    TRY(file_write_at(f->fd, f->tmp_path, off, p, n));
    /* starts the disk on it, so that a checkpoint need not wait long; a hint */
    (void)sync_file_range(f->fd, (off_t)off, (off_t)n, SYNC_FILE_RANGE_WRITE);
    return CUZK_OK;
}

static cuzk_status sync_data(const file_part *f)
{
    return fdatasync(f->fd) == 0 ? CUZK_OK : file_fail("cannot write", f->tmp_path, errno);
}

cuzk_status file_part_checkpoint(file_part *f, uint64_t done)
{
    uint8_t r[RECORD_BYTES];
    uint64_t serial = f->serial + 1;

    TRY(sync_data(f));
    memcpy(r, magic, sizeof magic);
    store_u64le(r + 8, serial);
    store_u64le(r + 16, done);
    memcpy(r + 24, f->tag, 32);
    check_of(r + 56, r);
    TRY(file_write_at(f->fd, f->tmp_path, f->size + serial % 2 * SLOT_STEP, r, sizeof r));
    TRY(sync_data(f));
    f->serial = serial;
    f->done = done;
    return CUZK_OK;
}

const char *file_part_path(const file_part *f)
{
    return f->tmp_path;
}

/** What had been recorded is recorded again, behind bytes that lost their records to a commit that failed. */
static bool restore_record(file_part *f)
{
    cuzk_error err = *cuzk_last_error();
    bool restored = f->serial != 0 && file_part_checkpoint(f, f->done) == CUZK_OK;

    (void)status_adopt(&err); /* why the commit failed matters more */
    return restored;
}

cuzk_status file_part_commit(file_part *f)
{
    cuzk_status st = CUZK_OK;

    if (fdatasync(f->fd) != 0 || ftruncate(f->fd, (off_t)f->size) != 0 || fsync(f->fd) != 0)
        st = file_fail("cannot write", f->path, errno);
    if (st == CUZK_OK) st = file_appear(f->path, f->base, f->dir, f->tmp);
    file_part_close(f, st == CUZK_OK || restore_record(f));
    return st;
}
