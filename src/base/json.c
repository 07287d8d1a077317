/*
 * base/json.c - the pull reader
 *
 * `state` says what may come next; `stack` which container we are in. A key is read together with its colon, a comma
 * together with what follows it, so that each call gives one token. Text is checked (UTF-8, escapes) but not decoded.
 *
 * Source: RFC 8259
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/json.h"

#include "base/u128.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

enum state {
    STATE_VALUE,       /* a value */
    STATE_FIRST_VALUE, /* a value or ] */
    STATE_FIRST_KEY,   /* a key or } */
    STATE_AFTER,       /* in a container, after a value: a comma or its end */
    STATE_DONE         /* after the document */
};

#define BYTES_OF(c) ((uint64_t)(c)*UINT64_C(0x0101010101010101))
#define HIGH_BITS BYTES_OF(0x80)

static const char *const type_names[] = {"an object", "the end of the object",
                                         "an array",  "the end of the array",
                                         "a key",     "a string",
                                         "a number",  "true",
                                         "false",     "null",
                                         "the end"};

/* ---- failures ---- */

/* "json: WANTED wanted at offset N, found ..." */
static cuzk_status unexpected(const json_in *j, const char *wanted)
{
    uint8_t c;

    if (j->pos >= j->size)
        return FAIL(CUZK_EDATA, "json: end of input at offset %zu, %s wanted", j->pos, wanted);
    c = j->data[j->pos];
    if (c > 0x20 && c < 0x7f)
        return FAIL(CUZK_EDATA, "json: '%c' at offset %zu, %s wanted", c, j->pos, wanted);
    return FAIL(CUZK_EDATA, "json: byte 0x%02x at offset %zu, %s wanted", c, j->pos, wanted);
}

/* ---- tokens ---- */

U128_INLINE bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

U128_INLINE bool is_space(uint8_t c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

U128_INLINE void skip_space(json_in *j)
{
    size_t pos = j->pos;

    while (pos < j->size && is_space(j->data[pos])) pos++;
    j->pos = pos;
}

/* The byte at pos, 0 at the end: 0 is no part of any token. */
U128_INLINE uint8_t peek(const json_in *j)
{
    return j->pos < j->size ? j->data[j->pos] : 0;
}

static cuzk_status digits(json_in *j)
{
    if (!is_digit(peek(j))) return unexpected(j, "a digit");
    while (is_digit(peek(j))) j->pos++;
    return CUZK_OK;
}

static cuzk_status read_fraction(json_in *j)
{
    if (peek(j) == '.') {
        j->pos++;
        TRY(digits(j));
    }
    if (peek(j) == 'e' || peek(j) == 'E') {
        j->pos++;
        if (peek(j) == '+' || peek(j) == '-') j->pos++;
        TRY(digits(j));
    }
    return CUZK_OK;
}

U128_INLINE cuzk_status read_number(json_in *j, json_token *t)
{
    size_t start = j->pos;
    uint8_t c;

    t->type = JSON_NUMBER;
    if (peek(j) == '-') j->pos++;
    if (peek(j) == '0')
        j->pos++;
    else
        TRY(digits(j));
    c = peek(j);
    if (U128_UNLIKELY(c == '.' || c == 'e' || c == 'E')) TRY(read_fraction(j));
    if (U128_UNLIKELY(is_digit(peek(j)))) return unexpected(j, "no digit after a leading zero");
    t->text = (const char *)j->data + start;
    t->len = j->pos - start;
    return CUZK_OK;
}

/* 16 bits from four hex digits at pos; -1 when they are not there. */
static int hex4(const uint8_t *p, size_t left)
{
    uint8_t b[2];

    if (left < 4 || !hex_decode(b, 2, (const char *)p, 4)) return -1;
    return b[0] << 8 | b[1];
}

/* At the backslash: over the escape, surrogate pairs as one. */
static cuzk_status read_escape(json_in *j)
{
    const uint8_t *p = j->data + j->pos;
    size_t left = j->size - j->pos;
    int hi, lo;

    if (left >= 2 && p[1] != '\0' && strchr("\"\\/bfnrt", p[1]) != NULL) {
        j->pos += 2;
        return CUZK_OK;
    }
    if (left < 2 || p[1] != 'u') {
        j->pos++;
        return unexpected(j, "one of \"\\/bfnrtu");
    }
    hi = hex4(p + 2, left - 2);
    if (hi < 0) {
        j->pos += 2;
        return FAIL(CUZK_EDATA, "json: four hex digits wanted at offset %zu", j->pos);
    }
    if (hi < 0xd800 || hi > 0xdfff) {
        j->pos += 6;
        return CUZK_OK;
    }
    lo = left >= 8 && p[6] == '\\' && p[7] == 'u' ? hex4(p + 8, left - 8) : -1;
    if (hi > 0xdbff || lo < 0xdc00 || lo > 0xdfff)
        return FAIL(CUZK_EDATA, "json: half of a surrogate pair at offset %zu", j->pos);
    j->pos += 12;
    return CUZK_OK;
}

/* Over bytes that are neither quote, backslash, control character nor above 0x7f, eight at a time. */
U128_INLINE size_t skip_plain(const uint8_t *d, size_t pos, size_t size)
{
    for (; size - pos >= 8; pos += 8) {
        uint64_t x, q, b, special;

        memcpy(&x, d + pos, 8);
        q = x ^ BYTES_OF('"');
        b = x ^ BYTES_OF('\\');
        /* the usual borrow trick: where it errs, it errs above a byte that is special indeed */
        special = x | (q - BYTES_OF(1)) | (b - BYTES_OF(1)) | (x - BYTES_OF(0x20));
        if ((special & HIGH_BITS) != 0) break;
    }
    while (pos < size && d[pos] >= 0x20 && d[pos] < 0x80 && d[pos] != '"' && d[pos] != '\\') pos++;
    return pos;
}

static cuzk_status read_string(json_in *j, json_token *t)
{
    size_t start;

    if (peek(j) != '"') return unexpected(j, "a string");
    start = ++j->pos;
    t->escaped = false;
    for (;;) {
        size_t n;
        uint8_t c;

        j->pos = skip_plain(j->data, j->pos, j->size);
        if (j->pos == j->size) return unexpected(j, "the end of a string");
        c = j->data[j->pos];
        if (c == '"') break;
        if (c == '\\') {
            t->escaped = true;
            TRY(read_escape(j));
            continue;
        }
        if (c < 0x20) return unexpected(j, "an escape for a control character");
        n = utf8_sequence(j->data + j->pos, j->size - j->pos);
        if (n == 0) return unexpected(j, "UTF-8");
        j->pos += n;
    }
    t->text = (const char *)j->data + start;
    t->len = j->pos - start;
    j->pos++;
    return CUZK_OK;
}

static cuzk_status read_word(json_in *j, json_token *t, const char *word, json_type type)
{
    for (; *word != '\0'; word++, j->pos++)
        if (peek(j) != (uint8_t)*word) return unexpected(j, "true, false or null");
    t->type = type;
    return CUZK_OK;
}

/* ---- structure ---- */

/* After a whole value. */
U128_INLINE void value_done(json_in *j)
{
    j->state = j->depth == 0 ? STATE_DONE : STATE_AFTER;
}

static cuzk_status enter(json_in *j, json_token *t, uint8_t opener)
{
    if (j->depth == JSON_MAX_DEPTH)
        return FAIL(CUZK_EDATA, "json: depth %u at offset %zu, limit %d", j->depth + 1, j->pos,
                    JSON_MAX_DEPTH);
    j->stack[j->depth++] = opener;
    j->state = opener == '{' ? STATE_FIRST_KEY : STATE_FIRST_VALUE;
    j->pos++;
    t->type = opener == '{' ? JSON_OBJECT : JSON_ARRAY;
    return CUZK_OK;
}

static void leave(json_in *j, json_token *t)
{
    t->type = j->stack[--j->depth] == '{' ? JSON_OBJECT_END : JSON_ARRAY_END;
    j->pos++;
    value_done(j);
}

static cuzk_status read_key(json_in *j, json_token *t)
{
    if (peek(j) != '"') return unexpected(j, "a key");
    TRY(read_string(j, t));
    skip_space(j);
    if (peek(j) != ':') return unexpected(j, "':'");
    j->pos++;
    j->state = STATE_VALUE;
    t->type = JSON_KEY;
    return CUZK_OK;
}

static cuzk_status read_other(json_in *j, json_token *t)
{
    switch (peek(j)) {
    case '"':
        t->type = JSON_STRING;
        TRY(read_string(j, t));
        break;
    case '{':
    case '[': return enter(j, t, peek(j));
    case 't': TRY(read_word(j, t, "true", JSON_TRUE)); break;
    case 'f': TRY(read_word(j, t, "false", JSON_FALSE)); break;
    case 'n': TRY(read_word(j, t, "null", JSON_NULL)); break;
    default: return unexpected(j, "a value");
    }
    value_done(j);
    return CUZK_OK;
}

U128_INLINE cuzk_status read_value(json_in *j, json_token *t)
{
    uint8_t c = peek(j);

    if (!is_digit(c) && c != '-') return read_other(j, t);
    TRY(read_number(j, t));
    value_done(j);
    return CUZK_OK;
}

/* In a container, after a value. */
static cuzk_status read_after(json_in *j, json_token *t)
{
    bool object = j->stack[j->depth - 1] == '{';
    uint8_t c = peek(j);

    if (c == (object ? '}' : ']')) {
        leave(j, t);
        return CUZK_OK;
    }
    if (c != ',') return unexpected(j, object ? "',' or '}'" : "',' or ']'");
    j->pos++;
    skip_space(j);
    t->offset = j->pos;
    return object ? read_key(j, t) : read_value(j, t);
}

cuzk_status json_init(json_in *j, const void *data, size_t size)
{
    memset(j, 0, sizeof *j);
    j->data = data;
    j->size = size;
    j->state = STATE_VALUE;
    if (size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0)
        return FAIL(CUZK_EDATA, "json: byte order mark at byte 0");
    skip_space(j);
    if (j->pos == j->size) return FAIL(CUZK_EDATA, "json: empty");
    return CUZK_OK;
}

cuzk_status json_next(json_in *j, json_token *t)
{
    skip_space(j);
    t->text = "";
    t->len = 0;
    t->escaped = false;
    t->offset = j->pos;
    switch ((enum state)j->state) {
    case STATE_AFTER: return read_after(j, t);
    case STATE_FIRST_VALUE:
        if (peek(j) != ']') return read_value(j, t);
        leave(j, t);
        return CUZK_OK;
    case STATE_FIRST_KEY:
        if (peek(j) != '}') return read_key(j, t);
        leave(j, t);
        return CUZK_OK;
    case STATE_VALUE: return read_value(j, t);
    case STATE_DONE: break;
    }
    if (j->pos != j->size) return FAIL(CUZK_EDATA, "json: trailing bytes at offset %zu", j->pos);
    t->type = JSON_END;
    return CUZK_OK;
}

bool json_array_end(json_in *j)
{
    json_token t;

    skip_space(j);
    if (j->depth == 0 || j->stack[j->depth - 1] != '[' || peek(j) != ']') return false;
    if (j->state != STATE_AFTER && j->state != STATE_FIRST_VALUE) return false;
    leave(j, &t);
    return true;
}

cuzk_status json_skip_rest(json_in *j, const json_token *t)
{
    json_token inner;
    unsigned depth = j->depth;

    if (t->type != JSON_OBJECT && t->type != JSON_ARRAY) return CUZK_OK;
    while (j->depth >= depth) TRY(json_next(j, &inner));
    return CUZK_OK;
}

cuzk_status json_skip(json_in *j)
{
    json_token t;

    TRY(json_next(j, &t));
    return json_skip_rest(j, &t);
}

cuzk_status json_expect(json_in *j, json_type type, json_token *t, const char *what)
{
    json_token own;

    if (t == NULL) t = &own;
    TRY(json_next(j, t));
    if (t->type != type)
        return FAIL(CUZK_EDATA, "%s: %s at offset %zu, %s wanted", what, type_names[t->type],
                    t->offset, type_names[type]);
    return CUZK_OK;
}
