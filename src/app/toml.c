/*
 * app/toml.c - TOML: keys, tables and arrays become a tree
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "app/toml_int.h"

#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MEMORY ((size_t)256 << 20) /* of a document's tree: above what TOML_MAX_SIZE can ask for */

/* ---- places and failures ---- */

void toml_place(const toml *t, size_t at, char *out, size_t size)
{
    unsigned line = 1, column = 1;

    for (size_t i = 0; i < at && i < t->size; i++) {
        if (t->data[i] == '\n') {
            line++;
            column = 1;
        } else if ((t->data[i] & 0xc0) != 0x80) {
            column++;
        }
    }
    (void)snprintf(out, size, "%s:%u:%u", t->name, line, column);
}

cuzk_status toml_fail(const toml *t, size_t at, const char *fmt, ...)
{
    char where[128], text[256];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    toml_place(t, at, where, sizeof where);
    return FAIL_DATA(MALFORMED, where, "%s", text);
}

/* ---- the tree ---- */

const toml_value *toml_root(const toml *t)
{
    return t->root;
}

static toml_value *find(const toml_value *table, const char *key)
{
    toml_value *v = key == NULL ? NULL : table->first;

    while (v != NULL && (v->key == NULL || strcmp(v->key, key) != 0)) v = v->next;
    return v;
}

const toml_value *toml_find(const toml_value *table, const char *key)
{
    return find(table, key);
}

static cuzk_status new_value(toml *t, toml_type type, size_t at, toml_value **out)
{
    cuzk_status st = CUZK_OK;
    toml_value *v = mem_new(t->m, 1, sizeof *v, &st);

    if (v == NULL) return st == CUZK_OK ? CUZK_ENOMEM : st; /* the first cannot be */
    v->type = type;
    v->at = at;
    *out = v;
    return CUZK_OK;
}

static void free_value(mem *m, toml_value *v)
{
    if (v == NULL) return;
    while (v->first != NULL) {
        toml_value *next = v->first->next;
        free_value(m, v->first); /* TOML_MAX_DEPTH deep at most */
        v->first = next;
    }
    mem_free(m, (void *)(uintptr_t)v->key);
    mem_free(m, (void *)(uintptr_t)v->text);
    mem_free(m, v);
}

/** Takes v (owned now, whatever comes out) as the last entry of parent. */
static cuzk_status append(toml *t, toml_value *parent, toml_value *v)
{
    *(parent->first == NULL ? &parent->first : &parent->last->next) = v;
    parent->last = v;
    if (++parent->n > TOML_MAX_ENTRIES)
        return toml_fail(t, v->at, "more than %u entries", TOML_MAX_ENTRIES);
    return CUZK_OK;
}

/** A new entry of a table; key moves to it. */
static cuzk_status add(toml *t, toml_value *table, char *key, size_t at, toml_type type,
                       toml_value **out)
{
    toml_value *v = NULL;
    cuzk_status st = new_value(t, type, at, &v);

    if (st != CUZK_OK) {
        mem_free(t->m, key);
        return st;
    }
    v->key = key;
    *out = v;
    return append(t, table, v);
}

/* ---- space between things ---- */

static void skip_blanks(toml *t)
{
    while (toml_here(t) == ' ' || toml_here(t) == '\t') t->pos++;
}

static bool take_newline(toml *t)
{
    if (toml_here(t) == '\n') {
        t->pos++;
        return true;
    }
    if (toml_here(t) != '\r' || t->data[t->pos + 1] != '\n') return false;
    t->pos += 2;
    return true;
}

/** Blanks, then a comment. */
static cuzk_status skip_comment(toml *t)
{
    skip_blanks(t);
    if (toml_here(t) != '#') return CUZK_OK;
    while (t->pos < t->size && toml_here(t) != '\n') {
        uint8_t c = toml_here(t);
        if (c == '\r' && t->data[t->pos + 1] == '\n') break;
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return toml_fail(t, t->pos, "control character %02X in a comment", c);
        t->pos++;
    }
    return CUZK_OK;
}

/** Blanks, comments and line ends. */
static cuzk_status skip_lines(toml *t)
{
    do TRY(skip_comment(t));
    while (take_newline(t));
    return CUZK_OK;
}

static cuzk_status end_line(toml *t)
{
    TRY(skip_comment(t));
    if (t->pos >= t->size || take_newline(t)) return CUZK_OK;
    return toml_fail(t, t->pos, "the line goes on where it should end");
}

/* ---- keys ---- */

/** One part of a key, owned. */
static cuzk_status key_part(toml *t, char **out, size_t *at)
{
    cuzk_status st = CUZK_OK;
    size_t n = 0;

    skip_blanks(t);
    *at = t->pos;
    *out = NULL;
    if (toml_here(t) == '"' || toml_here(t) == '\'') {
        st = toml_string(t, false, out);
        return st == CUZK_OK && *out == NULL ? CUZK_ENOMEM : st; /* the first says the second */
    }
    while (toml_is_bare(t->data[t->pos + n])) n++;
    if (n == 0) return toml_fail(t, t->pos, "a key is missing");
    *out = mem_new(t->m, 1, n + 1, &st);
    if (*out == NULL) return st == CUZK_OK ? CUZK_ENOMEM : st;
    memcpy(*out, t->data + t->pos, n);
    t->pos += n;
    return CUZK_OK;
}

/** After a part: a dot goes on, anything else ends the key. */
static bool take_dot(toml *t)
{
    skip_blanks(t);
    if (toml_here(t) != '.') return false;
    t->pos++;
    return true;
}

/** Whether a dotted key or a header may go through this entry. */
static cuzk_status check_way(toml *t, const toml_value *v, size_t at, bool header)
{
    if (v->type != TOML_TABLE) return toml_fail(t, at, "%s has a value already", v->key);
    if (v->origin == TOML_INLINE)
        return toml_fail(t, at, "%s is a table in braces: nothing is added to it", v->key);
    if (!header && (v->origin != TOML_DOTTED || v->section != t->section))
        return toml_fail(t, at, "%s is a table of its own: add to it under its header", v->key);
    return CUZK_OK;
}

/** The table `key` of *table, made where there is none; key is taken. */
static cuzk_status step_into(toml *t, toml_value **table, char *key, size_t at, bool header)
{
    toml_value *v = find(*table, key);

    if (v == NULL) {
        TRY(add(t, *table, key, at, TOML_TABLE, &v));
        v->origin = header ? TOML_IMPLICIT : TOML_DOTTED;
        v->section = t->section;
    } else {
        mem_free(t->m, key);
        TRY(check_way(t, v, at, header));
    }
    *table = v;
    return CUZK_OK;
}

/** Reads a key with its dots; *table becomes the one that its last part belongs to, *key that part (owned). */
static cuzk_status read_key(toml *t, toml_value **table, bool header, char **key, size_t *at)
{
    for (unsigned depth = 1;; depth++) {
        TRY(key_part(t, key, at));
        if (!take_dot(t)) return CUZK_OK;
        if (depth == TOML_MAX_DEPTH) {
            mem_free(t->m, *key);
            return toml_fail(t, *at, "more than %u parts in a key", TOML_MAX_DEPTH);
        }
        TRY(step_into(t, table, *key, *at, header));
    }
}

/* ---- values ---- */

static cuzk_status read_value(toml *t, toml_value *v, unsigned depth);

static cuzk_status read_array(toml *t, toml_value *v, unsigned depth)
{
    size_t start = t->pos;

    v->type = TOML_ARRAY;
    t->pos++;
    for (;;) {
        toml_value *x;

        TRY(skip_lines(t));
        if (toml_here(t) == ']') break;
        if (t->pos >= t->size) return toml_fail(t, start, "the array does not end");
        TRY(new_value(t, TOML_STRING, t->pos, &x));
        TRY(append(t, v, x));
        TRY(read_value(t, x, depth + 1));
        TRY(skip_lines(t));
        if (toml_here(t) == ']') break;
        if (t->pos >= t->size) return toml_fail(t, start, "the array does not end");
        if (toml_here(t) != ',') return toml_fail(t, t->pos, "a comma or ] is missing");
        t->pos++;
    }
    t->pos++;
    return CUZK_OK;
}

static cuzk_status read_pair(toml *t, toml_value *table, unsigned depth)
{
    char *key = NULL;
    size_t at;
    toml_value *v = NULL;

    TRY(read_key(t, &table, false, &key, &at));
    if (find(table, key) != NULL) {
        cuzk_status st = toml_fail(t, at, "%s is there twice", key);
        mem_free(t->m, key);
        return st;
    }
    TRY(add(t, table, key, at, TOML_STRING, &v));
    if (toml_here(t) != '=') return toml_fail(t, t->pos, "= is missing after %s", key);
    t->pos++;
    skip_blanks(t);
    return read_value(t, v, depth);
}

static cuzk_status read_inline(toml *t, toml_value *v, unsigned depth)
{
    unsigned outer = t->section;
    size_t start = t->pos;

    v->type = TOML_TABLE;
    v->origin = TOML_HEADER;         /* closed at its end */
    t->section = UINT32_MAX - depth; /* dotted keys inside are of this table alone */
    t->pos++;
    skip_blanks(t);
    while (toml_here(t) != '}') {
        TRY(read_pair(t, v, depth + 1));
        skip_blanks(t);
        if (toml_here(t) == '}') break;
        if (t->pos >= t->size || toml_here(t) == '\n' || toml_here(t) == '\r')
            return toml_fail(t, start, "a table in braces ends on its line");
        if (toml_here(t) != ',') return toml_fail(t, t->pos, "a comma or } is missing");
        t->pos++;
        skip_blanks(t);
        if (toml_here(t) == '}') return toml_fail(t, t->pos, "a comma before }");
    }
    t->pos++;
    t->section = outer;
    v->origin = TOML_INLINE;
    return CUZK_OK;
}

static cuzk_status read_value(toml *t, toml_value *v, unsigned depth)
{
    char *text = NULL;

    if (depth > TOML_MAX_DEPTH)
        return toml_fail(t, t->pos, "more than %u levels of nesting", TOML_MAX_DEPTH);
    switch (toml_here(t)) {
    case '"':
    case '\'':
        TRY(toml_string(t, true, &text));
        v->type = TOML_STRING;
        v->text = text;
        return CUZK_OK;
    case '[': return read_array(t, v, depth);
    case '{': return read_inline(t, v, depth);
    default: return toml_word(t, v);
    }
}

/* ---- headers and the document ---- */

static cuzk_status read_header(toml *t, toml_value **table)
{
    size_t start = t->pos, at;
    char *key = NULL;
    toml_value *v;

    *table = t->root;
    t->pos++;
    if (toml_here(t) == '[') return toml_fail(t, start, "arrays of tables are not used here");
    t->section++;
    TRY(read_key(t, table, true, &key, &at));
    v = find(*table, key);
    if (v == NULL) {
        TRY(add(t, *table, key, at, TOML_TABLE, &v));
    } else {
        mem_free(t->m, key);
        TRY(check_way(t, v, at, true));
        if (v->origin != TOML_IMPLICIT) return toml_fail(t, at, "table %s is there twice", v->key);
        v->at = at;
    }
    v->origin = TOML_HEADER;
    *table = v;
    if (toml_here(t) != ']') return toml_fail(t, t->pos, "] is missing");
    t->pos++;
    return end_line(t);
}

static cuzk_status check_utf8(const toml *t)
{
    for (size_t i = 0; i < t->size;) {
        size_t n = t->data[i] == 0 ? 0 : utf8_sequence(t->data + i, t->size - i);
        if (n == 0) return toml_fail(t, i, "byte %02X is no UTF-8 text", t->data[i]);
        i += n;
    }
    return CUZK_OK;
}

static cuzk_status read_document(toml *t)
{
    toml_value *table = t->root;

    TRY(check_utf8(t));
    if (t->size >= 3 && memcmp(t->data, "\xef\xbb\xbf", 3) == 0) t->pos = 3;
    for (;;) {
        TRY(skip_lines(t));
        if (t->pos >= t->size) return CUZK_OK;
        if (toml_here(t) == '[') {
            TRY(read_header(t, &table));
        } else {
            TRY(read_pair(t, table, 1));
            TRY(end_line(t));
        }
    }
}

static cuzk_status init(toml *t, const void *data, size_t size, const char *name)
{
    cuzk_status st = CUZK_OK;
    size_t n = strlen(name) + 1;

    t->name = mem_new(t->m, 1, n, &st);
    if (t->name == NULL) return st;
    memcpy(t->name, name, n);
    t->data = mem_new(t->m, 1, size + 1, &st);
    if (t->data == NULL) return st;
    if (size != 0) memcpy(t->data, data, size);
    t->size = size;
    TRY(new_value(t, TOML_TABLE, 0, &t->root));
    t->root->origin = TOML_HEADER;
    return CUZK_OK;
}

cuzk_status toml_read(toml **out, const void *data, size_t size, const char *name)
{
    cuzk_status st = CUZK_OK;
    toml *t;
    mem *m;

    if (size > TOML_MAX_SIZE)
        return FAIL_DATA(LIMIT, name, "%zu bytes, limit %zu", size, TOML_MAX_SIZE);
    TRY(mem_open(&m, "toml", MEMORY, NULL));
    t = mem_new(m, 1, sizeof *t, &st);
    if (t == NULL) {
        mem_close(m);
        return st;
    }
    t->m = m;
    TRY_OUT(init(t, data, size, name));
    TRY_OUT(read_document(t));
    *out = t;
    t = NULL;
out:
    toml_free(t);
    return st;
}

void toml_free(toml *t)
{
    mem *m;

    if (t == NULL) return;
    m = t->m;
    free_value(m, t->root);
    mem_free(m, t->data);
    mem_free(m, t->name);
    mem_free(m, t);
    mem_close(m);
}
