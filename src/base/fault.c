/*
 * base/fault.c - stalls that a test asks for
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/fault.h"

#ifdef CUZK_VERIFY

#    include <limits.h>
#    include <pthread.h>
#    include <stdio.h>
#    include <string.h>
#    include <time.h>

#    include "base/clock.h"

#    define MAX_STALLS 16
#    define MAX_HELD 16
#    define HOLD UINT_MAX
#    define LOOK_NS 1000000 /* how often who waits looks whether it may go */

typedef struct stall {
    char place[48];
    unsigned ms;
    unsigned left;
} stall;

typedef struct waiting {
    char place[48]; /* "": nobody */
    bool let_go;
} waiting;

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
/* guarded by mu */
static stall stalls[MAX_STALLS];
static unsigned n_stalls;
static waiting held[MAX_HELD];

static unsigned number(const char **at)
{
    unsigned v = 0;

    for (; **at >= '0' && **at <= '9'; (*at)++) v = v * 10 + (unsigned)(**at - '0');
    return v;
}

void fault_arm(const char *spec)
{
    (void)pthread_mutex_lock(&mu);
    n_stalls = 0;
    for (unsigned i = 0; spec == NULL && i < MAX_HELD; i++) held[i].let_go = true;
    while (spec != NULL && *spec != 0 && n_stalls < MAX_STALLS) {
        stall *s = &stalls[n_stalls++];
        size_t len = strcspn(spec, ":");

        (void)snprintf(s->place, sizeof s->place, "%.*s", (int)len, spec);
        spec += len + (spec[len] == ':');
        if (strncmp(spec, "hold", 4) == 0) {
            s->ms = HOLD;
            spec += 4;
        } else {
            s->ms = number(&spec);
        }
        s->left = 1;
        if (*spec == ':') {
            spec++;
            s->left = number(&spec);
        }
        spec += *spec == ',';
    }
    (void)pthread_mutex_unlock(&mu);
}

/* How long this place is to wait now; 0: not at all. */
static unsigned take(const char *place)
{
    unsigned ms = 0;

    (void)pthread_mutex_lock(&mu);
    for (unsigned i = 0; i < n_stalls && ms == 0; i++) {
        if (stalls[i].left == 0 || strcmp(stalls[i].place, place) != 0) continue;
        stalls[i].left--;
        ms = stalls[i].ms;
    }
    (void)pthread_mutex_unlock(&mu);
    return ms;
}

/* NULL: so many wait that nobody can let this one go. */
static waiting *enter(const char *place)
{
    waiting *w = NULL;

    (void)pthread_mutex_lock(&mu);
    for (unsigned i = 0; i < MAX_HELD && w == NULL; i++)
        if (held[i].place[0] == 0) w = &held[i];
    if (w != NULL) {
        (void)snprintf(w->place, sizeof w->place, "%s", place); /* cut to fit, as when armed */
        w->let_go = false;
    }
    (void)pthread_mutex_unlock(&mu);
    return w;
}

static bool is_armed_locked(const char *place)
{
    bool yes = false;

    for (unsigned i = 0; i < n_stalls; i++) yes = yes || strcmp(stalls[i].place, place) == 0;
    return yes;
}

static bool may_go(const waiting *w, const char *place, unsigned ms, uint64_t from)
{
    bool yes;

    (void)pthread_mutex_lock(&mu);
    yes = w != NULL && w->let_go;
    if (ms == HOLD) yes = yes || !is_armed_locked(place);
    (void)pthread_mutex_unlock(&mu);
    return yes || (ms != HOLD && clock_ns() - from >= (uint64_t)ms * 1000000);
}

void fault_stall(const char *place)
{
    unsigned ms = take(place);
    uint64_t from = clock_ns();
    const struct timespec t = {0, LOOK_NS};
    waiting *w;

    if (ms == 0) return;
    w = enter(place);
    while (!may_go(w, place, ms, from)) (void)nanosleep(&t, NULL);
    if (w == NULL) return;
    (void)pthread_mutex_lock(&mu);
    w->place[0] = 0;
    (void)pthread_mutex_unlock(&mu);
}

bool fault_held(const char *place)
{
    bool yes = false;

    (void)pthread_mutex_lock(&mu);
    for (unsigned i = 0; i < MAX_HELD; i++) yes = yes || strcmp(held[i].place, place) == 0;
    (void)pthread_mutex_unlock(&mu);
    return yes;
}

void fault_release(const char *place)
{
    (void)pthread_mutex_lock(&mu);
    for (unsigned i = 0; i < MAX_HELD; i++)
        if (strcmp(held[i].place, place) == 0) held[i].let_go = true;
    (void)pthread_mutex_unlock(&mu);
}

bool fault_hit(const char *place)
{
    return take(place) != 0;
}

#else
typedef int fault_file_is_not_empty;
#endif
