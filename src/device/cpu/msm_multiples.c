/*
 * device/cpu/msm_multiples.c - sums over points whose multiples by 2^(c w) are kept: all windows share the buckets of one
 *
 * With k = sum of d_w 2^(c w), |d_w| <= 2^(c-1), and P_w = 2^(c w) P kept, k P = sum of d_w P_w: the digits of all windows of all n scalars
 * are entries of one window. In units of one batched addition (msm_plan.c) a sum takes
 *
 *     n W (1 + cost_sort)   W windows of c bits, a digit of each is one entry
 *     lanes of 2^(c-1)      the buckets added up, once
 *
 * and c is what makes that least; memory is n W points. 328 points of BLS12-381 have c = 9 or 10.
 *
 * The multiples come from the kernels that sums are made of: rows takes the points into buckets, merge adds to each its copy, a doubling.
 *
 * Source: Brickell, Gordon, McCurley, Wilson, EUROCRYPT '92 (precomputed powers that share buckets)
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "device/cpu/msm.h"
#include "device/cpu/msm_int.h"

/* Points that one task doubles: they share an inversion. */
#define BLOCK ((size_t)512)

static double sum_cost(const msm_kernels *k, size_t n, size_t windows, unsigned c)
{
    size_t half = (size_t)1 << (c - 1), len = msm_lane_len(k, 1, half, 1);

    return (double)(n * windows) * (1 + k->cost_sort) + msm_lanes_cost(k, 1, half, len, 1);
}

static unsigned best_c(const msm_kernels *k, const curve *cv, size_t n)
{
    unsigned best = MSM_MIN_C;

    for (unsigned c = MSM_MIN_C + 1; c <= MSM_MAX_C; c++)
        if (sum_cost(k, n, msm_windows(cv, c), c) < sum_cost(k, n, msm_windows(cv, best), best))
            best = c;
    return best;
}

/* ---- the multiples ---- */

/** A block of points on its way: cells, and what the kernels want to be told. */
typedef struct doubling {
    const dev_points *points;
    const msm_kernels *k;
    dev_multiples *t;
    uint8_t *cells; /* of each worker 2 BLOCK: the points, and a copy */
    uint8_t *scratch;
    uint32_t count[BLOCK], entry[BLOCK], row_end[BLOCK]; /* i, i << 1, i + 1 */
} doubling;

static cuzk_status make_block(void *ctx, size_t i, unsigned worker)
{
    doubling *d = ctx;
    const msm_kernels *k = d->k;
    const dev_multiples *t = d->t;
    size_t from = i * BLOCK, n = t->n - from < BLOCK ? t->n - from : BLOCK;
    uint8_t *cell = d->cells + 2 * BLOCK * worker * k->cell_size,
            *copy = cell + BLOCK * k->cell_size, *scratch = d->scratch + worker * k->scratch_size,
            none[MSM_MAX_CELL];
    msm_slice s = {.points = d->points->data + from * k->point_size,
                   .entries = d->entry,
                   .row_end = d->row_end,
                   .buckets = cell,
                   .end = n};

    memset(cell, 0, n * k->cell_size);
    (void)k->rows(&s, none, scratch); /* no row begins before the first */
    for (size_t w = 0; w < t->windows; w++) {
        k->to_affine(t->points + (w * t->n + from) * k->point_size, cell, n);
        if (w + 1 == t->windows) break;
        for (unsigned b = 0; b < t->c; b++) {
            memcpy(copy, cell, n * k->cell_size);
            k->merge(cell, d->count, copy, n, scratch);
        }
    }
    return CUZK_OK;
}

static cuzk_status make_points(const msm_run *r, dev_multiples *t, const dev_points *points)
{
    const msm_kernels *k = r->k;
    mem *m = r->s->d->m;
    cuzk_status st;
    doubling *d = mem_new(m, 1, sizeof *d, &st);

    if (d == NULL) return st;
    d->points = points;
    d->k = k;
    d->t = t;
    for (size_t i = 0; i < BLOCK; i++) {
        d->count[i] = (uint32_t)i;
        d->entry[i] = (uint32_t)i << 1;
        d->row_end[i] = (uint32_t)i + 1;
    }
    d->cells = mem_new(m, r->threads, 2 * BLOCK * k->cell_size, &st);
    if (d->cells != NULL) d->scratch = mem_new(m, r->threads, k->scratch_size, &st);
    if (d->scratch != NULL)
        st = pool_run(r->pool, r->s->cancel, (t->n + BLOCK - 1) / BLOCK, make_block, d);
    mem_free(m, d->scratch);
    mem_free(m, d->cells);
    mem_free(m, d);
    return st;
}

cuzk_status cpu_multiples_new(dev_stream *s, dev_multiples *t, const dev_points *points,
                              size_t max_bytes)
{
    const curve *cv = s->d->curves[t->id];
    msm_run r = {.s = s};
    cuzk_status st;

    msm_run_choose(&r, s->d, t->id, false, t->n);
    t->c = best_c(r.k, cv, t->n);
    t->windows = msm_windows(cv, t->c);
    if (t->n > max_bytes / (t->windows * r.k->point_size) || t->n > MSM_MAX_POINTS / t->windows)
        return CUZK_OK;
    t->points = mem_new(t->m, t->n * t->windows, r.k->point_size, &st);
    if (t->points == NULL) return st;
    st = make_points(&r, t, points);
    if (st == CUZK_OK) return st;
    mem_free(t->m, t->points);
    t->points = NULL;
    return st;
}

/* ---- sums ---- */

/** All digits, as keys: of scalar i in window w at w n + i. */
static void take_digits(msm_run *r, const dev_multiples *t, const fr *scalars)
{
    uint64_t v[64][4];
    uint32_t minus[64];

    for (size_t from = 0; from < t->n; from += 64) {
        size_t n = t->n - from < 64 ? t->n - from : 64;
        r->k->canon(v, scalars + from, n);
        for (size_t i = 0; i < n; i++) {
            uint64_t k[4];
            minus[i] = msm_take_sign(&r->digits, v[i]);
            memcpy(k, v[i], sizeof k);
            msm_add_bias(&r->digits, v[i], k);
        }
        for (size_t w = 0; w < t->windows; w++) {
            msm_window x = msm_window_at(&r->digits, w);
            uint32_t *to = r->part_keys + w * t->n + from;
            for (size_t i = 0; i < n; i++) {
                uint32_t key = msm_key(msm_digit(&x, v[i]));
                to[i] = key == MSM_NO_KEY ? key : key ^ minus[i];
            }
        }
    }
}

/** Entries sorted by bucket. */
static void sort_keys(msm_run *r, size_t n)
{
    size_t half = (size_t)r->digits.half;
    const uint32_t *keys = r->part_keys;
    uint32_t at = 0;

    memset(r->row_end, 0, half * sizeof *r->row_end);
    for (size_t i = 0; i < n; i++)
        if (keys[i] != MSM_NO_KEY) r->row_end[keys[i] >> 1]++;
    for (size_t i = 0; i < half; i++) {
        uint32_t here = r->row_end[i];
        r->row_end[i] = at;
        at += here;
    }
    for (size_t i = 0; i < n; i++)
        if (keys[i] != MSM_NO_KEY)
            r->entries[r->row_end[keys[i] >> 1]++] = (uint32_t)i << 1 | (keys[i] & 1);
    r->n_entries = at;
}

cuzk_status cpu_multiples_sum(dev_stream *s, g1_any *r, const dev_multiples *t, const fr *k)
{
    const size_t n = t->n * t->windows;
    dev_points points = {.data = t->points, .n = n, .enc = POINT_LEM, .trusted = true};
    uint8_t ones[MSM_MAX_CELL] = {0}; /* infinity */
    msm_run run = {
        .s = s,
        .bases = &points,
        .in_place = true,
        .plan = {.c = t->c, .windows = 1, .group = 1, .part_elems = n},
        .n_windows = 1,
    };
    msm_block *block = NULL;
    cuzk_status st;

    msm_run_choose(&run, s->d, t->id, false, t->n);
    msm_digits_init(&run.digits, s->d->curves[t->id], t->c);
    TRY_OUT(msm_take(&run, &block));
    memset(run.buckets, 0, (size_t)run.digits.half * run.k->cell_size);
    run.fresh = true;
    take_digits(&run, t, k);
    sort_keys(&run, n);
    TRY_OUT(msm_fill_buckets(&run));
    TRY_OUT(msm_sum_buckets(&run));
    run.k->finish(r, run.sums, 1, t->c, ones);
out:
    msm_leave(s, block);
    return st;
}
