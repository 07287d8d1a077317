/*
 * device/cpu/msm_int.h - the parts of one MSM in progress, shared by msm*.c
 *
 * Walk: msm.c takes positions chunk by chunk. For a chunk msm_scalars.c reads scalars and points and lists entries by
 * class, msm_sort.c sorts them by row, and slices of equal length are summed into buckets by any thread. After the last
 * chunk the buckets are summed to windows and the windows to the result.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_CPU_MSM_INT_H
#define DEVICE_CPU_MSM_INT_H

#include "device/backend.h"
#include "device/cpu/msm_digits.h"
#include "device/cpu/msm_kernels.h"

/** Positions of one task that reads scalars: a multiple of 64. */
#define MSM_RANGE ((size_t)1024)

/** Of the block that holds a run's arrays, before these. */
#define MSM_BLOCK_HEAD ((size_t)64)

/** What is chosen before the start (msm_plan.c). */
typedef struct msm_plan {
    unsigned c;
    size_t windows; /* 0: no elements at all */
    size_t group;   /* windows worked on at a time: all of them when there is more than one chunk */
    size_t chunk;   /* positions, a multiple of MSM_RANGE */
    size_t n_chunks;
    size_t cell_size;
    size_t elems; /* elements in a chunk at most */
    size_t part;  /* positions sorted at a time, a multiple of MSM_RANGE */
    size_t part_elems;
} msm_plan;

/** Entries found in MSM_RANGE positions. */
typedef struct msm_range {
    size_t pos;       /* first position */
    size_t base;      /* base of that position (if it takes part), from the chunk's first base */
    size_t slot;      /* its first element's slot in the chunk */
    size_t slots;     /* elements in the range */
    uint32_t n_ones;  /* in ones[pos - chunk_pos ..] */
    uint32_t n_full;  /* in slots from the front */
    uint32_t n_small; /* in slots from the back */
} msm_range;

typedef struct msm_value {
    uint64_t l[4];
} msm_value;

typedef struct msm_run {
    /* fixed after init */
    dev_stream *s;
    const msm_kernels *k;
    const dev_points *bases;
    const dev_scalars *scalars;
    size_t first_base;
    size_t point_bytes; /* encoded */
    bool in_place;      /* points are used where they lie; else decoded first */
    msm_plan plan;
    msm_digits digits;
    pool *pool;
    unsigned threads;

    /* the group of windows, and whether the row of scalars 1 and -1 goes with it */
    size_t w0, n_windows;
    bool with_ones;
    bool fresh; /* no part has been summed: the sort empties the windows' buckets */

    /* the chunk */
    size_t pos, end; /* positions */
    size_t base;     /* base index of the first position */
    size_t n_bases;
    size_t n_ranges;
    msm_range *ranges;
    uint32_t *ones;       /* entries with scalar 1 or -1 */
    uint32_t *slot_entry; /* entries of elements, and their values, by slot */
    msm_value *slot_value;
    uint8_t *decoded; /* by base index in the chunk; NULL when in place */

    /* the part of the chunk: ranges [first_range, end_range), whose elements begin at first_slot */
    size_t first_range, end_range, first_slot;
    size_t n_entries, n_slices;
    uint32_t
        *part_keys;    /* of each window of the group, part_elems apart; by slot from first_slot */
    uint32_t *row_end; /* of each row of the group */
    uint32_t *entries; /* sorted by row */
    size_t window_entries[MSM_MAX_WINDOWS + 1]; /* in each window of the group; the ones last */
    uint8_t *partials;                          /* one for each slice */
    uint32_t *partial_rows;

    /* all along */
    uint8_t *buckets;      /* of each row of the group */
    uint8_t *lanes, *tops; /* cells: two of each lane of the group; two of each of its top lanes */
    uint8_t *sums;         /* of each window */
    uint8_t *scratch;      /* threads * k->scratch_size */
} msm_run;

/* msm_plan.c */
/** Who sums n points: kernels, pool and threads. Few points are not worth trays of eights, nor waking anyone. */
void msm_run_choose(msm_run *r, const device *d, curve_id id, bool g2, size_t n);
void msm_plan_make(msm_plan *p, const msm_kernels *k, const curve *cv, const dev_scalars *scalars,
                   bool in_place, unsigned threads);
/** The same for several vectors of scalars, each from a multiple of MSM_RANGE on, as one chunk and one part (at most 2^17 positions), in one
 *  group. */
void msm_plan_joined(msm_plan *p, const msm_kernels *k, const curve *cv,
                     const dev_scalars *const *parts, size_t n_parts, bool in_place);
/** Gives each array of a run, whose plan is made, its place in a block at base, and returns the block's size; base NULL: the size alone.
 *  Nothing in it need be zero. */
size_t msm_lay_out(msm_run *r, uint8_t *base);
/** The same for what a chunk's reading leaves and windows' sums, and for what groups of windows are worked on in, one after the other. */
size_t msm_lay_out_chunk(msm_run *r, uint8_t *base);
size_t msm_lay_out_group(msm_run *r, uint8_t *base);
/** Tasks that this many lanes are cut in. */
size_t msm_lane_tasks(const msm_kernels *k, size_t lanes, unsigned threads);
/** Buckets of one lane: a power of two. */
size_t msm_lane_len(const msm_kernels *k, size_t windows, size_t half, unsigned threads);
/** What it costs to add up the buckets of windows of `half` each, in lanes of that length. */
double msm_lanes_cost(const msm_kernels *k, size_t windows, size_t half, size_t len,
                      unsigned threads);
/** Slices that n entries are cut in; fewer entries are cut in one more at most. */
size_t msm_slice_count(size_t n, unsigned threads);
/** Rows of a group: its windows' buckets, and one for scalars 1 and -1. */
static inline size_t msm_rows(size_t n_windows, unsigned c)
{
    return (n_windows << (c - 1)) + 1;
}

/* dev_scalars by position */
static inline size_t msm_rank(const dev_scalars *k, size_t pos)
{
    size_t r;
    if (k->is_elem == NULL) return pos;
    if (pos == 0) return 0;
    if (pos % 64 == 0 && pos < k->n) return k->rank64[pos / 64];
    r = k->rank64[(pos - 1) / 64];
    return r + u64_popcount(k->is_elem[(pos - 1) / 64] & (~(uint64_t)0 >> (63 - (pos - 1) % 64)));
}

/* msm.c: memory for all arrays of a run whose plan is made, which msm_leave takes back, NULL too; left as it is found. */
typedef struct msm_block msm_block;
CUZK_STATUS msm_take(msm_run *r, msm_block **block);
void msm_leave(dev_stream *s, msm_block *b);
/* The next group of windows, whose buckets the first sort empties; the row of ones goes with the first. */
void msm_group_begin(msm_run *r, size_t w0, bool with_ones);

/* msm_scalars.c: fills ranges, ones, slots, decoded of the chunk [r->pos, r->end) */
CUZK_STATUS msm_read_chunk(msm_run *r);
/* its two steps: what ranges there are, and one of them */
void msm_list_ranges(msm_run *r);
CUZK_STATUS msm_read_range(msm_run *r, size_t index);
/* msm_sort.c: fills entries and row_end, for the part and the group; n_entries */
CUZK_STATUS msm_sort_part(msm_run *r);
/* msm_sum.c: the sorted entries into buckets; a group's buckets into sums */
CUZK_STATUS msm_fill_buckets(msm_run *r);
CUZK_STATUS msm_sum_buckets(msm_run *r);

#endif
