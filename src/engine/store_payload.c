/*
 * engine/store_payload.c - payloads: files named by the SHA-256 of their bytes, written once, removed when no job names them
 *
 * FOLDER/XX/<64 hex digits>, XX the first two. An entry for each file is in memory. A file that is written is claimed until
 * the job that it was written for is stored, or ten minutes have passed; so a file is not removed between the two, and
 * what a crash or a refused job left goes. Names in the folder that are no payload are left alone.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/store_int.h"

#include "base/clock.h"
#include "base/fault.h"
#include "base/file_fail.h"
#include "base/hash.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CLAIM_NS (UINT64_C(600) * 1000000000)
#define MAX_PATH 4096

/* ---- names ---- */

static cuzk_status path_of(const store *s, char out[MAX_PATH], const uint8_t key[32])
{
    char name[STORE_KEY_TEXT];

    hex_encode(name, key, 32);
    if (snprintf(out, MAX_PATH, "%s/%.2s/%s", s->folder, name, name) >= MAX_PATH)
        return FAIL(CUZK_EIO, "job store %s: its name is too long", s->path);
    return CUZK_OK;
}

static store_file **bucket_of(store *s, const uint8_t key[32])
{
    return &s->files[load_u32le(key) % STORE_BUCKET_COUNT];
}

static store_file *find_locked(store *s, const uint8_t key[32])
{
    store_file *f = *bucket_of(s, key);

    while (f != NULL && memcmp(f->key, key, 32) != 0) f = f->next;
    return f;
}

/** The entry, once nobody else is at its file. */
static store_file *find_free_locked(store *s, const uint8_t key[32])
{
    store_file *f;

    while ((f = find_locked(s, key)) != NULL && f->busy)
        (void)pthread_cond_wait(&s->ended, &s->mu); /* cannot fail: mu is held */
    return f;
}

static store_file *add_locked(store *s, const uint8_t key[32], cuzk_status *st)
{
    store_file *f = mem_new(s->m, 1, sizeof *f, st), **at = bucket_of(s, key);

    if (f == NULL) return NULL;
    memcpy(f->key, key, 32);
    f->next = *at;
    *at = f;
    return f;
}

static void remove_locked(store *s, store_file *f)
{
    store_file **at = bucket_of(s, f->key);

    while (*at != f) at = &(*at)->next;
    *at = f->next;
    mem_free(s->m, f);
}

/* ---- what lies there ---- */

typedef struct scan {
    store *s;
    char folder[MAX_PATH];
    char name[3];
} scan;

static bool is_leftover(const char *name)
{
    size_t n = strlen(name);

    return strncmp(name, ".cuzk-", 6) == 0 && n > 10 && strcmp(name + n - 4, ".tmp") == 0;
}

static cuzk_status scan_file(void *ctx, const char *name)
{
    const scan *x = ctx;
    cuzk_status st = CUZK_OK;
    char path[MAX_PATH + 80];
    uint8_t key[32];
    struct stat info;
    store_file *f;

    (void)snprintf(path, sizeof path, "%s/%s", x->folder, name);
    if (is_leftover(name)) {
        if (unlink(path) != 0 && errno != ENOENT) return file_fail("cannot remove", path, errno);
        return CUZK_OK;
    }
    if (!hex_decode(key, 32, name, strlen(name)) || strncmp(name, x->name, 2) != 0) return CUZK_OK;
    if (stat(path, &info) != 0) return file_fail("cannot look at", path, errno);
    if (!S_ISREG(info.st_mode)) return CUZK_OK;
    store_lock(x->s);
    f = add_locked(x->s, key, &st);
    if (f != NULL) {
        f->size = (uint64_t)info.st_size;
        f->there = true;
        x->s->payload_bytes += f->size;
        x->s->stats.payloads++;
    }
    store_unlock(x->s);
    return st;
}

static cuzk_status scan_folder(void *ctx, const char *name)
{
    scan *x = ctx;
    uint8_t byte;
    struct stat info;

    if (!hex_decode(&byte, 1, name, strlen(name))) return CUZK_OK;
    (void)snprintf(x->name, sizeof x->name, "%s", name);
    if (snprintf(x->folder, sizeof x->folder, "%s/%s", x->s->folder, name) >= MAX_PATH)
        return FAIL(CUZK_EIO, "job store %s: its name is too long", x->s->path);
    if (stat(x->folder, &info) != 0 || !S_ISDIR(info.st_mode)) return CUZK_OK;
    return file_list(x->folder, scan_file, x);
}

cuzk_status store_files_scan(store *s)
{
    scan x = {.s = s};

    TRY(file_make_dir(s->folder));
    /* witnesses are secret; a file system that knows no modes has none to change */
    if (chmod(s->folder, 0700) != 0 && errno != EPERM && errno != ENOTSUP)
        return file_fail("cannot close to others", s->folder, errno);
    return file_list(s->folder, scan_folder, &x);
}

void store_files_clear(store *s)
{
    for (unsigned i = 0; i < STORE_BUCKET_COUNT; i++)
        while (s->files[i] != NULL) {
            store_file *f = s->files[i];
            s->files[i] = f->next;
            mem_free(s->m, f);
        }
}

/* ---- writing ---- */

static bool same_bytes(const char *path, const cuzk_bytes *pieces, size_t n, uint64_t size)
{
    file_map f = {0};
    uint64_t at = 0;
    bool same;

    if (file_map_open(&f, path) != CUZK_OK) return false;
    same = f.size == size;
    for (size_t i = 0; same && i < n; i++) {
        same = pieces[i].size == 0 || memcmp(f.data + at, pieces[i].data, pieces[i].size) == 0;
        at += pieces[i].size;
    }
    file_map_close(&f);
    return same;
}

/** The folder XX of a path, made and safe in its own folder. */
static cuzk_status make_folder(const store *s, const char *path)
{
    char folder[MAX_PATH];

    (void)snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    if (mkdir(folder, 0777) != 0)
        return errno == EEXIST ? CUZK_OK : file_fail("cannot make folder", folder, errno);
    return store_sync_folder(s->folder);
}

static cuzk_status write_file(const store *s, const char *path, const cuzk_bytes *pieces, size_t n)
{
    file_out *f = NULL;
    cuzk_status st = CUZK_OK;

    TRY(make_folder(s, path));
    TRY(file_out_open(&f, path));
    for (size_t i = 0; i < n; i++) TRY_OUT(file_out_write(f, pieces[i].data, pieces[i].size));
    fault_stall("payload sync");
    st = file_out_commit(f);
    f = NULL;
out:
    file_out_abort(f);
    return st;
}

/** Takes the entry for writing: claimed, busy, its bytes accounted for. *old: its bytes before. */
static cuzk_status claim(store *s, const store_payload *p, bool *there, uint64_t *old)
{
    cuzk_status st = CUZK_OK;
    uint64_t bytes;
    store_file *f;

    *old = 0;
    store_lock(s);
    bytes = s->payload_bytes + s->db_bytes;
    f = find_free_locked(s, p->key);
    *there = f != NULL && f->there;
    if (*there) *old = f->size;
    if (s->stats.max_bytes != 0 && !*there && bytes + p->size > s->stats.max_bytes) {
        st = status_fail(__FILE__, __LINE__, CUZK_EBUDGET, CUZK_CLASS_LIMIT, "",
                         "job store is full: %llu bytes and %llu more, limit %llu",
                         (unsigned long long)bytes, (unsigned long long)p->size,
                         (unsigned long long)s->stats.max_bytes);
    } else if (f == NULL) {
        f = add_locked(s, p->key, &st);
    }
    if (f != NULL && st == CUZK_OK) {
        f->busy = true;
        f->claims++;
        f->claimed_ns = clock_ns();
        s->payload_bytes += p->size - *old;
        if (!*there) s->stats.payloads++;
        f->size = p->size;
    }
    store_unlock(s);
    return st;
}

/** Gives it back. Not written: what was there before stays. */
static void unclaim(store *s, const store_payload *p, bool there, uint64_t old, bool written)
{
    store_lock(s);
    store_file *f = find_locked(s, p->key);
    VERIFY(f != NULL && f->busy);
    f->busy = false;
    f->there = there || written;
    f->sound = f->sound || written;
    if (!written) {
        f->claims--;
        f->size = old;
        s->payload_bytes -= p->size - old;
        if (!there) {
            s->stats.payloads--;
            remove_locked(s, f);
        }
    }
    (void)pthread_cond_broadcast(&s->ended);
    store_unlock(s);
}

static cuzk_status write_payload(store *s, const cuzk_bytes *pieces, size_t n, store_payload *p)
{
    char path[MAX_PATH], folder[MAX_PATH];
    sha256_ctx h;
    bool there;
    uint64_t old;
    cuzk_status st;

    sha256_init(&h);
    for (size_t i = 0; i < n; i++) {
        if (pieces[i].size != 0) sha256_update(&h, pieces[i].data, pieces[i].size);
        p->size += pieces[i].size;
    }
    sha256_final(&h, p->key);
    if (p->size == 0) return CUZK_OK;
    TRY(path_of(s, path, p->key));
    TRY(store_check_space(s));
    TRY(claim(s, p, &there, &old));
    if (there && same_bytes(path, pieces, n, p->size)) {
        (void)snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
        st = store_sync_folder(folder); /* who made it may not have come to that yet */
    } else {
        st = write_file(s, path, pieces, n);
    }
    unclaim(s, p, there, old, st == CUZK_OK);
    return st;
}

cuzk_status store_payload_write(store *s, const cuzk_bytes *pieces, size_t n, store_payload *out)
{
    span sp = span_open(SPAN_PAYLOAD);
    store_payload p = {.size = 0};
    cuzk_status st = store_note(s, write_payload(s, pieces, n, &p));

    span_close(&sp);
    if (st == CUZK_OK) *out = p;
    return st;
}

/* ---- reading ---- */

/** Whether the bytes were compared before; that they were now. */
static bool sound(store *s, const uint8_t key[32], bool now)
{
    store_lock(s);
    store_file *f = find_locked(s, key);
    bool was = f != NULL && f->sound;
    if (f != NULL && now) f->sound = true;
    store_unlock(s);
    return was;
}

cuzk_status store_payload_map(store *s, const store_payload *p, file_map *out)
{
    char path[MAX_PATH];
    uint8_t key[32];
    file_map f = {0};
    cuzk_status st = CUZK_OK;

    if (p->size == 0) return FAIL(CUZK_EINVAL, "the job has no payload");
    TRY(path_of(s, path, p->key));
    TRY(file_map_open(&f, path));
    if (f.size != p->size) {
        st = FAIL(CUZK_EIO, "payload %s: %zu bytes, %llu were written", path, f.size,
                  (unsigned long long)p->size);
    } else if (!sound(s, p->key, false)) {
        sha256(key, f.data, f.size);
        if (memcmp(key, p->key, 32) != 0)
            st = FAIL(CUZK_EIO, "payload %s: its bytes are not those that were written", path);
        else
            (void)sound(s, p->key, true);
    }
    if (st == CUZK_OK)
        *out = f;
    else
        file_map_close(&f);
    return st;
}

/* ---- what jobs name ---- */

cuzk_status store_files_check(store *s, const store_payload *p)
{
    bool there;

    if (p->size == 0) return CUZK_OK;
    store_lock(s);
    store_file *f = find_locked(s, p->key);
    /* busy: being written again, over a file that is there (only this thread removes) */
    there = f != NULL && f->there && f->size == p->size;
    store_unlock(s);
    return there ? CUZK_OK : FAIL(CUZK_EINVAL, "the job's payload is not in the store");
}

void store_files_named(store *s, const store_payload *p)
{
    if (p->size == 0) return;
    store_lock(s);
    store_file *f = find_locked(s, p->key);
    if (f != NULL) {
        f->named = true;
        if (f->claims > 0) f->claims--;
    }
    store_unlock(s);
}

static bool may_go_locked(store_file *f, bool at_start)
{
    if (f->busy || !f->there) return false;
    if (f->claims > 0 && !at_start && clock_ns() - f->claimed_ns < CLAIM_NS) return false;
    return true;
}

/** Removes the file of an entry that no job names, unless somebody is at it. */
static cuzk_status remove_file(store *s, const uint8_t key[32], bool at_start)
{
    char path[MAX_PATH];
    cuzk_status st = CUZK_OK;
    store_file *f;
    bool go;

    TRY(path_of(s, path, key));
    store_lock(s);
    f = find_locked(s, key);
    go = f != NULL && may_go_locked(f, at_start);
    if (f != NULL) f->named = false;
    if (go) f->busy = true;
    store_unlock(s);
    if (!go) return CUZK_OK;
    if (unlink(path) != 0 && errno != ENOENT) st = file_fail("cannot remove", path, errno);
    store_lock(s);
    f->busy = false;
    if (st == CUZK_OK) {
        s->payload_bytes -= f->size;
        s->stats.payloads--;
        remove_locked(s, f);
    }
    (void)pthread_cond_broadcast(&s->ended);
    store_unlock(s);
    return st;
}

static cuzk_status let_go(store *s, const uint8_t key[32], bool at_start)
{
    bool named;

    TRY(store_db_named(&s->db, key, &named));
    if (!named) return remove_file(s, key, at_start);
    store_lock(s);
    store_file *f = find_locked(s, key);
    if (f != NULL) f->named = true;
    store_unlock(s);
    return CUZK_OK;
}

void store_files_let_go(store *s, const store_payload *p)
{
    if (p->size == 0) return;
    if (store_note(s, let_go(s, p->key, false)) != CUZK_OK)
        store_log(s, CUZK_LOG_WARN, "store_failed", "what", "remove a payload", true);
}

/** The first entry of bucket i, from the k-th on, that no job seems to name. */
static bool next_unnamed(store *s, unsigned i, unsigned *k, uint8_t key[32], bool at_start)
{
    bool found = false;
    unsigned at = 0;

    store_lock(s);
    for (store_file *f = s->files[i]; f != NULL && !found; f = f->next, at++) {
        if (at < *k || f->named || !may_go_locked(f, at_start)) continue;
        memcpy(key, f->key, 32);
        *k = at;
        found = true;
    }
    store_unlock(s);
    return found;
}

cuzk_status store_files_sweep(store *s, bool at_start)
{
    uint8_t key[32];

    for (unsigned i = 0; i < STORE_BUCKET_COUNT; i++) {
        unsigned k = 0;
        /* an entry that goes makes room at k; one that stays named is not found again */
        while (next_unnamed(s, i, &k, key, at_start)) TRY(let_go(s, key, at_start));
    }
    return CUZK_OK;
}
