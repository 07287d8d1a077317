/*
 * app/toml.h - a strict reader of TOML 1.0 for configuration files
 *
 * The whole document becomes a tree. Floating-point numbers, dates and arrays of tables are understood and refused, since no
 * key takes them; so is a string with a NUL character. Failures are CUZK_EDATA, class malformed, with `where`
 * "NAME:LINE:COLUMN" and a message of what is wrong there.
 * Source: toml.io, version 1.0.0.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef APP_TOML_H
#define APP_TOML_H

#include "base/bytes.h"

#define TOML_MAX_SIZE ((size_t)1 << 20) /* of a document */
#define TOML_MAX_DEPTH 32u
#define TOML_MAX_ENTRIES 1024u /* of one table or array */

typedef enum toml_type {
    TOML_STRING,
    TOML_INTEGER,
    TOML_BOOLEAN,
    TOML_ARRAY,
    TOML_TABLE
} toml_type;

/** How a table came to be: what may still be added to it follows from that. */
typedef enum toml_origin { TOML_IMPLICIT, TOML_HEADER, TOML_DOTTED, TOML_INLINE } toml_origin;

typedef struct toml_value toml_value;
struct toml_value {
    toml_type type;
    const char *key;          /* in a table; else NULL */
    size_t at;                /* offset of the key, or in an array of the value */
    toml_value *next;         /* of the same table or array */
    toml_value *first, *last; /* entries, in order */
    size_t n;                 /* entries */
    const char *text;         /* STRING, with NUL */
    int64_t integer;
    bool boolean;
    toml_origin origin;
    unsigned section; /* DOTTED: under which header */
};

typedef struct toml toml;

/** name is for messages. The document is copied. */
CUZK_STATUS toml_read(toml **out, const void *data, size_t size, const char *name);
void toml_free(toml *t); /* NULL is fine */
const toml_value *toml_root(const toml *t);
const toml_value *toml_find(const toml_value *table, const char *key); /* NULL: none */
/** "NAME:LINE:COLUMN" of an offset, from 1, columns in characters. */
void toml_place(const toml *t, size_t at, char *out, size_t size);

#endif
