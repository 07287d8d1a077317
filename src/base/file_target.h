/*
 * base/file_target.h - where a path leads, and two files that are written together
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef BASE_FILE_TARGET_H
#define BASE_FILE_TARGET_H

#include "base/file.h"

/** The folder that a file is or would be in, and its name there; links at the path's end are followed. */
typedef struct file_target {
    uint64_t device, inode; /* of the folder */
    char name[256];
} file_target;

/** The file itself need not be there. CUZK_EIO: its folder is not, or the path leads to an open file of a process. */
CUZK_STATUS file_target_of(file_target *out, const char *path);
/** Removes the file that a path leads to; one that is not there is fine. */
CUZK_STATUS file_remove_target(const char *path);
bool file_target_equal(const file_target *a, const file_target *b);

/** Commits both or neither: where the second cannot get its name, what the first one replaced is put back. Moved: both are
 *  gone whatever the result. */
CUZK_STATUS file_out_commit_both(file_out *first, file_out *second);

#endif
