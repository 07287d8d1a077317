/*
 * wire/token.h - bearer tokens and their scopes
 *
 * The file: one token a line, `HASH SCOPES [NAME]`; HASH is the SHA-256 of the token in hexadecimal, SCOPES a list of
 * prove, read, operate separated by commas, NAME (no spaces) the owner of its jobs. Empty lines and lines that begin with
 * # are passed over. `printf %s TOKEN | sha256sum` makes the hash. Tokens themselves are nowhere.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef WIRE_TOKEN_H
#define WIRE_TOKEN_H

#include "wire/access.h"

#define TOKEN_MAX 4096 /* tokens in a file */

typedef struct token {
    uint8_t hash[32];
    unsigned scopes; /* ACCESS_* */
    char name[64];   /* "": none */
} token;

typedef struct token_set token_set;

/** Errors name file and line. A file with no token in it is CUZK_EDATA: it would lock everyone out. */
CUZK_STATUS token_set_load(token_set **out, const char *path);
/** The same from the text of such a file; `path` is for messages. */
CUZK_STATUS token_set_read(token_set **out, const void *text, size_t size, const char *path);
void token_set_free(token_set *s);

/** The token of this text, or NULL. Takes the same time for every wrong one. Borrowed as long as the set. */
const token *token_find(const token_set *s, const char *text, size_t size);
/** "prove,read" */
void token_scopes_write(char out[24], unsigned scopes);

#endif
