/*
 * base/mem.h - memory as a capability: a budgeted allocator, and arenas in it
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include "base/status.h"

typedef struct mem mem;

/** A budget of `limit` bytes (0: unlimited). With a parent, every byte is charged there too. Thread-safe. */
CUZK_STATUS mem_open(mem **out, const char *name, size_t limit, mem *parent);
/** Frees the budget itself. VERIFY builds abort when something is still allocated from it. */
void mem_close(mem *m);

/** n * size zeroed bytes, 64-byte aligned; n * size = 0 gives a valid pointer. NULL and *st = CUZK_EBUDGET or
 *  CUZK_ENOMEM on failure (recorded). From 2 MiB on: mapped, with the huge-page hint. */
void *mem_new(mem *m, size_t n, size_t size, cuzk_status *st);
/** What mem_new charges for `size` bytes: the block with its header, in whole lines or pages. For estimates. */
size_t mem_cost(size_t size);
/** p from mem_new of the same m, or NULL. */
void mem_free(mem *m, void *p);

size_t mem_used(const mem *m);
size_t mem_peak(const mem *m);
void mem_reset_peak(mem *m);
/** Tests: the k-th mem_new from now, of m or a budget below it, fails with CUZK_ENOMEM (k >= 1); 0 switches off. */
void mem_inject_fault(mem *m, unsigned long k);
/** True once that fault has fired. */
bool mem_fault_hit(const mem *m);

/** Bump allocation inside one mem_new block. Not thread-safe. */
typedef struct arena {
    mem *m;
    uint8_t *base;
    size_t size, used;
} arena;

CUZK_STATUS arena_init(arena *a, mem *m, size_t size);
void arena_clear(arena *a);
/** 64-byte aligned, zeroed, NULL when the arena is too small. Bounds are the caller's x_workspace(n). */
void *arena_take(arena *a, size_t size);

#endif
