/*
 * device/cpu/msm_plan.c - the cost model: window, groups, chunks and lanes of an MSM; and what it takes of the memory
 *
 * Unit: one batch-affine addition. A window of c bits has h = 2^(c-1) buckets. With e entries in a window,
 *
 *     e - min(e, h)         into buckets (the first point of a bucket is a copy)
 *     h + min(e, h)         running sums over buckets, most of them in lanes
 *     SORT * e              reading the digit twice, placing an entry
 *     LANE                  the part of a window that is not batched: its lanes' sums, its doublings
 *
 * where e = the number of full scalars, plus that of small ones in the first 64 bits. Ones cost the same for every c. The
 * classes are counted in a sample of SAMPLE elements; a sample that misleads costs time, not correctness.
 *
 * Buckets and entries of a group of windows are in memory at once. One chunk: groups as small as keeps all threads busy
 * and is within GROUP_BYTES. More chunks: points would be read again for each group, so there is one group.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "device/cpu/msm.h"
#include "device/cpu/msm_int.h"

#define COST_SORT 0.06
#define COST_LANE 60.0 /* 34M a lane, some 10 lanes */
#define SAMPLE 512
#define GROUP_BYTES ((size_t)12 << 20)
/* positions in a chunk: the points decoded at once, or scalars and entries alone */
#define CHUNK_DECODED ((size_t)1 << 17)
#define CHUNK_IN_PLACE ((size_t)1 << 18)
/* of the products that are not additions, in additions: an inversion; one lane's share of a window's sum */
#define COST_INVERSION 13.0
#define COST_LANE_SUM 5.5

typedef struct msm_classes {
    double full, small;
} msm_classes;

static double min_of(double a, double b) { return a < b ? a : b; }

static size_t round_up(size_t a, size_t b) { return (a + b - 1) / b * b; }

static double window_cost(double e, double h)
{
    return e == 0 ? 0 : e * (1 + COST_SORT) + h + COST_LANE;
}

static double plan_cost(const msm_classes *n, const curve *cv, unsigned c)
{
    size_t windows = msm_windows(cv, c), small = (64 + c - 1) / c;
    double h = (double)((size_t)1 << (c - 1)), cost = 0;

    if (small > windows) small = windows;
    cost += (double)small * window_cost(n->full + n->small, h);
    cost += (double)(windows - small) * window_cost(n->full, h);
    return cost;
}

/* The smallest window within 2% of the cheapest: half the buckets for nearly nothing. */
static unsigned best_c(const msm_classes *n, const curve *cv)
{
    double best = plan_cost(n, cv, MSM_MIN_C);

    for (unsigned c = MSM_MIN_C + 1; c <= MSM_MAX_C; c++) best = min_of(best, plan_cost(n, cv, c));
    for (unsigned c = MSM_MIN_C; c < MSM_MAX_C; c++)
        if (plan_cost(n, cv, c) <= 1.02 * best) return c;
    return MSM_MAX_C;
}

static msm_classes count_classes(const msm_kernels *k, const curve *cv, const fr *elems, size_t n)
{
    size_t sample = n < SAMPLE ? n : SAMPLE, full = 0, small = 0;
    msm_digits d;

    msm_digits_init(&d, cv, MSM_MIN_C);
    for (size_t i = 0; i < sample; i++) {
        uint64_t v[1][4];
        /* one of each of `sample` equal parts, not always its first */
        k->canon(v, &elems[i * (n / sample) + i * 7919 % (n / sample)], 1);
        (void)msm_take_sign(&d, v[0]); /* the sign does not matter here */
        if ((v[0][1] | v[0][2] | v[0][3]) != 0 || v[0][0] >> MSM_SMALL_BITS != 0) {
            full++;
        } else if (v[0][0] > 1) {
            small++;
        }
    }
    if (sample == 0) return (msm_classes){0, 0};
    return (msm_classes){(double)full * (double)n / (double)sample, (double)small * (double)n / (double)sample};
}

static size_t group_size(size_t windows, size_t window_bytes, unsigned threads)
{
    size_t n_groups = (windows * window_bytes + GROUP_BYTES - 1) / GROUP_BYTES, group;

    if (n_groups == 0) return windows;
    group = round_up((windows + n_groups - 1) / n_groups, threads);
    if (group < 2 * (size_t)threads) group = 2 * (size_t)threads;
    return group < windows ? group : windows;
}

void msm_plan_make(msm_plan *p, const msm_kernels *k, const curve *cv, const dev_scalars *scalars, bool in_place,
                   unsigned threads)
{
    size_t max_chunk = in_place ? CHUNK_IN_PLACE : CHUNK_DECODED, n_elems = msm_rank(scalars, scalars->n);
    msm_classes n = count_classes(k, cv, scalars->elems, n_elems);

    *p = (msm_plan){.c = best_c(&n, cv)};
    p->windows = n_elems == 0 ? 0 : msm_windows(cv, p->c);
    p->chunk = scalars->n < max_chunk ? round_up(scalars->n, MSM_RANGE) : max_chunk;
    if (p->chunk == 0) p->chunk = MSM_RANGE;
    p->n_chunks = (scalars->n + p->chunk - 1) / p->chunk;
    for (size_t pos = 0; pos < scalars->n; pos += p->chunk) {
        size_t end = scalars->n - pos < p->chunk ? scalars->n : pos + p->chunk;
        size_t in_chunk = msm_rank(scalars, end) - msm_rank(scalars, pos);
        if (in_chunk > p->elems) p->elems = in_chunk;
    }
    p->group = p->windows;
    if (p->n_chunks <= 1)
        p->group = group_size(p->windows, (k->point_size << (p->c - 1)) + p->elems * sizeof(uint32_t), threads);
}

/* Long lanes make few of them, whose sums are not batched; short ones make long batches. */
size_t msm_lane_len(size_t windows, size_t half, size_t max_lanes, unsigned threads)
{
    size_t best = 1;
    double best_cost = 0;

    for (size_t len = 1; len <= half; len *= 2) {
        size_t lanes = windows * half / len, tasks = (lanes + max_lanes - 1) / max_lanes, per_task;
        double cost;
        if (tasks < threads) tasks = lanes < threads ? lanes : threads;
        per_task = (lanes + tasks - 1) / tasks;
        cost = (double)((tasks + threads - 1) / threads) * (double)len * (COST_INVERSION + 2 * (double)per_task);
        cost += (double)((windows + threads - 1) / threads) * (double)(half / len) * COST_LANE_SUM;
        if (len == 1 || cost < best_cost) {
            best = len;
            best_cost = cost;
        }
    }
    return best;
}
