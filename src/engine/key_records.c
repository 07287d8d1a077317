/*
 * engine/key_records.c - DIR/.cuzk-keys: what was seen of the key files of a folder
 *
 *   {"keys":[{"file":"NAME.params","device":N,"inode":N,"size":N,"mtime_ns":N,"digest":"32 hex digits","points":N},...]}
 *
 * It only saves time: one that cannot be read is as good as none, and is replaced.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "engine/key_store.h"

#define RECORDS_FILE ".cuzk-keys"
#define MAX_RECORDS 512
#define MAX_BYTES ((size_t)1 << 20)

typedef struct records {
    key_record *r;
    size_t n;
} records;

static cuzk_status records_path(char out[FIL_PATH_MAX], const char *dir)
{
    int n = snprintf(out, FIL_PATH_MAX, "%s/" RECORDS_FILE, dir);

    if (n < 0 || n >= FIL_PATH_MAX)
        return FAIL(CUZK_EINVAL, "key directory path longer than %d bytes", FIL_PATH_MAX);
    return CUZK_OK;
}

static cuzk_status read_member(json_in *j, const json_token *key, key_record *r)
{
    static const char *const names[] = {"device", "inode", "size", "points"};
    uint64_t *const fields[] = {&r->id.device, &r->id.inode, &r->id.size, &r->points};
    json_token t;
    uint64_t v;

    TRY(json_next(j, &t));
    for (size_t i = 0; i < 4; i++)
        if (json_is(key, names[i])) return json_u64(&t, UINT64_MAX, fields[i], names[i]);
    if (json_is(key, "mtime_ns")) {
        TRY(json_u64(&t, INT64_MAX, &v, "mtime_ns"));
        r->id.mtime_ns = (int64_t)v;
    } else if (json_is(key, "file") && t.type == JSON_STRING && t.len < sizeof r->file &&
               !t.escaped) {
        memcpy(r->file, t.text, t.len);
        r->file[t.len] = 0;
    } else if (json_is(key, "digest") && t.type == JSON_STRING && t.len == KEY_DIGEST_HEX &&
               !t.escaped) {
        memcpy(r->digest, t.text, t.len);
        r->digest[t.len] = 0;
    } else {
        return json_skip_rest(j, &t);
    }
    return CUZK_OK;
}

static cuzk_status read_keys(json_in *j, records *out)
{
    json_token t;

    TRY(json_expect(j, JSON_ARRAY, &t, "keys"));
    while (!json_array_end(j)) {
        key_record r = {0};
        TRY(json_expect(j, JSON_OBJECT, &t, "key"));
        for (;;) {
            TRY(json_next(j, &t));
            if (t.type == JSON_OBJECT_END) break;
            TRY(read_member(j, &t, &r));
        }
        if (out->n < MAX_RECORDS && r.file[0] != 0 && r.digest[0] != 0) out->r[out->n++] = r;
    }
    return CUZK_OK;
}

static cuzk_status read_records(records *out, const file_map *f)
{
    json_in j;
    json_token t;

    if (f->size > MAX_BYTES) return FAIL_DATA(LIMIT, RECORDS_FILE, "%zu bytes", f->size);
    TRY(json_init(&j, f->data, f->size));
    TRY(json_expect(&j, JSON_OBJECT, &t, "records"));
    for (;;) {
        TRY(json_next(&j, &t));
        if (t.type == JSON_OBJECT_END) return CUZK_OK;
        TRY(json_is(&t, "keys") ? read_keys(&j, out) : json_skip(&j));
    }
}

/** All records of a folder; none when the file is not there or not readable. */
static cuzk_status load(records *out, const char *dir, mem *m)
{
    char path[FIL_PATH_MAX];
    file_map f;
    cuzk_status st;

    TRY(records_path(path, dir));
    *out = (records){0};
    out->r = mem_new(m, MAX_RECORDS, sizeof *out->r, &st);
    if (out->r == NULL) return st;
    if (!file_exists(path) || file_map_open(&f, path) != CUZK_OK) return CUZK_OK;
    if (read_records(out, &f) != CUZK_OK) out->n = 0;
    file_map_close(&f);
    return CUZK_OK;
}

cuzk_status key_recall(cuzk_engine *e, const char *dir, const char *file, key_record *out,
                       bool *found)
{
    char path[FIL_PATH_MAX];
    records all = {0};
    file_id id;
    int n = snprintf(path, sizeof path, "%s/%s", dir, file);

    if (n < 0 || (size_t)n >= sizeof path)
        return FAIL(CUZK_EINVAL, "key path longer than %d bytes", FIL_PATH_MAX);
    TRY(file_id_of(&id, path));
    TRY(load(&all, dir, e->m));
    *found = false;
    for (size_t i = 0; i < all.n && !*found; i++) {
        *found = strcmp(all.r[i].file, file) == 0 && file_id_equal(&all.r[i].id, &id);
        if (*found) *out = all.r[i];
    }
    mem_free(e->m, all.r);
    return CUZK_OK;
}

static void put_record(bytes_out *o, const key_record *r, bool first)
{
    bytes_printf(o, "%s{\"file\":", first ? "" : ",\n");
    json_put_string(o, r->file);
    bytes_printf(o,
                 ",\"device\":%llu,\"inode\":%llu,\"size\":%llu,\"mtime_ns\":%lld,"
                 "\"digest\":\"%s\",\"points\":%llu}",
                 (unsigned long long)r->id.device, (unsigned long long)r->id.inode,
                 (unsigned long long)r->id.size, (long long)r->id.mtime_ns, r->digest,
                 (unsigned long long)r->points);
}

cuzk_status key_remember(cuzk_engine *e, const char *dir, const key_record *r)
{
    char path[FIL_PATH_MAX];
    records all = {0};
    bytes_out o;
    cuzk_status st;

    TRY(records_path(path, dir));
    bytes_out_init(&o, e->m);
    TRY_OUT(load(&all, dir, e->m));
    bytes_printf(&o, "{\"keys\":[");
    put_record(&o, r, true);
    for (size_t i = 0, kept = 1; i < all.n && kept < MAX_RECORDS; i++) {
        if (strcmp(all.r[i].file, r->file) == 0) continue;
        put_record(&o, &all.r[i], false);
        kept++;
    }
    bytes_printf(&o, "]}\n");
    TRY_OUT(bytes_out_status(&o));
    st = file_write_whole(path, o.data, o.size);
out:
    mem_free(e->m, all.r);
    bytes_out_clear(&o);
    return st;
}

cuzk_status key_try_remember(cuzk_engine *e, const char *dir, const key_record *r)
{
    cuzk_status st = key_remember(e, dir, r);

    if (st != CUZK_EIO) return st;
    if (e->warn != NULL) e->warn(e->ctx, CUZK_CLASS_IO, r->file, cuzk_last_error()->message);
    return CUZK_OK;
}
