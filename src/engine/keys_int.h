/*
 * engine/keys_int.h - what the files that load keys share
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ENGINE_KEYS_INT_H
#define ENGINE_KEYS_INT_H

#include <pthread.h>

#include "engine/keys.h"

struct keys {
    /* fixed after init */
    keys_config c;
    char *params_dir;
    stage *loads;
    stage *warms; /* NULL: no device has memory of its own */
    pthread_mutex_t mu;
    /* guarded by mu */
    key_entry *first;
    uint64_t min_idle_ns;
    bool stopping, scanning;
    stage_item scan; /* in `loads` */
};

/** Each loads shape and key into an entry whose memory is open, and says what a proof should take; what it leaves behind when it
   fails is unloaded by the caller. */
CUZK_STATUS key_load_filecoin(keys *s, key_entry *k);
CUZK_STATUS key_load_circom(keys *s, key_entry *k);
/** a, b and c, and what the sums and transforms take beside them, or what a GPU wants of the host: a guess, until a proof was
   measured. */
uint64_t key_first_estimate(const keys *s, const groth16_pk *pk, const r1cs_system *sys);

/* ---- between keys.c, key_entries.c, key_rows.c and key_warm.c ---- */

/** The stage of its thread, where there is a GPU. */
CUZK_STATUS key_warm_open(keys *s);
/** A loaded key's points to the GPUs, in the background; while they come the entry is in use. */
void key_warm(keys *s, key_entry *k, unsigned level, uint64_t age);
/** Proofs under a key that is loaded and held are coming, or no longer are. */
void key_want(const keys *s, const key_entry *k, bool begins);

bool key_is_pinned(const key_entry *k);
/** What the ledger foresees of it. Locked. */
void key_foresee_locked(key_entry *k);
/** What is loaded goes: taken under the lock, freed outside it. */
key_entry key_take_loaded_locked(key_entry *k);
/** Returns the bytes that it took. */
uint64_t key_free_loaded(keys *s, key_entry *gone);
void key_unload(keys *s, key_entry *k);
void key_entry_free(keys *s, key_entry *k); /* NULL is fine */
/** Looks for files; on the thread that loads. */
void key_scan_now(keys *s);

#endif
