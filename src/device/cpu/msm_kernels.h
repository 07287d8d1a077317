/*
 * device/cpu/msm_kernels.h - what a curve, a group and a CPU table bring to the MSM: one table of functions
 *
 * The scheduler (msm.c and its files) decides which points meet which bucket, in which order and on which thread; it
 * never looks inside a point. Kernels do the additions. A faster table is one more file that
 * exports two of these. Points lie as in memory and POINT_LEM: x, y in Montgomery limbs, all zero is infinity.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_CPU_MSM_KERNELS_H
#define DEVICE_CPU_MSM_KERNELS_H

#include "algebra/curve.h"

/** An entry: a point's index << 1, plus 1 when it is to be subtracted. */
#define MSM_MAX_POINTS ((size_t)1 << 31)

#define MSM_MAX_CELL ((size_t)256)

/** A run of entries that lie sorted by row. Row i holds entries [row_end[i - 1], row_end[i]). */
typedef struct msm_slice {
    const uint8_t *points; /* affine, at any alignment */
    const uint32_t *entries;
    const uint32_t *row_end;
    void *buckets;     /* one cell for each row */
    size_t begin, end; /* this slice's entries, begin < end */
    size_t row;        /* the row that entry `begin` is in */
    bool fresh;        /* all buckets are infinity yet: they need not be read */
} msm_slice;

/** n lanes, from lane `first` of all windows' on. A window has `apart` lanes of len buckets; lane l of it has its buckets l, l + apart, ...:
 *  so lanes that go on side by side read memory from end to end. */
typedef struct msm_lanes {
    const void *buckets; /* of the first window */
    size_t first, n;
    size_t len, apart;
} msm_lanes;

/** Where lane i of these has its first bucket. */
static inline size_t msm_lane_begin(const msm_lanes *l, size_t i)
{
    size_t lane = l->first + i;
    return lane / l->apart * l->apart * l->len + lane % l->apart;
}

/** Lanes of a window that are left when lanes have been taken together (msm_sum.c). */
#define MSM_TOP ((size_t)8)

/** What is left of a window: n <= MSM_TOP lanes, cells; n a power of two. Its sum is that of (i + 1) plain[i] + n weighted[i] +
 *  n 2^log total[i]. */
typedef struct msm_tops {
    const void *plain, *weighted, *total; /* total: or NULL */
    size_t n;
    unsigned log;
} msm_tops;

typedef struct msm_kernels {
    size_t point_size; /* an affine point as it lies in memory */
    size_t
        cell_size; /* a point in the table's own form, at most MSM_MAX_CELL: all zero is infinity */
    size_t sum_size;     /* a sum that is not yet affine */
    size_t scratch_size; /* of one worker */
    size_t max_lanes;    /* that `lanes` takes at once */

    /* for the plan (msm_plan.c), in batched additions: sorting an entry, a bucket, a batch's inversion, a lane's share of its window's sum */
    double cost_sort, cost_bucket, cost_inversion, cost_lane;

    /** Canonical limbs of n scalars. */
    void (*canon)(uint64_t (*out)[4], const fr *in, size_t n);
    /** Canonical and on the curve, or why not. */
    point_err (*read)(void *out, const uint8_t *in, point_enc enc);
    /* Buckets, partials, ones, rows of a table of multiples and acc are cells; other points are affine. */

    /** Cells to affine points; out may begin where cells does. */
    void (*to_affine)(void *out, const void *cells, size_t n);

    /** Reads n <= 64 points from in[i] to out[i], or where all of out is NULL only checks them. Bit i of what it returns: point i is
     *  right and not infinity. The others are for `read`, which tells what they are. NULL: `read` alone. */
    uint64_t (*read_many)(void *const *out, const uint8_t *const *in, size_t n, point_enc enc);
    /** Adds the points of a slice to their rows' buckets. The part of a row that began before the slice goes to
     *  *partial instead; true when there is one. So slices can be worked on at the same time. */
    bool (*rows)(const msm_slice *s, void *partial, void *scratch);
    /** buckets[rows[i]] += partials[i]; rows ascend, equal ones stand together. */
    void (*merge)(void *buckets, const uint32_t *rows, const void *partials, size_t n,
                  void *scratch);
    /** For each lane, b its buckets: plain = sum of b[j], weighted = sum of j b[j], all cells. */
    void (*lanes)(void *plain, void *weighted, const msm_lanes *l, void *scratch);
    /** *sum = sum of (i + 1) times bucket i of a window, from the cells of its lanes. */
    void (*window)(void *sum, const msm_tops *t);
    /** *r (affine) = *ones + sum of 2^(c w) windows[w]. */
    void (*finish)(void *r, const void *windows, size_t n, unsigned c, const void *ones);

    /* fixed base (fixed_base.c); a table has rows of `half` points, row w: 1 .. half times 2^(c w) * base */
    void (*table_row)(void *row, const void *base, size_t half, void *scratch);
    /** next = 2^c * base, affine. */
    void (*shift)(void *next, const void *base, unsigned c);
    /** acc[i] += sign(d[i]) * row[|d[i]| - 1] for i < n <= fixed_block; d[i] = 0 adds nothing. */
    void (*table_add)(void *acc, const void *row, const int32_t *d, size_t n, void *scratch);
    size_t fixed_block;
    void (*write)(uint8_t *out, const void *a, point_enc enc);
} msm_kernels;

/** NULL for a CPU table that was not built. */
const msm_kernels *msm_kernels_get(curve_id id, cpu_table t, bool g2);

/* one of each in msm_<curve>_<table>.c: [0] G1, [1] G2 */
extern const msm_kernels msm_bls_generic[2], msm_bn_generic[2];
extern const msm_kernels msm_bls_adx[2], msm_bn_adx[2];
extern const msm_kernels msm_bls_ifma[2], msm_bn_ifma[2];

#endif
