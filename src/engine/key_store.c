/*
 * engine/key_store.c - digests of key files, remembered beside them, and what they are compared with
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/key_store.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"

#define DIGEST_STEP ((size_t)16 << 20)

cuzk_status key_digest(cuzk_engine *e, const char *path, uint64_t size,
                       char out[KEY_DIGEST_HEX + 1])
{
    blake2b_ctx c;
    uint8_t hash[64];
    file_map f;
    cuzk_status st = CUZK_OK;

    TRY(file_map_open(&f, path));
    blake2b_init(&c, sizeof hash, NULL, 0);
    for (size_t at = 0; at < size && st == CUZK_OK; at += DIGEST_STEP) {
        size_t n = size - at < DIGEST_STEP ? (size_t)(size - at) : DIGEST_STEP;
        st = cancel_check(e->cancel);
        if (st == CUZK_OK && f.size - at < n)
            st = FAIL(CUZK_EIO, "cannot read %s: it has become shorter", path);
        if (st != CUZK_OK) break;
        file_map_will_need(&f, at + n, DIGEST_STEP);
        blake2b_update(&c, f.data + at, n);
        engine_progress(e, "digest", at + n, size);
    }
    file_map_close(&f);
    TRY(st);
    blake2b_final(&c, hash);
    hex_encode(out, hash, KEY_DIGEST_HEX / 2);
    return CUZK_OK;
}

const char *key_standing_name(key_standing s)
{
    static const char *const names[] = {"unknown", "network", "own", "foreign", "damaged"};
    return names[s];
}

key_standing key_compare(const key_expected *x, const char *digest)
{
    if (strcmp(x->network, digest) == 0) return KEY_NETWORK;
    if (x->own[0] != 0) return strcmp(x->own, digest) == 0 ? KEY_OWN : KEY_DAMAGED;
    return x->network[0] != 0 ? KEY_FOREIGN : KEY_UNKNOWN;
}

/* ---- NAME.digest: {"NAME.params":{"digest":"32 hex digits","sector_size":N},"NAME.vk":{...}} ---- */

static cuzk_status read_digest(json_in *j, char out[KEY_DIGEST_HEX + 1])
{
    json_token t;
    uint8_t bytes[KEY_DIGEST_HEX / 2];
    uint64_t seen = 0;

    TRY(json_expect(j, JSON_OBJECT, &t, "digest of a key"));
    for (;;) {
        TRY(json_next(j, &t));
        if (t.type == JSON_OBJECT_END) break;
        if (!json_is(&t, "digest")) {
            TRY(json_skip(j));
            continue;
        }
        TRY(json_seen(&seen, 0, &t));
        TRY(json_expect(j, JSON_STRING, &t, "digest"));
        if (!hex_decode(bytes, sizeof bytes, t.text, t.len))
            return FAIL_DATA(MALFORMED, "digest", "digest: %d hexadecimal digits expected",
                             KEY_DIGEST_HEX);
        hex_encode(out, bytes, sizeof bytes);
    }
    return CUZK_OK;
}

static cuzk_status read_digests(const file_map *f, const char *file, char out[KEY_DIGEST_HEX + 1])
{
    json_in j;
    json_token t;
    uint64_t seen = 0;

    TRY(json_init(&j, f->data, f->size));
    TRY(json_expect(&j, JSON_OBJECT, &t, "digests"));
    for (;;) {
        TRY(json_next(&j, &t));
        if (t.type == JSON_OBJECT_END) break;
        if (json_is(&t, file)) {
            TRY(json_seen(&seen, 0, &t));
            TRY(read_digest(&j, out));
        } else {
            TRY(json_skip(&j));
        }
    }
    return json_expect(&j, JSON_END, &t, "end of digests");
}

cuzk_status key_expect(key_expected *out, const char *dir, fil_kind kind, const fil_size *size,
                       bool vk)
{
    const char *network = fil_published_digest(kind, size, vk);
    char path[FIL_PATH_MAX], name[KEY_NAME_MAX], file[KEY_NAME_MAX + 8];
    file_map f;

    memset(out, 0, sizeof *out);
    if (network != NULL) memcpy(out->network, network, KEY_DIGEST_HEX);
    TRY(fil_key_path(path, dir, kind, size, ".digest"));
    if (!file_exists(path)) return CUZK_OK;
    TRY(fil_key_name(name, kind, size));
    (void)snprintf(file, sizeof file, "%s%s", name, vk ? ".vk" : ".params");
    TRY(file_map_open(&f, path));
    cuzk_status st = read_digests(&f, file, out->own);
    file_map_close(&f);
    if (st != CUZK_OK) status_add_where("%s.digest", name);
    return st;
}

cuzk_status key_write_digests(const char *dir, fil_kind kind, const fil_size *size,
                              const char *params_digest, const char *vk_digest)
{
    char path[FIL_PATH_MAX], name[KEY_NAME_MAX], text[1024];

    TRY(fil_key_name(name, kind, size));
    TRY(fil_key_path(path, dir, kind, size, ".digest"));
    int n = snprintf(text, sizeof text,
                     "{\"%s.params\":{\"digest\":\"%s\",\"sector_size\":%llu},"
                     "\"%s.vk\":{\"digest\":\"%s\",\"sector_size\":%llu}}\n",
                     name, params_digest, (unsigned long long)size->bytes, name, vk_digest,
                     (unsigned long long)size->bytes);
    return file_write_whole(path, text, (size_t)n);
}

/* ---- before a proof ---- */

cuzk_status key_digest_of(cuzk_engine *e, const char *dir, const char *file, const char *path,
                          char out[KEY_DIGEST_HEX + 1])
{
    key_record r = {0};
    file_id after;
    bool found;

    TRY(key_recall(e, dir, file, &r, &found));
    if (!found) {
        (void)snprintf(r.file, sizeof r.file, "%s", file);
        TRY(file_id_of(&r.id, path));
        TRY(key_digest(e, path, r.id.size, r.digest));
        TRY(file_id_of(&after, path));
        /* one that changes meanwhile is not what was read */
        if (file_id_equal(&r.id, &after)) TRY(key_try_remember(e, dir, &r));
    }
    memcpy(out, r.digest, sizeof r.digest);
    return CUZK_OK;
}

static void warn_foreign(const job_env *e, const char *file, const char *digest,
                         const char *network)
{
    char text[256];

    if (e->warn == NULL) return;
    (void)snprintf(text, sizeof text,
                   "the key has digest %s, the network's %s: the network will not take its proofs",
                   digest, network);
    e->warn(e->warn_ctx, CUZK_CLASS_INCONSISTENT, file, text);
}

/** Refuses a damaged key, warns of a foreign one. */
static cuzk_status judge(const job_env *e, const key_expected *x, const char *file,
                         const char *digest)
{
    switch (key_compare(x, digest)) {
    case KEY_DAMAGED:
        return FAIL_DATA(MALFORMED, file,
                         "key %s has digest %s, setup wrote %s: damaged, or replaced", file, digest,
                         x->own);
    case KEY_FOREIGN: warn_foreign(e, file, digest, x->network); break;
    case KEY_UNKNOWN:
    case KEY_NETWORK:
    case KEY_OWN: break;
    }
    return CUZK_OK;
}

cuzk_status key_trust(cuzk_engine *e, const char *dir, fil_kind kind, const fil_size *size)
{
    char path[FIL_PATH_MAX], digest[KEY_DIGEST_HEX + 1];
    key_expected x;

    TRY(fil_key_path(path, dir, kind, size, ".params"));
    TRY(key_expect(&x, dir, kind, size, false));
    if (x.own[0] == 0 && x.network[0] == 0) return CUZK_OK;
    const char *file = strrchr(path, '/') + 1;
    TRY(key_digest_of(e, dir, file, path, digest));
    return judge(&e->env, &x, file, digest);
}

cuzk_status key_trust_vk(const job_env *e, const char *dir, fil_kind kind, const fil_size *size,
                         const uint8_t *data, size_t n)
{
    char path[FIL_PATH_MAX], digest[KEY_DIGEST_HEX + 1];
    uint8_t hash[64];
    key_expected x;
    blake2b_ctx c;

    TRY(fil_key_path(path, dir, kind, size, ".vk"));
    TRY(key_expect(&x, dir, kind, size, true));
    if (x.own[0] == 0 && x.network[0] == 0) return CUZK_OK;
    blake2b_init(&c, sizeof hash, NULL, 0);
    blake2b_update(&c, data, n);
    blake2b_final(&c, hash);
    hex_encode(digest, hash, KEY_DIGEST_HEX / 2);
    return judge(e, &x, strrchr(path, '/') + 1, digest);
}

cuzk_status key_may_replace(cuzk_engine *e, const char *dir, fil_kind kind, const fil_size *size)
{
    char path[FIL_PATH_MAX], digest[KEY_DIGEST_HEX + 1];
    key_expected x;

    TRY(fil_key_path(path, dir, kind, size, ".params"));
    if (!file_exists(path)) return CUZK_OK;
    const char *file = strrchr(path, '/') + 1;
    TRY(key_expect(&x, dir, kind, size, false));
    if (x.own[0] != 0) {
        TRY(key_digest_of(e, dir, file, path, digest));
        if (key_compare(&x, digest) == KEY_OWN) return CUZK_OK;
    }
    return FAIL_DATA(INCONSISTENT, file,
                     "%s is there and was not made by a setup here: move it away first", path);
}

cuzk_status key_trust_srs(cuzk_engine *e, const char *path, uint64_t points, bool *checked)
{
    char dir[FIL_PATH_MAX], digest[KEY_DIGEST_HEX + 1];
    const char *slash = strrchr(path, '/'), *file = slash == NULL ? path : slash + 1;
    key_record r;
    bool found;

    *checked = false;
    int n = slash == NULL ? snprintf(dir, sizeof dir, ".")
                          : snprintf(dir, sizeof dir, "%.*s/", (int)(slash - path), path);
    if (n < 0 || (size_t)n >= sizeof dir)
        return FAIL(CUZK_EINVAL, "key path longer than %d bytes", FIL_PATH_MAX);
    if (strcmp(file, FIL_SRS_NAME) == 0) {
        TRY(key_digest_of(e, dir, file, path, digest));
        if (strcmp(digest, FIL_SRS_DIGEST) != 0)
            warn_foreign(&e->env, file, digest, FIL_SRS_DIGEST);
    }
    TRY(key_recall(e, dir, file, &r, &found));
    *checked = found && r.points == points;
    return CUZK_OK;
}
