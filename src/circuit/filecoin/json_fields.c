/*
 * circuit/filecoin/json_fields.c - members of objects in Filecoin's JSON
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit/filecoin/json_fields.h"

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
