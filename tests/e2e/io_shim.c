/*
 * e2e/io_shim.c - preloaded before the program: its writes and syncs of files fail with EIO while a file says so
 *
 * CUZK_IO_FILE names a file whose first byte is '1' while they fail. Reads, sockets and pipes go on; so does what was open before.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile const char *broken;

__attribute__((constructor)) static void map_switch(void)
{
    const char *path = getenv("CUZK_IO_FILE");
    int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    void *p = fd < 0 ? MAP_FAILED : mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, 0);

    if (fd >= 0) (void)close(fd);
    if (p != MAP_FAILED) broken = p;
}

static int fails(void)
{
    if (broken == NULL || *broken != '1') return 0;
    errno = EIO;
    return 1;
}

int fsync(int fd)
{
    static int (*real)(int);

    if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "fsync");
    return fails() ? -1 : real(fd);
}

int fdatasync(int fd)
{
    static int (*real)(int);

    if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "fdatasync");
    return fails() ? -1 : real(fd);
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t at)
{
    static ssize_t (*real)(int, const void *, size_t, off_t);

    if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "pwrite");
    return fails() ? -1 : real(fd, data, n, at);
}

ssize_t pwrite64(int fd, const void *data, size_t n, off64_t at)
{
    static ssize_t (*real)(int, const void *, size_t, off64_t);

    if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "pwrite64");
    return fails() ? -1 : real(fd, data, n, at);
}
