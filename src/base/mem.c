/*
 * base/mem.c - budgets of memory, and the blocks charged to them
 *
 * A block is a 64-byte header, then the caller's bytes. Small blocks come from the C library; from
 * MAP_FROM bytes on a block is a mapping of its own whose data starts on a huge page, with the
 * header before it, so that zeroing is the kernel's and freeing gives the memory back at once.
 *
 * A budget's counters are atomics and there is no lock. They order nothing but themselves, hence
 * memory_order_relaxed throughout: blocks reach other threads by whatever the caller uses for that.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/mem.h"

#include "base/u128.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define ALIGN ((size_t)64)
#define PAGE ((size_t)4096) /* what charges are rounded to */
/* what mappings are cut at: a multiple of every page size in use */
#define GRAIN ((size_t)64 << 10)
#define HUGE ((size_t)2 << 20)
#define MAP_FROM HUGE
#define MAX_BLOCK ((size_t)1 << 39) /* 512 GiB */
#define HEAD_MAGIC UINT64_C(0x6d656d2d626c6f63)

/* Under AddressSanitizer every block comes from the C library at its exact size, so that a byte
 * beyond a big one is noticed too. */
#if defined(__SANITIZE_ADDRESS__)
#    define EXACT_BLOCKS 1
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer)
#        define EXACT_BLOCKS 1
#    endif
#endif
#ifndef EXACT_BLOCKS
#    define EXACT_BLOCKS 0
#endif

struct mem {
    /* fixed after init */
    mem *parent;
    size_t limit;
    char name[48];
    /* atomics */
    _Atomic size_t used, peak;
    _Atomic unsigned long fault; /* mem_new calls until one fails; 0: off */
    _Atomic bool fault_hit;
};

typedef struct head {
    mem *owner;
    void *base;  /* what to unmap or free */
    size_t span; /* bytes mapped from base; 0: from the C library */
    size_t cost; /* bytes charged */
    uint64_t magic;
    uint64_t pad[3];
} head;

_Static_assert(sizeof(head) == ALIGN, "the header keeps the alignment of the data");

/* Sizes beyond any machine are refused before they are rounded up; sanitizers would end the process. */
static bool is_absurd(size_t size)
{
    return size > MAX_BLOCK;
}

size_t mem_cost(size_t size)
{
    if (is_absurd(size)) return SIZE_MAX;
    if (size >= MAP_FROM) return ((size + PAGE - 1) & ~(PAGE - 1)) + PAGE;
    return ((size + ALIGN - 1) & ~(ALIGN - 1)) + ALIGN;
}

cuzk_status mem_open(mem **out, const char *name, size_t limit, mem *parent)
{
    mem *m = calloc(1, sizeof *m);

    if (m == NULL) return FAIL(CUZK_ENOMEM, "budget %s: out of memory", name);
    m->parent = parent;
    m->limit = limit;
    (void)snprintf(m->name, sizeof m->name, "%s", name); /* cut to fit is fine */
    *out = m;
    return CUZK_OK;
}

void mem_close(mem *m)
{
    if (m == NULL) return;
    VERIFY(atomic_load_explicit(&m->used, memory_order_relaxed) == 0);
    free(m);
}

/* Counts one mem_new down; true when this is the one that has to fail. */
static bool fault_due(mem *m)
{
    unsigned long k = atomic_load_explicit(&m->fault, memory_order_relaxed);

    while (k != 0) {
        if (atomic_compare_exchange_weak_explicit(&m->fault, &k, k - 1, memory_order_relaxed,
                                                  memory_order_relaxed)) {
            if (k != 1) return false;
            atomic_store_explicit(&m->fault_hit, true, memory_order_relaxed);
            return true;
        }
    }
    return false;
}

static void uncharge(mem *m, size_t cost)
{
    for (; m != NULL; m = m->parent)
        atomic_fetch_sub_explicit(&m->used, cost, memory_order_relaxed);
}

static void raise_peak(mem *m, size_t used)
{
    size_t peak = atomic_load_explicit(&m->peak, memory_order_relaxed);

    while (used > peak && !atomic_compare_exchange_weak_explicit(
                              &m->peak, &peak, used, memory_order_relaxed, memory_order_relaxed)) {
    }
}

/* Charges m and all above it, or none of them. A peak counts only what was really given. */
static cuzk_status charge(mem *m, size_t cost)
{
    size_t used;
    cuzk_status st;

    if (m == NULL) return CUZK_OK;
    used = atomic_load_explicit(&m->used, memory_order_relaxed);
    do {
        if (m->limit != 0 && (used > m->limit || cost > m->limit - used))
            return FAIL(CUZK_EBUDGET, "budget %s: %zu bytes wanted, %zu of %zu in use", m->name,
                        cost, used, m->limit);
    } while (!atomic_compare_exchange_weak_explicit(&m->used, &used, used + cost,
                                                    memory_order_relaxed, memory_order_relaxed));
    st = charge(m->parent, cost);
    if (st == CUZK_OK)
        raise_peak(m, used + cost);
    else
        atomic_fetch_sub_explicit(&m->used, cost, memory_order_relaxed);
    return st;
}

/* A mapping whose byte GRAIN is on a huge page; *base and *span are what to unmap. */
static uint8_t *map_block(size_t size, void **base, size_t *span)
{
    size_t want = ((size + GRAIN - 1) & ~(GRAIN - 1)) + GRAIN;
    size_t total = want + HUGE;
    uint8_t *p = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t lead;

    if (p == MAP_FAILED) return NULL;
    /* give back what lies before the header's page and behind the data */
    lead = (HUGE - (((uintptr_t)p + GRAIN) & (HUGE - 1))) & (HUGE - 1);
    if (lead != 0) (void)munmap(p, lead);
    p += lead;
    if (total - lead > want) (void)munmap(p + want, total - lead - want);
    (void)madvise(p + GRAIN, want - GRAIN, MADV_HUGEPAGE); /* a hint: kernels without it refuse */
    *base = p;
    *span = want;
    return p + GRAIN;
}

static uint8_t *heap_block(size_t size, void **base)
{
    /* not even an empty block points past its end: LeakSanitizer would not see that it is held */
    size_t total = EXACT_BLOCKS ? size + ALIGN + (size == 0) : mem_cost(size);
    void *p = NULL;

    if (posix_memalign(&p, ALIGN, total) != 0) return NULL;
    memset(p, 0, total);
    *base = p;
    return (uint8_t *)p + ALIGN;
}

void *mem_new(mem *m, size_t n, size_t size, cuzk_status *st)
{
    size_t total, cost, span = 0;
    void *base = NULL;
    uint8_t *p;
    head *h;
    bool due = false;

    for (mem *b = m; b != NULL; b = b->parent) due = fault_due(b) || due;
    if (due) {
        *st = FAIL(CUZK_ENOMEM, "budget %s: out of memory (injected fault)", m->name);
        return NULL;
    }
    if (!size_mul(&total, n, size) || is_absurd(total)) {
        *st = FAIL(CUZK_ENOMEM, "budget %s: %zu elements of %zu bytes wanted", m->name, n, size);
        return NULL;
    }
    cost = mem_cost(total);
    *st = charge(m, cost);
    if (*st != CUZK_OK) return NULL;
    p = total >= MAP_FROM && !EXACT_BLOCKS ? map_block(total, &base, &span)
                                           : heap_block(total, &base);
    if (p == NULL) {
        uncharge(m, cost);
        *st = FAIL(CUZK_ENOMEM, "budget %s: the machine has no %zu bytes", m->name, cost);
        return NULL;
    }
    h = (head *)(void *)(p - sizeof *h);
    h->owner = m;
    h->base = base;
    h->span = span;
    h->cost = cost;
    h->magic = HEAD_MAGIC;
    return p;
}

void mem_free(mem *m, void *p)
{
    head *h;

    if (p == NULL) return;
    h = (head *)p - 1;
    VERIFY(h->magic == HEAD_MAGIC);
    VERIFY(h->owner == m);
    h->magic = 0; /* a second free is noticed while the memory is still there */
    (void)m;      /* the header knows better */
    uncharge(h->owner, h->cost);
    if (h->span != 0)
        (void)munmap(h->base, h->span);
    else
        free(h->base);
}

size_t mem_used(const mem *m)
{
    return atomic_load_explicit(&m->used, memory_order_relaxed);
}

size_t mem_peak(const mem *m)
{
    return atomic_load_explicit(&m->peak, memory_order_relaxed);
}

void mem_reset_peak(mem *m)
{
    atomic_store_explicit(&m->peak, mem_used(m), memory_order_relaxed);
}

void mem_inject_fault(mem *m, unsigned long k)
{
    atomic_store_explicit(&m->fault_hit, false, memory_order_relaxed);
    atomic_store_explicit(&m->fault, k, memory_order_relaxed);
}

bool mem_fault_hit(const mem *m)
{
    return atomic_load_explicit(&m->fault_hit, memory_order_relaxed);
}

cuzk_status arena_init(arena *a, mem *m, size_t size)
{
    cuzk_status st = CUZK_OK;

    a->m = m;
    a->used = 0;
    a->size = 0;
    a->base = mem_new(m, size, 1, &st);
    if (a->base != NULL) a->size = size;
    return st;
}

void arena_clear(arena *a)
{
    mem_free(a->m, a->base);
    a->base = NULL;
    a->size = a->used = 0;
}

void *arena_take(arena *a, size_t size)
{
    size_t at = (a->used + ALIGN - 1) & ~(ALIGN - 1);

    if (at > a->size || size > a->size - at) return NULL;
    a->used = at + size;
    return a->base + at;
}
