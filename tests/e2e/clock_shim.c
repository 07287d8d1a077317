/*
 * e2e/clock_shim.c - preloaded before the program: its wall clock is set by what a file says, while it runs
 *
 * CUZK_CLOCK_FILE names a file with eight bytes: seconds to add, little-endian and signed. The monotonic clock stays.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile const int64_t *offset;

__attribute__((constructor)) static void map_offset(void)
{
    const char *path = getenv("CUZK_CLOCK_FILE");
    int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    void *p = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *offset, PROT_READ, MAP_SHARED, fd, 0);

    if (fd >= 0) (void)close(fd);
    if (p != MAP_FAILED) offset = p;
}

int clock_gettime(clockid_t id, struct timespec *t)
{
    long got = syscall(SYS_clock_gettime, id, t);

    if (got == 0 && offset != NULL && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
        t->tv_sec += (time_t)*offset;
    return (int)got;
}

int gettimeofday(struct timeval *t, void *zone)
{
    struct timespec now;

    (void)zone;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    t->tv_sec = now.tv_sec;
    t->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *out)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (out != NULL) *out = now.tv_sec;
    return now.tv_sec;
}
