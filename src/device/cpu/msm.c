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

#include "device/cpu/cpu.h"
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

/* ---- the block that a sum works in ---- */

struct msm_block {
    size_t size; /* of what lies behind the head */
};

_Static_assert(sizeof(msm_block) <= MSM_BLOCK_HEAD, "the head has room");

/* The one that an earlier sum of the stream has left, if it is large enough; else a new one. */
static CUZK_STATUS block_take(msm_block **out, dev_stream *s, size_t size)
{
    cpu_stream *impl = s->impl;
    msm_block *b = atomic_exchange(&impl->block, NULL);
    cuzk_status st = CUZK_OK;

    if (b != NULL && b->size < size) {
        mem_free(s->d->m, b);
        b = NULL;
    }
    if (b == NULL) {
        b = mem_new(s->d->m, MSM_BLOCK_HEAD + size, 1, &st);
        if (b == NULL) return st;
        b->size = size;
    }
    *out = b;
    return CUZK_OK;
}

CUZK_STATUS msm_take(msm_run *r, msm_block **block)
{
    TRY(block_take(block, r->s, msm_lay_out(r, NULL)));
    (void)msm_lay_out(r, (uint8_t *)*block + MSM_BLOCK_HEAD);
    return CUZK_OK;
}

void msm_leave(dev_stream *s, msm_block *b)
{
    cpu_stream *impl = s->impl;

    if (b != NULL && atomic_load(&impl->keep)) b = atomic_exchange(&impl->block, b);
    mem_free(s->d->m, b);
}

void cpu_msm_keep(dev_stream *s, bool keep)
{
    cpu_stream *impl = s->impl;

    atomic_store(&impl->keep, keep);
    if (!keep) mem_free(s->d->m, atomic_exchange(&impl->block, NULL));
}

static CUZK_STATUS run_init(msm_run *r, msm_block **block, const curve *cv)
{
    msm_plan_make(&r->plan, r->k, cv, r->scalars, r->in_place, r->threads);
    msm_digits_init(&r->digits, cv, r->plan.c);
    return msm_take(r, block);
}

void msm_group_begin(msm_run *r, size_t w0, bool with_ones)
{
    size_t left = r->plan.windows - w0;

    r->w0 = w0;
    r->n_windows = left < r->plan.group ? left : r->plan.group;
    r->with_ones = with_ones;
    r->fresh = true;
    memset(r->buckets + (msm_rows(r->n_windows, r->plan.c) - 1) * r->k->cell_size, 0,
           r->k->cell_size);
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
            r->fresh = false;
        }
    }
    return CUZK_OK;
}

static CUZK_STATUS run_all(msm_run *r, void *out)
{
    uint8_t ones[MSM_MAX_CELL] = {0}; /* infinity */
    size_t w0 = 0;

    do {
        msm_group_begin(r, w0, w0 == 0);
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
        .bases = bases,
        .scalars = k,
        .first_base = first_base,
        .point_bytes = cv->point_size(bases->g2, bases->enc),
        .in_place = bases->enc == POINT_LEM,
    };
    msm_block *block = NULL;
    cuzk_status st;

    msm_run_choose(&run, s->d, id, bases->g2, k->n);
    TRY_OUT(run_init(&run, &block, cv));
    TRY_OUT(run_all(&run, r));
out:
    msm_leave(s, block);
    return st;
}
