/*
 * engine/trapdoors.c - T.json: known secrets for reproducible keys and proofs; tests only
 *
 * {"values": {"tau": hex, "alpha": hex, ...}}, 32 little-endian canonical bytes each (fixtures/filecoin/trapdoors.json).
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/engine.h"

#include "base/json.h"

#include <string.h>

static const char *const names[] = {"tau", "alpha", "beta", "gamma", "delta", "r", "s"};
enum { N_NAMES = 7, N_SECRETS = 5 };

static cuzk_status read_values(json_in *j, scalar v[N_NAMES], uint64_t *seen)
{
    json_token t;

    TRY(json_expect(j, JSON_OBJECT, &t, "values"));
    for (;;) {
        unsigned k = 0;
        TRY(json_next(j, &t));
        if (t.type == JSON_OBJECT_END) return CUZK_OK;
        while (k < N_NAMES && !json_is(&t, names[k])) k++;
        if (k == N_NAMES) {
            TRY(json_skip(j));
            continue;
        }
        TRY(json_seen(seen, k, &t));
        TRY(json_expect(j, JSON_STRING, &t, names[k]));
        if (!hex_decode(v[k].b, 32, t.text, t.len))
            return FAIL_DATA(MALFORMED, names[k], "trapdoor %s: 64 hex digits expected", names[k]);
    }
}

static cuzk_status read_file(const uint8_t *data, size_t size, scalar v[N_NAMES], uint64_t *seen)
{
    json_in j;
    json_token t;
    bool found = false;

    TRY(json_init(&j, data, size));
    TRY(json_expect(&j, JSON_OBJECT, &t, "trapdoors"));
    for (;;) {
        TRY(json_next(&j, &t));
        if (t.type == JSON_OBJECT_END) break;
        if (json_is(&t, "values")) {
            if (found) return FAIL_DATA(MALFORMED, "values", "duplicate key values");
            found = true;
            TRY(read_values(&j, v, seen));
        } else {
            TRY(json_skip(&j));
        }
    }
    return json_expect(&j, JSON_END, &t, "end of trapdoors");
}

cuzk_status trapdoors_read(const char *path, const curve *cv, groth16_trapdoors *t,
                           cuzk_fixed_rs *rs)
{
    file_map f;
    scalar v[N_NAMES];
    uint64_t seen = 0;
    fr x[N_NAMES];
    cuzk_status st;

    TRY(file_map_open(&f, path));
    st = read_file(f.data, f.size, v, &seen);
    file_map_close(&f);
    for (unsigned k = 0; k < N_NAMES && st == CUZK_OK; k++) {
        bool wanted = k < N_SECRETS ? t != NULL : rs != NULL;
        if (!wanted) continue;
        if ((seen >> k & 1) == 0)
            st = FAIL_DATA(MALFORMED, names[k], "trapdoors: missing %s", names[k]);
        else if (!cv->fr_from_scalar(&x[k], &v[k]))
            st = FAIL_DATA(MALFORMED, names[k], "trapdoor %s is not below the group order",
                           names[k]);
        else if (k < N_SECRETS && cv->fr_is_zero(&x[k]))
            st = FAIL_DATA(MALFORMED, names[k], "trapdoor %s is zero", names[k]);
    }
    if (st == CUZK_OK && t != NULL) *t = (groth16_trapdoors){x[0], x[1], x[2], x[3], x[4]};
    if (st == CUZK_OK && rs != NULL) {
        memcpy(rs->r, v[5].b, 32);
        memcpy(rs->s, v[6].b, 32);
    }
    explicit_bzero(v, sizeof v);
    explicit_bzero(x, sizeof x);
    return st;
}

cuzk_status cuzk_trapdoors_rs(const char *trapdoors, cuzk_fixed_rs *out)
{
    return trapdoors_read(trapdoors, curve_get(CURVE_ID_BLS12_381, CPU_TABLE_GENERIC), NULL, out);
}
