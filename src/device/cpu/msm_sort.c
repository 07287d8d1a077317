/*
 * device/cpu/msm_sort.c - a part's entries sorted by window and digit: counted, then placed
 *
 * Row w * half + |digit| - 1 is a bucket of window w of the group; one more row, when the group has it, takes the
 * scalars 1 and -1. A window is one task, and so is that row. Counting leaves the rows' lengths in row_end, placing turns them into ends.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "device/cpu/msm_int.h"

static size_t lists(const msm_run *r, size_t w)
{
    return w < r->digits.small_windows ? 2 : 1;
}

/* Range g's full (which = 0) or small (1) slots: the first, and how many. */
static size_t slots_of(const msm_range *g, size_t which, size_t *n)
{
    *n = which == 0 ? g->n_full : g->n_small;
    return which == 0 ? g->slot : g->slot + g->slots - g->n_small;
}

/* Keys of one range's elements in all windows of the group: values are read once, not once a window. */
static cuzk_status take_digits(void *ctx, size_t i, unsigned worker)
{
    msm_run *r = ctx;
    const msm_range *g = &r->ranges[r->first_range + i];

    (void)worker;
    for (size_t w = 0; w < r->n_windows; w++) {
        uint32_t *keys = r->part_keys + w * r->plan.part_elems;
        msm_window x = msm_window_at(&r->digits, r->w0 + w);
        for (size_t which = 0; which < lists(r, r->w0 + w); which++) {
            size_t n, first = slots_of(g, which, &n);
            for (size_t t = first; t < first + n; t++)
                keys[t - r->first_slot] = msm_key(msm_digit(&x, r->slot_value[t].l));
        }
    }
    return CUZK_OK;
}

static cuzk_status count_window(void *ctx, size_t w, unsigned worker)
{
    msm_run *r = ctx;
    uint32_t *count = r->row_end + w * (size_t)r->digits.half;
    size_t total = 0;

    (void)worker;
    if (w == r->n_windows) {
        for (size_t i = r->first_range; i < r->end_range; i++) total += r->ranges[i].n_ones;
        r->window_entries[w] = total;
        return CUZK_OK;
    }
    const uint32_t *keys = r->part_keys + w * r->plan.part_elems;
    memset(count, 0, (size_t)r->digits.half * sizeof *count);
    if (r->fresh)
        memset(r->buckets + w * (size_t)r->digits.half * r->k->cell_size, 0,
               (size_t)r->digits.half * r->k->cell_size);
    for (size_t i = r->first_range; i < r->end_range; i++) {
        for (size_t which = 0; which < lists(r, r->w0 + w); which++) {
            size_t n, first = slots_of(&r->ranges[i], which, &n) - r->first_slot;
            for (size_t t = first; t < first + n; t++) {
                uint32_t key = keys[t];
                if (key == MSM_NO_KEY) continue;
                count[key >> 1]++;
                total++;
            }
        }
    }
    r->window_entries[w] = total;
    return CUZK_OK;
}

static cuzk_status place_window(void *ctx, size_t w, unsigned worker)
{
    msm_run *r = ctx;
    uint32_t *next = r->row_end + w * (size_t)r->digits.half, at = 0;

    (void)worker;
    for (size_t v = 0; v < w; v++) at += (uint32_t)r->window_entries[v];
    if (w == r->n_windows) {
        for (size_t i = r->first_range; i < r->end_range; i++) {
            const msm_range *g = &r->ranges[i];
            if (g->n_ones == 0) continue; /* entries may be NULL when there are none at all */
            memcpy(r->entries + at, r->ones + (g->pos - r->pos), g->n_ones * sizeof *r->entries);
            at += g->n_ones;
        }
        *next = at;
        return CUZK_OK;
    }
    const uint32_t *keys = r->part_keys + w * r->plan.part_elems;
    const uint32_t *entry = r->slot_entry + r->first_slot;
    for (size_t i = 0; i < (size_t)r->digits.half; i++) {
        uint32_t n = next[i];
        next[i] = at;
        at += n;
    }
    for (size_t i = r->first_range; i < r->end_range; i++) {
        for (size_t which = 0; which < lists(r, r->w0 + w); which++) {
            size_t n, first = slots_of(&r->ranges[i], which, &n) - r->first_slot;
            for (size_t t = first; t < first + n; t++) {
                uint32_t key = keys[t];
                if (key == MSM_NO_KEY) continue;
                r->entries[next[key >> 1]++] = entry[t] ^ (key & 1);
            }
        }
    }
    return CUZK_OK;
}

CUZK_STATUS msm_sort_part(msm_run *r)
{
    size_t tasks = r->n_windows + (r->with_ones ? 1 : 0), total = 0;
    pool *p = r->pool;

    TRY(pool_run(p, r->s->cancel, r->end_range - r->first_range, take_digits, r));
    TRY(pool_run(p, r->s->cancel, tasks, count_window, r));
    for (size_t w = 0; w < tasks; w++) total += r->window_entries[w];
    r->n_entries = total;
    return pool_run(p, r->s->cancel, tasks, place_window, r);
}
