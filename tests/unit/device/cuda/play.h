/*
 * unit/device/cuda/play.h - the CUDA runtime between the backend and the driver: counted, made to fail, or played
 *
 * Programs that link play.c with CUDA_PLAY_WRAP (CMakeLists.txt) reach every call of the runtime through it. On a machine with a
 * GPU calls go on to it; without one, or after play_fake, a machine is played: its memory is the host's and its kernels do nothing,
 * so that statuses, messages and what is given back can be judged, but no result. Counters and settings are the process's.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef UNIT_DEVICE_CUDA_PLAY_H
#define UNIT_DEVICE_CUDA_PLAY_H

#include <stdbool.h>
#include <stddef.h>

#include "harness/harness.h"

/** The machine that is played. */
typedef struct play_machine {
    int driver; /* as cudaDriverGetVersion has it: 13000; 0: there is none */
    int gpus;
    int major;                      /* compute capability */
    size_t total;                   /* bytes of memory of each GPU */
    size_t others;                  /* of these, what other processes have */
    int count_error, context_error; /* of cudaGetDeviceCount and cudaSetDevice; 0: none */
} play_machine;

/** true: play m from now on, whatever is here; false: the GPU that is here, or the last m. m NULL: a healthy machine. */
void play_fake(bool fake, const play_machine *m);
/** Whether kernels compute. */
bool play_is_real(void);
/** Whether cu_check_device runs; it would refuse a machine that is played. */
void play_start_up_check(bool run);

/** The n-th call from now on fails with the error `err` (a cudaError_t), and with it, if it sticks, every later one; n = 0: none. */
void play_fail(unsigned long n, int err, bool sticks);
/** The same of the n-th call of this function alone. */
void play_fail_of(const char *name, unsigned long n, int err, bool sticks);
/** Whether it came to that, and the function's name. */
bool play_hit(void);
const char *play_hit_name(void);
/** Ends what sticks: the next process, as it were. */
void play_heal(void);

typedef struct play_counts {
    unsigned long calls, launches; /* since play_fail */
    /* not given back yet */
    unsigned long blocks, pinned, streams, events;
    size_t bytes, peak;      /* in blocks, and the most since play_fail */
    unsigned long bad_frees; /* of what was not there */
} play_counts;
play_counts play_count(void);

/** Nothing that was taken from the runtime is left, and nothing went back twice. */
static inline void assert_all_given_back(void)
{
    play_counts c = play_count();

    if (c.blocks + c.pinned + c.streams + c.events + c.bad_frees != 0)
        harness_fail("after %s failed: %lu blocks (%zu bytes), %lu of pinned memory, %lu streams, "
                     "%lu events "
                     "left, %lu given back twice",
                     play_hit_name(), c.blocks, c.bytes, c.pinned, c.streams, c.events,
                     c.bad_frees);
}

#endif
