/*
 * bench/bench_field_madd_ifma.c - what bounds products in eight lanes: how many multiply-adds of zmm registers this core does
 *
 * Cases count instructions, not lanes. Sixteen chains of them, independent of each other and of memory, are more than hides the latency:
 * cycles for one are then the reciprocal throughput, by which docs/cpu.md has the floors of products. One chain tells the latency.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "bench/bench_field.h"

#if defined(__AVX512IFMA__)

#    include <immintrin.h>

#    include "base/u128.h"

#    define LANES 8
#    define CHAINS 16
#    define ROUNDS 2048

static const uint64_t factor[2] = {0x9e3779b97f4a7, 0xf58476d1ce4e5}; /* of 52 bits */
static uint64_t sums[CHAINS][LANES];

U128_INLINE void run_chains(const int chains)
{
    const __m512i a = _mm512_set1_epi64((long long)factor[0]);
    const __m512i b = _mm512_set1_epi64((long long)factor[1]);
    __m512i acc[CHAINS];

    for (int i = 0; i < CHAINS; i++) acc[i] = _mm512_setzero_si512();
    for (int k = 0; k < ROUNDS; k++)
        for (int i = 0; i < chains; i++) acc[i] = _mm512_madd52lo_epu64(acc[i], a, b);
    for (int i = 0; i < CHAINS; i++) _mm512_storeu_si512(sums[i], acc[i]);
}

static void case_throughput(void *ctx)
{
    (void)ctx;
    run_chains(CHAINS);
}

static void case_latency(void *ctx)
{
    (void)ctx;
    run_chains(1);
}

/* Each chain has added the product's lower 52 bits once a round. */
static bool check(void)
{
    const uint64_t low = (uint64_t)((u128)factor[0] * factor[1]) & ((UINT64_C(1) << 52) - 1);

    run_chains(CHAINS);
    for (int i = 0; i < CHAINS; i++)
        for (int l = 0; l < LANES; l++)
            if (sums[i][l] != ROUNDS * low) return false;
    return true;
}

static const field_case cases[] = {
    {"vpmadd52", (size_t)ROUNDS *CHAINS, case_throughput},
    {"vpmadd52 chain", ROUNDS, case_latency},
    {NULL, 0, NULL},
};

#else

static const field_case cases[] = {{NULL, 0, NULL}};
static bool check(void)
{
    return true;
}

#endif

const field_bench field_bench_madd = {"zmm", CPU_TABLE_IFMA, cases, check};
