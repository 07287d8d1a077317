/*
 * engine/ledger.h - one book of the host's memory: what may be used, who has it, who waits for it
 *
 * Claims are granted in order of (level, age): nobody overtakes a claim that waits, but CRITICAL ones, which may also use
 * the reserve that is kept for them. Charges are what is there anyhow (keys, request bodies): they count, and never wait.
 * Where a claim waits, the owner of idle keys is asked to give some back.
 *
 * Locks: one, a leaf. Callbacks are called without it.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ENGINE_LEDGER_H
#define ENGINE_LEDGER_H

#include "base/status.h"
#include "engine/stage.h"

#define LEDGER_OWNERS(X) \
    X(LEDGER_KEYS, "keys") \
    X(LEDGER_WITNESSES, "witnesses") \
    X(LEDGER_PROVING, "proving") \
    X(LEDGER_REQUESTS, "requests") \
    X(LEDGER_SPANS, "spans")
#define LEDGER_ENUM(id, name) id,
typedef enum ledger_owner { LEDGER_OWNERS(LEDGER_ENUM) LEDGER_N_OWNERS } ledger_owner;
#undef LEDGER_ENUM
const char *ledger_owner_name(ledger_owner o);

/** The memory of the machine: the tightest cgroup (v2) limit above this process, else MemTotal. */
CUZK_STATUS ledger_machine_bytes(uint64_t *out);

typedef struct ledger ledger;
/** Embedded in what claims; its bytes are of two owners. */
typedef struct ledger_claim {
    uint64_t bytes[LEDGER_N_OWNERS];
    unsigned level;
    uint64_t age;
    uint32_t index;
    void (*granted)(
        struct ledger_claim *c); /* from any thread that gives memory back; must not block */
    /* the ledger's */
    enum { LEDGER_OUT, LEDGER_WAITS, LEDGER_HELD } state;
    struct ledger_claim *prev, *next;
    uint64_t since;
} ledger_claim;

typedef struct ledger_config {
    uint64_t total, critical; /* bytes; critical of them are for CRITICAL claims */
    /** Asked to give back some `bytes` of idle keys, if it has any; returns what it gave. Called without the lock. */
    uint64_t (*reclaim)(void *ctx, uint64_t bytes);
    void *ctx;
    unsigned
        max_claims; /* below CRITICAL a claim waits while so many of its level and above are held; 0: no limit */
} ledger_config;

CUZK_STATUS ledger_open(ledger **out, const ledger_config *c);
/** Before anything is claimed. */
void ledger_set_reclaim(ledger *l, uint64_t (*reclaim)(void *ctx, uint64_t bytes), void *ctx);
void ledger_close(ledger *l); /* nothing is held or waits; NULL is fine */

/** CUZK_EBUDGET class resource, with the numbers, for a claim that can never be granted, whatever is given back. */
CUZK_STATUS ledger_can_ever(ledger *l, const ledger_claim *c);
/** True: it holds its bytes from now on. False: `granted` will be called. */
bool ledger_claim_now(ledger *l, ledger_claim *c);
/** True: it waited, and does no longer. */
bool ledger_withdraw(ledger *l, ledger_claim *c);
/** Gives a held claim's bytes back. */
void ledger_release(ledger *l, ledger_claim *c);
void ledger_charge(ledger *l, ledger_owner o, int64_t bytes);
/** A waiting claim moves up. */
void ledger_raise(ledger *l, ledger_claim *c, unsigned level);
/** Memory may have become free by other means (a key that is no longer used). */
void ledger_poke(ledger *l);

typedef struct ledger_state {
    uint64_t total, critical, used, owners[LEDGER_N_OWNERS];
    unsigned waiting, held;
    uint64_t oldest_wait_ns; /* how long the first has waited */
} ledger_state;
void ledger_get(ledger *l, ledger_state *out);

#endif
