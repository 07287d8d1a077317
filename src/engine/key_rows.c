/*
 * engine/key_rows.c - what is told of keys, and the look for their files
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/keys_int.h"

#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/json.h"

const char *key_state_name(key_state k)
{
    static const char *const names[] = {"absent", "loading", "loaded", "failed"};
    return names[k];
}

/* What the device that has most of a key keeps of it. Without the lock: a device may be slow to answer. */
static uint64_t kept_bytes(const keys *s, const uint64_t ids[GROTH16_PK_LISTS])
{
    uint64_t most = 0;

    for (unsigned i = 0; i < s->c.e->n_devices; i++) {
        uint64_t n = 0;

        for (unsigned k = 0; k < GROTH16_PK_LISTS; k++)
            n += dev_points_kept(s->c.e->devices[i], ids[k]);
        if (n > most) most = n;
    }
    return most;
}

void keys_scan(keys *s)
{
    size_t n;
    const fil_size *sizes = fil_sizes(&n);

    if (s->params_dir == NULL) return;
    for (fil_kind kind = 0; kind < FIL_KINDS; kind++)
        for (size_t i = 0; i < n; i++) {
            char path[FIL_PATH_MAX];
            file_id id;
            key_entry *k;

            if (!fil_exists(kind, &sizes[i])) continue;
            if (fil_key_path(path, s->params_dir, kind, &sizes[i], ".params") != CUZK_OK) continue;
            if (!file_exists(path) || file_id_of(&id, path) != CUZK_OK) continue;
            k = keys_filecoin(s, kind, &sizes[i]);
            if (k == NULL) continue;
            (void)pthread_mutex_lock(&s->mu);
            k->file_bytes = id.size;
            (void)pthread_mutex_unlock(&s->mu);
        }
}

size_t keys_rows(keys *s, keys_row *out, size_t cap)
{
    size_t n = 0;

    (void)pthread_mutex_lock(&s->mu);
    for (key_entry *k = s->first; k != NULL; k = k->next) {
        keys_row *r = &out[n];

        if (k->state == KEY_ABSENT && (k->stale || (k->filecoin && k->file_bytes == 0))) continue;
        if (n++ >= cap) continue;
        *r = (keys_row){.tier = k->state == KEY_LOADED ? CUZK_WARM : CUZK_COLD,
                        .state = k->state,
                        .bytes = k->file_bytes + k->heap_bytes,
                        .heap_bytes = k->heap_bytes,
                        .last_used = k->last_used,
                        .refs = k->refs,
                        .pinned = key_is_pinned(k),
                        .progress = k->total == 0 ? 0 : (double)k->done / (double)k->total};
        memcpy(r->name, k->name, sizeof r->name);
        if (k->state == KEY_LOADED) groth16_pk_ids(k->pk, r->ids);
        (void)snprintf(r->error, sizeof r->error, "%.255s", k->error.message);
    }
    (void)pthread_mutex_unlock(&s->mu);
    for (size_t i = 0; i < n && i < cap; i++) {
        out[i].device_bytes = kept_bytes(s, out[i].ids);
        if (out[i].device_bytes != 0) out[i].tier = CUZK_HOT;
    }
    return n;
}

cuzk_status keys_circuits_json(keys *s, bytes_out *o)
{
    bool first = true;

    bytes_printf(o, "{\"circuits\":[");
    (void)pthread_mutex_lock(&s->mu);
    for (const key_entry *k = s->first; k != NULL; k = k->next) {
        if (k->filecoin || k->stale) continue;
        bytes_printf(o, "%s{\"name\":", first ? "" : ",");
        json_put_string(o, k->name);
        bytes_printf(o, ",\"loaded\":%s,\"input_json\":%s}",
                     k->state == KEY_LOADED ? "true" : "false",
                     k->witness_command != NULL ? "true" : "false");
        first = false;
    }
    (void)pthread_mutex_unlock(&s->mu);
    bytes_printf(o, "]}\n");
    return bytes_out_status(o);
}

void key_scan_now(keys *s)
{
    fault_stall("key scan");
    keys_scan(s);
    (void)pthread_mutex_lock(&s->mu);
    s->scanning = false;
    (void)pthread_mutex_unlock(&s->mu);
}

void keys_scan_later(keys *s)
{
    bool begin;

    (void)pthread_mutex_lock(&s->mu);
    begin = !s->scanning && !s->stopping;
    if (begin) s->scanning = true;
    (void)pthread_mutex_unlock(&s->mu);
    if (!begin) return;
    stage_order(&s->scan, 0, 0, 0, 0);
    if (stage_push(s->loads, &s->scan) == CUZK_OK) return;
    (void)pthread_mutex_lock(&s->mu);
    s->scanning = false; /* out of memory: the next time */
    (void)pthread_mutex_unlock(&s->mu);
}
