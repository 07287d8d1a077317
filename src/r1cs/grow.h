/*
 * r1cs/grow.h - arrays that grow in a memory budget
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef R1CS_GROW_H
#define R1CS_GROW_H

#include "base/mem.h"

/**
 * Room for `need` elements of `size` bytes in an array of *cap that holds `used`: returns the array, moved when it had
 * to grow (at least doubled, so that appending costs constant time on average). NULL and *st on failure: then `p` stands
 * as it was.
 */
void *r1cs_grow(mem *m, void *p, size_t used, size_t *cap, size_t need, size_t size,
                cuzk_status *st);

#endif
