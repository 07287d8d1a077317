/*
 * engine/service_json.c - members of JSON objects that the documents share; names of kinds and priorities in them
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/json.h"

#include <inttypes.h>

#include "engine/service.h"

const char *const svc_kind_names[SVC_KINDS] = {"porep-c2",     "snap-update", "window-post",
                                               "winning-post", "groth16",     "aggregate"};
const char *const svc_priority_names[] = {"", "low", "normal", "high", "critical"};

void svc_put_text(bytes_out *o, const char *key, const char *value)
{
    bytes_printf(o, ",\"%s\":", key);
    json_put_string(o, value);
}

void svc_put_hash(bytes_out *o, const char *key, const uint8_t b[32])
{
    char text[65];

    hex_encode(text, b, 32);
    bytes_printf(o, ",\"%s\":\"%s\"", key, text);
}

void svc_put_u64(bytes_out *o, const char *key, uint64_t v)
{
    bytes_printf(o, ",\"%s\":%" PRIu64, key, v);
}

double svc_percent(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 100.0 : 100.0 * (double)part / (double)whole;
}

void svc_put_error(bytes_out *o, const cuzk_error *e, bool failed)
{
    if (!failed) {
        bytes_printf(o, ",\"error\":null");
        return;
    }
    bytes_printf(o, ",\"error\":{\"class\":\"%s\"", cuzk_class_name(e->klass));
    svc_put_text(o, "where", e->where);
    svc_put_text(o, "message", e->message);
    bytes_printf(o, "}");
}
