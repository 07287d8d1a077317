/*
 * unit/engine/store_shim.h - a file system below SQLite that fails when it is told to
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ENGINE_STORE_SHIM_H
#define ENGINE_STORE_SHIM_H

#include <stdbool.h>

/** Becomes the one that SQLite uses by default. */
void shim_install(void);
/** The k-th read, write, truncation, sync, mapping or open from now fails (0: none does), or all from it on; full: writes fail
 *  with SQLITE_FULL. */
void shim_arm(unsigned long k, bool for_good, bool full);
/** Calls since then. */
unsigned long shim_calls(void);

#endif
