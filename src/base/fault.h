/*
 * base/fault.h - places where a test makes the program wait: nothing at all in builds that ship
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef BASE_FAULT_H
#define BASE_FAULT_H

#include <stdbool.h>

#ifdef CUZK_VERIFY
/** Waits here when the test armed this place. */
void fault_stall(const char *place);
/** True where the test armed this place (its time is not looked at). */
bool fault_hit(const char *place);
/** "PLACE:MS" or "PLACE:MS:TIMES", several separated by commas, instead of those before; NULL disarms all, and lets
 *  go who waits. MS `hold`: until another call that does not name the place. */
void fault_arm(const char *spec);
/** Whether somebody waits at this place. */
bool fault_held(const char *place);
/** Lets go who waits at this place. */
void fault_release(const char *place);
#else
static inline void fault_stall(const char *place)
{
    (void)place;
}
static inline bool fault_hit(const char *place)
{
    (void)place;
    return false;
}
#endif

#endif
