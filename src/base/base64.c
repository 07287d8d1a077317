/*
 * base/base64.c - decodes standard base64, four characters at a time, or 64 (text_lanes.h)
 *
 * Source: RFC 4648 section 4
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/base64.h"

#include <string.h>

#include "base/text_lanes.h"

#define FOREIGN BASE64_FOREIGN

static void make_digits(uint8_t digits[256])
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    memset(digits, FOREIGN, 256);
    for (uint8_t i = 0; i < 64; i++) digits[(uint8_t)alphabet[i]] = i;
}

size_t base64_groups(uint8_t *out, const uint8_t *p, size_t len, const uint8_t digits[256])
{
    size_t i = 0;

    for (; len - i >= 4; i += 4, out += 3) {
        uint32_t a = digits[p[i]], b = digits[p[i + 1]], c = digits[p[i + 2]], d = digits[p[i + 3]];
        uint32_t v = a << 18 | b << 12 | c << 6 | d;

        if (((a | b | c | d) & FOREIGN) != 0) break;
        out[0] = (uint8_t)(v >> 16);
        out[1] = (uint8_t)(v >> 8);
        out[2] = (uint8_t)v;
    }
    return i;
}

cuzk_status base64_decode(uint8_t *out, size_t *n, const char *text, size_t len, const char *what)
{
    const uint8_t *p = (const uint8_t *)text;
    uint8_t digits[256];
    uint32_t acc = 0;
    size_t done = 0, have;

    make_digits(digits);
    if (text_has_avx512()) done = base64_groups_avx512(out, p, len, digits);
    done += base64_groups(out + done / 4 * 3, p + done, len - done, digits);
    *n = done / 4 * 3;
    for (have = 0; done + have < len && digits[p[done + have]] != FOREIGN; have++)
        acc = acc << 6 | digits[p[done + have]]; /* at most three */
    if (done + have == len && have == 0) return CUZK_OK;
    if (done + have < len && p[done + have] != '=')
        return FAIL(CUZK_EDATA, "%s: byte 0x%02x at offset %zu is no base64", what, p[done + have],
                    done + have);
    /* two digits and "==", or three and "=", and nothing else */
    if (have < 2 || len - done != 4 || p[len - 1] != '=' || len % 4 != 0)
        return FAIL(CUZK_EDATA, "%s: base64 of %zu characters ends badly at offset %zu", what, len,
                    done + have);
    if ((acc & (have == 2 ? 0xfu : 0x3u)) != 0)
        return FAIL(CUZK_EDATA, "%s: base64 has bits beyond its end at offset %zu", what,
                    done + have);
    out[*n] = (uint8_t)(have == 2 ? acc >> 4 : acc >> 10);
    if (have == 3) out[*n + 1] = (uint8_t)(acc >> 2);
    *n += have - 1;
    return CUZK_OK;
}
