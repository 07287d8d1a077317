/*
 * device/cuda/cuda_scalars.c - a proof's scalars on the device as a whole: brought in once, used by all of its sums
 *
 * Three records, each in one block: values (elements, then bits), layout (is_elem, then ranks), selection (its bitmap, then
 * ranks, made there). What has no id, or would take much of the room, is left to the callers, who bring what they need.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <cuda_runtime_api.h>

#include "base/u128.h"
#include "device/cuda/cuda_int.h"

#define SHARE 8 /* of the room: what one record may take at most */
#define ALIGN ((size_t)256)

size_t cu_scalars_elems(const dev_scalars *k)
{
    size_t last;

    if (k->is_elem == NULL || k->n == 0) return k->n;
    last = (k->n - 1) / 64;
    return k->rank64[last] +
           (size_t)u64_popcount(k->is_elem[last] & UINT64_MAX >> (63 - (k->n - 1) % 64));
}

static size_t words_of(const dev_scalars *k)
{
    return (k->n + 63) / 64;
}

static size_t after(size_t n, size_t size)
{
    return (n * size + ALIGN - 1) / ALIGN * ALIGN;
}

/* What cu_upload enqueued has to be there before others, on other streams, find the record ready. */
static cuzk_status end_fill(dev_stream *s)
{
    return cu_wait(s);
}

static cuzk_status fill_values(void *ctx, dev_stream *s, uint8_t *data)
{
    const dev_scalars *k = ctx;
    size_t elems = cu_scalars_elems(k), bit_words = (k->n - elems + 63) / 64;

    TRY(cu_upload(s, data, k->elems, elems * sizeof(fr)));
    if (k->is_elem != NULL)
        TRY(cu_upload(s, data + after(elems, sizeof(fr)), k->bits, bit_words * 8));
    return end_fill(s);
}

static cuzk_status fill_layout(void *ctx, dev_stream *s, uint8_t *data)
{
    const dev_scalars *k = ctx;

    TRY(cu_upload(s, data, k->is_elem, words_of(k) * 8));
    TRY(cu_upload(s, data + after(words_of(k), 8), k->rank64, words_of(k) * 4));
    return end_fill(s);
}

static cuzk_status fill_select(void *ctx, dev_stream *s, uint8_t *data)
{
    const dev_scalars *k = ctx;
    cu_device *cu = cu_of(s->d);
    size_t words = words_of(k);
    uint32_t *scratch = NULL;
    cuzk_status st = CUZK_OK;

    TRY(cu_alloc(cu, (void **)&scratch, (words / CU_SCAN_BLOCK + 1) * 4));
    TRY_OUT(cu_upload(s, data, k->select, words * 8));
    cu_mark(s, SPAN_GPU_SCALARS);
    CU_TRY_OUT(cu, cu_scan(cu_queue_of(s)->s, (uint32_t *)(void *)(data + after(words, 8)), scratch,
                           NULL, data, words, CU_SCAN_BITS));
    st = end_fill(s);
out:
    if (st != CUZK_OK) (void)cudaStreamSynchronize(cu_queue_of(s)->s);
    cu_release(cu, scratch);
    return st;
}

/* *out stays NULL when it is not to be kept. */
static cuzk_status get(cu_kept **out, dev_stream *s, cu_kept_kind kind, uint64_t id, size_t size,
                       cu_fill fill, const dev_scalars *k)
{
    if (id == 0 || k->n == 0 || size > cu_kept_room(cu_of(s->d), RESIDENCY_IDLE) / SHARE)
        return CUZK_OK;
    return cu_kept_get(out, s, kind, id, NULL, size, fill, (void *)(uintptr_t)k);
}

cuzk_status cu_scalars_get(cu_whole *out, dev_stream *s, const dev_scalars *k)
{
    cu_device *cu = cu_of(s->d);
    size_t words = words_of(k), elems = cu_scalars_elems(k);
    cu_whole w = {0};
    cuzk_status st;

    st = get(&w.values, s, CU_KEPT_VALUES, k->id,
             after(elems, sizeof(fr)) + after((k->n - elems) / 64 + 1, 8), fill_values, k);
    if (st == CUZK_OK && k->is_elem != NULL)
        st = get(&w.layout, s, CU_KEPT_LAYOUT, k->layout_id, after(words, 8) + after(words, 4),
                 fill_layout, k);
    if (st == CUZK_OK && k->select != NULL)
        st = get(&w.selected, s, CU_KEPT_SELECT, k->select_id,
                 after(words, 8) + after(words + 1, 4), fill_select, k);
    if (st != CUZK_OK) {
        cu_scalars_put(cu, &w);
        return st;
    }
    if (w.values != NULL) {
        w.elems = (const uint32_t *)(const void *)w.values->data;
        w.bits = (const uint64_t *)(const void *)(w.values->data + after(elems, sizeof(fr)));
    }
    if (w.layout != NULL) {
        w.is_elem = (const uint64_t *)(const void *)w.layout->data;
        w.rank64 = (const uint32_t *)(const void *)(w.layout->data + after(words, 8));
    }
    if (w.selected != NULL) {
        w.select = (const uint64_t *)(const void *)w.selected->data;
        w.select_rank = (const uint32_t *)(const void *)(w.selected->data + after(words, 8));
    }
    *out = w;
    return CUZK_OK;
}

void cu_scalars_put(cu_device *cu, cu_whole *w)
{
    cu_kept_put(cu, w->values);
    cu_kept_put(cu, w->layout);
    cu_kept_put(cu, w->selected);
    *w = (cu_whole){0};
}

void cu_scalars_forget(device *d, uint64_t id)
{
    cu_kept_drop(cu_of(d), CU_KEPT_VALUES, id);
}

void cu_system_forget(device *d, uint64_t id)
{
    cu_kept_drop(cu_of(d), CU_KEPT_SYSTEM, id);
    cu_kept_drop(cu_of(d), CU_KEPT_LAYOUT, id);
    cu_kept_drop(cu_of(d), CU_KEPT_SELECT, id);
}
