/*
 * engine/ledger.h - one book of the host's memory: what may be used, who has it, who waits for it
 *
 * Claims are granted in order of (level, age): nobody overtakes one that waits for bytes, but CRITICAL ones, which may also use
 * the reserve that is kept for them. A job's entry is its way in: it holds what the job's request and key take from before they
 * are there until they are given back, so that only so many jobs hold memory while they wait for more. Charges are what is
 * there anyhow (keys, spans): they count, and never wait. Where a claim waits, the owner of idle keys is asked to give some back.
 *
 * It cannot come to a stop: a claim that is held is given back by work that waits for nothing here; a job that was let in and
 * has no claim waiting (it is decoded, its key is loaded, it ends) goes on by itself; and when neither is there the first that
 * waits is granted beyond the budget if it fits alone, else refused with the numbers.
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
/** What is foreseen of a job that is not let in yet. Any thread, relaxed: an estimate. */
typedef struct ledger_outlook {
    _Atomic uint64_t load; /* bytes that its key takes when it is loaded; 0: it is there */
    _Atomic uint64_t
        need; /* bytes of one of its claims; 0: not known, as before its key's first load */
} ledger_outlook;

/** Embedded in what claims; its bytes are of several owners. */
typedef struct ledger_claim {
    uint64_t bytes[LEDGER_N_OWNERS];
    unsigned level;
    uint64_t age;
    uint32_t index;
    void (*granted)(
        struct ledger_claim *c); /* from any thread that gives memory back; must not block */
    bool entry;
    bool alone; /* an entry's: nothing of its level and below is in beside it */
    ledger_outlook
        *outlook; /* an entry's; NULL: nothing is known. Its `load` is added when it is granted */
    struct ledger_claim *way_in; /* another's: the entry of its job, held; NULL: it has none */
    uint64_t beside; /* bytes that are there even when it runs alone (its key, its request) */
    /** As `granted`: it never will be, the failure is recorded on the calling thread. An entry needs none. */
    void (*refused)(struct ledger_claim *c);
    /* the ledger's */
    enum { LEDGER_OUT, LEDGER_WAITS, LEDGER_HELD } state;
    struct ledger_claim *prev, *next;
    uint64_t since;
    unsigned parked; /* an entry's: claims that wait */
} ledger_claim;

typedef struct ledger_config {
    uint64_t total, critical; /* bytes; critical of them are for CRITICAL claims */
    /** Asked to give back some `bytes` of idle keys, if it has any; returns what it gave. Called without the lock. pressing:
     * nothing goes on, so also those that should stay for a while. */
    uint64_t (*reclaim)(void *ctx, uint64_t bytes, bool pressing);
    /** The first that waits was granted though `over` bytes are missing. May be NULL. Called without the lock. */
    void (*overdrawn)(void *ctx, uint64_t over);
    void *ctx;
    unsigned
        max_claims; /* below CRITICAL a claim waits while so many of its level and above are held; 0: no limit */
    unsigned
        max_entries; /* an entry waits while so many of its level and above are in; 0: no limit */
} ledger_config;

CUZK_STATUS ledger_open(ledger **out, const ledger_config *c);
/** Before anything is claimed: the callbacks of c and their ctx. */
void ledger_set_owner(ledger *l, const ledger_config *c);
void ledger_close(ledger *l); /* nothing is held or waits; NULL is fine */

/** CUZK_EBUDGET class resource, with the numbers, for a claim that can never be granted, whatever is given back. */
CUZK_STATUS ledger_can_ever(ledger *l, const ledger_claim *c);
/** True: it holds its bytes from now on. False: `granted` or `refused` will be called, perhaps before this returns. */
bool ledger_claim_now(ledger *l, ledger_claim *c);
/** True: it waited, and does no longer. */
bool ledger_withdraw(ledger *l, ledger_claim *c);
/** What c holds is the returned claim's from now on, to be released by it. */
ledger_claim ledger_take(ledger *l, ledger_claim *c);
/** Gives a held claim's bytes back. */
void ledger_release(ledger *l, ledger_claim *c);
/** What a held entry holds for o from now on. */
void ledger_settle(ledger *l, ledger_claim *entry, ledger_owner o, uint64_t bytes);
void ledger_charge(ledger *l, ledger_owner o, int64_t bytes);
/** A waiting claim moves up; an entry that is to come, too. */
void ledger_raise(ledger *l, ledger_claim *c, unsigned level);
/** Memory may have become free by other means (a key that is no longer used). */
void ledger_poke(ledger *l);

typedef struct ledger_state {
    uint64_t total, critical, used, owners[LEDGER_N_OWNERS];
    unsigned waiting, held;  /* claims */
    unsigned shut_out, in;   /* entries that wait, that are held */
    uint64_t oldest_wait_ns; /* how long the first claim has waited */
} ledger_state;
void ledger_get(ledger *l, ledger_state *out);

#endif
