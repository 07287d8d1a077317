/*
 * base/utf8.c - is this well-formed UTF-8
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/utf8.h"

size_t utf8_sequence(const uint8_t *p, size_t n)
{
    /* lowest and highest second byte: narrower after e0, ed, f0, f4 (RFC 3629, UTF8-3 and UTF8-4) */
    uint8_t lo = 0x80, hi = 0xbf;
    size_t len;

    if (n == 0) return 0;
    if (p[0] < 0x80) return 1;
    if (p[0] < 0xc2 || p[0] > 0xf4) return 0;
    len = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    if (p[0] == 0xe0) lo = 0xa0;
    if (p[0] == 0xed) hi = 0x9f;
    if (p[0] == 0xf0) lo = 0x90;
    if (p[0] == 0xf4) hi = 0x8f;
    if (len > n || p[1] < lo || p[1] > hi) return 0;
    for (size_t i = 2; i < len; i++)
        if (p[i] < 0x80 || p[i] > 0xbf) return 0;
    return len;
}
