/*
 * base/fault.c - stalls that a test asks for
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/fault.h"

#ifdef CUZK_VERIFY

#    include <stdatomic.h>
#    include <stdio.h>
#    include <string.h>
#    include <time.h>

#    define MAX_STALLS 16

typedef struct stall {
    char place[48];
    unsigned ms;
    _Atomic unsigned left; /* relaxed: only a count */
} stall;

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
    n_stalls = 0;
    while (spec != NULL && *spec != 0 && n_stalls < MAX_STALLS) {
        stall *s = &stalls[n_stalls++];
        size_t len = strcspn(spec, ":");

        (void)snprintf(s->place, sizeof s->place, "%.*s", (int)len, spec);
        spec += len + (spec[len] == ':');
        s->ms = number(&spec);
        atomic_store_explicit(&s->left, 1, memory_order_relaxed);
        if (*spec == ':') {
            spec++;
            atomic_store_explicit(&s->left, number(&spec), memory_order_relaxed);
        }
        spec += *spec == ',';
    }
}

void fault_stall(const char *place)
{
    for (unsigned i = 0; i < n_stalls; i++) {
        stall *s = &stalls[i];
        unsigned left = atomic_load_explicit(&s->left, memory_order_relaxed);

        if (strcmp(s->place, place) != 0) continue;
        while (left > 0 &&
               !atomic_compare_exchange_weak_explicit(&s->left, &left, left - 1,
                                                      memory_order_relaxed, memory_order_relaxed))
            ;
        if (left == 0) continue;
        struct timespec t = {.tv_sec = s->ms / 1000, .tv_nsec = (long)(s->ms % 1000) * 1000000};
        (void)nanosleep(&t, NULL); /* a signal may cut it short: the test asks for no more */
    }
}

#else
typedef int fault_file_is_not_empty;
#endif
