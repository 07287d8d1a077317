/*
 * engine/ledger.c - claims in one list, granted from its head
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

struct ledger {
    /* fixed after init */
    ledger_config c;
    pthread_mutex_t mu;
    /* guarded by mu */
    uint64_t used, owners[LEDGER_N_OWNERS];
    ledger_claim *first;                  /* of those that wait, in their order */
    unsigned waiting, held[STAGE_LEVELS]; /* by the level that a claim was granted at */
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

/* Claims that are held by this level and those above. */
static unsigned held_from(const ledger *l, unsigned level)
{
    unsigned n = 0;

    for (unsigned k = level; k < STAGE_LEVELS; k++) n += l->held[k];
    return n;
}

static bool fits_locked(const ledger *l, const ledger_claim *c)
{
    if (!is_critical(c) && l->c.max_claims != 0 && held_from(l, c->level) >= l->c.max_claims)
        return false;
    return l->used + size_of(c) <= limit_of(l, c);
}

static void hold_locked(ledger *l, ledger_claim *c)
{
    c->state = LEDGER_HELD;
    l->held[c->level]++;
    l->used += size_of(c);
    for (unsigned o = 0; o < LEDGER_N_OWNERS; o++) l->owners[o] += c->bytes[o];
}

/* ---- the list ---- */

static bool before(const ledger_claim *a, const ledger_claim *b)
{
    if (a->level != b->level) return a->level > b->level;
    if (a->age != b->age) return a->age < b->age;
    return a->index < b->index;
}

static void link_locked(ledger *l, ledger_claim *c)
{
    ledger_claim *prev = NULL, *next = l->first;

    while (next != NULL && before(next, c)) {
        prev = next;
        next = next->next;
    }
    c->prev = prev;
    c->next = next;
    if (next != NULL) next->prev = c;
    *(prev == NULL ? &l->first : &prev->next) = c;
    l->waiting++;
    c->state = LEDGER_WAITS;
}

static void unlink_locked(ledger *l, ledger_claim *c)
{
    if (c->next != NULL) c->next->prev = c->prev;
    *(c->prev == NULL ? &l->first : &c->prev->next) = c->next;
    c->prev = c->next = NULL;
    l->waiting--;
    c->state = LEDGER_OUT;
}

/* Grants from the head; a CRITICAL claim stands before all others, so the head is the only one to ask. */
static ledger_claim *grant_locked(ledger *l)
{
    ledger_claim *c = l->first;

    if (c == NULL || !fits_locked(l, c)) return NULL;
    unlink_locked(l, c);
    hold_locked(l, c);
    return c;
}

/* After memory came back. Asks for idle keys once when the head still does not fit. */
static void serve(ledger *l)
{
    bool asked = false;

    for (;;) {
        ledger_claim *c;
        uint64_t short_of = 0;

        (void)pthread_mutex_lock(&l->mu);
        c = grant_locked(l);
        if (c == NULL && l->first != NULL) {
            uint64_t want = l->used + size_of(l->first), limit = limit_of(l, l->first);
            short_of = want > limit ? want - limit : 0;
        }
        (void)pthread_mutex_unlock(&l->mu);
        if (c != NULL) {
            c->granted(c);
            continue;
        }
        if (short_of == 0 || asked || l->c.reclaim == NULL) return;
        asked = true;
        if (l->c.reclaim(l->c.ctx, short_of) == 0) return;
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

void ledger_set_reclaim(ledger *l, uint64_t (*reclaim)(void *ctx, uint64_t bytes), void *ctx)
{
    l->c.reclaim = reclaim;
    l->c.ctx = ctx;
}

void ledger_close(ledger *l)
{
    if (l == NULL) return;
    VERIFY(l->first == NULL && held_from(l, 0) == 0);
    (void)pthread_mutex_destroy(&l->mu);
    free(l);
}

cuzk_status ledger_can_ever(ledger *l, const ledger_claim *c)
{
    uint64_t size = size_of(c), limit = limit_of(l, c);

    if (size <= limit) return CUZK_OK;
    return FAIL(CUZK_EBUDGET,
                "needs %" PRIu64 " MiB of memory (witness %" PRIu64 ", proving %" PRIu64
                "), the budget is %" PRIu64 " MiB",
                size >> 20, c->bytes[LEDGER_WITNESSES] >> 20, c->bytes[LEDGER_PROVING] >> 20,
                limit >> 20);
}

bool ledger_claim_now(ledger *l, ledger_claim *c)
{
    bool held;

    (void)pthread_mutex_lock(&l->mu);
    held = (l->first == NULL || before(c, l->first)) && fits_locked(l, c);
    if (held) {
        hold_locked(l, c);
    } else {
        c->since = clock_ns();
        link_locked(l, c);
    }
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

void ledger_release(ledger *l, ledger_claim *c)
{
    (void)pthread_mutex_lock(&l->mu);
    VERIFY(c->state == LEDGER_HELD);
    c->state = LEDGER_OUT;
    l->held[c->level]--;
    l->used -= size_of(c);
    for (unsigned o = 0; o < LEDGER_N_OWNERS; o++) l->owners[o] -= c->bytes[o];
    (void)pthread_mutex_unlock(&l->mu);
    serve(l);
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
                          .waiting = l->waiting,
                          .held = held_from(l, 0)};
    memcpy(out->owners, l->owners, sizeof l->owners);
    if (l->first != NULL) out->oldest_wait_ns = clock_ns() - l->first->since;
    (void)pthread_mutex_unlock(&l->mu);
}
