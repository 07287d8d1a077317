/*
 * base/signals.h - the signals that a worker thread leaves to the program's own thread
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef BASE_SIGNALS_H
#define BASE_SIGNALS_H

#include <pthread.h>
#include <signal.h>

/** Blocks them on the calling thread, and on those that it starts from now on: all but faults of its own, for which the program
 *  may have a handler that writes them down. *before is for pthread_sigmask. */
static inline void signals_block(sigset_t *before)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
    sigset_t set;

    (void)sigfillset(&set); /* these cannot fail with valid arguments */
    for (unsigned i = 0; i < sizeof faults / sizeof faults[0]; i++)
        (void)sigdelset(&set, faults[i]);
    (void)pthread_sigmask(SIG_SETMASK, &set, before);
}

#endif
