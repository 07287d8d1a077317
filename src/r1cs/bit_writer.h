/*
 * r1cs/bit_writer.h - appends bits to an assignment's packed bits, beside other threads that do the same elsewhere
 *
 * Writers of disjoint ranges of bits may run at once: a writer ORs the words that its range fills only in part (its first and its
 * last, which it may share with neighbours) and stores the words between. Bits that it writes were zero before.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef R1CS_BIT_WRITER_H
#define R1CS_BIT_WRITER_H

#include "base/bytes.h"
#include "base/u128.h"

typedef struct bit_writer {
    uint64_t *word; /* the one being filled */
    uint64_t part;  /* of it, so far */
    unsigned n;     /* bits of it that are taken, by us or by who comes before; below 64 */
    bool shared;    /* it is the first, and somebody comes before */
} bit_writer;

static inline bit_writer bit_writer_at(uint64_t *bits, size_t start)
{
    return (bit_writer){.word = bits + start / 64, .n = start % 64, .shared = start % 64 != 0};
}

/** Appends the n <= 64 lowest bits of value, lowest first; its other bits are 0. */
U128_INLINE void bit_writer_put(bit_writer *w, uint64_t value, unsigned n)
{
    VERIFY(n == 64 || value >> n == 0);
    w->part |= value << w->n;
    w->n += n;
    if (w->n < 64) return;
    w->n -= 64;
    if (w->shared)
        u64_atomic_or(w->word, w->part);
    else
        *w->word = w->part;
    w->word++;
    w->shared = false;
    w->part = w->n == 0 ? 0 : value >> (n - w->n);
}

/** Appends bits 0..n-1 of a little-endian number of 32 bytes, n <= 256, that has no bit from n on. */
static inline void bit_writer_put_bytes(bit_writer *w, const uint8_t bytes[32], unsigned n)
{
    for (unsigned at = 0; at < n; at += 64)
        bit_writer_put(w, load_u64le(bytes + at / 8), n - at < 64 ? n - at : 64);
}

/** Ends writing: what is left in the last word. */
static inline void bit_writer_end(bit_writer *w)
{
    if (w->n > 0) u64_atomic_or(w->word, w->part);
}

#endif
