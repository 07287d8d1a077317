/*
 * device/cuda/fr_abc.cuh - rows of A w, B w, C w: a warp has 32 rows of about the same length, of one instance
 *
 * A block takes slices of one part (cu_sliced), so its instance and its rows follow from its number. Bits and small coefficients
 * add up as an integer, which becomes an element at the end of the row; most rows of hash circuits have no other terms.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_CUDA_FR_ABC_CUH
#define DEVICE_CUDA_FR_ABC_CUH

#define ABC_THREADS (32u * CU_PART_SLICES)

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
                                          uint32_t wire)
{
    uint32_t kind = wire >> CU_WIRE_BITS, g = wire & ((1u << CU_WIRE_BITS) - 1);
    if (kind == CU_WIRE_ONE) return 1;
    bool aux = kind == CU_WIRE_LOCAL;
    if (kind == CU_WIRE_IN) {
        g = sys.wires[inst.wires + g];
        aux = (g & WIRE_AUX) != 0;
        g &= ~WIRE_AUX;
    } else {
        g += aux ? inst.aux_start : inst.pub_start;
    }
    if (aux) return aux_value(x, sys.aux, g);
    x = load_fr(sys.inputs, g);
    return 2;
}

__device__ __forceinline__ fr_t integer(const cu_system &sys, int64_t v)
{
    if (v >= -CU_INTS && v <= CU_INTS) return load_fr(sys.ints, (size_t)(v + CU_INTS));
    uint64_t m = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    fr_t t = fr_t::zero();
    t.l[0] = (uint32_t)m;
    t.l[1] = (uint32_t)(m >> 32);
    t = to_mont(t);
    return v < 0 ? neg(t) : t;
}

/** The number that a coefficient is (CU_COEFF_INT). */
__device__ __forceinline__ int32_t small_coeff(uint32_t c)
{
    return (int32_t)(c << 1) >> 1;
}

/** sum + coefficient times x */
__device__ __forceinline__ fr_t add_term(const fr_t &sum, const fr_t &x, const cu_system &sys,
                                         uint32_t c)
{
    bool small = (c & CU_COEFF_INT) != 0;
    int32_t v = small ? small_coeff(c) : 0;
    if (v == 1) return sum + x;
    if (v == -1) return sum - x;
    return sum + x * (small ? integer(sys, v) : load_fr(sys.coeffs, c));
}

/** The last part whose first block is at most `block`. */
__device__ __forceinline__ const cu_sliced &part_of(const cu_system &sys, uint32_t block)
{
    uint32_t lo = 0, hi = sys.n_parts - 1;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo + 1) / 2;
        if (sys.parts[mid].first_block <= block) {
            lo = mid;
        } else {
            hi = mid - 1;
        }
    }
    return sys.parts[lo];
}

static __global__ void __launch_bounds__(ABC_THREADS, 8) rows_kernel(cu_abc_out out, cu_system sys)
{
    const cu_sliced &p = part_of(sys, blockIdx.x);
    uint32_t block = blockIdx.x - p.first_block, at = block / p.blocks, lane = threadIdx.x % 32;
    uint32_t slice = (block - at * p.blocks) * CU_PART_SLICES + threadIdx.x / 32;

    if (slice >= p.slices) return;
    cu_instance inst = sys.instances[p.first_instance + at];
    const uint2 *terms = (const uint2 *)p.terms + lane;
    fr_t sum = fr_t::zero();
    int64_t small = 0;
    bool any = false;

    for (uint32_t k = p.start[slice], end = p.start[slice + 1]; k < end; k++) {
        uint2 term = terms[(size_t)32 * k];
        fr_t x = fr_t::one();
        int what = wire_value(x, sys, inst, term.x);
        if (what == 0) continue;
        if (what == 1 && (term.y & CU_COEFF_INT) != 0) {
            small += small_coeff(term.y);
            continue;
        }
        any = true;
        sum = what == 1 ? sum + load_fr(sys.coeffs, term.y) : add_term(sum, x, sys, term.y);
    }
    uint32_t row = p.order[32 * slice + lane];
    if (row == CU_NO_ROW) return;
    if (!any) {
        sum = integer(sys, small);
    } else if (small != 0) {
        sum = sum + integer(sys, small);
    }
    store_fr(out.m[p.matrix], (size_t)inst.row_start + row, sum);
}

static int eval_rows(cu_stream s, const cu_abc_out *out, const cu_system *sys)
{
    if (sys->n_blocks == 0) return 0;
    rows_kernel<<<sys->n_blocks, ABC_THREADS, 0, (cudaStream_t)s>>>(*out, *sys);
    return cudaGetLastError();
}

#undef WIRE_AUX

#endif
