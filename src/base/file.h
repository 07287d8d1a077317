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
CUZK_STATUS file_make_dir(const char *path); /* and its parents */
bool file_exists(const char *path);

#endif
