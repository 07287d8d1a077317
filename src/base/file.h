/*
 * base/file.h - files: mapped whole for reading, written whole or not at all
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/bytes.h"

/** A regular file mapped read-only (folders, pipes and devices are refused). An empty file has data != NULL and size 0.
 *  Errors name the path (CUZK_EIO). A file that someone cuts short while it is mapped ends the process by SIGBUS when
 *  the lost pages are read: that is outside what this guards against. */
typedef struct file_map {
    const uint8_t *data;
    size_t size;
    char *path; /* owned */
} file_map;

CUZK_STATUS file_map_open(file_map *out, const char *path);
void file_map_close(file_map *f);
/** Tells the kernel that [off, off+len) will be read soon / in order. */
void file_map_will_need(const file_map *f, size_t off, size_t len);
/** [off, off+len) will not be read again soon: its pages leave this process (they stay readable, from the page cache). */
void file_map_done(const file_map *f, size_t off, size_t len);

/** Writes to a temporary file beside `path`; nothing appears under `path` before file_out_commit
 *  (flush, fsync, rename, fsync of the folder). Buffered by 1 MiB. A target that is there but no regular file is
 *  refused at once. Errors are CUZK_EIO; a full disk has class resource. One thread at a time. */
typedef struct file_out file_out;

CUZK_STATUS file_out_open(file_out **out, const char *path);
CUZK_STATUS file_out_write(file_out *f, const void *p, size_t n);
/** Overwrites bytes already written (a header whose counts are known at the end). */
CUZK_STATUS file_out_write_at(file_out *f, uint64_t off, const void *p, size_t n);
uint64_t file_out_pos(const file_out *f);
CUZK_STATUS file_out_commit(file_out *f); /* moved: f is gone whatever the result */
void file_out_abort(file_out *f);         /* removes the temporary file; NULL is fine */
CUZK_STATUS file_write_whole(const char *path, const void *p, size_t n);

/** A large file that is written at any offset over a long time, and that another process can go on with when this one is
 *  killed: PATH.part, beside its target, with a record of what the work is (tag) and how far it came. Nothing appears
 *  under `path` before the commit. Locked: a second process that opens the same one is refused. One thread at a time. */
typedef struct file_part file_part;

/** Room on the disk is taken at once, so that a full one is found now (class resource). *done: what was passed to the
 *  last checkpoint of the same work (path, size, tag), whose bytes are all there; 0: begin. Other leftovers are
 *  overwritten. */
CUZK_STATUS file_part_open(file_part **out, const char *path, uint64_t size, const uint8_t tag[32],
                           uint64_t *done);
CUZK_STATUS file_part_write(file_part *f, uint64_t off, const void *p, size_t n);
/** All bytes written so far are safe, and `done` says how far they go. Waits for the disk. */
CUZK_STATUS file_part_checkpoint(file_part *f, uint64_t done);
/** Where the bytes are until the commit, for reading back. */
const char *file_part_path(const file_part *f);
/** Makes the bytes safe and gives them their name. Moved: f is gone whatever the result. */
CUZK_STATUS file_part_commit(file_part *f);
/** keep: PATH.part stays, as the last checkpoint left it. NULL is fine. */
void file_part_close(file_part *f, bool keep);

/** What tells that a file is the one it was: a copy or a change in place has another. */
typedef struct file_id {
    uint64_t device, inode, size;
    int64_t mtime_ns;
} file_id;
CUZK_STATUS file_id_of(file_id *out, const char *path);
static inline bool file_id_equal(const file_id *a, const file_id *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->mtime_ns == b->mtime_ns;
}

/** Calls fn with the name of each entry of a folder but . and .., in the order of their bytes, until one fails. */
typedef cuzk_status (*file_list_fn)(void *ctx, const char *name);
CUZK_STATUS file_list(const char *dir, file_list_fn fn, void *ctx);
CUZK_STATUS file_make_dir(const char *path); /* and its parents */
bool file_exists(const char *path);

#endif
