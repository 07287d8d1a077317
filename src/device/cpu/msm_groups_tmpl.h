/*
 * device/cpu/msm_groups_tmpl.h - the MSM kernels of both groups of the curve that the including file has chosen
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "device/cpu/msm_kernels.h"

#ifndef MSM_LANES
#    define MSM_LANES 0
#endif

#define MSM_GROUP g1
#define MSM_FIELD fp
#define MSM_TWO 0
#include "device/cpu/msm_tmpl.h"
#undef MSM_GROUP
#undef MSM_FIELD
#undef MSM_TWO

#define MSM_GROUP g2
#define MSM_FIELD fp2
#define MSM_TWO 1
#include "device/cpu/msm_tmpl.h"
#undef MSM_GROUP
#undef MSM_FIELD
#undef MSM_TWO

/* In eight lanes an addition takes a quarter of the time; sorting, inversions and sums of lanes take what they took. */
#if MSM_LANES
#    define MSM_READ_MANY(g) g##_read_many
#    define MSM_COSTS .cost_sort = 0.15, .cost_bucket = 1.6, .cost_inversion = 40, .cost_lane = 12
#else
#    define MSM_READ_MANY(g) NULL
#    define MSM_COSTS .cost_sort = 0.06, .cost_bucket = 1, .cost_inversion = 13, .cost_lane = 5.5
#endif

#define MSM_TABLE(g) \
    { \
        .point_size = sizeof(g##_affine), .cell_size = sizeof(g##_cell), \
        .sum_size = sizeof(g##_xyzz), .scratch_size = (sizeof(g##_scratch) + 63) / 64 * 64, \
        .max_lanes = MSM_MAX_LANES, MSM_COSTS, .canon = g##_canon, \
        .to_affine = g##_cells_to_affine, .read = g##_read_point, .read_many = MSM_READ_MANY(g), \
        .rows = g##_rows, .merge = g##_merge, .lanes = g##_lanes, .window = g##_window, \
        .finish = g##_finish, .table_row = g##_table_row, .shift = g##_shift, \
        .table_add = g##_table_add, .fixed_block = MSM_PAIRS / 2, .write = g##_write_point, \
    }
