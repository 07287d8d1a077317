/*
 * device/cuda/cuda_abc_rows.c - rows of a template by length, in slices of 32, and their terms as kernels read them
 *
 * A warp takes as long as its longest row, and templates have rows of one term beside rows of hundreds: in the order of the
 * circuit most lanes would wait.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <string.h>

#include "device/cuda/cuda_abc.h"

#define LONGEST 1024u /* rows of more terms than this are not told apart */

static uint32_t length_class(const uint32_t *row_start, uint32_t row)
{
    uint32_t n = row_start[row + 1] - row_start[row];

    return LONGEST - (n < LONGEST ? n : LONGEST); /* the longest come first */
}

/* Counting sort: rows of a class keep their order. */
static void sort_rows(cu_rows *r, const uint32_t *row_start, uint32_t n_rows)
{
    uint32_t place[LONGEST + 2] = {0};

    for (uint32_t i = 0; i < n_rows; i++) place[length_class(row_start, i) + 1]++;
    for (uint32_t c = 0; c <= LONGEST; c++) place[c + 1] += place[c];
    for (uint32_t i = 0; i < n_rows; i++) r->order[place[length_class(row_start, i)]++] = i;
    for (size_t i = n_rows; i < (size_t)32 * r->slices; i++) r->order[i] = CU_NO_ROW;
}

cuzk_status cu_rows_make(cu_rows *out, mem *m, const uint32_t *row_start, uint32_t n_rows)
{
    cu_rows r = {.m = m, .slices = cu_slices_of(n_rows)};
    uint64_t steps = 0;
    cuzk_status st;

    r.order = mem_new(m, (size_t)32 * r.slices, sizeof *r.order, &st);
    if (r.order != NULL) r.start = mem_new(m, (size_t)r.slices + 1, sizeof *r.start, &st);
    if (r.start == NULL) {
        cu_rows_free(&r);
        return st;
    }
    sort_rows(&r, row_start, n_rows);
    for (uint32_t i = 0; i < r.slices; i++) {
        uint32_t most = 0;
        r.start[i] = (uint32_t)steps;
        for (uint32_t k = 32 * i; k < 32 * i + 32 && k < n_rows; k++) {
            uint32_t n = row_start[r.order[k] + 1] - row_start[r.order[k]];
            if (n > most) most = n;
        }
        steps += most; /* at most as many as there are terms */
    }
    r.start[r.slices] = r.steps = (uint32_t)steps;
    *out = r;
    return CUZK_OK;
}

void cu_rows_free(cu_rows *r)
{
    mem_free(r->m, r->order);
    mem_free(r->m, r->start);
    *r = (cu_rows){0};
}

/* v in *out when it is a number of at most CU_COEFF_MAX. */
static bool small_number(uint32_t *out, const curve *cv, const fr *v)
{
    uint32_t low = 0;
    scalar k;

    cv->fr_to_scalar(&k, v);
    for (int i = 4; i < 32; i++)
        if (k.b[i] != 0) return false;
    for (int i = 3; i >= 0; i--) low = low << 8 | k.b[i];
    *out = low;
    return low <= (uint32_t)CU_COEFF_MAX;
}

cuzk_status cu_coeff_codes(uint32_t **code, mem *m, const curve *cv, const fr *coeffs, size_t n)
{
    cuzk_status st;
    uint32_t *out = mem_new(m, n, sizeof *out, &st), v;

    *code = out;
    if (out == NULL) return st;
    for (size_t i = 0; i < n; i++) {
        fr minus;
        cv->fr_neg(&minus, &coeffs[i]);
        if (small_number(&v, cv, &coeffs[i])) {
            out[i] = CU_COEFF_INT | v;
        } else if (small_number(&v, cv, &minus)) {
            out[i] = CU_COEFF_INT | (0u - v);
        } else {
            out[i] = (uint32_t)i;
        }
    }
    return CUZK_OK;
}

static uint32_t wire_code(const dev_template *t, uint32_t wire)
{
    uint32_t kind = CU_WIRE_IN;

    if (wire == 0) return (uint32_t)CU_WIRE_ONE << CU_WIRE_BITS;
    wire -= 1;
    if (wire >= t->n_in) {
        wire -= t->n_in;
        kind = CU_WIRE_LOCAL;
        if (wire >= t->n_local) {
            wire -= t->n_local;
            kind = CU_WIRE_PUB;
        }
    }
    return kind << CU_WIRE_BITS | wire;
}

void cu_rows_step(uint32_t out[64], const cu_rows *r, const dev_template *t, const dev_matrix *m,
                  const uint32_t *code, uint32_t slice, uint32_t step)
{
    for (uint32_t lane = 0; lane < 32; lane++) {
        uint32_t row = r->order[32 * slice + lane], at;

        out[2 * lane] = (uint32_t)CU_WIRE_ONE << CU_WIRE_BITS;
        out[2 * lane + 1] = CU_COEFF_INT; /* 0 */
        if (row == CU_NO_ROW) continue;
        at = m->row_start[row] + step;
        if (at >= m->row_start[row + 1]) continue;
        out[2 * lane] = wire_code(t, m->wire[at]);
        out[2 * lane + 1] = code[m->coeff[at]];
    }
}
