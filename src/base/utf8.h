/*
 * base/utf8.h - is this well-formed UTF-8
 *
 * Source: RFC 3629, section 4: no overlong forms, no surrogates, nothing above U+10FFFF.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/** Length 1..4 of the well-formed sequence that p[0..n) starts with; 0 when it starts with none. */
size_t utf8_sequence(const uint8_t *p, size_t n);

#endif
