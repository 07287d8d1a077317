/*
 * engine/key_entries.c - which circuits there are: looked up, configured, replaced by another file of the same name
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/keys_int.h"

#include <stdio.h>
#include <string.h>

static key_entry *new_entry_locked(keys *s, const char *name)
{
    key_entry *k = calloc(1, sizeof *k);

    if (k == NULL) return NULL;
    (void)snprintf(k->name, sizeof k->name, "%s", name);
    k->next = s->first;
    s->first = k;
    return k;
}

void key_entry_free(keys *s, key_entry *k)
{
    if (k == NULL) return;
    key_unload(s, k);
    free(k->zkey);
    free(k->r1cs);
    if (k->witness_command != NULL)
        for (char **a = k->witness_command; *a != NULL; a++) free(*a);
    free(k->witness_command);
    free(k);
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
    if (*unused) *gone = key_take_loaded_locked(old);
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
    if (unused) (void)key_free_loaded(s, &gone);
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
        *gone = key_take_loaded_locked(k);
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
        key_foresee_locked(k);
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
        if (more) (void)key_free_loaded(s, &gone);
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
