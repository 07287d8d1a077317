/*
 * circuit/filecoin/json_fields.c - members of objects in Filecoin's JSON
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit/filecoin/json_fields.h"

#include <inttypes.h>

#include "base/bytes.h"

cuzk_status fil_json_wanted(const char *where, const json_token *t, const char *what)
{
    return FAIL_DATA(MALFORMED, where, "%s wanted at offset %zu", what, t->offset);
}

cuzk_status fil_json_missing(const char *where, const char *name)
{
    return FAIL_DATA(MALFORMED, where, "missing %s", name);
}

cuzk_status fil_json_u64(json_in *j, uint64_t max, uint64_t *out, const char *where)
{
    json_token t;

    TRY(json_next(j, &t));
    if (t.type != JSON_NUMBER) return fil_json_wanted(where, &t, "a number");
    return json_u64(&t, max, out, where);
}

cuzk_status fil_json_hash(json_in *j, uint8_t out[32], const char *where)
{
    json_token t;

    TRY(json_next(j, &t));
    if (t.type != JSON_STRING)
        return fil_json_wanted(where, &t, "a string of 64 hexadecimal digits");
    if (!hex_decode(out, 32, t.text, t.len))
        return FAIL_DATA(MALFORMED, where, "64 hexadecimal digits wanted, these are %zu characters",
                         t.len);
    return CUZK_OK;
}

cuzk_status fil_json_expect_object(json_in *j, const char *where)
{
    json_token t;

    TRY(json_next(j, &t));
    return t.type == JSON_OBJECT ? CUZK_OK : fil_json_wanted(where, &t, "an object");
}

cuzk_status fil_json_next_key(json_in *j, const char *const *names, unsigned n, uint64_t *seen,
                              unsigned *index, bool *end)
{
    json_token t;

    TRY(json_next(j, &t));
    *end = t.type == JSON_OBJECT_END;
    if (*end) return CUZK_OK;
    for (*index = 0; *index < n; (*index)++)
        if (json_is(&t, names[*index])) return json_seen(seen, *index, &t);
    return json_skip(j);
}

cuzk_status fil_json_object(json_in *j, const char *const *names, unsigned n, fil_json_read_fn read,
                            void *reader, const void *arg)
{
    uint64_t seen = 0;
    unsigned k;
    bool end;

    TRY(fil_json_expect_object(j, ""));
    for (;;) {
        TRY(fil_json_next_key(j, names, n, &seen, &k, &end));
        if (end) break;
        if (k < n) TRY(read(reader, k, arg));
    }
    for (k = 0; k < n; k++)
        if ((seen >> k & 1) == 0) return fil_json_missing("", names[k]);
    return CUZK_OK;
}

cuzk_status fil_json_list(json_in *j, uint32_t want, const char *name, fil_json_read_fn read,
                          void *reader, const void *arg)
{
    json_token t;
    uint64_t n = 0;

    TRY(json_next(j, &t));
    if (t.type != JSON_ARRAY) return fil_json_wanted(name, &t, "an array");
    for (; !json_array_end(j); n++) {
        cuzk_status st = n < want ? read(reader, (uint32_t)n, arg) : json_skip(j);

        if (st == CUZK_OK) continue;
        status_add_where("%s %" PRIu64, name, n);
        return st;
    }
    if (n != want)
        return FAIL_DATA(SHAPE, "", "%" PRIu64 " %s%s, expected %" PRIu32, n, name,
                         n == 1 ? "" : "s", want);
    return CUZK_OK;
}

cuzk_status fil_json_bytes32(json_in *j, uint8_t out[32], const char *what)
{
    size_t n;

    TRY(json_byte_array(j, out, 32, &n, what));
    if (n != 32) return FAIL(CUZK_EDATA, "%s: %zu bytes, expected 32", what, n);
    return CUZK_OK;
}
