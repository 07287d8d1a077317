/*
 * base/json_value.c - what tokens say: integers, byte arrays, text without its escapes, duplicate keys
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/json.h"

#include "base/u128.h"

#include <stdio.h>
#include <string.h>

#include "base/text_lanes.h"

/* Characters of a token that a message shows. */
#define SHOWN 40

static int shown(const json_token *t)
{
    return t->len < SHOWN ? (int)t->len : SHOWN;
}

/* ---- text ---- */

static unsigned unit(const char *hex)
{
    uint8_t b[2] = {0, 0};

    (void)hex_decode(b, 2, hex, 4); /* the reader has checked the digits */
    return (unsigned)b[0] << 8 | b[1];
}

static size_t put_utf8(char out[4], unsigned c)
{
    static const uint8_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

    for (size_t i = n; i-- > 1; c >>= 6) out[i] = (char)(uint8_t)(0x80 | (c & 0x3f));
    out[0] = (char)(n == 1 ? c : lead[n] | c);
    return n;
}

/* One byte, or one escape, of text that the reader has checked; *used bytes of it into out. */
static size_t decode(char out[4], const char *p, size_t *used)
{
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    const char *at;
    unsigned c;

    *used = 1;
    out[0] = p[0];
    if (p[0] != '\\') return 1;
    *used = 2;
    if (p[1] != 'u') {
        at = strchr(from, p[1]);
        out[0] = p[1];
        if (at != NULL) out[0] = to[at - from];
        return 1;
    }
    *used = 6;
    c = unit(p + 2);
    if (c >= 0xd800 && c <= 0xdbff) {
        *used = 12;
        c = 0x10000 + ((c - 0xd800) << 10) + (unit(p + 8) - 0xdc00);
    }
    return put_utf8(out, c);
}

cuzk_status json_unescape(const json_token *t, char *out, size_t *n)
{
    size_t len = 0;

    if (t->type != JSON_KEY && t->type != JSON_STRING)
        return FAIL(CUZK_EDATA, "a string wanted at offset %zu", t->offset);
    for (size_t i = 0, used; i < t->len; i += used) {
        char c[4];
        size_t k = decode(c, t->text + i, &used);

        memcpy(out + len, c, k); /* an escape is never shorter than what it stands for */
        len += k;
    }
    out[len] = '\0';
    *n = len;
    return CUZK_OK;
}

bool json_is(const json_token *t, const char *text)
{
    size_t len = strlen(text), at = 0;

    if (t->type != JSON_KEY && t->type != JSON_STRING) return false;
    if (!t->escaped) return t->len == len && memcmp(t->text, text, len) == 0;
    for (size_t i = 0, used; i < t->len; i += used) {
        char c[4];
        size_t k = decode(c, t->text + i, &used);

        if (k > len - at || memcmp(text + at, c, k) != 0) return false;
        at += k;
    }
    return at == len;
}

cuzk_status json_seen(uint64_t *seen, unsigned bit, const json_token *key)
{
    if (bit >= 64) return FAIL(CUZK_EINVAL, "bit %u of a set of 64 keys", bit);
    if ((*seen >> bit & 1) != 0)
        return FAIL(CUZK_EDATA, "json: key \"%.*s\" at offset %zu is there twice", shown(key),
                    key->text, key->offset);
    *seen |= (uint64_t)1 << bit;
    return CUZK_OK;
}

/* ---- numbers ---- */

cuzk_status json_u64(const json_token *t, uint64_t max, uint64_t *out, const char *what)
{
    uint64_t v = 0;
    bool fits = true;

    if (t->type != JSON_NUMBER)
        return FAIL(CUZK_EDATA, "%s: a number wanted at offset %zu", what, t->offset);
    for (size_t i = 0; i < t->len; i++) {
        unsigned d = (unsigned)(uint8_t)t->text[i] - '0';

        if (d > 9)
            return FAIL(CUZK_EDATA, "%s: %.*s at offset %zu is no unsigned integer", what, shown(t),
                        t->text, t->offset);
        fits = fits && d <= max && v <= (max - d) / 10;
        if (fits) v = v * 10 + d;
    }
    if (!fits)
        return FAIL(CUZK_EDATA, "%s: %.*s at offset %zu, allowed 0..%llu", what, shown(t), t->text,
                    t->offset, (unsigned long long)max);
    *out = v;
    return CUZK_OK;
}

/* Most bytes of most documents come this way. Lengths are random, so there is no branch on them: the digits are moved to the top of
   a word, ones highest. */
size_t json_bytes(const uint8_t *p, const uint8_t *end, uint8_t *out, size_t cap, size_t *used)
{
    const uint8_t *start = p;
    size_t len = 0;

    for (; len < cap && end - p >= 5 && p[0] == ','; len++) {
        uint32_t x = load_u32le(p + 1), y = x ^ 0x2c2c2c2c, d, v, bad;
        uint32_t commas = (y - 0x01010101) & ~y & 0x80808080; /* the lowest is exact */
        unsigned n = commas == 0 ? 0 : u64_ctz(commas) / 8;

        if (n == 0) break;
        d = (x ^ 0x30303030) << 8 * (4 - n);
        v = (d >> 24) + 10 * (d >> 16 & 0xff) + 100 * (d >> 8 & 0xff);
        bad = (d | (d + 0x76767676)) & 0x80808080; /* a byte above 9 */
        if ((bad != 0) | (v > 255) | ((n > 1) & (p[1] == '0'))) break;
        out[len] = (uint8_t)v;
        p += 1 + n;
    }
    *used = (size_t)(p - start);
    return len;
}

/* After an element: more of them, while they come in the form that machines write. */
static size_t plain_bytes(json_in *j, uint8_t *out, size_t cap)
{
    const uint8_t *end = j->data + j->size;
    size_t len = 0, used = 0;

    if (text_has_avx512()) len = json_bytes_avx512(j->data + j->pos, end, out, cap, &used);
    j->pos += used;
    len += json_bytes(j->data + j->pos, end, out + len, cap - len, &used);
    j->pos += used;
    return len;
}

/* The rest of an array that is too long: its length goes into the message. */
static cuzk_status too_long(json_in *j, size_t cap, size_t offset, const char *what)
{
    size_t n = cap + 1;

    for (; !json_array_end(j); n++) TRY(json_skip(j));
    return FAIL(CUZK_EDATA, "%s: %zu bytes at offset %zu, allowed %zu", what, n, offset, cap);
}

/* The token again, in words that name its place. */
static cuzk_status not_a_byte(const json_token *t, const char *what, size_t i)
{
    char name[128];
    uint64_t v;

    (void)snprintf(name, sizeof name, "%s[%zu]", what, i);
    return json_u64(t, 255, &v, name);
}

cuzk_status json_byte_array(json_in *j, uint8_t *out, size_t cap, size_t *n, const char *what)
{
    json_token t;
    size_t len = 0, offset;

    TRY(json_expect(j, JSON_ARRAY, &t, what));
    for (offset = t.offset;;) {
        uint64_t v;

        TRY(json_next(j, &t));
        if (t.type == JSON_ARRAY_END) break;
        if (json_u64(&t, 255, &v, what) != CUZK_OK) return not_a_byte(&t, what, len);
        if (len == cap) return too_long(j, cap, offset, what);
        out[len++] = (uint8_t)v;
        len += plain_bytes(j, out + len, cap - len);
    }
    *n = len;
    return CUZK_OK;
}
