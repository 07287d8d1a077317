/*
 * base/os_random.c - bytes from the operating system's generator
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/hash.h"

#include <errno.h>
#include <sys/random.h>

int os_random(void *out, size_t n)
{
    uint8_t *p = out;

    while (n != 0) {
        ssize_t got = getrandom(p, n, 0); /* waits until the kernel's generator is seeded */

        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return -1;
        p += got;
        n -= (size_t)got;
    }
    return 0;
}
