/*
 * base/cancel.h - what the pool needs of the token: safe points; not for other modules
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef BASE_CANCEL_H
#define BASE_CANCEL_H

#include "base/pool.h"

/** Somebody of a higher level is inside the gate of c. False for NULL. */
bool cancel_must_stand_aside(const cancel *c);
/** Waits while that is so, and c is not asked to stop. True: it waited. */
bool cancel_stand_aside(const cancel *c);
/** Around what runs without a safe point. */
uint64_t cancel_step_begin(const cancel *c);
void cancel_step_end(const cancel *c, uint64_t begin);
/** This thread is in a task of a pool: it holds a worker, so it does not stand aside. */
bool pool_in_task(void);

#endif
