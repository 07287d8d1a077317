/*
 * device/cpu/msm_scalars.c - a chunk's scalars by class, and its points checked or decoded
 *
 * Positions are read 64 at a time. 0 is dropped; 1 and -1, and all bits that are set, become entries of the list of
 * ones; the rest are small (below 2^62 in absolute value) or full, and their biased values are kept (msm_digits.h).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "device/cpu/msm_int.h"

/* 64 positions */
typedef struct msm_word {
    size_t pos;
    uint64_t part; /* those that take part */
    uint64_t elem; /* those that are elements */
    uint64_t bits; /* those whose bit is set */
    size_t rank;   /* elements before pos */
} msm_word;

static uint64_t below(unsigned bit)
{
    return ((uint64_t)1 << bit) - 1;
}

/* How many of set are before position p. Mostly all are; where the library counts bits, that is a call. */
static size_t rank_of(uint64_t set, unsigned p)
{
    return (~set & below(p)) == 0 ? p : u64_popcount(set & below(p));
}

/* The bits of a word's bit positions, spread over them. */
static uint64_t spread_bits(const dev_scalars *k, const msm_word *w, uint64_t valid)
{
    uint64_t where = valid & ~w->elem, holes = w->elem, b;
    size_t at = w->pos - w->rank;
    unsigned n = u64_popcount(where), shift = at % 64;

    if (n == 0) return 0;
    b = k->bits[at / 64] >> shift;
    if (shift + n > 64) b |= k->bits[at / 64 + 1] << (64 - shift);
    for (; holes != 0; holes &= holes - 1) { /* open a gap at each element */
        uint64_t low = below(u64_ctz(holes));
        b = (b & low) | (b & ~low) << 1;
    }
    return b & where;
}

static msm_word read_word(const dev_scalars *k, size_t pos)
{
    uint64_t valid = k->n - pos < 64 ? below((unsigned)(k->n - pos)) : ~(uint64_t)0;
    msm_word w = {.pos = pos, .rank = pos};

    w.part = k->select != NULL ? k->select[pos / 64] & valid : valid;
    w.elem = valid;
    if (k->is_elem != NULL) {
        w.elem = k->is_elem[pos / 64] & valid;
        w.rank = k->rank64[pos / 64];
    }
    w.bits = spread_bits(k, &w, valid);
    return w;
}

/* Element v (canonical) meets `entry`: to its list. False when it is 0. */
static bool classify(msm_run *r, msm_range *g, uint64_t v[4], uint32_t entry)
{
    const msm_digits *d = &r->digits;
    size_t slot;

    if ((v[0] | v[1] | v[2] | v[3]) == 0) return false;
    if (msm_take_sign(d, v)) entry |= 1;
    if (v[0] == 1 && (v[1] | v[2] | v[3]) == 0) {
        r->ones[g->pos - r->pos + g->n_ones++] = entry;
        return true;
    }
    if (v[0] >> MSM_SMALL_BITS == 0 && (v[1] | v[2] | v[3]) == 0) {
        slot = g->slot + g->slots - ++g->n_small;
    } else {
        slot = g->slot + g->n_full++;
    }
    r->slot_entry[slot] = entry;
    msm_add_bias(d, r->slot_value[slot].l, v);
    return true;
}

/* The encoded points of `active` positions of a word: checked, and decoded unless they are used where they lie. */
static cuzk_status take_points(msm_run *r, const msm_word *w, size_t base, uint64_t active)
{
    const dev_points *b = r->bases;
    const uint8_t *in[64];
    void *out[64];
    size_t n = 0;
    uint64_t good = 0;

    if (r->in_place && b->trusted) return CUZK_OK;
    for (; active != 0; active &= active - 1) {
        size_t i = base + rank_of(w->part, u64_ctz(active));
        in[n] = b->data + (r->base + i) * r->point_bytes;
        out[n++] = r->in_place ? NULL : r->decoded + i * r->k->point_size;
    }
    if (r->k->read_many != NULL) good = r->k->read_many(out, in, n, b->enc);
    for (size_t i = 0; i < n; i++) {
        g2_any unused;
        point_err e;
        if (good >> i & 1) continue;
        e = r->k->read(out[i] == NULL ? &unused : out[i], in[i], b->enc);
        if (e != POINT_OK)
            return FAIL_DATA(MALFORMED, "", "point %zu: %s",
                             (size_t)(in[i] - b->data) / r->point_bytes, point_err_text(e));
    }
    return CUZK_OK;
}

static cuzk_status word_entries(msm_run *r, msm_range *g, const msm_word *w, size_t base)
{
    uint64_t active = w->part & w->bits, elem = w->part & w->elem;

    for (uint64_t m = active; m != 0; m &= m - 1) {
        size_t i = base + rank_of(w->part, u64_ctz(m));
        r->ones[g->pos - r->pos + g->n_ones++] = (uint32_t)i << 1;
    }
    if (elem != 0) {
        uint64_t v[64][4];
        r->k->canon(v, r->scalars->elems + w->rank, u64_popcount(w->elem));
        for (; elem != 0; elem &= elem - 1) {
            unsigned p = u64_ctz(elem);
            size_t i = base + rank_of(w->part, p);
            if (classify(r, g, v[rank_of(w->elem, p)], (uint32_t)i << 1))
                active |= (uint64_t)1 << p;
        }
    }
    return take_points(r, w, base, active);
}

cuzk_status msm_read_range(msm_run *r, size_t index)
{
    msm_range *g = &r->ranges[index];
    size_t stop = g->pos + MSM_RANGE < r->end ? g->pos + MSM_RANGE : r->end, base = g->base;

    for (size_t pos = g->pos; pos < stop; pos += 64) {
        msm_word w = read_word(r->scalars, pos);
        TRY(word_entries(r, g, &w, base));
        base += u64_popcount(w.part);
    }
    return CUZK_OK;
}

static cuzk_status read_range(void *ctx, size_t index, unsigned worker)
{
    (void)worker;
    return msm_read_range(ctx, index);
}

void msm_list_ranges(msm_run *r)
{
    const dev_scalars *k = r->scalars;
    size_t base = 0, first = msm_rank(k, r->pos);

    r->n_ranges = (r->end - r->pos + MSM_RANGE - 1) / MSM_RANGE;
    for (size_t i = 0; i < r->n_ranges; i++) {
        size_t pos = r->pos + i * MSM_RANGE;
        size_t stop = pos + MSM_RANGE < r->end ? pos + MSM_RANGE : r->end;
        size_t rank = msm_rank(k, pos);
        r->ranges[i] = (msm_range){
            .pos = pos, .base = base, .slot = rank - first, .slots = msm_rank(k, stop) - rank};
        if (k->select == NULL) {
            base += stop - pos;
            continue;
        }
        for (size_t p = pos; p < stop; p += 64)
            base += u64_popcount(k->select[p / 64] &
                                 (stop - p < 64 ? below((unsigned)(stop - p)) : ~(uint64_t)0));
    }
    r->n_bases = base;
}

CUZK_STATUS msm_read_chunk(msm_run *r)
{
    msm_list_ranges(r);
    return pool_run(r->pool, r->s->cancel, r->n_ranges, read_range, r);
}
