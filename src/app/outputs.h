/*
 * app/outputs.h - the files that a command writes: looked at before the work, written together after it
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef APP_OUTPUTS_H
#define APP_OUTPUTS_H

#include "app/report.h"

/** Before the work: neither output (NULL: there is none) nor --trace is named twice, nor is a file that the command reads
 *  (those of its options, and its first n_read arguments), and each can be written. 0, or the exit code of what was printed. */
int outputs_check(report *r, size_t n_read, const char *first, const char *second);

/** What goes into a file; path NULL: nowhere. */
typedef struct output {
    const char *path;
    const void *data;
    size_t size;
} output;
/** Both appear or none does. */
CUZK_STATUS outputs_write(const output *first, const output *second);

#endif
