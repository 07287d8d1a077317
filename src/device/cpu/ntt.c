/*
 * device/cpu/ntt.c - a transform as passes over memory, each cut into tiles for the pool
 *
 * Let down be the levels from natural to bit-reversed order, up those back (ntt_tmpl.h); with w or 1/w:
 *
 *     forward         down(w), reverse              coset forward   scale by shift^i, down(w), reverse
 *     inverse         down(1/w) / n, reverse        coset inverse   down(1/w) * shift^-i / n, reverse
 *     to coset        down(1/w) * shift^i / n, up(w)
 *
 * The middle of "to coset" is done block by block: the last levels of down, the scaling and the first levels of up share
 * one pass over memory. Scaling in bit-reversed order at B 2^k + j is a factor of block B times a factor of row j. The
 * block's factor costs next to nothing: multiplying runs of a block by powers of one root (times the factor) turns its
 * first q levels into those of block 0, which save as many products as the runs cost (see down_scaled).
 *
 * Cost, products an element, L = log_n: down or up (L - 2) / 2 + 2/n and so on: L/2 - 1 + 1/n; to coset L - 1 + 1/16;
 * with twiddles made by the last pass one more for each of down and up.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "device/cpu/ntt.h"

#include "base/u128.h"

#include <string.h>

#define TILE ((size_t)8192)        /* elements: 256 KiB, half of a second-level cache */
#define TILE_WIDTH_MIN ((size_t)4) /* two cache lines; a table may want more */
#define TASK_MIN ((size_t)4096)    /* elements of contiguous blocks in a task */
#define SCALE_GRAIN ((size_t)8192)

typedef struct job {
    /* fixed after init */
    const cpu_domain *dom;
    fr *a;
    ntt_kind kind;
    ntt_pass pass;
    size_t width;     /* columns of a tile */
    size_t per_task;  /* blocks of a task in the last pass */
    bool up, inverse; /* of a pass over columns */
    bool final;       /* nothing but a permutation follows: values leave canonical */
    uint8_t *scratch;
    size_t scratch_len; /* of each worker: a tile, and the twiddles of a block */
} job;

static size_t width_min(const cpu_kernels *kern)
{
    return kern->tile_width > TILE_WIDTH_MIN ? kern->tile_width : TILE_WIDTH_MIN;
}

/* n elements of a tile, in bytes */
static size_t tile_bytes(const cpu_domain *dom, size_t n)
{
    return n * dom->kern->tile_size;
}

static uint8_t *worker_tile(const job *w, unsigned worker)
{
    return w->scratch + worker * w->scratch_len * w->dom->kern->tile_size;
}

/* ---- passes over columns ---- */

static cuzk_status column_task(void *ctx, size_t i, unsigned worker)
{
    const job *w = ctx;
    const cpu_domain *dom = w->dom;
    unsigned after = dom->log_n - w->pass.depth - w->pass.k; /* log2 of the rows' distance */
    size_t rows = (size_t)1 << w->pass.k, stride = (size_t)1 << after;
    size_t tiles = stride / w->width, block = i / tiles;
    fr *a = w->a + (block << (w->pass.k + after)) + i % tiles * w->width;
    uint8_t *tile = worker_tile(w, worker);

    dom->kern->ntt_load(tile, a, rows, w->width, stride);
    if (w->up)
        dom->kern->ntt_up(tile, w->pass.k, w->width, dom->tw, block, w->inverse);
    else
        dom->kern->ntt_down(tile, w->pass.k, w->width, dom->tw, block, w->inverse);
    dom->kern->ntt_store(a, tile, rows, w->width, stride, w->final);
    return CUZK_OK;
}

/* Columns of a tile: as many as the cache takes, but so few that all threads have some. */
static size_t tile_width(const job *w, unsigned threads)
{
    size_t stride = (size_t)1 << (w->dom->log_n - w->pass.depth - w->pass.k);
    size_t width = TILE >> w->pass.k, least = width_min(w->dom->kern), tiles;

    if (width < least) width = least;
    if (width > stride) width = stride;
    tiles = ((size_t)1 << w->pass.depth) * (stride / width);
    while (tiles < 4 * (size_t)threads && width > least) {
        width /= 2;
        tiles *= 2;
    }
    return width;
}

static cuzk_status column_pass(dev_stream *s, job *w, unsigned pass, bool up, bool inverse)
{
    unsigned log_n = w->dom->log_n;

    w->pass = w->dom->pass[pass];
    w->up = up;
    w->inverse = inverse;
    w->width = tile_width(w, pool_threads(s->d->pool));
    return pool_run(s->d->pool, s->cancel, ((size_t)1 << (log_n - w->pass.k)) / w->width,
                    column_task, w);
}

/* ---- the last pass: contiguous blocks ---- */

/* The twiddles of block b: in the domain's table, or made here as if b were block 1 of a table. */
typedef struct block_tw {
    const void *tw;
    size_t block;
} block_tw;

/**
 * local[2^j + x] = zeta of sub-block x of b's level j = w^(rev(b) / 2^j) tw[x], for j < k, x < 2^j; rev over log_n - 1
 * bits. The finest, j = k - 1, has w^(rev of b's depth bits); the others are its squares.
 */
static void make_local(void *local, const cpu_domain *dom, const ntt_pass *pass, size_t b)
{
    fr g[DEV_MAX_LOG_N];

    for (unsigned j = pass->k; j-- > 0;) {
        if (j + 1 == pass->k)
            ntt_power(&g[j], &dom->root, dom->cv, ntt_reverse(b, pass->depth));
        else
            dom->cv->fr_mul(&g[j], &g[j + 1], &g[j + 1]);
    }
    dom->kern->ntt_tw_local(local, dom->tw, g, pass->k);
}

static block_tw twiddles_of(const job *w, size_t b, bool inverse, void *local)
{
    size_t from = b;

    if (!w->dom->local_tw || b == 0) return (block_tw){w->dom->tw, b};
    /* the mirror image of 2^j + x is that of b's level j, when the table is that of b's mirror image */
    if (inverse) from = ((size_t)3 << (u64_bits(b) - 1)) - 1 - b;
    make_local(local, w->dom, &w->pass, from);
    return (block_tw){local, 1};
}

/* How many levels down_scaled turns into those of block 0: each saves half as much as the one before. */
static unsigned scaled_levels(const cpu_kernels *kern, unsigned k)
{
    unsigned q = k < 4 ? k : 4 - k % 2;

    if (k - q < kern->tile_log) q = k - kern->tile_log;
    return q;
}

/**
 * down on block b with all of it times g. Run r of 2^q runs is multiplied by g tau^r, where tau^(2^q) is what x^(2^k) is
 * congruent to in this block: then its first q levels are those of block 0.
 */
static void down_scaled(const job *w, uint8_t *x, const block_tw *t, bool inverse, const fr *g)
{
    const cpu_kernels *kern = w->dom->kern;
    const curve *cv = w->dom->cv;
    unsigned k = w->pass.k, q = scaled_levels(kern, k);
    size_t run = (size_t)1 << (k - q), bytes = tile_bytes(w->dom, run), root;
    fr tau = cv->fr_one, f = *g;

    if (t->block != 0 && q > 0) {
        root = t->block << (q - 1);
        if (inverse) root = ((size_t)3 << (u64_bits(root) - 1)) - 1 - root;
        kern->ntt_tw_get(&tau, t->tw, root);
        if (inverse) cv->fr_neg(&tau, &tau);
    }
    for (size_t r = 0; r < (size_t)1 << q; r++) {
        kern->ntt_scale_by(x + r * bytes, &f, run);
        cv->fr_mul(&f, &f, &tau);
    }
    if (q > 0) kern->ntt_down(x, q, run, w->dom->tw, 0, inverse);
    for (size_t r = 0; r < (size_t)1 << q; r++)
        kern->ntt_down(x + r * bytes, k - q, 1, t->tw, (t->block << q) + r, inverse);
}

/* `tile` has room for a block, and behind it for its twiddles. */
static void last_block(const job *w, size_t b, uint8_t *tile)
{
    const cpu_domain *dom = w->dom;
    const cpu_kernels *kern = dom->kern;
    unsigned k = w->pass.k, which = w->kind == NTT_COSET_INVERSE ? 1 : 0;
    bool inverse = w->kind != NTT_FORWARD && w->kind != NTT_COSET_FORWARD;
    bool coset = w->kind == NTT_COSET_INVERSE || w->kind == NTT_TO_COSET;
    uint8_t *local = tile + (kern->in_place ? 0 : tile_bytes(dom, (size_t)1 << k));
    block_tw t = twiddles_of(w, b, inverse, local);
    fr *a = w->a + (b << k), g = dom->inv_n;
    uint8_t *x = kern->in_place ? (uint8_t *)a : tile;

    if (!kern->in_place) kern->ntt_load(x, a, 1, (size_t)1 << k, 0);
    if (coset) ntt_power(&g, &dom->coset_block[which], dom->cv, ntt_reverse(b, w->pass.depth));
    if (!inverse || (coset && b == 0))
        kern->ntt_down(x, k, 1, t.tw, t.block, inverse);
    else
        down_scaled(w, x, &t, inverse, &g);
    if (coset) kern->ntt_scale(x, dom->coset_row[which], (size_t)1 << k);
    if (w->kind != NTT_TO_COSET) {
        kern->ntt_store_down(a, x, (size_t)1 << k, w->final);
        return;
    }
    t = twiddles_of(w, b, false, local);
    kern->ntt_up(x, k, 1, t.tw, t.block, false);
    if (!kern->in_place || w->final) kern->ntt_store(a, x, 1, (size_t)1 << k, 0, w->final);
}

static cuzk_status last_task(void *ctx, size_t i, unsigned worker)
{
    const job *w = ctx;
    size_t blocks = (size_t)1 << w->pass.depth, to = (i + 1) * w->per_task;

    if (to > blocks) to = blocks;
    for (size_t b = i * w->per_task; b < to; b++) last_block(w, b, worker_tile(w, worker));
    return CUZK_OK;
}

static cuzk_status last_pass(dev_stream *s, job *w)
{
    size_t blocks;

    w->pass = w->dom->pass[w->dom->n_passes - 1];
    blocks = (size_t)1 << w->pass.depth;
    w->per_task = TASK_MIN >> w->pass.k;
    if (w->per_task > blocks / (4 * (size_t)pool_threads(s->d->pool)))
        w->per_task = blocks / (4 * (size_t)pool_threads(s->d->pool));
    if (w->per_task == 0) w->per_task = 1;
    return pool_run(s->d->pool, s->cancel, (blocks + w->per_task - 1) / w->per_task, last_task, w);
}

/* ---- scaling in natural order ---- */

typedef struct scaling {
    const cpu_domain *dom;
    const fr *shift;
    fr *a;
} scaling;

static void scale_range(void *ctx, size_t from, size_t to)
{
    const scaling *w = ctx;
    fr start;

    w->dom->cv->fr_pow_var(&start, w->shift, from);
    w->dom->kern->mul_powers(w->a + from, to - from, &start, w->shift);
}

/* ---- entry point ---- */

static cuzk_status transform(dev_stream *s, job *w, const fr *shift)
{
    unsigned last = w->dom->n_passes - 1;
    bool inverse = w->kind != NTT_FORWARD && w->kind != NTT_COSET_FORWARD;

    if (w->kind == NTT_COSET_FORWARD) {
        scaling sc = {w->dom, shift, w->a};
        TRY(cpu_for_ranges(s->d, s->cancel, (size_t)1 << w->dom->log_n, SCALE_GRAIN, scale_range,
                           &sc));
    }
    for (unsigned p = 0; p < last; p++) TRY(column_pass(s, w, p, false, inverse));
    w->final = w->kind != NTT_TO_COSET || last == 0;
    TRY(last_pass(s, w));
    if (w->kind != NTT_TO_COSET) return ntt_bit_reverse(s, w->a, w->dom->log_n);
    for (unsigned p = last; p-- > 0;) {
        w->final = p == 0;
        TRY(column_pass(s, w, p, true, false));
    }
    return CUZK_OK;
}

cuzk_status cpu_ntt(dev_stream *s, dev_buf *a, const ntt_domain *of, ntt_kind kind)
{
    cuzk_status st = CUZK_OK;
    const cpu_domain *dom = of->impl;
    size_t threads = pool_threads(s->d->pool);
    job w = {.dom = dom, .a = a->host, .kind = kind};

    for (unsigned p = 0; p < dom->n_passes; p++) {
        size_t rows = (size_t)1 << dom->pass[p].k, want = 2 * rows;
        if (p + 1 < dom->n_passes) {
            want = rows * width_min(dom->kern);
            if (want < TILE) want = TILE;
        }
        if (want > w.scratch_len) w.scratch_len = want;
    }
    w.scratch = mem_new(s->d->m, threads * w.scratch_len, dom->kern->tile_size, &st);
    if (w.scratch == NULL) return st;
    st = transform(s, &w, &of->shift);
    mem_free(s->d->m, w.scratch);
    return st;
}
