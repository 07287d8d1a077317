/*
 * circuit/filecoin/statement_fields.c - puts single fields into a statement's text
 *
 * Members of the top object are copied as they stand; those that are given otherwise are left out and come first, as JSON.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit/filecoin/statement_fields.h"

#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "circuit/filecoin/json_fields.h"

typedef struct known {
    const char *name;
    bool number;
} known;

static const known table[] = {
    {"sector_size", true},
    {"layers", true},
    {"registered_seal_proof", true},
    {"registered_post_proof", true},
    {"registered_update_proof", true},
    {"api_version", false},
    {"miner_id", true},
    {"sector_number", true},
    {"ticket", false},
    {"seed", false},
    {"comm_d", false},
    {"comm_r", false},
    {"randomness", false},
    {"comm_r_old", false},
    {"comm_r_new", false},
    {"comm_d_new", false},
};
#define N_KNOWN (sizeof table / sizeof table[0])

/* '-' in a may stand for '_' in b. */
static bool same_name(const char *a, const char *b)
{
    for (; *a != '\0' && (*a == *b || (*a == '-' && *b == '_')); a++) b++;
    return *a == *b;
}

static const known *find(const char *name)
{
    for (size_t i = 0; i < N_KNOWN; i++)
        if (same_name(name, table[i].name)) return &table[i];
    return NULL;
}

/* Decimal digits; of a size, with KiB, MiB or GiB behind them. */
static bool parse_number(const char *text, bool size, uint64_t *out)
{
    static const char *const units[] = {"", "KiB", "MiB", "GiB"};
    size_t n = strspn(text, "0123456789");
    uint64_t v = 0;

    for (size_t i = 0; i < n; i++) {
        unsigned d = (unsigned)(text[i] - '0');

        if (v > (UINT64_MAX - d) / 10) return false;
        v = v * 10 + d;
    }
    for (unsigned u = 0; n != 0 && u < (size ? 4 : 1); u++) {
        if (strcmp(text + n, units[u]) != 0) continue;
        if (v > UINT64_MAX >> 10 * u) return false;
        *out = v << 10 * u;
        return true;
    }
    return false;
}

static cuzk_status put_fields(bytes_out *out, const fil_field *fields, size_t n)
{
    uint64_t seen = 0, number = 0;

    for (size_t i = 0; i < n; i++) {
        const known *k = find(fields[i].name);

        if (k == NULL) return FAIL(CUZK_EINVAL, "%s is not a field of statements", fields[i].name);
        if ((seen >> (k - table) & 1) != 0) return FAIL(CUZK_EINVAL, "%s is given twice", k->name);
        seen |= UINT64_C(1) << (k - table);
        bytes_printf(out, "%s\"%s\":", i == 0 ? "" : ",", k->name);
        if (!k->number) {
            json_put_string(out, fields[i].value);
            continue;
        }
        if (!parse_number(fields[i].value, strcmp(k->name, "sector_size") == 0, &number))
            return FAIL(CUZK_EINVAL, "%s: %.40s is not a number", k->name, fields[i].value);
        bytes_printf(out, "%" PRIu64, number);
    }
    return CUZK_OK;
}

/* Is this key one of the given fields? */
static bool is_given(const json_token *key, const fil_field *fields, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (json_is(key, find(fields[i].name)->name)) return true;
    return false;
}

static cuzk_status put_others(bytes_out *out, const uint8_t *json, size_t size,
                              const fil_field *fields, size_t n)
{
    bool first = n == 0;
    json_in j;
    json_token t;

    TRY(json_init(&j, json, size));
    TRY(fil_json_expect_object(&j, "statement"));
    for (;;) {
        TRY(json_next(&j, &t));
        if (t.type == JSON_OBJECT_END) break;
        TRY(json_skip(&j));
        if (is_given(&t, fields, n)) continue;
        bytes_printf(out, "%s", first ? "" : ",");
        bytes_put(out, json + t.offset, j.pos - t.offset);
        first = false;
    }
    return json_expect(&j, JSON_END, NULL, "the end of the statement");
}

cuzk_status fil_statement_merge(bytes_out *out, const uint8_t *json, size_t size,
                                const fil_field *fields, size_t n)
{
    bytes_put_u8(out, '{');
    TRY(put_fields(out, fields, n));
    if (json != NULL) TRY(put_others(out, json, size, fields, n));
    bytes_put_u8(out, '}');
    return bytes_out_status(out);
}
