/*
 * device/cuda/fr_scalars.cuh - scalars by class: zeros go, ones are listed, the rest are kept as biased values
 *
 * A value k above (r - 1)/2 becomes r - k, its sign turned; then the bias of signed windows is added. So a value has 254
 * bits at most before the bias, and bit 255 is free for the sign.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_CUDA_FR_SCALARS_CUH
#define DEVICE_CUDA_FR_SCALARS_CUH

/** The place of this thread's entry in a list that grows by all threads with `take`. */
__device__ __forceinline__ uint32_t append_at(uint32_t *count, bool take)
{
    unsigned mask = __ballot_sync(0xffffffffu, take), lane = threadIdx.x % 32;
    uint32_t first = 0;
    if (mask == 0) return 0;
    if (lane == 0) first = atomicAdd(count, (uint32_t)__popc(mask));
    return __shfl_sync(0xffffffffu, first, 0) + (uint32_t)__popc(mask & ((1u << lane) - 1));
}

__device__ __forceinline__ uint64_t below(unsigned bit)
{
    return ((uint64_t)1 << bit) - 1;
}

/** Canonical, in absolute value; true: it was above half of the order. */
CU_FN bool absolute(fr_t &k)
{
    fr_t half, m = fr_t::modulus(), t;
#pragma unroll
    for (int i = 0; i < fr_t::N; i++) half.l[i] = FR_PARAMS::half(i);
    bool neg = rows<fr_t::N>::difference(t.l, half.l, k.l) != 0;
    rows<fr_t::N>::difference(t.l, m.l, k.l);
    k = pick(neg, t, k);
    return neg;
}

/** The value of windows: with the bias, and its sign in bit 255. */
CU_FN fr_t biased(fr_t k, bool neg, const cu_digits &d)
{
    fr_t bias;
#pragma unroll
    for (int j = 0; j < fr_t::N; j++) bias.l[j] = d.bias[j];
    rows<fr_t::N>::sum(k.l, k.l, bias.l);
    k.l[7] |= (uint32_t)neg << 31;
    return k;
}

/* Value of position i: 0, 1 (a one, maybe negative), 2 (full: k). */
__device__ __forceinline__ int classify(fr_t &k, bool &neg, const cu_scalars &in, size_t i)
{
    size_t rank = i;
    neg = false;
    if (in.is_elem != NULL) {
        uint64_t word = in.is_elem[i / 64];
        rank = in.rank64[i / 64] - in.rank0 + __popcll(word & below(i % 64));
        if ((word >> (i % 64) & 1) == 0) {
            uint64_t bit = i - rank + in.bit0;
            return (int)(in.bits[bit / 64] >> (bit % 64) & 1);
        }
    }
    k = from_mont(load_fr(in.elem, rank));
    if (k.is_zero()) return 0;
    neg = absolute(k);
    uint32_t rest = k.l[0] ^ 1;
#pragma unroll
    for (int j = 1; j < fr_t::N; j++) rest |= k.l[j];
    return rest == 0 ? 1 : 2;
}

static __global__ void prepare_kernel(cu_chunk out, cu_scalars in, cu_digits d)
{
    size_t step = (size_t)gridDim.x * blockDim.x, rounds = (in.n + step - 1) / step;
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

    for (size_t round = 0; round < rounds; round++, i += step) { /* all lanes stay in */
        fr_t k = fr_t::zero();
        bool part = i < in.n, neg = false;
        uint32_t base = in.first_base;
        int what = 0;

        if (part && in.select != NULL) {
            uint64_t word = in.select[i / 64];
            part = (word >> (i % 64) & 1) != 0;
            base += in.select_rank[i / 64] + (uint32_t)__popcll(word & below(i % 64));
        } else {
            base += (uint32_t)i;
        }
        if (part) what = classify(k, neg, in, i);
        uint32_t at = append_at(out.counts + 1, what == 1);
        if (what == 1) out.ones[at] = base | (uint32_t)neg << 31;
        at = append_at(out.counts, what == 2);
        if (what != 2) continue;
        store_fr(out.value, at, biased(k, neg, d));
        out.base[at] = base;
    }
}

static int prepare(cu_stream s, const cu_chunk *out, const cu_scalars *in, const cu_digits *d)
{
    prepare_kernel<<<blocks_for(in->n), THREADS, 0, (cudaStream_t)s>>>(*out, *in, *d);
    return cudaGetLastError();
}

/* ---- multiples of one point ---- */

static __global__ void values_kernel(uint32_t *value, const uint32_t *in, cu_digits d, size_t n)
{
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        fr_t k = from_mont(load_fr(in, i));
        bool neg = absolute(k);
        store_fr(value, i, biased(k, neg, d));
    }
}

static int values(cu_stream s, uint32_t *value, const uint32_t *k, const cu_digits *d, size_t n)
{
    values_kernel<<<blocks_for(n), THREADS, 0, (cudaStream_t)s>>>(value, k, *d, n);
    return cudaGetLastError();
}

static void host_value(uint32_t *value, const uint32_t *in, const cu_digits *d)
{
    fr_t k;
    for (int i = 0; i < fr_t::N; i++) k.l[i] = in[i];
    k = from_mont(k);
    bool neg = absolute(k);
    k = biased(k, neg, *d);
    for (int i = 0; i < fr_t::N; i++) value[i] = k.l[i];
}

#endif
