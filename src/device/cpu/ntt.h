/*
 * device/cpu/ntt.h - what a domain holds on the CPU, and how a transform is cut into passes over memory
 *
 * A pass does `k` levels from depth `depth` on, in tiles that fit in the second-level cache: columns of all blocks of
 * that depth; the last pass has blocks that are contiguous. Two passes reach 2^22, three every size.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_CPU_NTT_H
#define DEVICE_CPU_NTT_H

#include "device/cpu/cpu.h"

#define NTT_PASSES 3

typedef struct ntt_pass {
    unsigned depth, k;
} ntt_pass;

/** base^e for e < 2^bits in two tables: lo[e % 2^low] * hi[e / 2^low]. */
typedef struct ntt_powers {
    unsigned low;
    fr *lo, *hi;
} ntt_powers;

typedef struct cpu_domain {
    const cpu_kernels *kern;
    const curve *cv;
    unsigned log_n, n_passes;
    ntt_pass pass[NTT_PASSES];
    void *tw;        /* w^rev(b): enough for all passes; or, with local_tw, for all but the last */
    bool local_tw;   /* the last pass makes the twiddles of each of its blocks */
    ntt_powers root; /* with local_tw: w^e, e < 2^depth of the last pass */
    fr inv_n;
    /* scaling by powers of the shift [0] or its inverse [1], at bit-reversed position B 2^k + j of the last pass: */
    ntt_powers coset_block[2]; /* shift^e, e = rev(B) */
    void *coset_row[2];        /* shift^(2^depth rev(j)) / n, as ntt_scale takes them */
    fr shift_inv;
} cpu_domain;

/** Up to which log2 of the size one pass, or two, are made. Up to the latter a table of all n/2 twiddles is kept; above,
 *  the last pass makes them: one product more for each element. */
typedef struct ntt_limits {
    unsigned one_pass, two_passes;
} ntt_limits;

/** cpu_domain_new with limits of one's own: so tests reach every path with small sizes. */
CUZK_STATUS ntt_domain_new_with(ntt_domain *of, ntt_limits limits);

/** r = base^e */
static inline void ntt_power(fr *r, const ntt_powers *p, const curve *cv, size_t e)
{
    cv->fr_mul(r, &p->lo[e & (((size_t)1 << p->low) - 1)], &p->hi[e >> p->low]);
}

/** The low `bits` bits of x in reverse order. */
static inline size_t ntt_reverse(size_t x, unsigned bits)
{
    size_t r = 0;
    for (unsigned i = 0; i < bits; i++) r = r << 1 | (x >> i & 1);
    return r;
}

/** Element p goes to the place of p with its log_n bits reversed. */
CUZK_STATUS ntt_bit_reverse(dev_stream *s, fr *a, unsigned log_n);

#endif
