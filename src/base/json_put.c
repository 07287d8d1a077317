/*
 * base/json_put.c - writing JSON strings
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/json.h"

#include "base/utf8.h"

#include <string.h>

static void put_short_escape(bytes_out *o, char c)
{
    bytes_put_u8(o, '\\');
    bytes_put_u8(o, (uint8_t)c);
}

static void put_control(bytes_out *o, uint8_t c)
{
    switch (c) {
    case '\b': put_short_escape(o, 'b'); break;
    case '\f': put_short_escape(o, 'f'); break;
    case '\n': put_short_escape(o, 'n'); break;
    case '\r': put_short_escape(o, 'r'); break;
    case '\t': put_short_escape(o, 't'); break;
    default: bytes_printf(o, "\\u%04x", (unsigned)c);
    }
}

void json_put_string(bytes_out *o, const char *s)
{
    const uint8_t *p = (const uint8_t *)s, *end = p + strlen(s);

    bytes_put_u8(o, '"');
    while (p < end) {
        size_t n = utf8_sequence(p, (size_t)(end - p));

        if (n == 0) { /* a path may hold any bytes, a JSON document may not */
            bytes_put(o, "\xef\xbf\xbd", 3);
            n = 1;
        } else if (*p == '"' || *p == '\\') {
            put_short_escape(o, (char)*p);
        } else if (*p < 0x20 || *p == 0x7f) {
            put_control(o, *p);
        } else {
            bytes_put(o, p, n);
        }
        p += n;
    }
    bytes_put_u8(o, '"');
}
