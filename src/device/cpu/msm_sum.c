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
        .fresh = r->fresh,
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

/* Lanes of one level: `windows` rows of len * apart cells, and where their plain and weighted sums go, one behind the other. */
typedef struct lane_job {
    const msm_run *r;
    const uint8_t *cells;
    uint8_t *plain, *weighted;
    size_t windows, len, apart, n_tasks;
} lane_job;

static cuzk_status sum_lanes(void *ctx, size_t i, unsigned worker)
{
    const lane_job *j = ctx;
    const msm_run *r = j->r;
    size_t size = r->k->cell_size, lanes = j->windows * j->apart, first = lanes * i / j->n_tasks;
    msm_lanes l = {.buckets = j->cells,
                   .first = first,
                   .n = lanes * (i + 1) / j->n_tasks - first,
                   .len = j->len,
                   .apart = j->apart};

    r->k->lanes(j->plain + first * size, j->weighted + first * size, &l,
                r->scratch + worker * r->k->scratch_size);
    return CUZK_OK;
}

static CUZK_STATUS run_lanes(lane_job *j, uint8_t *out)
{
    const msm_run *r = j->r;
    size_t lanes = j->windows * j->apart;

    j->plain = out;
    j->weighted = out + lanes * r->k->cell_size;
    j->n_tasks = msm_lane_tasks(r->k, lanes, r->threads);
    return pool_run(r->pool, r->s->cancel, j->n_tasks, sum_lanes, j);
}

/* What sums of windows are made of: the top lanes, and how many lanes each stands for. */
typedef struct window_job {
    msm_run *r;
    const lane_job *top;
    unsigned log;
    bool two; /* levels */
} window_job;

static cuzk_status sum_window(void *ctx, size_t w, unsigned worker)
{
    const window_job *j = ctx;
    const msm_run *r = j->r;
    size_t size = j->top->apart * r->k->cell_size;
    msm_tops t = {
        .plain = j->top->plain + w * size,
        .weighted = j->top->weighted + w * size,
        .total = j->two ? j->top->plain + (r->n_windows + w) * size : NULL,
        .n = j->top->apart,
        .log = j->log,
    };

    (void)worker;
    r->k->window(r->sums + (r->w0 + w) * r->k->sum_size, &t);
    return CUZK_OK;
}

/* With L lanes in a window, P and W their sums, the window's is that of (l + 1) P_l + L W_l. The first part is again a weighted sum, of L
   cells; so both are taken together once more, W as further windows, until MSM_TOP lanes are left. */
CUZK_STATUS msm_sum_buckets(msm_run *r)
{
    size_t half = (size_t)r->digits.half;
    lane_job lanes = {.r = r, .cells = r->buckets, .windows = r->n_windows};
    lane_job tops = {.r = r, .windows = 2 * r->n_windows, .apart = MSM_TOP};
    window_job j = {.r = r, .top = &lanes};

    if (r->n_windows == 0) return CUZK_OK;
    lanes.len = msm_lane_len(r->k, r->n_windows, half, r->threads);
    lanes.apart = half / lanes.len;
    TRY(run_lanes(&lanes, r->lanes));
    if (lanes.apart > MSM_TOP) {
        j.top = &tops;
        j.two = true;
        tops.cells = lanes.plain;
        tops.len = lanes.apart / MSM_TOP;
        while ((size_t)1 << j.log < tops.len) j.log++;
        TRY(run_lanes(&tops, r->tops));
    }
    return pool_run(r->pool, r->s->cancel, r->n_windows, sum_window, &j);
}
