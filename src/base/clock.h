/*
 * base/clock.h - monotonic time
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

uint64_t clock_ns(void);

#endif
