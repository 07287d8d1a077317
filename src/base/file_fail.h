/*
 * base/file_fail.h - what file*.c share: how they word failures, how a file appears; not for other rooms
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef BASE_FILE_FAIL_H
#define BASE_FILE_FAIL_H

#include <sys/stat.h>

#include "base/status.h"

/** "DOING PATH: text of err", CUZK_EIO; class resource where the machine ran out of something. */
cuzk_status file_fail(const char *doing, const char *path, int err);
/** CUZK_EIO unless s is a regular file. */
cuzk_status file_check_regular(const struct stat *s, const char *doing, const char *path);

/** The folder that `path` is in, and the last part of path (inside it). path is written to, and restored. */
cuzk_status file_open_folder(char *path, const char **base, int *dir);
/** The same after links at the path's end were followed: *path is then where they lead (replaced, malloc). *dir is -1 or the
 *  caller's to close, whatever the result. */
cuzk_status file_open_target(char **path, const char **base, int *dir);
/** All n bytes at `off`; path is for messages. */
cuzk_status file_write_at(int fd, const char *path, uint64_t off, const uint8_t *p, size_t n);
/** `tmp` of folder `dir` becomes `base`; the folder is synced. */
cuzk_status file_appear(const char *path, const char *base, int dir, const char *tmp);

#endif
