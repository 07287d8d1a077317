/*
 * app/notify.c - READY, RELOADING, STOPPING and WATCHDOG to the service manager
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "app/notify.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/** Decimal digits alone, below 2^60; else 0. */
static uint64_t number(const char *s)
{
    uint64_t v = 0;

    if (s == NULL) return 0;
    for (; *s != 0; s++) {
        if (*s < '0' || *s > '9' || v > (UINT64_C(1) << 56)) return 0;
        v = v * 10 + (uint64_t)(*s - '0');
    }
    return v;
}

void notify_open(notify *n, const char *socket_path, const char *watchdog_usec,
                 const char *watchdog_pid)
{
    memset(n, 0, sizeof *n);
    n->fd = -1;
    if (watchdog_pid == NULL || number(watchdog_pid) == (uint64_t)getpid())
        n->watchdog_ns = number(watchdog_usec) * 1000;
    if (socket_path == NULL || (socket_path[0] != '/' && socket_path[0] != '@')) return;
    if (strlen(socket_path) >= sizeof n->path) return;
    (void)snprintf(n->path, sizeof n->path, "%s", socket_path);
    n->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

void notify_send(const notify *n, const char *fmt, ...)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    char text[512];
    size_t len = strlen(n->path);
    va_list args;
    int size;

    if (n->fd < 0) return;
    va_start(args, fmt);
    size = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (size < 0) return;
    if ((size_t)size >= sizeof text) size = (int)sizeof text - 1;
    memcpy(to.sun_path, n->path, len);
    if (to.sun_path[0] == '@') to.sun_path[0] = 0;
    /* MSG_DONTWAIT: a manager that does not read must not stop the service */
    (void)sendto(n->fd, text, (size_t)size, MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&to,
                 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
}

void notify_close(notify *n)
{
    if (n->fd >= 0) (void)close(n->fd);
    n->fd = -1;
}
