/*
 * base/clock.c - monotonic time
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/clock.h"

#include <time.h>

uint64_t clock_ns(void)
{
    struct timespec t = {0, 0};

    /* cannot fail on Linux for this clock and a valid pointer */
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
