/*
 * engine/keys.h - keys and shapes of circuits that are in use: loaded once, shared, given up when idle
 *
 * An entry is a circuit: its shape and its proving key, both or none. Who needs it holds a use; the first use loads it on a
 * thread of this module, further ones wait for the same load. What nobody uses stays until memory is wanted, the longest
 * unused first, and those of WinningPoSt always.
 *
 * Locks: one; below it the ledger's and the stage's. Callbacks are called without it.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ENGINE_KEYS_H
#define ENGINE_KEYS_H

#include "cuzk_service.h"

#include "base/file.h"
#include "engine/filecoin.h"
#include "engine/ledger.h"

typedef struct keys keys;

typedef enum key_state { KEY_ABSENT, KEY_LOADING, KEY_LOADED, KEY_GONE_BAD } key_state;

/** A circuit. What is loaded is to be read while a use is held. */
typedef struct key_entry {
    /* fixed after init */
    char name[64]; /* "porep-2k", or a circom circuit's */
    bool filecoin;
    fil_kind kind;
    const fil_size *size;
    char *zkey, *r1cs;      /* circom; r1cs may be NULL */
    char **witness_command; /* NULL-terminated; NULL: none */
    uint64_t max_witness;
    /* fixed while loaded */
    r1cs_system *sys; /* circom: from the r1cs, or NULL */
    groth16_pk *pk;
    mem *m;
    uint64_t witness_bytes, prove_bytes; /* what a proof should take */
    /* the module's, guarded by its lock */
    key_state state;
    stage_item item, warm; /* warm: its points to GPUs */
    bool warming;
    uint64_t witness_measured,
        prove_measured; /* most that a partition took; 0: none was proved yet */
    unsigned refs;
    bool stale; /* no longer configured: goes with its last use */
    uint64_t file_bytes, heap_bytes, last_used, load_ns, done, total;
    bool has_id;
    file_id id;         /* of the file that is loaded, a circom circuit's */
    uint64_t heap_seen; /* what it took when it was loaded last; 0: never */
    /* any thread */
    ledger_outlook outlook;
    cuzk_error error; /* of the last load; status CUZK_OK: none */
    struct key_use *waiting;
    struct key_entry *next;
} key_entry;

typedef struct key_use {
    key_entry *k;
    unsigned level;
    uint64_t age;
    /** Called once when key_acquire said false: CUZK_OK, or a failure recorded on the calling thread. Must not block. */
    void (*ready)(struct key_use *u, cuzk_status st);
    /* the module's */
    bool held, waits;
    struct key_use *prev, *next;
} key_use;

typedef struct keys_config {
    cuzk_engine *e;
    ledger *l;
    const poseidon_set *ps;
    const char *params_dir; /* may be NULL */
    bool ephemeral;         /* keys are made on the engine's device */
    bool on_host;           /* proofs are made in the host's memory */
    void (*changed)(void *ctx, const key_entry *k, const char *state, double progress);
    void *ctx;
} keys_config;

CUZK_STATUS keys_open(keys **out, const keys_config *c);
/** No load goes on when it returns; waiting uses are told CUZK_ECANCELLED. The engine's token stays asked to stop: digests that
 *  others make end by it too. */
void keys_stop(keys *s);
void keys_close(keys *s); /* nothing is used; NULL is fine */
/** Replaces the circom circuits. Those that changed or are gone end with their last use. */
CUZK_STATUS keys_set_circuits(keys *s, const cuzk_circuit *c, size_t n);

/** NULL: there is no such circuit (a failure is recorded). */
key_entry *keys_filecoin(keys *s, fil_kind kind, const fil_size *size);
/** Where its key file is not the one that was loaded, a new entry. */
key_entry *keys_circom(keys *s, const char *name);
/** Any of both, by name: "porep-32g", "wpost-32g", "mine". */
key_entry *keys_named(keys *s, const char *name);

/** True: it is loaded, and held. False: u->ready will tell. */
bool key_acquire(keys *s, key_use *u, key_entry *k);
/** True: it waited, and `ready` will not be called. */
bool key_abandon(keys *s, key_use *u);
void key_release(keys *s, key_use *u);
/** What a partition of this circuit took at most, and what the next one has to reserve. */
void keys_measured(keys *s, key_entry *k, uint64_t witness, uint64_t proving);
void keys_needs(keys *s, const key_entry *k, uint64_t *witness, uint64_t *proving);
/** Loads it in the background, for nobody yet; a failure is in keys_rows. */
void keys_preload(keys *s, key_entry *k);
/** Where it waits, the load becomes more urgent. */
void key_raise(keys *s, key_use *u, unsigned level);

/** Gives up to `bytes` of idle keys' memory back; returns how much. pressing: whatever min_idle says. */
uint64_t keys_reclaim(keys *s, uint64_t bytes, bool pressing);
/** Bytes that stay while a job of this circuit is the only one: its key, and those that are always kept. */
uint64_t keys_lasting(keys *s, const key_entry *k);
void keys_set_min_idle(keys *s, uint64_t ns);
CUZK_STATUS keys_evict(keys *s, key_entry *k, bool *was_loaded, uint64_t *freed);

/** Progress of the load that runs on the calling thread: engine.h's progress. */
void keys_progress(const char *step, uint64_t done, uint64_t total);
/** Looks which key files there are, for keys_rows. */
void keys_scan(keys *s);
/** The same on the thread that loads: a folder that does not answer holds up nobody else. */
void keys_scan_later(keys *s);

typedef struct keys_row {
    char name[64];
    cuzk_tier tier;
    key_state state;
    uint64_t bytes, heap_bytes, last_used; /* clock_ns; 0: never */
    uint64_t device_bytes;                 /* kept by the device that has most of it */
    uint64_t ids[GROTH16_PK_LISTS];        /* of its points, while it is loaded */
    unsigned refs;
    bool pinned;
    double progress; /* while it loads */
    char error[256];
} keys_row;
/** Fills at most cap rows; returns how many there are. */
size_t keys_rows(keys *s, keys_row *out, size_t cap);
const char *key_state_name(key_state k);
/** {"circuits":[{"name","loaded","input_json"}]}: the circom circuits. */
CUZK_STATUS keys_circuits_json(keys *s, bytes_out *o);

#endif
