/*
 * engine/keys.c - loads and uses of keys, and how they are given up
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/keys_int.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"

#define WITNESS_SLACK \
    ((uint64_t)4 << 20) /* small blocks beside the assignment, and what a native check takes */

static _Thread_local key_entry *loading; /* by this thread */
static _Thread_local keys *loading_of;

static void changed(keys *s, const key_entry *k, key_state state, double progress)
{
    if (s->c.changed != NULL) s->c.changed(s->c.ctx, k, key_state_name(state), progress);
}

bool key_is_pinned(const key_entry *k)
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
void key_foresee_locked(key_entry *k)
{
    uint64_t load = k->heap_seen, need = k->heap_seen == 0 ? 0 : witness_need(k) + proving_need(k);

    if (k->state == KEY_LOADING) return; /* its numbers are being written */

    if (load == 0 && !k->filecoin) load = k->file_bytes / 8;
    if (k->state == KEY_LOADED) load = 0;
    atomic_store_explicit(&k->outlook.load, load, memory_order_relaxed);
    atomic_store_explicit(&k->outlook.need, need, memory_order_relaxed);
}

/* ---- loading ---- */

void key_unload(keys *s, key_entry *k)
{
    engine_forget_key(s->c.e, k->pk, k->sys);
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

        key_unload(s, k);
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
        if (st == CUZK_OK) key_want(s, k, true);
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
    unsigned level;
    uint64_t age;
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
        key_foresee_locked(k);
    }
    level = it->level; /* from here on it may be queued again */
    age = it->age;
    (void)pthread_mutex_unlock(&s->mu);
    changed(s, k, st == CUZK_OK ? KEY_LOADED : KEY_GONE_BAD, 1);
    fault_stall("key loaded");
    if (st == CUZK_OK) key_warm(s, k, level, age);
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
    if (held) {
        key_want(s, k, true);
        key_warm(s, k, u->level, u->age);
    }
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
    key_foresee_locked(k);
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

/* What is loaded goes: taken under the lock, freed outside it. */
key_entry key_take_loaded_locked(key_entry *k)
{
    key_entry gone = {.pk = k->pk, .sys = k->sys, .m = k->m, .heap_bytes = k->heap_bytes};

    k->pk = NULL;
    k->sys = NULL;
    k->m = NULL;
    k->heap_bytes = 0;
    k->state = KEY_ABSENT;
    k->has_id = false;
    key_foresee_locked(k);
    return gone;
}

uint64_t key_free_loaded(keys *s, key_entry *gone)
{
    uint64_t bytes = gone->heap_bytes;
    span sp = span_open(SPAN_FREE);

    key_unload(s, gone);
    span_close(&sp);
    ledger_charge(s->c.l, LEDGER_KEYS, -(int64_t)bytes);
    return bytes;
}

void key_release(keys *s, key_use *u)
{
    key_entry *k = u->k, gone;
    bool unused;

    key_want(s, k, false);
    (void)pthread_mutex_lock(&s->mu);
    VERIFY(u->held && k->refs > 0);
    u->held = false;
    k->last_used = clock_ns();
    unused = --k->refs == 0 && k->stale && k->waiting == NULL;
    if (unused) gone = key_take_loaded_locked(k);
    (void)pthread_mutex_unlock(&s->mu);
    if (unused)
        (void)key_free_loaded(s, &gone);
    else
        ledger_poke(s->c.l); /* whoever waits for memory may want this key's */
}

/* The longest unused entry that may go. */
static key_entry *idlest_locked(const keys *s, uint64_t min_idle_ns)
{
    key_entry *best = NULL;
    uint64_t now = clock_ns();

    for (key_entry *k = s->first; k != NULL; k = k->next) {
        if (k->state != KEY_LOADED || k->refs != 0 || k->waiting != NULL || key_is_pinned(k))
            continue;
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
        if (k != NULL) gone = key_take_loaded_locked(k);
        (void)pthread_mutex_unlock(&s->mu);
        if (k == NULL) return freed;
        changed(s, k, KEY_ABSENT, 0);
        freed += key_free_loaded(s, &gone);
    }
    return freed;
}

uint64_t keys_lasting(keys *s, const key_entry *k)
{
    uint64_t bytes = 0;

    (void)pthread_mutex_lock(&s->mu);
    for (const key_entry *o = s->first; o != NULL; o = o->next)
        if (o->state == KEY_LOADED && (o == k || key_is_pinned(o))) bytes += o->heap_bytes;
    (void)pthread_mutex_unlock(&s->mu);
    return bytes;
}

cuzk_status keys_evict(keys *s, key_entry *k, bool *was_loaded, uint64_t *freed)
{
    key_entry gone = {0};
    unsigned refs;
    bool loaded;

    (void)pthread_mutex_lock(&s->mu);
    /* who waits is told soon, and uses it then */
    refs = k->refs + (k->state == KEY_LOADING || k->waiting != NULL);
    loaded = k->state == KEY_LOADED && refs == 0;
    if (loaded) gone = key_take_loaded_locked(k);
    (void)pthread_mutex_unlock(&s->mu);
    if (refs != 0)
        return status_fail(__FILE__, __LINE__, CUZK_EBUDGET, CUZK_CLASS_INCONSISTENT, "circuit",
                           "key of %s is in use by %u", k->name, refs),
               CUZK_EBUDGET;
    *was_loaded = loaded;
    *freed = loaded ? gone.pk->file.size : 0;
    if (loaded) {
        *freed += key_free_loaded(s, &gone);
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

/* ---- opening ---- */

static void run(void *ctx, stage_item *it)
{
    keys *s = ctx;

    if (it == &s->scan)
        key_scan_now(s);
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
    if (st == CUZK_OK) st = key_warm_open(s);
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
    if (s->warms != NULL) stage_stop(s->warms);
    (void)FAIL(CUZK_ECANCELLED, "the service is closing"); /* for tell */
    why = *cuzk_last_error();
    for (key_entry *k = s->first; k != NULL; k = k->next) tell(s, k, CUZK_ECANCELLED, &why);
}

void keys_close(keys *s)
{
    if (s == NULL) return;
    stage_stop(s->loads);
    if (s->warms != NULL) stage_stop(s->warms);
    stage_free(s->loads);
    stage_free(s->warms);
    while (s->first != NULL) {
        key_entry *k = s->first;

        if (k->warming) k->refs--; /* it still waited for its turn */
        VERIFY(k->refs == 0 && k->waiting == NULL);
        s->first = k->next;
        if (k->heap_bytes != 0) ledger_charge(s->c.l, LEDGER_KEYS, -(int64_t)k->heap_bytes);
        key_entry_free(s, k);
    }
    (void)pthread_mutex_destroy(&s->mu);
    free(s->params_dir);
    free(s);
}
