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

#    define MAX_STALLS 16
#    define HOLD UINT_MAX
#    define LOOK_MS 5 /* whether a hold is over */

typedef struct stall {
    char place[48];
    unsigned ms;
    unsigned left;
} stall;

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
/* guarded by mu */
static stall stalls[MAX_STALLS];
static unsigned n_stalls;

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

static bool is_armed(const char *place)
{
    bool yes = false;

    (void)pthread_mutex_lock(&mu);
    for (unsigned i = 0; i < n_stalls && !yes; i++) yes = strcmp(stalls[i].place, place) == 0;
    (void)pthread_mutex_unlock(&mu);
    return yes;
}

static void pause_ms(unsigned ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

    (void)nanosleep(&t, NULL); /* a signal may cut it short: the test asks for no more */
}

void fault_stall(const char *place)
{
    unsigned ms = take(place);

    if (ms == HOLD) {
        while (is_armed(place)) pause_ms(LOOK_MS);
    } else if (ms != 0) {
        pause_ms(ms);
    }
}

bool fault_hit(const char *place)
{
    return take(place) != 0;
}

#else
typedef int fault_file_is_not_empty;
#endif
