/*
 * base/json.h - a pull reader for JSON of any size with bounded depth, and a small writer
 *
 * Strict RFC 8259: UTF-8, no BOM, no trailing commas, no NaN, no second document, no half of a surrogate pair.
 * Duplicate keys are for the caller to notice (json_seen). Errors are CUZK_EDATA, class malformed, and name the
 * offset. After an error the reader is not to be used further.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/bytes.h"

#define JSON_MAX_DEPTH 64

typedef enum json_type {
    JSON_OBJECT,
    JSON_OBJECT_END,
    JSON_ARRAY,
    JSON_ARRAY_END,
    JSON_KEY,
    JSON_STRING,
    JSON_NUMBER,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NULL,
    JSON_END
} json_type;

typedef struct json_token {
    json_type type;
    /* key, string or number: the bytes between the quotes or of the number; borrowed from the input, no NUL */
    const char *text;
    size_t len;
    bool escaped;  /* text holds backslash escapes: use json_unescape */
    size_t offset; /* of the token in the input */
} json_token;

typedef struct json_in {
    const uint8_t *data;
    size_t size, pos;
    unsigned depth;
    uint8_t stack[JSON_MAX_DEPTH]; /* '{' or '[' */
    uint8_t state;
} json_in;

/** The input stays the caller's, and stays. */
CUZK_STATUS json_init(json_in *j, const void *data, size_t size);
/** Next token; JSON_END after the one document, and again. */
CUZK_STATUS json_next(json_in *j, json_token *t);
/** The value that comes next, whatever it is, is read over (checked for syntax). After a JSON_KEY: its value. */
CUZK_STATUS json_skip(json_in *j);
/** The rest of the value whose first token is *t, just read: nothing for a number, all of an array. */
CUZK_STATUS json_skip_rest(json_in *j, const json_token *t);
/** json_next, and a failure unless it is of this type. t may be NULL. `what` names the value in the message. */
CUZK_STATUS json_expect(json_in *j, json_type type, json_token *t, const char *what);
/** In an array, before a value: whether there is none any more. Its end is read then. */
bool json_array_end(json_in *j);
/** The value that comes next is an array of integers 0..255: *n of them into out; more than cap are a failure. */
CUZK_STATUS json_byte_array(json_in *j, uint8_t *out, size_t cap, size_t *n, const char *what);
bool json_is(const json_token *t,
             const char *text); /* key or string: what it says, escapes resolved */
/** Unescapes into out (at least t->len + 1 bytes), NUL-terminated; *n its length. */
CUZK_STATUS json_unescape(const json_token *t, char *out, size_t *n);
/** Integers in range, no fraction or exponent. `what` goes into the message. */
CUZK_STATUS json_u64(const json_token *t, uint64_t max, uint64_t *out, const char *what);
/** Duplicate keys: sets bit `bit` of *seen; error if it was set. */
CUZK_STATUS json_seen(uint64_t *seen, unsigned bit, const json_token *key);

/** s as a JSON string with quotes, escaped; bytes that are not UTF-8 come out as U+FFFD. */
void json_put_string(bytes_out *o, const char *s);

#endif
