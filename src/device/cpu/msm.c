/*
 * device/cpu/msm.c - multi-scalar multiplication on the CPU, by signed buckets: the schedule
 *
 * Chunk by chunk: read scalars and points; part by part, sort entries by bucket, add. A part's points are few enough to be found
 * in the cache and their pages in the TLB, whatever the order. Then buckets to windows, windows to the result.
 * Which additions there are and in what order follows from the scalars alone, never from the number of threads, and
 * results are affine: so they are the same bits for every table and pool. The parts are listed in msm_int.h.
 *
 * Source: Pippenger's method as in Bernstein, Doumen, Lange, Oosterwijk, INDOCRYPT 2012
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "device/cpu/msm.h"

#include "device/cpu/msm_int.h"

const msm_kernels *msm_kernels_get(curve_id id, cpu_table t, bool g2)
{
    const msm_kernels *generic = id == CURVE_ID_BLS12_381 ? msm_bls_generic : msm_bn_generic;
    const msm_kernels *k = NULL;

    switch (t) {
    case CPU_TABLE_GENERIC: k = generic; break;
    case CPU_TABLE_ADX: k = id == CURVE_ID_BLS12_381 ? msm_bls_adx : msm_bn_adx; break;
    case CPU_TABLE_IFMA: k = id == CURVE_ID_BLS12_381 ? msm_bls_ifma : msm_bn_ifma; break;
    case CPU_TABLES: break;
    }
    return k == NULL ? NULL : &k[g2];
}

static void run_clear(msm_run *r)
{
    mem *m = r->s->d->m;

    mem_free(m, r->ranges);
    mem_free(m, r->ones);
    mem_free(m, r->slot_entry);
    mem_free(m, r->slot_value);
    mem_free(m, r->part_keys);
    mem_free(m, r->decoded);
    mem_free(m, r->row_end);
    mem_free(m, r->entries);
    mem_free(m, r->partials);
    mem_free(m, r->partial_rows);
    mem_free(m, r->buckets);
    mem_free(m, r->sums);
    mem_free(m, r->scratch);
}

/* NULL once something could not be had. */
static void *take(msm_run *r, size_t n, size_t size, cuzk_status *st)
{
    return *st == CUZK_OK ? mem_new(r->s->d->m, n, size, st) : NULL;
}

static CUZK_STATUS run_init(msm_run *r, const curve *cv)
{
    const msm_plan *p = &r->plan;
    cuzk_status st = CUZK_OK;
    size_t rows;

    msm_plan_make(&r->plan, r->k, cv, r->scalars, r->in_place, r->threads);
    msm_digits_init(&r->digits, cv, p->c);
    rows = msm_rows(p->group, p->c);
    r->ranges = take(r, p->chunk / MSM_RANGE, sizeof *r->ranges, &st);
    r->ones = take(r, p->chunk, sizeof *r->ones, &st);
    r->slot_entry = take(r, p->elems, sizeof *r->slot_entry, &st);
    r->slot_value = take(r, p->elems, sizeof *r->slot_value, &st);
    r->part_keys = take(r, p->part_elems * p->group, sizeof *r->part_keys, &st);
    if (!r->in_place) r->decoded = take(r, p->chunk, r->k->point_size, &st);
    r->row_end = take(r, rows, sizeof *r->row_end, &st);
    r->buckets = take(r, rows, r->k->cell_size, &st);
    r->sums = take(r, p->windows, r->k->sum_size, &st);
    r->scratch = take(r, r->threads, r->k->scratch_size, &st);
    return st;
}

/* The next group of windows, its buckets empty; the row of ones goes with the first. */
static void group_begin(msm_run *r, size_t w0, bool with_ones)
{
    size_t left = r->plan.windows - w0;

    r->w0 = w0;
    r->n_windows = left < r->plan.group ? left : r->plan.group;
    r->with_ones = with_ones;
    if (w0 > 0) memset(r->buckets, 0, msm_rows(r->n_windows, r->plan.c) * r->k->cell_size);
}

/* What all chunks have in the group's windows, in its buckets; chunks are read once when there is one group. */
static CUZK_STATUS sum_chunks(msm_run *r)
{
    size_t base = r->first_base;

    for (size_t pos = 0; pos < r->scalars->n; pos += r->plan.chunk) {
        size_t left = r->scalars->n - pos;
        TRY(cancel_check(r->s->cancel));
        if (r->w0 == 0) {
            r->pos = pos;
            r->end = pos + (left < r->plan.chunk ? left : r->plan.chunk);
            r->base = base;
            TRY(msm_read_chunk(r));
            base += r->n_bases;
        }
        for (r->first_range = 0; r->first_range < r->n_ranges; r->first_range = r->end_range) {
            size_t ranges = r->plan.part / MSM_RANGE, ranges_left = r->n_ranges - r->first_range;

            r->end_range = r->first_range + (ranges_left < ranges ? ranges_left : ranges);
            r->first_slot = r->ranges[r->first_range].slot;
            TRY(msm_sort_part(r));
            TRY(msm_fill_buckets(r));
        }
    }
    return CUZK_OK;
}

static CUZK_STATUS run_all(msm_run *r, void *out)
{
    uint8_t ones[MSM_MAX_CELL] = {0}; /* infinity */
    size_t w0 = 0;

    do {
        group_begin(r, w0, w0 == 0);
        TRY(sum_chunks(r));
        if (r->with_ones) {
            size_t row = msm_rows(r->n_windows, r->plan.c) - 1;
            memcpy(ones, r->buckets + row * r->k->cell_size, r->k->cell_size);
        }
        TRY(msm_sum_buckets(r));
        w0 += r->n_windows;
    } while (w0 < r->plan.windows);
    r->k->finish(out, r->sums, r->plan.windows, r->plan.c, ones);
    return CUZK_OK;
}

CUZK_STATUS cpu_msm_run(dev_stream *s, void *r, curve_id id, const dev_points *bases,
                        size_t first_base, const dev_scalars *k)
{
    const curve *cv = s->d->curves[id];
    msm_run run = {
        .s = s,
        .k = msm_kernels_get(id, s->d->table, bases->g2),
        .bases = bases,
        .scalars = k,
        .first_base = first_base,
        .point_bytes = cv->point_size(bases->g2, bases->enc),
        .in_place = bases->enc == POINT_LEM,
        .threads = s->d->pool != NULL ? pool_threads(s->d->pool) : 1,
    };
    cuzk_status st;

    TRY_OUT(run_init(&run, cv));
    TRY_OUT(run_all(&run, r));
out:
    run_clear(&run);
    return st;
}
