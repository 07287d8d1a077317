/*
 * app/logger_format.h - one line of the log as text
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef APP_LOGGER_FORMAT_H
#define APP_LOGGER_FORMAT_H

#include "app/logger.h"

typedef struct log_style {
    bool json, journal;
} log_style;

/** Writes the line with its newline; returns its length, at most LOGGER_LINE. Values that do not fit are cut at a character. */
size_t log_format(char out[LOGGER_LINE], log_style style, int64_t unix_ms, int level,
                  const char *event, const cuzk_log_field *f, size_t n);
const char *log_level_name(int level);

#endif
