/*
 * device/cpu/kernels_tmpl.h - one table of kernels; define KERNELS_NAME, the curve and FIELD_ADX before
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "device/cpu/kernels.h"

#include "algebra/field_inl.h"
#include "base/u128.h"

#include <string.h>

#include "device/cpu/abc_tmpl.h"
#include "device/cpu/ntt_tmpl.h"
#include "device/cpu/vec_tmpl.h"

const cpu_kernels KERNELS_NAME = {
    .ntt_down = ntt_down,
    .ntt_up = ntt_up,
    .ntt_scale = ntt_scale,
    .ntt_scale_by = ntt_scale_by,
    .ntt_settle = ntt_settle,
    .mul = vec_mul,
    .mul_const = vec_mul_const,
    .mul_powers = vec_mul_powers,
    .powers = vec_powers,
    .quotient = vec_quotient,
    .abc_rows = abc_rows,
};
