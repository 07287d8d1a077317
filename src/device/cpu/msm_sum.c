/*
 * device/cpu/msm_sum.c - sorted entries into buckets by slices, and buckets into windows by lanes
 *
 * Entries are cut in slices of equal length, whatever rows they are in, so that threads are busy evenly for any
 * scalars. A row that continues from one slice into the next leaves its later parts as partials, which are merged when
 * all slices are done. Lanes are buckets of one window, equally far apart, whose running sums go on side by side.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "device/cpu/msm_int.h"

#define SLICE_MAX ((size_t)65536)
#define SLICE_MIN ((size_t)1024)
#define NO_ROW UINT32_MAX

static size_t slice_begin(const msm_run *r, size_t i)
{
    /* n_entries * i / n_slices without the product */
    size_t q = r->n_entries / r->n_slices, m = r->n_entries % r->n_slices;
    return q * i + (i < m ? i : m);
}

/* The row that entry e is in: the first whose end is above e. */
static size_t row_of(const msm_run *r, size_t e)
{
    size_t lo = 0, hi = (r->n_windows << (r->plan.c - 1)) + (r->with_ones ? 1 : 0);

    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;
        if (r->row_end[mid - 1] > e) {
            hi = mid;
        } else {
            lo = mid;
        }
    }
    return lo;
}

static cuzk_status sum_slice(void *ctx, size_t i, unsigned worker)
{
    msm_run *r = ctx;
    msm_slice s = {
        .points = r->in_place ? r->bases->data + r->base * r->k->point_size : r->decoded,
        .entries = r->entries,
        .row_end = r->row_end,
        .buckets = r->buckets,
        .begin = slice_begin(r, i),
        .end = slice_begin(r, i + 1),
    };

    s.row = row_of(r, s.begin);
    r->partial_rows[i] = NO_ROW;
    if (r->k->rows(&s, r->partials + i * r->k->cell_size, r->scratch + worker * r->k->scratch_size))
        r->partial_rows[i] = (uint32_t)s.row;
    return CUZK_OK;
}

size_t msm_slice_count(size_t n, unsigned threads)
{
    size_t slice = threads == 1 ? n : n / (4 * (size_t)threads);

    if (slice < SLICE_MIN) slice = SLICE_MIN;
    if (slice > SLICE_MAX) slice = SLICE_MAX;
    return (n + slice - 1) / slice;
}

CUZK_STATUS msm_fill_buckets(msm_run *r)
{
    size_t n = 0, size = r->k->cell_size;

    if (r->n_entries == 0) return CUZK_OK;
    r->n_slices = msm_slice_count(r->n_entries, r->threads);
    TRY(pool_run(r->pool, r->s->cancel, r->n_slices, sum_slice, r));
    for (size_t i = 0; i < r->n_slices; i++) {
        if (r->partial_rows[i] == NO_ROW) continue;
        r->partial_rows[n] = r->partial_rows[i];
        memmove(r->partials + n * size, r->partials + i * size, size);
        n++;
    }
    if (n > 0) r->k->merge(r->buckets, r->partial_rows, r->partials, n, r->scratch);
    return CUZK_OK;
}

/* ---- windows ---- */

typedef struct lane_job {
    msm_run *r;
    size_t len, lanes, n_tasks;
} lane_job;

static cuzk_status sum_lanes(void *ctx, size_t i, unsigned worker)
{
    const lane_job *j = ctx;
    const msm_run *r = j->r;
    size_t size = r->k->point_size, first = j->lanes * i / j->n_tasks;
    msm_lanes l = {.buckets = r->buckets,
                   .first = first,
                   .n = j->lanes * (i + 1) / j->n_tasks - first,
                   .len = j->len,
                   .apart = (size_t)r->digits.half / j->len};

    r->k->lanes(r->plain + first * size, r->weighted + first * size, &l,
                r->scratch + worker * r->k->scratch_size);
    return CUZK_OK;
}

static cuzk_status sum_window(void *ctx, size_t w, unsigned worker)
{
    const lane_job *j = ctx;
    const msm_run *r = j->r;
    size_t n = (size_t)r->digits.half / j->len, at = w * n * r->k->point_size;

    (void)worker;
    r->k->window(r->sums + (r->w0 + w) * r->k->sum_size, r->plain + at, r->weighted + at, n);
    return CUZK_OK;
}

CUZK_STATUS msm_sum_buckets(msm_run *r)
{
    lane_job j = {.r = r};

    if (r->n_windows == 0) return CUZK_OK;
    j.len = msm_lane_len(r->k, r->n_windows, (size_t)r->digits.half, r->threads);
    j.lanes = r->n_windows * (size_t)r->digits.half / j.len;
    j.n_tasks = (j.lanes + r->k->max_lanes - 1) / r->k->max_lanes;
    if (j.n_tasks < r->threads) j.n_tasks = j.lanes < r->threads ? j.lanes : r->threads;
    TRY(pool_run(r->pool, r->s->cancel, j.n_tasks, sum_lanes, &j));
    return pool_run(r->pool, r->s->cancel, r->n_windows, sum_window, &j);
}
