/*
 * device/cpu/ntt_bitrev.c - the bit-reversal permutation in place, in tiles of whole cache lines
 *
 * A position is split as (a, mid, c) with SIDE bits in a and c. For fixed mid, all (a, c) are a tile of 2^SIDE runs of
 * 2^SIDE elements; its elements go to the tile of rev(mid), transposed: (rev c, rev mid, rev a). Both tiles are read
 * into a buffer run by run and written back run by run, so memory is only ever touched in runs.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "device/cpu/ntt.h"

#include <string.h>

#define SIDE 3u
#define RUN ((size_t)1 << SIDE)
#define MIDS_PER_TASK ((size_t)256)

typedef struct tile {
    fr x[RUN][RUN];
} tile;

typedef struct reversal {
    fr *a;
    unsigned mid_bits;
    size_t reversed[RUN];
} reversal;

static void swap_in_small(fr *a, unsigned log_n)
{
    for (size_t i = 0; i < (size_t)1 << log_n; i++) {
        size_t j = ntt_reverse(i, log_n);
        if (i < j) {
            fr t = a[i];
            a[i] = a[j];
            a[j] = t;
        }
    }
}

static fr *run_of(const reversal *w, size_t a, size_t mid)
{
    return w->a + ((a << w->mid_bits | mid) << SIDE);
}

static void load(tile *t, const reversal *w, size_t mid)
{
    for (size_t a = 0; a < RUN; a++) memcpy(t->x[a], run_of(w, a, mid), sizeof t->x[a]);
}

/* The elements of t into the tile at mid, which is the reverse of where t was loaded. */
static void store(const tile *t, const reversal *w, size_t mid)
{
    for (size_t a = 0; a < RUN; a++) {
        fr *out = run_of(w, a, mid);
        for (size_t c = 0; c < RUN; c++) out[c] = t->x[w->reversed[c]][w->reversed[a]];
    }
}

static void swap_mids(void *ctx, size_t from, size_t to)
{
    const reversal *w = ctx;
    tile t, u;

    for (size_t mid = from; mid < to; mid++) {
        size_t other = ntt_reverse(mid, w->mid_bits);
        if (other < mid) continue;
        load(&t, w, mid);
        if (other != mid) {
            load(&u, w, other);
            store(&u, w, mid);
        }
        store(&t, w, other);
    }
}

cuzk_status ntt_bit_reverse(dev_stream *s, fr *a, unsigned log_n)
{
    reversal w;

    if (log_n < 2 * SIDE) {
        swap_in_small(a, log_n);
        return CUZK_OK;
    }
    w.a = a;
    w.mid_bits = log_n - 2 * SIDE;
    for (size_t i = 0; i < RUN; i++) w.reversed[i] = ntt_reverse(i, SIDE);
    return cpu_for_ranges(s->d, s->cancel, (size_t)1 << w.mid_bits, MIDS_PER_TASK, swap_mids, &w);
}
