/*
 * device/cuda/fr_abc.cuh - rows of A w, B w, C w: a thread a row, templates and bits from the caches
 *
 * Rows are numbered through the instances in their order; a block finds the instances of its first and last row, a thread
 * its own between them.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_CUDA_FR_ABC_CUH
#define DEVICE_CUDA_FR_ABC_CUH

/** The last instance in [lo, hi] whose first row is at most `row`. */
__device__ __forceinline__ uint32_t instance_of(const uint32_t *first_row, uint32_t row,
                                                uint32_t lo, uint32_t hi)
{
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo + 1) / 2;
        if (first_row[mid] <= row) {
            lo = mid;
        } else {
            hi = mid - 1;
        }
    }
    return lo;
}

/** 0, 1, or 2: the element in *x. */
__device__ __forceinline__ int aux_value(fr_t &x, const cu_scalars &aux, uint32_t i)
{
    size_t rank = i;
    if (aux.is_elem != NULL) {
        uint64_t word = aux.is_elem[i / 64], under = word & (((uint64_t)1 << (i % 64)) - 1);
        rank = aux.rank64[i / 64] + __popcll(under);
        if ((word >> (i % 64) & 1) == 0) {
            uint64_t bit = i - rank;
            return (int)(aux.bits[bit / 64] >> (bit % 64) & 1);
        }
    }
    x = load_fr(aux.elem, rank);
    return 2;
}

#define WIRE_AUX 0x80000000u

__device__ __forceinline__ int wire_value(fr_t &x, const cu_system &sys, const cu_instance &inst,
                                          const cu_template &t, uint32_t wire)
{
    uint32_t g;
    if (wire == 0) return 1;
    wire -= 1;
    if (wire < t.n_in) {
        g = sys.wires[inst.wires + wire];
        if ((g & WIRE_AUX) != 0) return aux_value(x, sys.aux, g & ~WIRE_AUX);
    } else if (wire - t.n_in < t.n_local) {
        return aux_value(x, sys.aux, inst.aux_start + wire - t.n_in);
    } else {
        g = inst.pub_start + wire - t.n_in - t.n_local;
    }
    x = load_fr(sys.inputs, g);
    return 2;
}

static __global__ void rows_kernel(uint32_t *out, cu_system sys, int matrix)
{
    __shared__ uint32_t first, last;
    uint32_t row0 = blockIdx.x * THREADS, row = row0 + threadIdx.x;

    if (threadIdx.x == 0) first = instance_of(sys.first_row, row0, 0, sys.n_instances - 1);
    if (threadIdx.x == 32) {
        uint32_t end = row0 + THREADS - 1 < sys.n_rows ? row0 + THREADS - 1 : sys.n_rows - 1;
        last = instance_of(sys.first_row, end, 0, sys.n_instances - 1);
    }
    __syncthreads();
    if (row >= sys.n_rows) return;
    uint32_t i = instance_of(sys.first_row, row, first, last);
    cu_instance inst = sys.instances[i];
    const cu_template &t = sys.templates[inst.tmpl];
    const cu_matrix &m = t.m[matrix];
    fr_t acc = fr_t::zero();

    row -= sys.first_row[i];
    if (m.row_start == NULL) return;
    for (uint32_t k = m.row_start[row], end = m.row_start[row + 1]; k < end; k++) {
        fr_t x = fr_t::one();
        uint32_t c = m.coeff[k];
        int what = wire_value(x, sys, inst, t, m.wire[k]);
        if (what == 0) continue;
        if (c > 1) {
            fr_t f = load_fr(sys.coeffs, c);
            x = what == 1 ? f : x * f;
        }
        acc = c == 1 ? acc - x : acc + x;
    }
    store_fr(out, inst.row_start + row, acc);
}

static int eval_rows(cu_stream s, uint32_t *out, const cu_system *sys, int matrix)
{
    if (sys->n_rows == 0) return 0;
    rows_kernel<<<(sys->n_rows + THREADS - 1) / THREADS, THREADS, 0, (cudaStream_t)s>>>(out, *sys,
                                                                                        matrix);
    return cudaGetLastError();
}

#undef WIRE_AUX

#endif
