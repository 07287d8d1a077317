/*
 * base/file_fail.h - how file.c and file_out.c word their failures; not for other rooms
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

#endif
