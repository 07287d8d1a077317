/*
 * device/cuda/fr_vec.cuh - products and the quotient, element by element
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_CUDA_FR_VEC_CUH
#define DEVICE_CUDA_FR_VEC_CUH

static __global__ void quotient_kernel(uint32_t *a, const uint32_t *b, const uint32_t *c, fr_t k,
                                       bool has_k, size_t n)
{
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        fr_t x = load_fr(a, i) * load_fr(b, i) - load_fr(c, i);
        store_fr(a, i, has_k ? x * k : x);
    }
}

static __global__ void multiply_kernel(uint32_t *r, const uint32_t *a, const uint32_t *b, size_t n)
{
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        store_fr(r, i, load_fr(a, i) * load_fr(b, i));
}

/* k: of the host; NULL: 1 */
static int quotient(cu_stream s, uint32_t *a, const uint32_t *b, const uint32_t *c,
                    const uint32_t *k, size_t n)
{
    fr_t f = fr_t::one();
    if (k != NULL)
        for (int i = 0; i < fr_t::N; i++) f.l[i] = k[i];
    quotient_kernel<<<blocks_for(n), THREADS, 0, (cudaStream_t)s>>>(a, b, c, f, k != NULL, n);
    return cudaGetLastError();
}

static int multiply(cu_stream s, uint32_t *r, const uint32_t *a, const uint32_t *b, size_t n)
{
    multiply_kernel<<<blocks_for(n), THREADS, 0, (cudaStream_t)s>>>(r, a, b, n);
    return cudaGetLastError();
}

#endif
