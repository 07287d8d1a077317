/*
 * device/cuda/cuda_abc.h - rows of a template in the order in which kernels take them
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_CUDA_CUDA_ABC_H
#define DEVICE_CUDA_CUDA_ABC_H

#include "device/backend.h"
#include "device/cuda/kernels.h"

/** The rows of one matrix in slices (cu_sliced), on the host. */
typedef struct cu_rows {
    mem *m;
    uint32_t *order, *start; /* 32 slices; slices + 1 */
    uint32_t slices;
    uint32_t steps; /* of all slices */
} cu_rows;

static inline uint32_t cu_slices_of(uint32_t n_rows)
{
    return n_rows / 32 + (n_rows % 32 != 0 ? 1 : 0);
}

/** row_start: of dev_matrix. Rows of equal length stay in their order. */
CUZK_STATUS cu_rows_make(cu_rows *out, mem *m, const uint32_t *row_start, uint32_t n_rows);
void cu_rows_free(cu_rows *r);

/** code[i]: coefficient i as terms have it. */
CUZK_STATUS cu_coeff_codes(uint32_t **code, mem *m, const curve *cv, const fr *coeffs, size_t n);

/** The pairs of step k of slice i; a row that is shorter has zeros times the constant. */
void cu_rows_step(uint32_t out[64], const cu_rows *r, const dev_template *t, const dev_matrix *m,
                  const uint32_t *code, uint32_t slice, uint32_t step);

#endif
