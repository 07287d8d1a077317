/*
 * app/toml_text.c - the values of TOML that have no parts: strings, integers, booleans
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "app/toml_int.h"

#include <string.h>

/* ---- strings ---- */

static int hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

static void put_utf8(bytes_out *o, uint32_t c)
{
    if (c < 0x80) {
        bytes_put_u8(o, (uint8_t)c);
    } else if (c < 0x800) {
        bytes_put_u8(o, (uint8_t)(0xc0 | c >> 6));
        bytes_put_u8(o, (uint8_t)(0x80 | (c & 0x3f)));
    } else if (c < 0x10000) {
        bytes_put_u8(o, (uint8_t)(0xe0 | c >> 12));
        bytes_put_u8(o, (uint8_t)(0x80 | (c >> 6 & 0x3f)));
        bytes_put_u8(o, (uint8_t)(0x80 | (c & 0x3f)));
    } else {
        bytes_put_u8(o, (uint8_t)(0xf0 | c >> 18));
        bytes_put_u8(o, (uint8_t)(0x80 | (c >> 12 & 0x3f)));
        bytes_put_u8(o, (uint8_t)(0x80 | (c >> 6 & 0x3f)));
        bytes_put_u8(o, (uint8_t)(0x80 | (c & 0x3f)));
    }
}

/** The digits after \u or \U. */
static cuzk_status unicode(toml *t, bytes_out *o, unsigned digits)
{
    size_t at = t->pos - 2;
    uint32_t c = 0;

    for (unsigned i = 0; i < digits; i++, t->pos++) {
        int d = hex_digit(toml_here(t));
        if (d < 0)
            return toml_fail(t, at, "%u hexadecimal digits follow \\%c", digits,
                             digits == 4 ? 'u' : 'U');
        c = c << 4 | (uint32_t)d;
    }
    if (c == 0) return toml_fail(t, at, "a NUL character is not used here");
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return toml_fail(t, at, "U+%04X is no character", c);
    put_utf8(o, c);
    return CUZK_OK;
}

static bool newline_at(const toml *t, size_t pos)
{
    return t->data[pos] == '\n' || (t->data[pos] == '\r' && t->data[pos + 1] == '\n');
}

/** A backslash at the end of a line: up to the next text. False: it is not that. */
static bool skip_line_end(toml *t)
{
    size_t pos = t->pos + 1;

    while (t->data[pos] == ' ' || t->data[pos] == '\t') pos++;
    if (!newline_at(t, pos)) return false;
    while (t->data[pos] == ' ' || t->data[pos] == '\t' || newline_at(t, pos))
        pos += t->data[pos] == '\r' ? 2 : 1;
    t->pos = pos;
    return true;
}

static cuzk_status escape(toml *t, bytes_out *o, bool lines)
{
    static const char from[] = "btnfr\"\\", to[] = "\b\t\n\f\r\"\\";
    size_t at = t->pos;

    if (lines && skip_line_end(t)) return CUZK_OK;
    uint8_t c = t->data[at + 1];
    const char *f = c == 0 ? NULL : strchr(from, c);
    t->pos += 2;
    if (f != NULL) {
        bytes_put_u8(o, (uint8_t)to[f - from]);
        return CUZK_OK;
    }
    if (c == 'u' || c == 'U') return unicode(t, o, c == 'u' ? 4 : 8);
    return toml_fail(t, at, "unknown escape in a string (a \\ itself is written \\\\)");
}

/** One character or escape inside a string, or a failure where it cannot stand. */
static cuzk_status string_char(toml *t, bytes_out *o, uint8_t quote, bool lines, size_t start)
{
    uint8_t c = toml_here(t);

    if (t->pos >= t->size) return toml_fail(t, start, "the string does not end");
    if (quote == '"' && c == '\\') return escape(t, o, lines);
    if (newline_at(t, t->pos)) {
        if (!lines) return toml_fail(t, start, "the string does not end on its line");
        t->pos += c == '\r' ? 2 : 1;
        bytes_put_u8(o, '\n');
        return CUZK_OK;
    }
    if ((c < 0x20 && c != '\t') || c == 0x7f)
        return toml_fail(t, t->pos, "control character %02X in a string", c);
    bytes_put_u8(o, c);
    t->pos++;
    return CUZK_OK;
}

static size_t quotes_here(const toml *t, uint8_t quote)
{
    size_t n = 0;

    while (t->data[t->pos + n] == quote) n++; /* ends at the NUL */
    return n;
}

static cuzk_status string_body(toml *t, bytes_out *o, uint8_t quote, bool lines, size_t start)
{
    for (;;) {
        size_t n = quotes_here(t, quote);
        if (!lines && n > 0) {
            t->pos++;
            return CUZK_OK;
        }
        if (n >= 3) { /* up to two belong to the text */
            if (n > 5) n = 5;
            for (size_t i = 3; i < n; i++) bytes_put_u8(o, quote);
            t->pos += n;
            return CUZK_OK;
        }
        for (; n > 0; n--, t->pos++) bytes_put_u8(o, quote);
        if (toml_here(t) != quote) TRY(string_char(t, o, quote, lines, start));
    }
}

cuzk_status toml_string(toml *t, bool multi_line, char **out)
{
    uint8_t quote = toml_here(t);
    size_t start = t->pos, n = quotes_here(t, quote);
    bool lines = n >= 3;
    cuzk_status st;
    bytes_out o;

    if (lines && !multi_line) return toml_fail(t, start, "a key is no text of several lines");
    bytes_out_init(&o, t->m);
    t->pos += lines ? 3 : 1;
    if (lines && newline_at(t, t->pos)) t->pos += toml_here(t) == '\r' ? 2 : 1;
    st = string_body(t, &o, quote, lines, start);
    bytes_put_u8(&o, 0);
    if (st == CUZK_OK) st = bytes_out_status(&o);
    if (st == CUZK_OK) {
        *out = mem_new(t->m, 1, o.size, &st);
        if (*out == NULL && st == CUZK_OK) st = CUZK_ENOMEM; /* it cannot be */
        if (*out != NULL) memcpy(*out, o.data, o.size);
    }
    bytes_out_clear(&o);
    return st;
}

/* ---- words ---- */

static bool is_word_char(uint8_t c)
{
    return toml_is_bare(c) || c == '+' || c == '.' || c == ':';
}

static bool equals(const char *w, size_t n, const char *text)
{
    return strlen(text) == n && memcmp(w, text, n) == 0;
}

static bool digit_of(uint8_t c, unsigned base, unsigned *d)
{
    int v = hex_digit(c);

    if (v < 0 || (unsigned)v >= base) return false;
    *d = (unsigned)v;
    return true;
}

/** Digits with single underscores between them; *over: more than max. */
static bool digits(const char *w, size_t n, unsigned base, uint64_t max, uint64_t *out, bool *over)
{
    unsigned d;

    *out = 0;
    *over = false;
    if (n == 0 || w[0] == '_' || w[n - 1] == '_') return false;
    for (size_t i = 0; i < n; i++) {
        if (w[i] == '_' && w[i - 1] != '_') continue;
        if (!digit_of((uint8_t)w[i], base, &d)) return false;
        if (*out > (max - d) / base) *over = true;
        if (!*over) *out = *out * base + d;
    }
    return true;
}

/** What a word that is no integer was meant to be. */
static cuzk_status fail_word(const toml *t, size_t at, const char *w, size_t n)
{
    bool number = (w[0] >= '0' && w[0] <= '9') || w[0] == '+' || w[0] == '-' || w[0] == '.';
    const char *s = w + (number && (w[0] == '+' || w[0] == '-'));
    size_t left = n - (size_t)(s - w);

    if (equals(s, left, "inf") || equals(s, left, "nan") ||
        (number && memchr(s, ':', left) == NULL &&
         (memchr(s, '.', left) != NULL || memchr(s, 'e', left) != NULL ||
          memchr(s, 'E', left) != NULL)))
        return toml_fail(t, at, "floating-point numbers are not used here");
    if (number && (memchr(s, ':', left) != NULL || (left > 4 && s[4] == '-')))
        return toml_fail(t, at, "dates and times are not used here");
    if (number) return toml_fail(t, at, "'%.*s' is no number", (int)(n < 40 ? n : 40), w);
    if (equals(w, n, "True") || equals(w, n, "False") || equals(w, n, "TRUE") ||
        equals(w, n, "FALSE"))
        return toml_fail(t, at, "true and false are written in small letters");
    return toml_fail(t, at, "'%.*s' is no value (text needs quotes)", (int)(n < 40 ? n : 40), w);
}

static bool integer(const char *w, size_t n, int64_t *out, bool *over)
{
    bool sign = w[0] == '+' || w[0] == '-', minus = w[0] == '-';
    unsigned base = 10;
    uint64_t v;

    if (sign) {
        w++;
        n--;
    } else if (n > 2 && w[0] == '0') {
        base = w[1] == 'x' ? 16 : w[1] == 'o' ? 8 : w[1] == 'b' ? 2 : 10;
    }
    if (base == 10 && n > 1 && w[0] == '0') return false; /* no zeros in front */
    if (base != 10) {
        w += 2;
        n -= 2;
    }
    if (!digits(w, n, base, (uint64_t)INT64_MAX + minus, &v, over)) return false;
    *out = minus ? (v == 0 ? 0 : -(int64_t)(v - 1) - 1) : (int64_t)v;
    return true;
}

cuzk_status toml_word(toml *t, toml_value *v)
{
    size_t at = t->pos, n = 0;
    const char *w = (const char *)t->data + at;
    bool over = false;

    while (is_word_char((uint8_t)w[n])) n++; /* ends at the NUL */
    if (n == 0) return toml_fail(t, at, "a value is missing");
    t->pos += n;
    if (equals(w, n, "true") || equals(w, n, "false")) {
        v->type = TOML_BOOLEAN;
        v->boolean = w[0] == 't';
        return CUZK_OK;
    }
    v->type = TOML_INTEGER;
    if (!integer(w, n, &v->integer, &over)) return fail_word(t, at, w, n);
    if (over) return toml_fail(t, at, "%.*s does not fit 64 bits", (int)(n < 40 ? n : 40), w);
    return CUZK_OK;
}
