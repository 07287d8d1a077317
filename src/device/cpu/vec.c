/*
 * device/cpu/vec.c - element by element over whole buffers, in ranges for the pool
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "device/cpu/cpu.h"

#define VEC_GRAIN ((size_t)4096)

/* ---- ranges ---- */

typedef struct ranges {
    size_t n, grain;
    cpu_range_fn fn;
    void *ctx;
} ranges;

static cuzk_status range_task(void *ctx, size_t i, unsigned worker)
{
    const ranges *w = ctx;
    size_t from = i * w->grain, to = w->n - from > w->grain ? from + w->grain : w->n;

    (void)worker;
    w->fn(w->ctx, from, to);
    return CUZK_OK;
}

cuzk_status cpu_for_ranges(const device *d, const cancel *c, size_t n, size_t grain,
                           cpu_range_fn fn, void *ctx)
{
    ranges w = {n, grain, fn, ctx};

    if (n == 0) return CUZK_OK;
    return pool_run(d->pool, c, (n - 1) / grain + 1, range_task, &w);
}

/* ---- operations ---- */

typedef struct vectors {
    const cpu_kernels *kern;
    fr *r;
    const fr *a, *b;
    const fr *k;
} vectors;

static void mul_range(void *ctx, size_t from, size_t to)
{
    const vectors *w = ctx;
    w->kern->mul(w->r + from, w->a + from, w->b + from, to - from);
}

static void quotient_range(void *ctx, size_t from, size_t to)
{
    const vectors *w = ctx;
    w->kern->quotient(w->r + from, w->a + from, w->b + from, to - from, w->k);
}

cuzk_status cpu_mul(dev_stream *s, dev_buf *r, const dev_buf *a, const dev_buf *b, size_t n,
                    curve_id id)
{
    vectors w = {cpu_kernels_of(s->d, id), r->host, a->host, b->host, NULL};
    return cpu_for_ranges(s->d, s->cancel, n, VEC_GRAIN, mul_range, &w);
}

cuzk_status cpu_quotient(dev_stream *s, dev_buf *a, const dev_buf *b, const dev_buf *c, size_t n,
                         curve_id id, const fr *k)
{
    vectors w = {cpu_kernels_of(s->d, id), a->host, b->host, c->host, k};
    return cpu_for_ranges(s->d, s->cancel, n, VEC_GRAIN, quotient_range, &w);
}
