/*
 * wire/panel/panel.h - the live panel's files, embedded
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef WIRE_PANEL_PANEL_H
#define WIRE_PANEL_PANEL_H

#include <stddef.h>
#include <stdint.h>

typedef struct panel_file {
    const char *path, *content_type;
    const char *tag; /* quoted, changes with the content */
    const uint8_t *data;
    size_t size;
} panel_file;

extern const panel_file panel_files[];
extern const size_t panel_n_files;

#endif
