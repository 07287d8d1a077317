/*
 * groth16/derive_points.c - an inverse Fourier transform over points: two passes of butterflies in blocks
 *
 * Decimation in time. Position p of the input is point rev(p). A level s combines positions that differ in bit s alone:
 *     a, b = a + k b, a - k b        k = w^-(e 2^(log_n - s - 1)), e the position's bits below s
 * The first pass does levels below `low` in blocks of neighbours. The second does the others: 2^(log_n - low) positions that are
 * 2^low apart, for 2^(log_block - log_n + low) neighbouring lows at once, so that a block's points lie in runs.
 *
 * A butterfly is a product by k, some 1,500 products of the base field, which share an inversion by eights.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "groth16/derive.h"

#include <string.h>

#include "base/u128.h"

#define NEAR_LOG 12u
#define TASK 32u /* points or butterflies: some milliseconds */

static void fill_powers(fr *out, size_t n, const curve *cv, const fr *x)
{
    fr k = cv->fr_one;

    for (size_t i = 0; i < n; i++) {
        out[i] = k;
        cv->fr_mul(&k, &k, x);
    }
}

cuzk_status point_transform_open(point_transform *t, const groth16_pk *pk, unsigned log_block,
                                 pool *p, const cancel *c, mem *m)
{
    const curve *cv = pk->cv;
    unsigned high = pk->log_n - pk->log_n / 2, half = pk->log_n == 0 ? 0 : pk->log_n - 1;
    cuzk_status st;
    fr root, jump;

    *t = (point_transform){.pk = pk,
                           .cv = cv,
                           .ops = batch_get(cv->table),
                           .p = p,
                           .c = c,
                           .m = m,
                           .log_n = pk->log_n,
                           .low = pk->log_n / 2,
                           .near_log = half < NEAR_LOG ? half : NEAR_LOG};
    t->log_block = log_block < high ? high : log_block;
    if (t->log_block > pk->log_n) t->log_block = pk->log_n;
    size_t near = (size_t)1 << t->near_log, far = (size_t)1 << (half - t->near_log);
    t->near = mem_new(m, near, sizeof *t->near, &st);
    if (t->near == NULL) return st;
    t->far = mem_new(m, far, sizeof *t->far, &st);
    if (t->far == NULL) return st;
    t->block = mem_new(m, (size_t)1 << t->log_block, sizeof *t->block, &st);
    if (t->block == NULL) return st;
    cv->fr_root(&root, BELLPERSON_GENERATOR, t->log_n);
    cv->fr_inv(&root, &root);
    cv->fr_pow_var(&jump, &root, near);
    fill_powers(t->near, near, cv, &root);
    fill_powers(t->far, far, cv, &jump);
    return CUZK_OK;
}

void point_transform_close(point_transform *t)
{
    if (t->m == NULL) return;
    mem_free(t->m, t->near);
    mem_free(t->m, t->far);
    mem_free(t->m, t->block);
}

uint64_t point_transform_blocks(const point_transform *t)
{
    return (uint64_t)1 << (t->log_n - t->log_block);
}

/* ---- butterflies ---- */

typedef struct level_run {
    const point_transform *t;
    unsigned level; /* of all */
    size_t apart;   /* a butterfly's points, in the block */
    size_t first;   /* the block's first low position */
    unsigned run;   /* 2^run neighbours in the block are neighbours in low position */
    size_t n;       /* butterflies */
} level_run;

/** w^-(e 2^(log_n - level - 1)) for the butterfly that begins x points behind the first of its kind. */
static void twiddle(fr *k, const level_run *r, size_t x)
{
    const point_transform *t = r->t;
    size_t e = r->first + (x & (((size_t)1 << r->run) - 1)) + (x >> r->run << t->low);

    e <<= t->log_n - r->level - 1;
    t->cv->fr_mul(k, &t->near[e & (((size_t)1 << t->near_log) - 1)], &t->far[e >> t->near_log]);
}

static cuzk_status some_butterflies(void *ctx, size_t task, unsigned worker)
{
    const level_run *r = ctx;
    g1_any a[TASK], b[TASK];
    fr k[TASK] = {0};
    size_t from = task * TASK, n = r->n - from < TASK ? r->n - from : TASK;
    (void)worker;

    for (size_t i = 0; i < n; i++) {
        size_t x = (from + i) % r->apart, at = 2 * (from + i) - x;
        a[i] = r->t->block[at];
        b[i] = r->t->block[at + r->apart];
        twiddle(&k[i], r, x);
    }
    r->t->ops->g1_butterfly(a, b, k, n);
    for (size_t i = 0; i < n; i++) {
        size_t x = (from + i) % r->apart, at = 2 * (from + i) - x;
        r->t->block[at] = a[i];
        r->t->block[at + r->apart] = b[i];
    }
    return CUZK_OK;
}

static cuzk_status do_level(const point_transform *t, level_run *r)
{
    r->t = t;
    r->n = ((size_t)1 << t->log_block) / 2;
    return pool_run(t->p, t->c, (r->n + TASK - 1) / TASK, some_butterflies, r);
}

/* ---- first pass ---- */

typedef struct load_run {
    const point_transform *t;
    uint64_t from; /* position */
} load_run;

static uint64_t reversed(uint64_t p, unsigned bits)
{
    uint64_t r = 0;

    for (unsigned i = 0; i < bits; i++) r |= (p >> i & 1) << (bits - 1 - i);
    return r;
}

/** Positions [from + task * TASK, ...): points of the key, times their scalars. */
static cuzk_status load_some(void *ctx, size_t task, unsigned worker)
{
    const load_run *r = ctx;
    const point_transform *t = r->t;
    const dev_points *h = &t->pk->h;
    size_t size = t->cv->point_size(false, h->enc), all = (size_t)1 << t->log_block;
    size_t at = task * TASK, n = all - at < TASK ? all - at : TASK;
    fr k[TASK] = {0};
    (void)worker;

    for (size_t i = 0; i < n; i++) {
        uint64_t from = reversed(r->from + at + i, t->log_n);
        g1_any *to = &t->block[at + i];
        memset(to, 0, sizeof *to); /* infinity */
        t->cv->fr_pow_var(&k[i], &t->step, from);
        t->cv->fr_mul(&k[i], &k[i], &t->scale);
        if (from >= h->n) continue;
        point_err e = t->cv->g1_read(to, h->data + from * size, h->enc);
        if (e != POINT_OK)
            return FAIL_DATA(MALFORMED, "h", "key h[%llu]: %s", (unsigned long long)from,
                             point_err_text(e));
    }
    t->ops->g1_scale(&t->block[at], &t->block[at], k, n);
    return CUZK_OK;
}

cuzk_status point_transform_first(point_transform *t, file_part *out, uint64_t off, uint64_t at)
{
    size_t n = (size_t)1 << t->log_block, g1 = sizeof *t->block;
    load_run load = {t, at << t->log_block};

    TRY(pool_run(t->p, t->c, (n + TASK - 1) / TASK, load_some, &load));
    for (unsigned s = 0; s < t->low; s++) {
        level_run r = {.level = s, .apart = (size_t)1 << s, .run = t->low};
        TRY(do_level(t, &r));
    }
    return file_part_write(out, off + load.from * g1, t->block, n * g1);
}

/* ---- second pass ---- */

cuzk_status point_transform_second(point_transform *t, const uint8_t *in, file_part *out,
                                   uint64_t off, uint64_t at)
{
    unsigned high = t->log_n - t->low, run = t->log_block - high;
    size_t first = (size_t)at << run, n = (size_t)1 << run, g1 = sizeof *t->block;

    for (size_t q = 0; q < (size_t)1 << high; q++)
        memcpy(t->block + (q << run), in + (((q << t->low) + first) * g1), n * g1);
    for (unsigned s = 0; s < high; s++) {
        level_run r = {
            .level = t->low + s, .apart = (size_t)1 << (run + s), .first = first, .run = run};
        TRY(do_level(t, &r));
    }
    for (size_t q = 0; q < (size_t)1 << high; q++)
        TRY(file_part_write(out, off + ((q << t->low) + first) * g1, t->block + (q << run),
                            n * g1));
    return CUZK_OK;
}
