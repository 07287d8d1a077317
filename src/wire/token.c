/*
 * wire/token.c - bearer tokens and their scopes
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "wire/token.h"

#include "base/bytes.h"
#include "base/file.h"
#include "base/hash.h"

#include <stdio.h>
#include <string.h>

#define MAX_TOKEN 1024 /* bytes of a token that a client shows */

struct token_set {
    size_t n;
    token tokens[];
};

static const char *const scope_names[] = {"prove", "read", "operate"};

/** Next word of line[*pos..n), or an empty one. */
static const char *next_word(const char *line, size_t n, size_t *pos, size_t *len)
{
    size_t i = *pos, start;

    while (i < n && (line[i] == ' ' || line[i] == '\t' || line[i] == '\r')) i++;
    start = i;
    while (i < n && line[i] != ' ' && line[i] != '\t' && line[i] != '\r') i++;
    *pos = i;
    *len = i - start;
    return line + start;
}

static unsigned scope_of(const char *text, size_t n)
{
    for (unsigned i = 0; i < sizeof scope_names / sizeof *scope_names; i++)
        if (strlen(scope_names[i]) == n && memcmp(scope_names[i], text, n) == 0) return 1U << i;
    return 0;
}

static cuzk_status read_scopes(unsigned *out, const char *text, size_t n, const char *where)
{
    size_t start = 0;

    *out = 0;
    if (n == 0) return FAIL_DATA(MALFORMED, where, "no scopes after the hash");
    for (size_t i = 0; i <= n; i++) {
        if (i < n && text[i] != ',') continue;
        unsigned s = scope_of(text + start, i - start);
        if (s == 0)
            return FAIL_DATA(MALFORMED, where, "scope \"%.*s\", known: prove, read, operate",
                             (int)(i - start < 40 ? i - start : 40), text + start);
        *out |= s;
        start = i + 1;
    }
    return CUZK_OK;
}

/** *empty: nothing on this line. */
static cuzk_status read_line(token *t, const char *line, size_t n, const char *where, bool *empty)
{
    size_t pos = 0, len;
    const char *word = next_word(line, n, &pos, &len);

    memset(t, 0, sizeof *t);
    *empty = len == 0 || word[0] == '#';
    if (*empty) return CUZK_OK;
    if (!hex_decode(t->hash, 32, word, len))
        return FAIL_DATA(MALFORMED, where, "a line begins with 64 hexadecimal digits (SHA-256)");
    word = next_word(line, n, &pos, &len);
    TRY(read_scopes(&t->scopes, word, len, where));
    word = next_word(line, n, &pos, &len);
    if (len >= sizeof t->name)
        return FAIL_DATA(MALFORMED, where, "name of %zu bytes, limit %zu", len, sizeof t->name - 1);
    memcpy(t->name, word, len);
    (void)next_word(line, n, &pos, &len);
    if (len != 0) return FAIL_DATA(MALFORMED, where, "more than hash, scopes and name");
    return CUZK_OK;
}

cuzk_status token_set_read(token_set **out, const void *text, size_t size, const char *path)
{
    cuzk_status st = CUZK_OK;
    const char *p = text, *end = p + size;
    size_t lines = 1, line_no = 0;
    token_set *s;
    char where[96];

    for (size_t i = 0; i < size; i++) lines += p[i] == '\n';
    if (lines > TOKEN_MAX)
        return FAIL(CUZK_EDATA, "%s: %zu lines, limit %d", path, lines, TOKEN_MAX);
    s = calloc(1, sizeof *s + lines * sizeof *s->tokens);
    if (s == NULL) return FAIL(CUZK_ENOMEM, "%s: out of memory", path);
    while (p < end) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        const char *stop = nl == NULL ? end : nl;
        bool empty;

        snprintf(where, sizeof where, "%.72s:%zu", path, ++line_no);
        TRY_OUT(read_line(&s->tokens[s->n], p, (size_t)(stop - p), where, &empty));
        if (!empty) s->n++;
        p = nl == NULL ? end : nl + 1;
    }
    if (s->n == 0) {
        st = FAIL_DATA(MALFORMED, path, "no token in this file: nobody could come in");
        goto out;
    }
    *out = s;
    s = NULL;
out:
    token_set_free(s);
    return st;
}

cuzk_status token_set_load(token_set **out, const char *path)
{
    file_map f = {0};

    TRY(file_map_open(&f, path));
    cuzk_status st = token_set_read(out, f.data, f.size, path);
    file_map_close(&f);
    return st;
}

void token_set_free(token_set *s)
{
    if (s == NULL) return;
    explicit_bzero(s->tokens, s->n * sizeof *s->tokens);
    free(s);
}

const token *token_find(const token_set *s, const char *text, size_t size)
{
    uint8_t hash[32];
    const token *found = NULL;

    if (size == 0 || size > MAX_TOKEN) return NULL;
    sha256(hash, text, size);
    for (size_t i = 0; i < s->n; i++) {
        volatile uint8_t diff = 0; /* every byte of every entry is looked at */

        for (size_t j = 0; j < 32; j++) diff = (uint8_t)(diff | (hash[j] ^ s->tokens[i].hash[j]));
        if (diff == 0) found = &s->tokens[i];
    }
    return found;
}

void token_scopes_write(char out[24], unsigned scopes)
{
    size_t n = 0;

    out[0] = 0;
    for (unsigned i = 0; i < sizeof scope_names / sizeof *scope_names; i++)
        if ((scopes >> i & 1) != 0)
            n += (size_t)snprintf(out + n, 24 - n, "%s%s", n == 0 ? "" : ",", scope_names[i]);
}
