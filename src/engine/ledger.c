/*
 * engine/ledger.c - claims and entries in their order, granted from the head of both
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/ledger.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"

typedef struct claim_list {
    ledger_claim *first, *last;
    unsigned n;
} claim_list;

struct ledger {
    /* fixed after init */
    ledger_config c;
    pthread_mutex_t mu;
    /* guarded by mu */
    uint64_t used, owners[LEDGER_N_OWNERS];
    claim_list claims, entries;                       /* that wait, in their order */
    claim_list in;                                    /* entries that are held */
    uint64_t held_bytes;                              /* of claims */
    unsigned held[STAGE_LEVELS], in_at[STAGE_LEVELS]; /* by the level at which they were granted */
    unsigned parked;     /* entries that are held and have a claim waiting */
    unsigned reclaiming; /* threads that ask for idle keys */
};

#define LEDGER_NAME(id, name) name,
static const char *const owner_names[] = {LEDGER_OWNERS(LEDGER_NAME)};
#undef LEDGER_NAME

const char *ledger_owner_name(ledger_owner o)
{
    return owner_names[o];
}

/* ---- the machine ---- */

/** The first number of a small file of the kernel's; false when there is none ("max"). */
static bool read_number(const char *path, const char *after, uint64_t *out)
{
    char text[4096];
    const char *at = text;
    uint64_t v = 0;
    FILE *f = fopen(path, "re");
    size_t n;

    if (f == NULL) return false;
    n = fread(text, 1, sizeof text - 1, f);
    (void)fclose(f); /* only read */
    text[n] = 0;
    if (after != NULL) {
        at = strstr(text, after);
        if (at == NULL) return false;
        at += strlen(after);
    }
    while (*at == ' ') at++;
    if (*at < '0' || *at > '9') return false;
    for (; *at >= '0' && *at <= '9' && v < UINT64_MAX / 16; at++)
        v = v * 10 + (uint64_t)(*at - '0');
    *out = v;
    return true;
}

/** memory.max of this process's cgroup and of each above it. */
static void cgroup_limit(uint64_t *limit)
{
    char line[2048], path[4096];
    FILE *f = fopen("/proc/self/cgroup", "re");
    char *group = NULL;

    if (f == NULL) return;
    while (fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, "0::", 3) == 0) {
            line[strcspn(line, "\n")] = 0;
            group = line + 3;
            break;
        }
    (void)fclose(f); /* only read */
    while (group != NULL) {
        uint64_t v;
        char *slash;

        (void)snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max",
                       group); /* cut: not there */
        if (read_number(path, NULL, &v) && v < *limit) *limit = v;
        slash = strrchr(group, '/');
        if (slash == NULL || group[0] == 0 || strcmp(group, "/") == 0) break;
        *slash = 0;
    }
}

cuzk_status ledger_machine_bytes(uint64_t *out)
{
    uint64_t kib;

    if (!read_number("/proc/meminfo", "MemTotal:", &kib))
        return FAIL(CUZK_EIO, "/proc/meminfo does not tell MemTotal");
    *out = kib * 1024;
    cgroup_limit(out);
    return CUZK_OK;
}

/* ---- sums ---- */

static uint64_t size_of(const ledger_claim *c)
{
    uint64_t sum = 0;

    for (unsigned o = 0; o < LEDGER_N_OWNERS; o++) sum += c->bytes[o];
    return sum;
}

static bool is_critical(const ledger_claim *c)
{
    return c->level == STAGE_LEVELS - 1;
}

static uint64_t limit_of(const ledger *l, const ledger_claim *c)
{
    return is_critical(c) || l->c.critical > l->c.total ? l->c.total : l->c.total - l->c.critical;
}

/* How many of these are of this level and those above. */
static unsigned from_level(const unsigned n[STAGE_LEVELS], unsigned level)
{
    unsigned sum = 0;

    for (unsigned k = level; k < STAGE_LEVELS; k++) sum += n[k];
    return sum;
}

static uint64_t need_of(const ledger_claim *e)
{
    return e->outlook == NULL ? 0 : atomic_load_explicit(&e->outlook->need, memory_order_relaxed);
}

static uint64_t load_of(const ledger_claim *e)
{
    return e->outlook == NULL ? 0 : atomic_load_explicit(&e->outlook->load, memory_order_relaxed);
}

/* ---- lists ---- */

static bool before(const ledger_claim *a, const ledger_claim *b)
{
    if (a->level != b->level) return a->level > b->level;
    if (a->age != b->age) return a->age < b->age;
    return a->index < b->index;
}

/* Most come last: the place is looked for from the end. */
static void insert(claim_list *in, ledger_claim *c)
{
    ledger_claim *prev = in->last, *next;

    while (prev != NULL && before(c, prev)) prev = prev->prev;
    next = prev == NULL ? in->first : prev->next;
    c->prev = prev;
    c->next = next;
    *(next == NULL ? &in->last : &next->prev) = c;
    *(prev == NULL ? &in->first : &prev->next) = c;
    in->n++;
}

static void take_out(claim_list *in, ledger_claim *c)
{
    *(c->next == NULL ? &in->last : &c->next->prev) = c->prev;
    *(c->prev == NULL ? &in->first : &c->prev->next) = c->next;
    c->prev = c->next = NULL;
    in->n--;
}

static void link_locked(ledger *l, ledger_claim *c)
{
    insert(c->entry ? &l->entries : &l->claims, c);
    c->state = LEDGER_WAITS;
    if (c->way_in != NULL && c->way_in->parked++ == 0) l->parked++;
}

static void unlink_locked(ledger *l, ledger_claim *c)
{
    take_out(c->entry ? &l->entries : &l->claims, c);
    c->state = LEDGER_OUT;
    if (c->way_in != NULL && --c->way_in->parked == 0) l->parked--;
}

static void hold_locked(ledger *l, ledger_claim *c)
{
    if (c->state == LEDGER_WAITS) unlink_locked(l, c);
    c->state = LEDGER_HELD;
    if (c->entry) {
        c->bytes[LEDGER_KEYS] += load_of(c);
        l->in_at[c->level]++;
        insert(&l->in, c);
    } else {
        l->held[c->level]++;
        l->held_bytes += size_of(c);
    }
    l->used += size_of(c);
    for (unsigned o = 0; o < LEDGER_N_OWNERS; o++) l->owners[o] += c->bytes[o];
}

/* ---- who is next ---- */

/* A job of which nothing is known is let in alone: what its key takes is seen before the next one comes. */
static bool meets_unknown(const ledger *l, const ledger_claim *e)
{
    if (need_of(e) != 0) return false;
    for (const ledger_claim *o = l->in.first; o != NULL; o = o->next)
        if (o->level >= e->level && need_of(o) == 0) return true;
    return false;
}

/* One that is to be alone waits for all of its level and above, and keeps out those of its level and below. */
static bool meets_company(const ledger *l, const ledger_claim *e)
{
    for (const ledger_claim *o = l->in.first; o != NULL; o = o->next)
        if ((e->alone && o->level >= e->level) || (o->alone && e->level <= o->level)) return true;
    return false;
}

/* Not too many of its sort are there. Where one has to wait for this, so have those of its sort behind it. */
static bool has_turn(const ledger *l, const ledger_claim *c)
{
    if (!c->entry)
        return is_critical(c) || l->c.max_claims == 0 ||
               from_level(l->held, c->level) < l->c.max_claims;
    if (l->c.max_entries != 0 && from_level(l->in_at, c->level) >= l->c.max_entries) return false;
    return !meets_company(l, c) && !meets_unknown(l, c);
}

static ledger_claim *next_locked(const ledger *l)
{
    ledger_claim *c = l->claims.first, *e = l->entries.first;

    if (c != NULL && !has_turn(l, c)) c = NULL;
    if (e != NULL && !has_turn(l, e)) e = NULL;
    if (c == NULL || e == NULL) return c == NULL ? e : c;
    return before(e, c) ? e : c;
}

/* An entry must leave room for a claim of any job of its level and above that is in, once all claims are given back: else two
 * jobs could hold what each needs to go on. Those of lower levels go on when it has ended. */
static uint64_t room_for_any(const ledger *l, const ledger_claim *e)
{
    uint64_t most = need_of(e);

    for (const ledger_claim *o = l->in.first; o != NULL; o = o->next)
        if (o->level >= e->level && need_of(o) > most) most = need_of(o);
    return most;
}

/* Bytes that are missing for it. */
static uint64_t short_of(const ledger *l, const ledger_claim *c)
{
    uint64_t size = size_of(c) + (c->entry ? load_of(c) : 0), want = l->used + size;
    uint64_t limit = limit_of(l, c);

    if (c->entry) {
        uint64_t later = want - l->held_bytes + room_for_any(l, c);

        if (later > want) want = later;
    }
    return want > limit ? want - limit : 0;
}

static cuzk_status fits_alone(const ledger *l, const ledger_claim *c, uint64_t spans)
{
    uint64_t size = size_of(c), limit = limit_of(l, c);

    if (c->entry || size + c->beside + spans <= limit) return CUZK_OK;
    return FAIL(CUZK_EBUDGET,
                "needs %" PRIu64 " MiB of memory (witness %" PRIu64 ", proving %" PRIu64
                ") beside %" PRIu64 " MiB of keys and its request and %" PRIu64
                " MiB of records, the budget is %" PRIu64 " MiB",
                size >> 20, c->bytes[LEDGER_WITNESSES] >> 20, c->bytes[LEDGER_PROVING] >> 20,
                c->beside >> 20, spans >> 20, limit >> 20);
}

/* Nothing is held, and whoever is in waits here: nothing would come back by itself. */
static bool at_a_stop(const ledger *l)
{
    return from_level(l->held, 0) == 0 && l->parked == l->in.n;
}

/* ---- granting ---- */

typedef struct verdict {
    ledger_claim *c; /* to be told; NULL: nobody */
    bool refused;
    uint64_t missing; /* bytes to ask for; of one that was granted: beyond the budget */
    bool stop;
} verdict;

enum { NOT_ASKED, ASKED, PRESSED };

/* What to do next, done as far as the lock is needed for it. asked: what idle keys were asked for, and did not give. */
static verdict decide_locked(ledger *l, int asked)
{
    verdict v = {.c = next_locked(l)};

    if (v.c == NULL) return v;
    v.missing = short_of(l, v.c);
    v.stop = at_a_stop(l);
    if (v.missing == 0) {
        hold_locked(l, v.c);
    } else if (v.stop && asked == PRESSED && l->reclaiming == 0) {
        v.refused = fits_alone(l, v.c, l->owners[LEDGER_SPANS]) != CUZK_OK;
        if (v.refused) {
            unlink_locked(l, v.c);
        } else {
            hold_locked(l, v.c);
            v.missing = l->used > limit_of(l, v.c) ? l->used - limit_of(l, v.c) : 0;
        }
    } else {
        v.c = NULL;
    }
    return v;
}

static void tell(ledger *l, const verdict *v)
{
    if (v->missing != 0 && !v->refused && l->c.overdrawn != NULL)
        l->c.overdrawn(l->c.ctx, v->missing);
    if (v->refused)
        v->c->refused(v->c);
    else
        v->c->granted(v->c);
}

static bool ask_for_keys(ledger *l, const verdict *v)
{
    uint64_t got = l->c.reclaim == NULL ? 0 : l->c.reclaim(l->c.ctx, v->missing, v->stop);

    (void)pthread_mutex_lock(&l->mu);
    l->reclaiming--;
    (void)pthread_mutex_unlock(&l->mu);
    return got != 0;
}

/* After memory came back, or something new waits. */
static void serve(ledger *l)
{
    int asked = NOT_ASKED;

    for (;;) {
        verdict v;
        bool ask;

        (void)pthread_mutex_lock(&l->mu);
        v = decide_locked(l, asked);
        ask = v.c == NULL && v.missing != 0 && asked < (v.stop ? PRESSED : ASKED);
        if (ask) l->reclaiming++;
        (void)pthread_mutex_unlock(&l->mu);
        if (v.c != NULL) {
            tell(l, &v);
            asked = NOT_ASKED;
        } else if (!ask) {
            return;
        } else if (!ask_for_keys(l, &v)) {
            asked = v.stop ? PRESSED : ASKED;
        }
    }
}

/* ---- entry points ---- */

cuzk_status ledger_open(ledger **out, const ledger_config *c)
{
    ledger *l = calloc(1, sizeof *l);

    if (l == NULL) return FAIL(CUZK_ENOMEM, "ledger: out of memory");
    if (pthread_mutex_init(&l->mu, NULL) != 0) {
        free(l);
        return FAIL(CUZK_ENOMEM, "ledger: no mutex");
    }
    l->c = *c;
    *out = l;
    return CUZK_OK;
}

void ledger_set_owner(ledger *l, const ledger_config *c)
{
    l->c.reclaim = c->reclaim;
    l->c.overdrawn = c->overdrawn;
    l->c.ctx = c->ctx;
}

void ledger_close(ledger *l)
{
    if (l == NULL) return;
    VERIFY(l->claims.n == 0 && l->entries.n == 0 && l->in.n == 0 && from_level(l->held, 0) == 0);
    (void)pthread_mutex_destroy(&l->mu);
    free(l);
}

cuzk_status ledger_can_ever(ledger *l, const ledger_claim *c)
{
    uint64_t spans;

    (void)pthread_mutex_lock(&l->mu);
    spans = l->owners[LEDGER_SPANS];
    (void)pthread_mutex_unlock(&l->mu);
    return fits_alone(l, c, spans);
}

bool ledger_claim_now(ledger *l, ledger_claim *c)
{
    bool held;

    (void)pthread_mutex_lock(&l->mu);
    c->since = clock_ns();
    link_locked(l, c);
    held = next_locked(l) == c && short_of(l, c) == 0;
    if (held) hold_locked(l, c);
    (void)pthread_mutex_unlock(&l->mu);
    if (!held) serve(l); /* idle keys may make room */
    return held;
}

bool ledger_withdraw(ledger *l, ledger_claim *c)
{
    bool waited;

    (void)pthread_mutex_lock(&l->mu);
    waited = c->state == LEDGER_WAITS;
    if (waited) unlink_locked(l, c);
    (void)pthread_mutex_unlock(&l->mu);
    if (waited) serve(l); /* what it stood before may fit */
    return waited;
}

ledger_claim ledger_take(ledger *l, ledger_claim *c)
{
    ledger_claim taken;

    (void)pthread_mutex_lock(&l->mu);
    VERIFY(!c->entry && c->state != LEDGER_WAITS);
    taken = *c;
    c->state = LEDGER_OUT;
    (void)pthread_mutex_unlock(&l->mu);
    return taken;
}

void ledger_release(ledger *l, ledger_claim *c)
{
    (void)pthread_mutex_lock(&l->mu);
    VERIFY(c->state == LEDGER_HELD && c->parked == 0);
    c->state = LEDGER_OUT;
    if (c->entry) {
        l->in_at[c->level]--;
        take_out(&l->in, c);
    } else {
        l->held[c->level]--;
        l->held_bytes -= size_of(c);
    }
    l->used -= size_of(c);
    for (unsigned o = 0; o < LEDGER_N_OWNERS; o++) l->owners[o] -= c->bytes[o];
    (void)pthread_mutex_unlock(&l->mu);
    serve(l);
}

void ledger_settle(ledger *l, ledger_claim *entry, ledger_owner o, uint64_t bytes)
{
    (void)pthread_mutex_lock(&l->mu);
    VERIFY(entry->entry && entry->state == LEDGER_HELD);
    l->used += bytes - entry->bytes[o]; /* modulo 2^64, as in ledger_charge */
    l->owners[o] += bytes - entry->bytes[o];
    entry->bytes[o] = bytes;
    (void)pthread_mutex_unlock(&l->mu);
    serve(l); /* less than foreseen, or more is known of it now */
}

void ledger_charge(ledger *l, ledger_owner o, int64_t bytes)
{
    (void)pthread_mutex_lock(&l->mu);
    l->used += (uint64_t)bytes; /* modulo 2^64: a negative one takes away */
    l->owners[o] += (uint64_t)bytes;
    (void)pthread_mutex_unlock(&l->mu);
    if (bytes < 0) serve(l);
}

void ledger_raise(ledger *l, ledger_claim *c, unsigned level)
{
    bool waited;

    (void)pthread_mutex_lock(&l->mu);
    waited = c->state == LEDGER_WAITS && level > c->level;
    if (c->entry && c->state == LEDGER_OUT && level > c->level) c->level = level;
    if (waited) {
        unlink_locked(l, c);
        c->level = level;
        link_locked(l, c);
    }
    (void)pthread_mutex_unlock(&l->mu);
    if (waited) serve(l);
}

void ledger_poke(ledger *l)
{
    serve(l);
}

void ledger_get(ledger *l, ledger_state *out)
{
    (void)pthread_mutex_lock(&l->mu);
    *out = (ledger_state){.total = l->c.total,
                          .critical = l->c.critical,
                          .used = l->used,
                          .waiting = l->claims.n,
                          .held = from_level(l->held, 0),
                          .shut_out = l->entries.n,
                          .in = l->in.n};
    memcpy(out->owners, l->owners, sizeof l->owners);
    if (l->claims.first != NULL) out->oldest_wait_ns = clock_ns() - l->claims.first->since;
    (void)pthread_mutex_unlock(&l->mu);
}
