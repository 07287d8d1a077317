/*
 * device/cpu/kernels_tmpl.h - one table of kernels; define KERNELS_NAME, the curve and FIELD_ADX before
 *
 * KERNELS_LANES: eight lanes, with KERNELS_SMALL for what is too small for them.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "device/cpu/kernels.h"

#include "algebra/field_inl.h"
#include "base/u128.h"

#include <string.h>

#include "device/cpu/abc_tmpl.h"
#ifdef KERNELS_LANES
#    include "algebra/lanes_inl.h"

#    include "device/cpu/ntt_lanes_tmpl.h"
#    include "device/cpu/vec_lanes_tmpl.h"
#    define KERNELS_TILE \
        .tile_size = sizeof(fr_x8) / LANES, .tile_width = LANES, .tile_log = 6, .max_log = 12, \
        .one_pass = 12, .small = &KERNELS_SMALL, .ntt_store_down = ntt_store_turned
#else
#    include "device/cpu/ntt_tmpl.h"
#    include "device/cpu/vec_tmpl.h"
#    define KERNELS_TILE \
        .tile_size = sizeof(fr), .tile_width = 1, .tile_log = 0, .max_log = DEV_MAX_LOG_N, \
        .in_place = true, .one_pass = 9, .ntt_store_down = ntt_store_down
#endif

const cpu_kernels KERNELS_NAME = {
    KERNELS_TILE,
    .ntt_load = ntt_load,
    .ntt_store = ntt_store,
    .ntt_down = ntt_down,
    .ntt_up = ntt_up,
    .ntt_scale = ntt_scale,
    .ntt_scale_by = ntt_scale_by,
    .ntt_factors = ntt_factors,
    .ntt_tw_double = ntt_tw_double,
    .ntt_tw_local = ntt_tw_local,
    .ntt_tw_get = ntt_tw_get,
    .mul = vec_mul,
    .mul_const = vec_mul_const,
    .mul_powers = vec_mul_powers,
    .powers = vec_powers,
    .quotient = vec_quotient,
    .abc_rows = abc_rows,
};
