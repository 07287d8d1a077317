/*
 * device/cuda/cuda_msm.h - a sum's plan: window, groups of windows, chunks of positions, and the memory they take
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_CUDA_CUDA_MSM_H
#define DEVICE_CUDA_CUDA_MSM_H

#include "device/cuda/cuda_int.h"

typedef struct cu_msm_plan {
    unsigned c, windows;
    unsigned group;   /* windows that are sorted and added at once */
    size_t chunk;     /* positions, a multiple of 64 unless all */
    size_t max_elems; /* elements in a chunk */
    uint32_t seg_len; /* buckets a thread sums up */
    size_t buckets;   /* of a group: group << (c - 1), and one of ones */
    size_t entries;   /* of a group, ones included */
    size_t level[2];  /* points in the buffers of odd and even levels */
    size_t lanes, k;  /* threads of cu_pairs and sums with one inversion, at most */
    size_t segs;      /* segments of all windows */
    size_t bytes;     /* device memory of it all */
} cu_msm_plan;

#define CU_MSM_MIN_C 4u
#define CU_MSM_MAX_C 22u

/** Elements among positions [pos, end) of k; both are multiples of 64, or end is all. */
size_t cu_msm_elems(const dev_scalars *k, size_t pos, size_t end);
/** The most elements that `chunk` positions of k have. */
size_t cu_msm_chunk_elems(const dev_scalars *k, size_t chunk);
/** A plan that takes at most `room` bytes, point_bytes for each position of a chunk and elem_bytes for each element of it
 *  among them; CUZK_EBUDGET when even the smallest takes more. */
CUZK_STATUS cu_msm_plan_make(cu_msm_plan *p, const cu_device *cu, const cu_group_ops *g,
                             const dev_scalars *k, unsigned fr_bits, size_t room,
                             size_t point_bytes, size_t elem_bytes);
/** Threads and sums with one inversion for a level of n sums. */
void cu_msm_level(const cu_msm_plan *p, size_t n, uint32_t *blocks, uint32_t *k);

#endif
