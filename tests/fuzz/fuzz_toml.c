/*
 * fuzz/fuzz_toml.c - any bytes are refused with a place, or become a tree that is whole
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <string.h>

#include "app/toml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok) abort();
}

static void check(const toml *t, const toml_value *v, size_t size, unsigned depth)
{
    size_t n = 0;
    char place[64];

    must(depth <= 2 * TOML_MAX_DEPTH + 1 && v->at <= size && v->n <= TOML_MAX_ENTRIES);
    must((v->type == TOML_STRING) == (v->text != NULL));
    must(v->first == NULL || v->type == TOML_ARRAY || v->type == TOML_TABLE);
    for (const toml_value *x = v->first; x != NULL; x = x->next, n++) {
        must((x->key != NULL) == (v->type == TOML_TABLE));
        if (x->key != NULL) must(toml_find(v, x->key) == x); /* no key twice */
        if (size < 1000) toml_place(t, x->at, place, sizeof place);
        check(t, x, size, depth + 1);
    }
    must(n == v->n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    toml *t = NULL, *again = NULL;
    cuzk_status st;

    if (size > 65536) return 0;
    st = toml_read(&t, data, size, "f");
    if (st != CUZK_OK) {
        must(st == CUZK_EDATA && strncmp(cuzk_last_error()->where, "f:", 2) == 0);
        must(cuzk_last_error()->message[0] != 0 && t == NULL);
        return 0;
    }
    check(t, toml_root(t), size, 0);
    toml_free(t);
    must(toml_read(&again, data, size, "f") == CUZK_OK);
    toml_free(again);
    return 0;
}
