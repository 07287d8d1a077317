/*
 * device/cuda/group_decode.cuh - points as keys hold them to points as memory holds them, checked
 *
 * Forms and checks are those of algebra/encoding_inl.h, without the compressed form, which keys do not have.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_CUDA_GROUP_DECODE_CUH
#define DEVICE_CUDA_GROUP_DECODE_CUH

enum { CU_POINT_OK, CU_POINT_BAD_FLAGS, CU_POINT_NOT_CANONICAL, CU_POINT_NOT_ON_CURVE };

#define FLAG_COMPRESSED 0x80u
#define FLAG_INFINITY 0x40u
#define FLAG_LARGER_Y 0x20u

/** 4 bytes from a place of any alignment, as a little-endian number. */
static __device__ __forceinline__ uint32_t load_bytes(const uint8_t *p)
{
    const uint32_t *w = (const uint32_t *)((uintptr_t)p & ~(uintptr_t)3);
    uint32_t shift = 8 * (uint32_t)((uintptr_t)p & 3), lo = w[0];
    return shift == 0 ? lo : __funnelshift_r(lo, w[1], shift);
}

template <class P> __device__ __forceinline__ void load_le(field<P> &r, const uint8_t *p)
{
#pragma unroll
    for (int i = 0; i < P::N; i++) r.l[i] = load_bytes(p + 4 * i);
}

template <class P> __device__ __forceinline__ void load_le(fp2<P> &r, const uint8_t *p)
{
    load_le(r.c0, p);
    load_le(r.c1, p + sizeof(field<P>));
}

/* big-endian, c1 first; still out of Montgomery form */
template <class P> __device__ __forceinline__ void load_be(field<P> &r, const uint8_t *p)
{
#pragma unroll
    for (int i = 0; i < P::N; i++)
        r.l[P::N - 1 - i] = __byte_perm(load_bytes(p + 4 * i), 0, 0x0123);
}

template <class P> __device__ __forceinline__ void load_be(fp2<P> &r, const uint8_t *p)
{
    load_be(r.c1, p);
    load_be(r.c0, p + sizeof(field<P>));
}

template <class P> __device__ __forceinline__ fp2<P> to_mont(const fp2<P> &a)
{
    return {to_mont(a.c0), to_mont(a.c1)};
}

static __device__ __forceinline__ int read_zcash(point &r, const uint8_t *p)
{
    uint32_t flags = load_bytes(p) & 0xe0u;
    fe x, y;

    if ((flags & (FLAG_COMPRESSED | FLAG_LARGER_Y)) != 0) return CU_POINT_BAD_FLAGS;
    load_be(x, p);
    load_be(y, p + sizeof(fe));
    if ((flags & FLAG_INFINITY) != 0) {
        uint32_t any = load_bytes(p) & ~FLAG_INFINITY;
        for (unsigned i = 4; i < sizeof(point); i += 4) any |= load_bytes(p + i);
        r = point::inf();
        return any == 0 ? CU_POINT_OK : CU_POINT_BAD_FLAGS;
    }
    if (!x.is_canonical() || !y.is_canonical()) return CU_POINT_NOT_CANONICAL;
    r.x = to_mont(x);
    r.y = to_mont(y);
    return r.is_inf() || !on_curve(r.x, r.y) ? CU_POINT_NOT_ON_CURVE : CU_POINT_OK;
}

static __device__ __forceinline__ int read_lem(point &r, const uint8_t *p, bool trusted)
{
    load_le(r.x, p);
    load_le(r.y, p + sizeof(fe));
    if (trusted) return CU_POINT_OK;
    if (!r.x.is_canonical() || !r.y.is_canonical()) return CU_POINT_NOT_CANONICAL;
    return r.is_inf() || on_curve(r.x, r.y) ? CU_POINT_OK : CU_POINT_NOT_ON_CURVE;
}

static __global__ void __launch_bounds__(THREADS)
    decode_kernel(void *out, unsigned long long *bad, const uint8_t *in, size_t n, size_t first,
                  bool zcash, bool trusted)
{
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    point p = point::inf();

    if (i >= n) return;
    const uint8_t *at = in + i * sizeof(point);
    int err = zcash ? read_zcash(p, at) : read_lem(p, at, trusted);
    if (err != CU_POINT_OK) {
        atomicMin(bad, 4 * (unsigned long long)(first + i) + (unsigned)err);
        p = point::inf();
    }
    store_fe(out, 2 * i, p.x);
    store_fe(out, 2 * i + 1, p.y);
}

/* in has 4 bytes more than the points, which may be read */
static int decode(cu_stream s, void *out, unsigned long long *bad, const uint8_t *in, size_t n,
                  size_t first, bool zcash, bool trusted)
{
    if (n == 0) return 0;
    decode_kernel<<<(unsigned)((n + THREADS - 1) / THREADS), THREADS, 0, (cudaStream_t)s>>>(
        out, bad, in, n, first, zcash, trusted);
    return cudaGetLastError();
}

#endif
