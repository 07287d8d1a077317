/*
 * app/notify.h - tells the service manager how the daemon is
 *
 * systemd's protocol (sd_notify(3)): lines in a datagram to $NOTIFY_SOCKET, which may be an abstract address ("@..."). Without that
 * variable nothing is sent. Only the main thread.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef APP_NOTIFY_H
#define APP_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

typedef struct notify {
    int fd; /* -1: nobody listens */
    char path[108];
    uint64_t watchdog_ns; /* a ping is wanted at least so often; 0: none is */
} notify;

/** From the environment: NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID. */
void notify_open(notify *n, const char *socket_path, const char *watchdog_usec,
                 const char *watchdog_pid);
/** "READY=1\nSTATUS=..."; what cannot be sent is lost: the manager then does what it does with a silent service. */
void notify_send(const notify *n, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void notify_close(notify *n);

#endif
