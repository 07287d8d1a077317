/*
 * app/pretty.h - a JSON object as indented lines, for people
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef APP_PRETTY_H
#define APP_PRETTY_H

#include <stddef.h>
#include <stdint.h>

/** Prints our own JSON to stdout, a member a line, nested members indented. */
void pretty_print(const uint8_t *json, size_t size);

#endif
