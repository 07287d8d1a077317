/*
 * device/cuda/cuda_msm_plan.c - the cost model of a sum, and the largest plan that fits the memory
 *
 * Unit: an affine addition with its share of an inversion. A window of c bits costs n additions, and each of its
 * 2^(c-1) buckets about 3: what is left in it is added to a running sum (XYZZ, 1.5 units each) and that to another (2).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/u128.h"
#include "device/cuda/cuda_msm.h"

#define MAX_K \
    ((size_t)224) /* a launch of as many takes under 5 ms on an H200: urgent work waits for one */
#define LEAST_K ((size_t)8) /* below, an inversion outweighs the sums: fewer threads rather */
#define MAX_ENTRIES ((size_t)1 << 27) /* of a group: more save no time */
#define SEGMENTS_WANTED ((size_t)1 << 16)
#define MIN_CHUNK ((size_t)1 << 12)

static unsigned windows_of(unsigned fr_bits, unsigned c)
{
    return (fr_bits + c - 1) / c;
}

size_t cu_msm_elems(const dev_scalars *k, size_t pos, size_t end)
{
    size_t n;

    if (k->is_elem == NULL) return end - pos;
    n = end < k->n ? k->rank64[end / 64] : cu_scalars_elems(k);
    return n - k->rank64[pos / 64];
}

size_t cu_msm_chunk_elems(const dev_scalars *k, size_t chunk)
{
    size_t most = 0;

    if (k->is_elem == NULL) return chunk < k->n ? chunk : k->n;
    for (size_t pos = 0; pos < k->n; pos += chunk) {
        size_t n = cu_msm_elems(k, pos, k->n - pos < chunk ? k->n : pos + chunk);
        if (n > most) most = n;
    }
    return most;
}

static unsigned best_c(unsigned fr_bits, size_t n)
{
    unsigned best = CU_MSM_MIN_C;
    size_t least = SIZE_MAX;

    for (unsigned c = CU_MSM_MIN_C; c <= CU_MSM_MAX_C; c++) {
        size_t cost = windows_of(fr_bits, c) * (n + 3 * ((size_t)1 << (c - 1)));
        if (cost >= least) continue;
        least = cost;
        best = c;
    }
    return best;
}

void cu_msm_level(const cu_msm_plan *p, size_t n, uint32_t *blocks, uint32_t *k)
{
    size_t lanes = p->lanes, per, rounds;

    /* few sums: fewer threads, as long as each multiprocessor has its warps, so that each inverts for more */
    while (lanes > CU_PAIR_THREADS && lanes * 16 > n && lanes / 2 >= p->lanes / 8) lanes /= 2;
    lanes = (lanes + CU_PAIR_THREADS - 1) / CU_PAIR_THREADS * CU_PAIR_THREADS;
    if (lanes > p->lanes) lanes = p->lanes;
    per = (n + lanes - 1) / lanes;
    rounds = (per + p->k - 1) / p->k;
    *k = rounds == 0 ? 1 : (uint32_t)((per + rounds - 1) / rounds);
    *blocks = (uint32_t)(lanes / CU_PAIR_THREADS);
}

/* Sizes that follow from c, group and chunk. */
static void size_up(cu_msm_plan *p, const cu_device *cu, const cu_group_ops *g,
                    const dev_scalars *k, size_t room, size_t point_bytes, size_t elem_bytes)
{
    size_t half = (size_t)1 << (p->c - 1);

    p->max_elems = cu_msm_chunk_elems(k, p->chunk);
    p->buckets = p->group * half + 1;
    p->entries = p->group * p->max_elems + p->chunk;
    p->level[0] = (p->entries + p->buckets) / 2 + 1;
    p->level[1] = (p->level[0] + p->buckets) / 2 + 1;
    p->lanes = (size_t)cu->sms * g->pair_blocks * CU_PAIR_THREADS;
    p->k = MAX_K;
    while (p->k > 1 && (p->lanes * (p->k / 2) >= p->level[0] ||
                        (p->k > LEAST_K && p->lanes * p->k * g->fe_size > room / 8)))
        p->k /= 2;
    while (p->lanes > 8 * CU_PAIR_THREADS && p->lanes * p->k * g->fe_size > room / 8)
        p->lanes = p->lanes / 2 / CU_PAIR_THREADS * CU_PAIR_THREADS;
    p->seg_len = 32;
    while (p->seg_len > 4 && p->group * half / p->seg_len < SEGMENTS_WANTED) p->seg_len /= 2;
    if (p->seg_len > half) p->seg_len = (uint32_t)half;
    p->segs = p->windows * (half / p->seg_len);
    p->bytes = 36 * p->max_elems + 4 * p->chunk; /* base and value, ones */
    p->bytes += 12 * (CU_BINS(p->group, p->c) + 1);
    p->bytes += 4 * p->entries + 12 * (p->buckets + 1); /* entries; counts, offsets twice */
    p->bytes += (p->level[0] + p->level[1]) * g->point_size + 8 * p->level[0]; /* pairs */
    p->bytes += p->lanes * p->k * g->fe_size;
    p->bytes += p->segs * g->sum_size * 3;
    p->bytes += point_bytes * p->chunk + elem_bytes * p->max_elems + p->chunk; /* scalars */
    p->bytes +=
        2 * (CU_STAGE_HALF + ((size_t)2 << 20)) + ((size_t)64 << 20); /* encoded; rounding */
}

cuzk_status cu_msm_plan_make(cu_msm_plan *p, const cu_device *cu, const cu_group_ops *g,
                             const dev_scalars *k, unsigned fr_bits, size_t room,
                             size_t point_bytes, size_t elem_bytes)
{
    size_t elems = cu_msm_chunk_elems(k, k->n == 0 ? 64 : k->n);

    *p = (cu_msm_plan){.chunk = k->n};
    p->c = best_c(fr_bits, elems);
    for (;;) {
        p->windows = windows_of(fr_bits, p->c);
        p->group = p->windows;
        size_up(p, cu, g, k, room, point_bytes, elem_bytes);
        while (p->group > 1 && (p->bytes > room || p->entries > MAX_ENTRIES + p->chunk)) {
            p->group--;
            size_up(p, cu, g, k, room, point_bytes, elem_bytes);
        }
        if (p->bytes <= room && p->entries < CU_MAX_ENTRIES) return CUZK_OK;
        if (p->chunk > MIN_CHUNK) {
            p->chunk = (p->chunk / 2 + 63) / 64 * 64;
        } else if (p->c > CU_MSM_MIN_C) {
            p->chunk = k->n; /* fewer buckets, and from the top again */
            p->c -= p->c > 12 ? 4 : 2;
            if (p->c < CU_MSM_MIN_C) p->c = CU_MSM_MIN_C;
        } else {
            return FAIL(CUZK_EBUDGET,
                        "%s: a sum of %zu points takes %zu MiB at least, %zu are left", cu->name,
                        k->n, p->bytes >> 20, room >> 20);
        }
    }
}
