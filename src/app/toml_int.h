/*
 * app/toml_int.h - what toml.c and toml_text.c share
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef APP_TOML_INT_H
#define APP_TOML_INT_H

#include "app/toml.h"

struct toml {
    mem *m;
    char *name;
    uint8_t *data; /* with a NUL after its end, which is no character of TOML */
    size_t size, pos;
    toml_value *root;
    unsigned section; /* headers so far */
};

/** Yields CUZK_EDATA with the place of `at`. */
cuzk_status toml_fail(const toml *t, size_t at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static inline uint8_t toml_here(const toml *t)
{
    return t->data[t->pos];
}
static inline bool toml_is_bare(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

/** Strings of all four kinds; the cursor is at the first quote. *out lies in t->m. */
CUZK_STATUS toml_string(toml *t, bool multi_line, char **out);
/** true, false, integers; other words are refused with what they are. */
CUZK_STATUS toml_word(toml *t, toml_value *v);

#endif
