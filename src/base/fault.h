/*
 * base/fault.h - places where a test makes the program wait: nothing at all in builds that ship
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef BASE_FAULT_H
#define BASE_FAULT_H

#ifdef CUZK_VERIFY
/** Waits here when the test armed this place. */
void fault_stall(const char *place);
/** "PLACE:MS" or "PLACE:MS:TIMES", several separated by commas; NULL disarms all. */
void fault_arm(const char *spec);
#else
static inline void fault_stall(const char *place)
{
    (void)place;
}
#endif

#endif
