/*
 * r1cs/grow.c - arrays that grow in a memory budget
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "r1cs/grow.h"

#include <string.h>

#define FIRST 8 /* elements of an array's first block */

void *r1cs_grow(mem *m, void *p, size_t used, size_t *cap, size_t need, size_t size,
                cuzk_status *st)
{
    size_t want = *cap < FIRST / 2 ? FIRST : *cap * 2;
    void *q;

    if (p != NULL && need <= *cap) return p;
    if (want < need) want = need;
    q = mem_new(m, want, size, st);
    if (q == NULL) return NULL;
    if (p != NULL) memcpy(q, p, used * size);
    mem_free(m, p);
    *cap = want;
    return q;
}
