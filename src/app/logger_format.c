/*
 * app/logger_format.c - one line of the log: time, level, event, fields
 *
 * Whatever bytes the fields hold, a line is one line, of valid UTF-8, and in JSON one object.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "app/logger_format.h"

#include "base/utf8.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define TAIL 8 /* kept for what closes a line: "}, a newline */

typedef struct line {
    char *out;
    size_t n;
    bool full;
} line;

static void put(line *l, const char *p, size_t n)
{
    if (l->full || n > LOGGER_LINE - TAIL - l->n) {
        l->full = true;
        return;
    }
    memcpy(l->out + l->n, p, n);
    l->n += n;
}

static void put_text(line *l, const char *s)
{
    put(l, s, strlen(s));
}

/** A value or part of one: escaped, without its quotes. */
static void put_escaped(line *l, const char *s)
{
    char buf[8];

    for (size_t n = strlen(s); n > 0 && !l->full;) {
        uint8_t c = (uint8_t)*s;
        size_t k = utf8_sequence((const uint8_t *)s, n);
        if (k == 0) {
            put_text(l, "\xef\xbf\xbd"); /* U+FFFD */
            k = 1;
        } else if (c == '"' || c == '\\') {
            (void)snprintf(buf, sizeof buf, "\\%c", c);
            put_text(l, buf);
        } else if (c < 0x20 || c == 0x7f) {
            (void)snprintf(buf, sizeof buf, "\\u%04x", c);
            put_text(l, c == '\n' ? "\\n" : c == '\t' ? "\\t" : buf);
        } else {
            put(l, s, k);
        }
        s += k;
        n -= k;
    }
}

/** A word that stands in text without quotes. */
static bool is_plain(const char *s)
{
    if (*s == 0) return false;
    for (; *s != 0; s++)
        if ((uint8_t)*s <= ' ' || (uint8_t)*s >= 0x7f || *s == '"' || *s == '=' || *s == '\\')
            return false;
    return true;
}

static void put_quoted(line *l, const char *s)
{
    size_t before = l->n;

    put_text(l, "\"");
    put_escaped(l, s);
    if (l->full && l->n > before) l->out[l->n++] = '"'; /* cut: TAIL has room */
    put_text(l, "\"");
}

static bool is_secret(const char *key)
{
    static const char *const names[] = {"token", "authorization", "password", "secret"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(key, names[i]) == 0) return true;
    return false;
}

static void put_field(line *l, bool json, const cuzk_log_field *f)
{
    size_t before = l->n;
    char number[24];
    const char *text = f->text;

    if (text != NULL && is_secret(f->key)) text = "***";
    put_text(l, json ? "," : " ");
    if (json)
        put_quoted(l, f->key);
    else
        put_text(l, f->key);
    put_text(l, json ? ":" : "=");
    if (l->full) { /* not even its key */
        l->n = before;
        return;
    }
    if (text == NULL) {
        (void)snprintf(number, sizeof number, "%lld", (long long)f->number);
        put_text(l, number);
        if (l->full) l->n = before;
    } else if (json || !is_plain(text)) {
        put_quoted(l, text);
        if (l->full && l->out[l->n - 1] != '"') l->n = before;
    } else {
        put_text(l, text);
        if (l->full) l->n = before;
    }
}

const char *log_level_name(int level)
{
    static const char *const names[] = {"error", "warn", "info", "debug"};

    return level >= CUZK_LOG_ERROR && level <= CUZK_LOG_DEBUG ? names[level] : "error";
}

int logger_level(const char *name)
{
    int level = CUZK_LOG_DEBUG;

    while (level > CUZK_LOG_ERROR && strcmp(log_level_name(level), name) != 0) level--;
    return level;
}

static void put_time(line *l, int64_t unix_ms)
{
    time_t s = (time_t)(unix_ms / 1000);
    struct tm tm = {0};
    char text[64];

    (void)gmtime_r(&s, &tm); /* a year that does not fit: the line says 1900 */
    (void)snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", tm.tm_year + 1900,
                   tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
                   (int)(unix_ms % 1000));
    put_text(l, text);
}

size_t log_format(char out[LOGGER_LINE], log_style style, int64_t unix_ms, int level,
                  const char *event, const cuzk_log_field *f, size_t n)
{
    static const char *const journal[] = {"<3>", "<4>", "<6>", "<7>"};
    line l = {out, 0, false};

    if (style.journal && !style.json)
        put_text(&l, journal[level >= CUZK_LOG_ERROR && level <= CUZK_LOG_DEBUG ? level : 0]);
    put_text(&l, style.json ? "{\"time\":\"" : "");
    put_time(&l, unix_ms);
    put_text(&l, style.json ? "\",\"level\":\"" : " ");
    put_text(&l, log_level_name(level));
    put_text(&l, style.json ? "\",\"event\":" : " ");
    if (style.json)
        put_quoted(&l, event);
    else
        put_escaped(&l, event);
    for (size_t i = 0; i < n && !l.full; i++) put_field(&l, style.json, &f[i]);
    l.full = false; /* TAIL is for this */
    if (style.json) out[l.n++] = '}';
    out[l.n++] = '\n';
    return l.n;
}
