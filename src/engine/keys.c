/*
 * engine/keys.c - entries, their loads and uses
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/keys_int.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/json.h"

#define WITNESS_SLACK \
    ((uint64_t)4 << 20) /* small blocks beside the assignment, and what a native check takes */

static _Thread_local key_entry *loading; /* by this thread */
static _Thread_local keys *loading_of;

const char *key_state_name(key_state k)
{
    static const char *const names[] = {"absent", "loading", "loaded", "failed"};
    return names[k];
}

static void changed(keys *s, const key_entry *k, key_state state, double progress)
{
    if (s->c.changed != NULL) s->c.changed(s->c.ctx, k, key_state_name(state), progress);
}

static bool is_pinned(const key_entry *k)
{
    return k->filecoin && k->kind == FIL_WINNING;
}

/* ---- what is foreseen ---- */

static uint64_t with_margin(uint64_t measured)
{
    return measured + measured / 32 + ((uint64_t)1 << 20);
}

static uint64_t witness_need(const key_entry *k)
{
    return k->witness_measured != 0 ? with_margin(k->witness_measured)
                                    : k->witness_bytes + WITNESS_SLACK;
}

static uint64_t proving_need(const key_entry *k)
{
    return k->prove_measured != 0 ? with_margin(k->prove_measured) : k->prove_bytes;
}

/* For the ledger. A .zkey's points are used where they lie; the rest of it takes about an eighth of the file. */
static void foresee_locked(key_entry *k)
{
    uint64_t load = k->heap_seen, need = k->heap_seen == 0 ? 0 : witness_need(k) + proving_need(k);

    if (k->state == KEY_LOADING) return; /* its numbers are being written */

    if (load == 0 && !k->filecoin) load = k->file_bytes / 8;
    if (k->state == KEY_LOADED) load = 0;
    atomic_store_explicit(&k->outlook.load, load, memory_order_relaxed);
    atomic_store_explicit(&k->outlook.need, need, memory_order_relaxed);
}

/* ---- loading ---- */

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

static void forget_on_devices(const keys *s, const groth16_pk *pk)
{
    uint64_t ids[GROTH16_PK_LISTS];

    groth16_pk_ids(pk, ids);
    for (unsigned i = 0; i < s->c.e->n_devices; i++)
        for (unsigned k = 0; k < GROTH16_PK_LISTS; k++)
            dev_points_forget(s->c.e->devices[i], ids[k]);
}

static void unload(keys *s, key_entry *k)
{
    if (k->pk != NULL) forget_on_devices(s, k->pk);
    groth16_pk_free(k->pk);
    r1cs_free(k->sys);
    mem_close(k->m);
    k->pk = NULL;
    k->sys = NULL;
    k->m = NULL;
}

uint64_t key_first_estimate(const keys *s, const groth16_pk *pk, const r1cs_system *sys)
{
    size_t size = s->c.on_host ? groth16_prove_size(pk, sys) : groth16_prove_host_size(pk, sys);

    return size + size / 4 + ((uint64_t)32 << 20);
}

static cuzk_status load(keys *s, key_entry *k)
{
    cuzk_status st = mem_open(&k->m, k->name, 0, s->c.e->m);

    if (st != CUZK_OK) return st;
    st = k->filecoin ? key_load_filecoin(s, k) : key_load_circom(s, k);
    if (st != CUZK_OK) {
        cuzk_error why = *cuzk_last_error();

        unload(s, k);
        return status_adopt(&why);
    }
    return CUZK_OK;
}

/* ---- uses ---- */

static void wait_locked(key_entry *k, key_use *u)
{
    u->waits = true;
    u->prev = NULL;
    u->next = k->waiting;
    if (u->next != NULL) u->next->prev = u;
    k->waiting = u;
}

static void unwait_locked(key_entry *k, key_use *u)
{
    if (u->next != NULL) u->next->prev = u->prev;
    *(u->prev == NULL ? &k->waiting : &u->prev->next) = u->next;
    u->waits = false;
}

static key_use *first_waiting_locked(key_entry *k, bool hold)
{
    key_use *u = k->waiting;

    if (u == NULL) return NULL;
    unwait_locked(k, u);
    u->held = hold;
    if (hold) k->refs++;
    return u;
}

/* Tells everybody who waits. The failure, if any, is put before each on this thread. */
static void tell(keys *s, key_entry *k, cuzk_status st, const cuzk_error *why)
{
    for (;;) {
        key_use *u;

        (void)pthread_mutex_lock(&s->mu);
        u = first_waiting_locked(k, st == CUZK_OK);
        (void)pthread_mutex_unlock(&s->mu);
        if (u == NULL) return;
        if (st != CUZK_OK) (void)status_adopt(why); /* recorded, not returned */
        u->ready(u, st);
    }
}

static void run_load(void *ctx, stage_item *it)
{
    keys *s = ctx;
    key_entry *k = (key_entry *)((char *)it - offsetof(key_entry, item));
    uint64_t from = clock_ns();
    cuzk_error why = {0};
    file_id id = {0}; /* as it is before: a change while it is read is seen later */
    bool has_id = !k->filecoin && file_id_of(&id, k->zkey) == CUZK_OK;
    cuzk_status st;

    changed(s, k, KEY_LOADING, 0);
    loading = k;
    loading_of = s;
    st = load(s, k);
    loading = NULL;
    if (st != CUZK_OK) why = *cuzk_last_error();
    if (st == CUZK_OK) ledger_charge(s->c.l, LEDGER_KEYS, (int64_t)mem_used(k->m));
    (void)pthread_mutex_lock(&s->mu);
    k->state = st == CUZK_OK ? KEY_LOADED : KEY_GONE_BAD;
    k->error = why;
    k->load_ns = clock_ns() - from;
    k->last_used = clock_ns();
    if (st == CUZK_OK) {
        k->heap_bytes = k->heap_seen = mem_used(k->m);
        k->file_bytes = k->pk->file.size;
        k->has_id = has_id;
        k->id = id;
        foresee_locked(k);
    }
    (void)pthread_mutex_unlock(&s->mu);
    changed(s, k, k->state, 1);
    tell(s, k, st, &why);
}

bool key_acquire(keys *s, key_use *u, key_entry *k)
{
    bool held, begin = false;
    cuzk_status st = CUZK_OK;

    (void)pthread_mutex_lock(&s->mu);
    u->k = k;
    held = k->state == KEY_LOADED;
    u->held = held;
    if (held) {
        k->refs++;
        k->last_used = clock_ns();
    } else {
        wait_locked(k, u);
        begin = k->state != KEY_LOADING && !s->stopping;
        if (begin) {
            k->state = KEY_LOADING;
            k->done = k->total = 0;
            stage_order(&k->item, u->level, u->age, 0, 0);
        }
        if (s->stopping) st = FAIL(CUZK_ECANCELLED, "the service is closing");
    }
    (void)pthread_mutex_unlock(&s->mu);
    if (begin) {
        st = stage_push(s->loads, &k->item);
    } else if (!held && st == CUZK_OK) {
        stage_raise(s->loads, &k->item, u->level);
    }
    if (st != CUZK_OK) {
        cuzk_error why = *cuzk_last_error();

        (void)pthread_mutex_lock(&s->mu);
        if (begin) k->state = KEY_ABSENT;
        (void)pthread_mutex_unlock(&s->mu);
        tell(s, k, st, &why);
    }
    return held;
}

void keys_measured(keys *s, key_entry *k, uint64_t witness, uint64_t proving)
{
    (void)pthread_mutex_lock(&s->mu);
    if (witness > k->witness_measured) k->witness_measured = witness;
    if (proving > k->prove_measured) k->prove_measured = proving;
    foresee_locked(k);
    (void)pthread_mutex_unlock(&s->mu);
}

void keys_needs(keys *s, const key_entry *k, uint64_t *witness, uint64_t *proving)
{
    (void)pthread_mutex_lock(&s->mu);
    *witness = witness_need(k);
    *proving = proving_need(k);
    (void)pthread_mutex_unlock(&s->mu);
}

void keys_preload(keys *s, key_entry *k)
{
    bool begin;

    (void)pthread_mutex_lock(&s->mu);
    begin = (k->state == KEY_ABSENT || k->state == KEY_GONE_BAD) && !s->stopping;
    if (begin) {
        k->state = KEY_LOADING;
        stage_order(&k->item, 0, 0, 0, 0);
    }
    (void)pthread_mutex_unlock(&s->mu);
    if (!begin || stage_push(s->loads, &k->item) == CUZK_OK) return;
    (void)pthread_mutex_lock(&s->mu);
    k->state = KEY_ABSENT;
    (void)pthread_mutex_unlock(&s->mu);
}

bool key_abandon(keys *s, key_use *u)
{
    bool waited;

    (void)pthread_mutex_lock(&s->mu);
    waited = u->waits;
    if (waited) unwait_locked(u->k, u);
    (void)pthread_mutex_unlock(&s->mu);
    return waited;
}

void key_raise(keys *s, key_use *u, unsigned level)
{
    key_entry *k = NULL;

    (void)pthread_mutex_lock(&s->mu);
    if (u->waits) k = u->k;
    (void)pthread_mutex_unlock(&s->mu);
    if (k != NULL) stage_raise(s->loads, &k->item, level);
}

/* ---- giving up ---- */

static void free_entry(keys *s, key_entry *k)
{
    if (k == NULL) return;
    unload(s, k);
    free(k->zkey);
    free(k->r1cs);
    if (k->witness_command != NULL)
        for (char **a = k->witness_command; *a != NULL; a++) free(*a);
    free(k->witness_command);
    free(k);
}

/* What is loaded goes: taken under the lock, freed outside it. */
static key_entry take_loaded_locked(key_entry *k)
{
    key_entry gone = {.pk = k->pk, .sys = k->sys, .m = k->m, .heap_bytes = k->heap_bytes};

    k->pk = NULL;
    k->sys = NULL;
    k->m = NULL;
    k->heap_bytes = 0;
    k->state = KEY_ABSENT;
    k->has_id = false;
    foresee_locked(k);
    return gone;
}

static uint64_t free_loaded(keys *s, key_entry *gone)
{
    uint64_t bytes = gone->heap_bytes;
    span sp = span_open(SPAN_FREE);

    unload(s, gone);
    span_close(&sp);
    ledger_charge(s->c.l, LEDGER_KEYS, -(int64_t)bytes);
    return bytes;
}

void key_release(keys *s, key_use *u)
{
    key_entry *k = u->k, gone;
    bool unused;

    (void)pthread_mutex_lock(&s->mu);
    VERIFY(u->held && k->refs > 0);
    u->held = false;
    k->last_used = clock_ns();
    unused = --k->refs == 0 && k->stale && k->waiting == NULL;
    if (unused) gone = take_loaded_locked(k);
    (void)pthread_mutex_unlock(&s->mu);
    if (unused)
        (void)free_loaded(s, &gone);
    else
        ledger_poke(s->c.l); /* whoever waits for memory may want this key's */
}

/* The longest unused entry that may go. */
static key_entry *idlest_locked(const keys *s, uint64_t min_idle_ns)
{
    key_entry *best = NULL;
    uint64_t now = clock_ns();

    for (key_entry *k = s->first; k != NULL; k = k->next) {
        if (k->state != KEY_LOADED || k->refs != 0 || is_pinned(k)) continue;
        if (now - k->last_used < min_idle_ns) continue;
        if (best == NULL || k->last_used < best->last_used) best = k;
    }
    return best;
}

uint64_t keys_reclaim(keys *s, uint64_t bytes, bool pressing)
{
    uint64_t freed = 0;

    while (freed < bytes) {
        key_entry gone, *k;

        (void)pthread_mutex_lock(&s->mu);
        k = idlest_locked(s, pressing ? 0 : s->min_idle_ns);
        if (k != NULL) gone = take_loaded_locked(k);
        (void)pthread_mutex_unlock(&s->mu);
        if (k == NULL) return freed;
        changed(s, k, KEY_ABSENT, 0);
        freed += free_loaded(s, &gone);
    }
    return freed;
}

uint64_t keys_lasting(keys *s, const key_entry *k)
{
    uint64_t bytes = 0;

    (void)pthread_mutex_lock(&s->mu);
    for (const key_entry *o = s->first; o != NULL; o = o->next)
        if (o->state == KEY_LOADED && (o == k || is_pinned(o))) bytes += o->heap_bytes;
    (void)pthread_mutex_unlock(&s->mu);
    return bytes;
}

cuzk_status keys_evict(keys *s, key_entry *k, bool *was_loaded, uint64_t *freed)
{
    key_entry gone = {0};
    unsigned refs;
    bool loaded;

    (void)pthread_mutex_lock(&s->mu);
    refs = k->refs + (k->state == KEY_LOADING);
    loaded = k->state == KEY_LOADED && refs == 0;
    if (loaded) gone = take_loaded_locked(k);
    (void)pthread_mutex_unlock(&s->mu);
    if (refs != 0)
        return status_fail(__FILE__, __LINE__, CUZK_EBUDGET, CUZK_CLASS_INCONSISTENT, "circuit",
                           "key of %s is in use by %u", k->name, refs),
               CUZK_EBUDGET;
    *was_loaded = loaded;
    *freed = loaded ? gone.pk->file.size : 0;
    if (loaded) {
        *freed += free_loaded(s, &gone);
        changed(s, k, KEY_ABSENT, 0);
    }
    return CUZK_OK;
}

void keys_set_min_idle(keys *s, uint64_t ns)
{
    (void)pthread_mutex_lock(&s->mu);
    s->min_idle_ns = ns;
    (void)pthread_mutex_unlock(&s->mu);
}

/* ---- entries ---- */

static key_entry *new_entry_locked(keys *s, const char *name)
{
    key_entry *k = calloc(1, sizeof *k);

    if (k == NULL) return NULL;
    (void)snprintf(k->name, sizeof k->name, "%s", name);
    k->next = s->first;
    s->first = k;
    return k;
}

/* gRPC and /status say wpost and snap. */
static const char *public_kind(fil_kind kind)
{
    switch (kind) {
    case FIL_WINDOW: return "wpost";
    case FIL_UPDATE: return "snap";
    case FIL_POREP:
    case FIL_WINNING:
    case FIL_UPDATE_POSEIDON:
    case FIL_KINDS: break;
    }
    return fil_kind_name(kind);
}

key_entry *keys_filecoin(keys *s, fil_kind kind, const fil_size *size)
{
    key_entry *k;
    char name[64];

    (void)pthread_mutex_lock(&s->mu);
    for (k = s->first; k != NULL; k = k->next)
        if (k->filecoin && k->kind == kind && k->size == size) break;
    if (k == NULL) {
        (void)snprintf(name, sizeof name, "%s-%s", public_kind(kind), size->name);
        k = new_entry_locked(s, name);
        if (k != NULL) {
            k->filecoin = true;
            k->kind = kind;
            k->size = size;
        }
    }
    (void)pthread_mutex_unlock(&s->mu);
    if (k == NULL) (void)FAIL(CUZK_ENOMEM, "key of %s: out of memory", size->name); /* recorded */
    return k;
}

static key_entry *circom_locked(const keys *s, const char *name)
{
    for (key_entry *k = s->first; k != NULL; k = k->next)
        if (!k->filecoin && !k->stale && strcmp(k->name, name) == 0) return k;
    return NULL;
}

static bool fill_circuit(key_entry *k, const cuzk_circuit *c)
{
    k->max_witness = c->max_witness;
    k->zkey = strdup(c->zkey);
    if (k->zkey == NULL) return false;
    if (c->r1cs != NULL && (k->r1cs = strdup(c->r1cs)) == NULL) return false;
    if (c->n_witness_command == 0) return true;
    k->witness_command = calloc(c->n_witness_command + 1, sizeof *k->witness_command);
    if (k->witness_command == NULL) return false;
    for (size_t i = 0; i < c->n_witness_command; i++) {
        k->witness_command[i] = strdup(c->witness_command[i]);
        if (k->witness_command[i] == NULL) return false;
    }
    return true;
}

/* The same circuit, its file to be loaded anew; what was loaded goes, now or with its last use. NULL: out of memory. */
static key_entry *replace_locked(keys *s, key_entry *old, key_entry *gone, bool *unused)
{
    cuzk_circuit c = {.name = old->name,
                      .zkey = old->zkey,
                      .r1cs = old->r1cs,
                      .witness_command = (const char *const *)old->witness_command,
                      .max_witness = old->max_witness};
    key_entry *k = new_entry_locked(s, old->name);

    while (c.witness_command != NULL && c.witness_command[c.n_witness_command] != NULL)
        c.n_witness_command++;
    if (k == NULL || !fill_circuit(k, &c)) {
        if (k != NULL) k->stale = true;
        return NULL;
    }
    old->stale = true;
    *unused = old->refs == 0 && old->waiting == NULL;
    if (*unused) *gone = take_loaded_locked(old);
    return k;
}

/* The entry of this name, of the file that is there now: another one under its name is not proved with what is mapped. */
static key_entry *current_circuit(keys *s, const char *name)
{
    file_id loaded, now;
    key_entry *k, *fresh, gone;
    bool check, unused = false;

    (void)pthread_mutex_lock(&s->mu);
    k = circom_locked(s, name);
    check = k != NULL && k->state == KEY_LOADED && k->has_id;
    if (check) loaded = k->id;
    (void)pthread_mutex_unlock(&s->mu);
    if (!check || file_id_of(&now, k->zkey) != CUZK_OK || file_id_equal(&loaded, &now)) return k;
    (void)pthread_mutex_lock(&s->mu);
    fresh = circom_locked(s, name);
    if (fresh == k && k->state == KEY_LOADED) {
        fresh = replace_locked(s, k, &gone, &unused);
        if (fresh == NULL) fresh = k; /* out of memory: as it was */
    }
    (void)pthread_mutex_unlock(&s->mu);
    if (unused) (void)free_loaded(s, &gone);
    return fresh;
}

key_entry *keys_circom(keys *s, const char *name)
{
    key_entry *k = current_circuit(s, name);

    if (k == NULL)
        (void)status_fail(
            __FILE__, __LINE__, CUZK_EINVAL, CUZK_CLASS_NONE, "circuit",
            "unknown circuit %.60s: circuits.NAME of the configuration names those there are",
            name);
    return k;
}

key_entry *keys_named(keys *s, const char *name)
{
    fil_kind kind;
    const fil_size *size;
    key_entry *k;

    k = current_circuit(s, name);
    if (k != NULL) return k;
    if (fil_circuit_parse(&kind, &size, name) != CUZK_OK) return NULL;
    return keys_filecoin(s, kind, size);
}

static bool same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool same_circuit(const key_entry *k, const cuzk_circuit *c)
{
    size_t n = 0;

    if (!same_text(k->zkey, c->zkey) || !same_text(k->r1cs, c->r1cs)) return false;
    if (k->max_witness != c->max_witness) return false;
    for (; k->witness_command != NULL && k->witness_command[n] != NULL; n++)
        if (n >= c->n_witness_command || strcmp(k->witness_command[n], c->witness_command[n]) != 0)
            return false;
    return n == c->n_witness_command;
}

static bool is_listed(const key_entry *k, const cuzk_circuit *c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(k->name, c[i].name) == 0 && same_circuit(k, &c[i])) return true;
    return false;
}

/* Those that are no longer configured so. An entry stays as a husk: who looked it up before may still ask for it. */
static key_entry *retire_locked(keys *s, const cuzk_circuit *c, size_t n, key_entry *gone)
{
    for (key_entry *k = s->first; k != NULL; k = k->next) {
        if (k->filecoin || k->stale || is_listed(k, c, n)) continue;
        k->stale = true;
        if (k->state != KEY_LOADED || k->refs != 0 || k->waiting != NULL) continue;
        *gone = take_loaded_locked(k);
        return k;
    }
    return NULL;
}

/* Sizes of files that were not loaded yet, for what the ledger foresees. */
static void look_at_files(keys *s)
{
    key_entry *k;

    (void)pthread_mutex_lock(&s->mu);
    k = s->first;
    (void)pthread_mutex_unlock(&s->mu);
    for (; k != NULL; k = k->next) { /* what was in the list stays there */
        file_id id;

        if (k->filecoin || k->zkey == NULL || k->stale || file_id_of(&id, k->zkey) != CUZK_OK)
            continue;
        (void)pthread_mutex_lock(&s->mu);
        if (k->file_bytes == 0) k->file_bytes = id.size;
        foresee_locked(k);
        (void)pthread_mutex_unlock(&s->mu);
    }
}

cuzk_status keys_set_circuits(keys *s, const cuzk_circuit *c, size_t n)
{
    cuzk_status st = CUZK_OK;
    key_entry gone;
    bool more = true;

    while (more) {
        (void)pthread_mutex_lock(&s->mu);
        more = retire_locked(s, c, n, &gone) != NULL;
        (void)pthread_mutex_unlock(&s->mu);
        if (more) (void)free_loaded(s, &gone);
    }
    (void)pthread_mutex_lock(&s->mu);
    for (size_t i = 0; i < n && st == CUZK_OK; i++) {
        key_entry *k;

        if (circom_locked(s, c[i].name) != NULL) continue;
        k = new_entry_locked(s, c[i].name);
        if (k == NULL || !fill_circuit(k, &c[i])) {
            if (k != NULL) k->stale = true;
            st = FAIL(CUZK_ENOMEM, "circuit %.60s: out of memory", c[i].name);
        }
    }
    (void)pthread_mutex_unlock(&s->mu);
    if (st == CUZK_OK) look_at_files(s);
    for (size_t i = 0; i < n && st == CUZK_OK; i++) (void)current_circuit(s, c[i].name);
    return st;
}

/* ---- telling ---- */

void keys_progress(const char *step, uint64_t done, uint64_t total)
{
    key_entry *k = loading;

    (void)step;
    if (k == NULL) return;
    (void)pthread_mutex_lock(&loading_of->mu);
    k->done = done;
    k->total = total;
    (void)pthread_mutex_unlock(&loading_of->mu);
    changed(loading_of, k, KEY_LOADING, total == 0 ? 0 : (double)done / (double)total);
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
                        .pinned = is_pinned(k),
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

static void scan_now(keys *s)
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

/* ---- opening ---- */

static void run(void *ctx, stage_item *it)
{
    keys *s = ctx;

    if (it == &s->scan)
        scan_now(s);
    else
        run_load(s, it);
}

cuzk_status keys_open(keys **out, const keys_config *c)
{
    keys *s = calloc(1, sizeof *s);
    cuzk_status st = CUZK_OK;

    if (s == NULL) return FAIL(CUZK_ENOMEM, "keys: out of memory");
    s->c = *c;
    if (pthread_mutex_init(&s->mu, NULL) != 0) {
        free(s);
        return FAIL(CUZK_ENOMEM, "keys: no mutex");
    }
    if (c->params_dir != NULL && (s->params_dir = strdup(c->params_dir)) == NULL)
        st = FAIL(CUZK_ENOMEM, "keys: out of memory");
    if (st == CUZK_OK) {
        stage_config sc = {.name = "key", .width = 1, .rec = c->e->rec, .fn = run, .ctx = s};
        st = stage_open(&s->loads, &sc);
    }
    if (st != CUZK_OK) {
        keys_close(s);
        return st;
    }
    *out = s;
    return CUZK_OK;
}

void keys_stop(keys *s)
{
    cuzk_error why;

    if (s == NULL) return;
    (void)pthread_mutex_lock(&s->mu);
    s->stopping = true;
    (void)pthread_mutex_unlock(&s->mu);
    cancel_request(s->c.e->cancel); /* a digest takes minutes */
    stage_stop(s->loads);
    (void)FAIL(CUZK_ECANCELLED, "the service is closing"); /* for tell */
    why = *cuzk_last_error();
    for (key_entry *k = s->first; k != NULL; k = k->next) tell(s, k, CUZK_ECANCELLED, &why);
}

void keys_close(keys *s)
{
    if (s == NULL) return;
    stage_stop(s->loads);
    stage_free(s->loads);
    while (s->first != NULL) {
        key_entry *k = s->first;

        VERIFY(k->refs == 0 && k->waiting == NULL);
        s->first = k->next;
        if (k->heap_bytes != 0) ledger_charge(s->c.l, LEDGER_KEYS, -(int64_t)k->heap_bytes);
        free_entry(s, k);
    }
    (void)pthread_mutex_destroy(&s->mu);
    free(s->params_dir);
    free(s);
}
