/*
 * device/cuda/cuda_mem.c - device memory: blocks from the driver, kept when they are given back, under a limit
 *
 * A block serves a request that it exceeds by a quarter at most, so a steady state asks the driver for nothing. When the
 * limit or the driver says no, idle blocks go first, then domains and what else is kept that nobody uses. When the driver still
 * says no, others have what was ours to use: the limit becomes what there is, so that the next plan fits, until it is back.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <cuda_runtime_api.h>

#include "device/cuda/cuda_int.h"

#define GRAIN_SMALL ((size_t)4096)
#define GRAIN_LARGE ((size_t)2 << 20)

static size_t rounded(size_t size)
{
    size_t grain = size < GRAIN_LARGE ? GRAIN_SMALL : GRAIN_LARGE;
    return (size + grain - 1) / grain * grain + (size == 0 ? grain : 0);
}

static cu_block *best_fit(cu_device *cu, size_t size)
{
    cu_block *best = NULL;

    for (cu_block *b = cu->blocks; b < cu->blocks + CU_BLOCKS; b++)
        if (b->p != NULL && !b->taken && b->size >= size &&
            b->size - size <= size / 4 + GRAIN_SMALL && (best == NULL || b->size < best->size))
            best = b;
    return best;
}

static cu_block *free_record(cu_device *cu)
{
    for (cu_block *b = cu->blocks; b < cu->blocks + CU_BLOCKS; b++)
        if (b->p == NULL) return b;
    return NULL;
}

/* Idle blocks back to the driver; waits for the device, as cudaFree does. */
static void trim_locked(cu_device *cu)
{
    for (cu_block *b = cu->blocks; b < cu->blocks + CU_BLOCKS; b++) {
        if (b->p == NULL || b->taken) continue;
        cu->allocated -= b->size;
        (void)cudaFree(b->p); /* an error here is seen by the next call */
        b->p = NULL;
    }
}

static void make_room_locked(cu_device *cu, size_t size, residency_hold hold)
{
    trim_locked(cu);
    if (cu->allocated + size <= cu->limit) return;
    cu_domains_evict_locked(cu);
    trim_locked(cu);
    if (cu->allocated + size <= cu->limit) return;
    cu_kept_evict_locked(cu, size, hold);
    trim_locked(cu);
}

/* Where the driver has less left than is ours to use: not all of that, which may lie in pieces. */
static size_t within_reach(const cu_device *cu, size_t left)
{
    size_t all = cu->allocated + left;

    return all >= cu->full ? cu->full : all - left / 8;
}

void cu_limit_locked(cu_device *cu)
{
    size_t left, total;

    if (cu->limit == cu->full) return;
    if (cudaMemGetInfo(&left, &total) == cudaSuccess && within_reach(cu, left) > cu->limit)
        cu->limit = within_reach(cu, left);
    (void)cudaGetLastError();
}

static cuzk_status taken_by_others_locked(cu_device *cu, size_t size)
{
    size_t left = 0, total = 0;

    (void)cudaGetLastError();
    if (cudaMemGetInfo(&left, &total) == cudaSuccess && within_reach(cu, left) < cu->limit)
        cu->limit = within_reach(cu, left);
    (void)cudaGetLastError();
    return FAIL(
        CUZK_ENOMEM,
        "%s: cudaMalloc: out of memory: %zu MiB wanted, %zu of %zu MiB are free, %zu are ours",
        cu->name, size >> 20, left >> 20, total >> 20, cu->allocated >> 20);
}

static cuzk_status new_block_locked(cu_device *cu, void **out, size_t size, residency_hold hold)
{
    cu_block *b;
    void *p = NULL;

    if (size > cu->limit || cu->allocated > cu->limit - size || free_record(cu) == NULL)
        make_room_locked(cu, size, hold);
    b = free_record(cu);
    if (size > cu->limit || cu->allocated > cu->limit - size || b == NULL)
        return FAIL(CUZK_EBUDGET, "%s: %zu MiB wanted, %zu of %zu MiB in use", cu->name, size >> 20,
                    cu->used >> 20, cu->limit >> 20);
    int err = (int)cudaMalloc(&p, size);
    if (err == cudaErrorMemoryAllocation) { /* others have what should be left */
        (void)cudaGetLastError();           /* this error, which does not stick */
        cu_domains_evict_locked(cu);
        cu_kept_evict_locked(cu, SIZE_MAX, hold);
        trim_locked(cu);
        err = (int)cudaMalloc(&p, size);
    }
    if (err == cudaErrorMemoryAllocation) return taken_by_others_locked(cu, size);
    if (err != 0) return cu_fail(cu, err, "cudaMalloc", __FILE__, __LINE__);
    *b = (cu_block){.p = p, .size = size, .taken = true};
    cu->allocated += size;
    *out = p;
    return CUZK_OK;
}

static cuzk_status alloc_locked(cu_device *cu, void **out, size_t size, residency_hold hold)
{
    cuzk_status st = CUZK_OK;
    cu_block *b;

    size = rounded(size);
    b = best_fit(cu, size);
    if (b != NULL) {
        b->taken = true;
        *out = b->p;
        cu->used += b->size;
    } else {
        st = new_block_locked(cu, out, size, hold);
        if (st == CUZK_OK) cu->used += size;
    }
    if (cu->used > cu->peak) cu->peak = cu->used;
    return st;
}

cuzk_status cu_alloc(cu_device *cu, void **out, size_t size)
{
    (void)pthread_mutex_lock(&cu->mu);
    cuzk_status st = alloc_locked(cu, out, size, cu_kept_work_hold_locked(cu));
    (void)pthread_mutex_unlock(&cu->mu);
    return st;
}

cuzk_status cu_alloc_kept(cu_device *cu, void **out, size_t size)
{
    (void)pthread_mutex_lock(&cu->mu);
    cuzk_status st = alloc_locked(cu, out, size, RESIDENCY_IDLE);
    (void)pthread_mutex_unlock(&cu->mu);
    return st;
}

/* mu is held: also by the lists that give up what they keep */
static void release_locked(cu_device *cu, const void *p)
{
    for (cu_block *b = cu->blocks; b < cu->blocks + CU_BLOCKS; b++) {
        if (b->p != p) continue;
        VERIFY(b->taken);
        b->taken = false;
        cu->used -= b->size;
    }
}

void cu_release(cu_device *cu, void *p)
{
    if (p == NULL) return;
    (void)pthread_mutex_lock(&cu->mu);
    release_locked(cu, p);
    (void)pthread_mutex_unlock(&cu->mu);
}

void cu_release_locked(cu_device *cu, void *p)
{
    if (p != NULL) release_locked(cu, p);
}

void cu_trim(cu_device *cu)
{
    (void)pthread_mutex_lock(&cu->mu);
    trim_locked(cu);
    (void)pthread_mutex_unlock(&cu->mu);
}

void cu_mem_close(cu_device *cu)
{
    VERIFY(cu->used == 0);
    trim_locked(cu);
}
