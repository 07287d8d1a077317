/*
 * fuzz/fuzz_json.c - the pull reader: any bytes are refused cleanly or read alike in each way there is
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <string.h>

#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok) abort();
}

/* Text without its escapes, written and read again, is the same text. */
static void check_text(const json_token *t, mem *m)
{
    char *text = malloc(t->len + 1), *again;
    bytes_out o;
    json_in j;
    json_token u;
    size_t n = 0, n_again = 0;

    must(text != NULL);
    must(json_unescape(t, text, &n) == CUZK_OK && n <= t->len && text[n] == '\0');
    if (strlen(text) == n) {
        must(json_is(t, text));
        bytes_out_init(&o, m);
        json_put_string(&o, text);
        must(json_init(&j, o.data, o.size) == CUZK_OK && json_next(&j, &u) == CUZK_OK);
        must(u.type == JSON_STRING && json_is(&u, text));
        again = malloc(u.len + 1);
        must(again != NULL && json_unescape(&u, again, &n_again) == CUZK_OK);
        must(n_again == n && memcmp(again, text, n) == 0);
        free(again);
        bytes_out_clear(&o);
    }
    free(text);
}

static cuzk_status read_tokens(const uint8_t *data, size_t size, mem *m)
{
    json_in j;
    json_token t;
    size_t last = 0;

    TRY(json_init(&j, data, size));
    do {
        uint64_t v;

        TRY(json_next(&j, &t));
        must(t.offset >= last && t.offset <= size && j.pos <= size && j.depth <= JSON_MAX_DEPTH);
        last = t.offset;
        if (t.type == JSON_STRING || t.type == JSON_KEY) check_text(&t, m);
        if (t.type == JSON_NUMBER && json_u64(&t, UINT64_MAX, &v, "n") == CUZK_OK)
            must(t.len <= 20 && t.text[0] != '-');
    } while (t.type != JSON_END);
    return CUZK_OK;
}

static cuzk_status skip_all(const uint8_t *data, size_t size)
{
    json_in j;

    TRY(json_init(&j, data, size));
    TRY(json_skip(&j));
    return json_expect(&j, JSON_END, NULL, "end");
}

/* Element by element: what json_byte_array's short way has to equal. */
static cuzk_status bytes_slowly(const uint8_t *data, size_t size, uint8_t *out, size_t *n)
{
    json_in j;
    json_token t;
    uint64_t v;

    TRY(json_init(&j, data, size));
    TRY(json_expect(&j, JSON_ARRAY, NULL, "bytes"));
    for (*n = 0;; out[(*n)++] = (uint8_t)v) {
        TRY(json_next(&j, &t));
        if (t.type == JSON_ARRAY_END) return CUZK_OK;
        TRY(json_u64(&t, 255, &v, "byte"));
    }
}

static void check_bytes(const uint8_t *data, size_t size)
{
    uint8_t *slow = malloc(size + 1), *fast = malloc(size + 1);
    size_t n_slow = 0, n_fast = 0;
    json_in j;
    cuzk_status st;

    must(slow != NULL && fast != NULL && json_init(&j, data, size) == CUZK_OK);
    st = json_byte_array(&j, fast, size, &n_fast, "bytes");
    must(bytes_slowly(data, size, slow, &n_slow) == st);
    if (st == CUZK_OK) must(n_slow == n_fast && memcmp(slow, fast, n_fast) == 0);
    free(slow);
    free(fast);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mem *m = NULL;
    json_in j;
    cuzk_status st;

    must(mem_open(&m, "fuzz", 0, NULL) == CUZK_OK);
    st = read_tokens(data, size, m);
    must(st == CUZK_OK || (st == CUZK_EDATA && cuzk_last_error()->klass == CUZK_CLASS_MALFORMED));
    must(skip_all(data, size) == st);
    if (json_init(&j, data, size) == CUZK_OK) check_bytes(data, size);
    must(mem_used(m) == 0);
    mem_close(m);
    return 0;
}
