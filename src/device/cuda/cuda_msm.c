/*
 * device/cuda/cuda_msm.c - a sum of points on the device: the schedule
 *
 * Chunk by chunk of positions, while the points of the next one come in: scalars by class (fr_scalars.cuh); then a group
 * of windows at a time: digits are counted and placed by bucket (digits.cu), buckets are summed in pairs, level by level (group_pairs.cuh), until they hold a few
 * points each, and then to segments (group_segments.cuh). Ones are one more bucket of the first group. The host joins
 * the windows. Everything is exact, so the result's bytes do not depend on the plan.
 *
 * Source: Pippenger's method as in Bernstein, Doumen, Lange, Oosterwijk, INDOCRYPT 2012
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "device/cuda/cuda_msm.h"

#include <cuda_runtime_api.h>
#include <string.h>

#include "base/clock.h"
#include "base/u128.h"
#include "device/cpu/msm_kernels.h"

#define FEW_LEFT 4u /* points a bucket may hold when its segment is summed */
#define COMBINE 8u  /* segments that become one */
#define HOST_MAX 4u /* elements that are not worth a launch */

/* Positions [pos, end), and the bases that those of them which take part meet. */
typedef struct msm_chunk {
    size_t pos, end, first_base, n_bases;
} msm_chunk;

typedef struct msm_run {
    dev_stream *s;
    cu_queue *q;
    cu_device *cu;
    const curve *cv;
    const cu_group_ops *g;
    const cu_fr_ops *f;
    const dev_points *bases;
    const dev_scalars *k;
    const uint32_t *on_device; /* not NULL: all elements of k are there */
    cu_whole whole;            /* what of k is on the device as a whole */
    size_t base0;              /* of position 0 */
    cu_points points;          /* bases, as far as they are kept */
    cu_msm_plan plan;
    /* device memory */
    uint32_t *elem;
    uint64_t *bits, *is_elem, *select;
    uint32_t *rank64, *select_rank, *scan_blocks;
    cu_chunk chunk;
    uint32_t *bins[3], *count, *offset[2], *entries, *stats;
    uint8_t *level[2], *prefix, *sums[4];
    cu_pair *pair;
    msm_chunk at;       /* that is being summed */
    cu_part part, next; /* points of this chunk and of the one after */
    cu_scalars in;      /* scalars of this chunk */
    cu_digits digits;
    g2_any acc; /* of either group, affine: what chunks before have given; zero is infinity */
} msm_run;

/* ---- memory ---- */

static void *take(msm_run *r, size_t n, size_t size, cuzk_status *st)
{
    void *p = NULL;
    size_t bytes;

    if (*st != CUZK_OK) return NULL;
    if (!size_mul(&bytes, n, size)) {
        *st = FAIL(CUZK_EBUDGET, "%s: %zu times %zu bytes", r->cu->name, n, size);
        return NULL;
    }
    *st = cu_alloc(r->cu, &p, bytes);
    return p;
}

static cuzk_status take_plan(msm_run *r)
{
    const cu_msm_plan *p = &r->plan;
    cuzk_status st = CUZK_OK;
    size_t scan = p->buckets / CU_SCAN_BLOCK + p->chunk / 64 / CU_SCAN_BLOCK + 2;

    r->chunk.counts = take(r, 2, 4, &st);
    r->chunk.base = take(r, p->max_elems, 4, &st);
    r->chunk.value = take(r, p->max_elems, 32, &st);
    r->chunk.ones = take(r, p->chunk, 4, &st);
    r->chunk.max_elems = p->max_elems;
    for (int i = 0; i < 3; i++) r->bins[i] = take(r, CU_BINS(p->group, p->c) + 1, 4, &st);
    r->count = take(r, p->buckets, 4, &st);
    for (int i = 0; i < 2; i++) r->offset[i] = take(r, p->buckets + 1, 4, &st);
    r->entries = take(r, p->entries, 4, &st);
    r->stats = take(r, 2, 4, &st);
    for (int i = 0; i < 2; i++) r->level[i] = take(r, p->level[i], r->g->point_size, &st);
    r->prefix = take(r, p->lanes * p->k, r->g->fe_size, &st);
    r->pair = take(r, p->level[0], sizeof *r->pair, &st);
    for (int i = 0; i < 4; i++) {
        size_t n = i < 2 ? p->segs + 1 : (p->segs + COMBINE - 1) / COMBINE + p->windows;
        r->sums[i] = take(r, n, r->g->sum_size, &st);
    }
    r->scan_blocks = take(r, scan, 4, &st);
    if (r->k->select != NULL && r->whole.selected == NULL) {
        r->select = take(r, p->chunk / 64 + 1, 8, &st);
        r->select_rank = take(r, p->chunk / 64 + 2, 4, &st);
    }
    if (r->k->is_elem != NULL && r->whole.layout == NULL) {
        r->is_elem = take(r, p->chunk / 64 + 1, 8, &st);
        r->rank64 = take(r, p->chunk / 64 + 1, 4, &st);
    }
    if (r->whole.values != NULL) return st;
    if (r->k->is_elem != NULL) r->bits = take(r, p->chunk / 64 + 2, 8, &st);
    if (r->k->elems != NULL) r->elem = take(r, p->max_elems, sizeof(fr), &st);
    return st;
}

static void release_plan(msm_run *r)
{
    void *all[] = {r->elem,        r->bits,        r->is_elem,      r->select,     r->rank64,
                   r->select_rank, r->scan_blocks, r->chunk.counts, r->chunk.base, r->chunk.value,
                   r->chunk.ones,  r->bins[0],     r->bins[1],      r->bins[2],    r->count,
                   r->offset[0],   r->offset[1],   r->entries,      r->stats,      r->level[0],
                   r->level[1],    r->prefix,      r->pair,         r->sums[0],    r->sums[1],
                   r->sums[2],     r->sums[3]};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) cu_release(r->cu, all[i]);
}

static void release_all(msm_run *r)
{
    cu_part_put(r->cu, &r->part);
    cu_part_put(r->cu, &r->next);
    cu_points_close(r->cu, &r->points);
    cu_scalars_put(r->cu, &r->whole);
    release_plan(r);
}

/* ---- a chunk ---- */

static size_t popcount_range(const uint64_t *w, size_t from, size_t to)
{
    size_t n = 0;

    for (size_t i = from / 64; i < to / 64; i++) n += u64_popcount(w[i]);
    if (to % 64 != 0) n += u64_popcount(w[to / 64] & (UINT64_MAX >> (64 - to % 64)));
    return n;
}

/* How many of the positions [pos, end) take part; pos is a multiple of 64. */
static size_t taking_part(const dev_scalars *k, size_t pos, size_t end)
{
    if (k->select == NULL) return end - pos;
    if (end - pos == k->n && k->n_selected != 0) return k->n_selected;
    return popcount_range(k->select + pos / 64, 0, end - pos);
}

/* The chunk from `pos` on, whose first base is the one given; empty at the end. */
static msm_chunk chunk_at(const msm_run *r, size_t pos, size_t first_base)
{
    msm_chunk c = {.pos = pos, .first_base = first_base};

    c.end = r->k->n - pos < r->plan.chunk ? r->k->n : pos + r->plan.chunk;
    c.n_bases = taking_part(r->k, pos, c.end);
    return c;
}

/* Which positions take part. */
static cuzk_status upload_select(msm_run *r, cu_scalars *out)
{
    const dev_scalars *k = r->k;
    size_t words = (r->at.end - r->at.pos + 63) / 64, w0 = r->at.pos / 64;

    out->first_base = 0; /* the points are those from there on */
    if (k->select == NULL) return CUZK_OK;
    if (r->whole.selected != NULL) {
        out->select = r->whole.select + w0;
        out->select_rank = r->whole.select_rank + w0; /* of all, so less what came before */
        out->first_base = (uint32_t)(r->base0 - r->at.first_base);
        return CUZK_OK;
    }
    TRY(cu_upload(r->s, r->select, k->select + w0, words * 8));
    cu_mark(r->s, SPAN_GPU_SCALARS);
    CU_TRY(r->cu,
           cu_scan(r->q->s, r->select_rank, r->scan_blocks, NULL, r->select, words, CU_SCAN_BITS));
    out->select = r->select;
    out->select_rank = r->select_rank;
    return CUZK_OK;
}

/* Scalars of positions [pos, end) to the device; pos is a multiple of 64. */
static cuzk_status upload_scalars(msm_run *r, cu_scalars *out)
{
    const dev_scalars *k = r->k;
    const cu_whole *whole = &r->whole;
    size_t pos = r->at.pos, n = r->at.end - pos, words = (n + 63) / 64, w0 = pos / 64;
    size_t elems = n, elem0 = pos;

    *out = (cu_scalars){.n = n};
    if (k->is_elem != NULL) {
        size_t bit0, bits;
        elem0 = k->rank64[w0];
        elems = cu_msm_elems(k, pos, r->at.end);
        out->rank0 = (uint32_t)elem0;
        bit0 = pos - elem0;
        bits = n - elems;
        out->bit0 = bit0 % 64;
        out->bits = whole->values != NULL ? whole->bits + bit0 / 64 : r->bits;
        if (bits != 0 && whole->values == NULL)
            TRY(cu_upload(r->s, r->bits, k->bits + bit0 / 64, ((bit0 % 64 + bits + 63) / 64) * 8));
        out->is_elem = whole->layout != NULL ? whole->is_elem + w0 : r->is_elem;
        out->rank64 = whole->layout != NULL ? whole->rank64 + w0 : r->rank64;
        if (whole->layout == NULL) {
            TRY(cu_upload(r->s, r->is_elem, k->is_elem + w0, words * 8));
            TRY(cu_upload(r->s, r->rank64, k->rank64 + w0, words * 4));
        }
    }
    if (r->on_device != NULL) {
        out->elem = r->on_device + 8 * pos;
    } else if (whole->values != NULL) {
        out->elem = whole->elems + 8 * elem0;
    } else {
        out->elem = r->elem;
        if (k->elems != NULL) TRY(cu_upload(r->s, r->elem, k->elems + elem0, elems * sizeof(fr)));
    }
    return upload_select(r, out);
}

/* ---- a group of windows ---- */

/* Buckets of the group to few points each: which level buffer and which offsets they are in. */
static cuzk_status add_levels(msm_run *r, uint32_t n_buckets, unsigned *level, unsigned *off)
{
    size_t total, most;
    unsigned l = 0;
    cu_pairs p = {.n_buckets = n_buckets,
                  .entries = r->entries,
                  .points = r->part.data,
                  .prefix = r->prefix,
                  .pair = r->pair};

    CU_TRY(r->cu, cudaMemcpyAsync(r->q->words, r->offset[0] + n_buckets, 4, cudaMemcpyDeviceToHost,
                                  r->q->s));
    CU_TRY(r->cu, cudaMemcpyAsync(r->q->words + 1, r->stats, 4, cudaMemcpyDeviceToHost, r->q->s));
    TRY(cu_wait(r->s));
    total = r->q->words[0];
    most = r->q->words[1];
    if (total > r->plan.entries) /* never written past the end of a level */
        return FAIL(CUZK_EDEVICE, "%s: sorted %zu entries where %zu are the most", r->cu->name,
                    total, r->plan.entries);
    *off = 0;
    while (total != 0 && (l == 0 || most > FEW_LEFT || total > 3 * (size_t)n_buckets)) {
        size_t bound = (total + n_buckets) / 2;

        TRY(cu_safe_point(r->s));
        if (bound > total) bound = total;
        p.off_in = r->offset[*off];
        p.off_out = r->offset[*off ^ 1];
        p.out = r->level[l & 1];
        cu_mark(r->s, SPAN_GPU_PAIRS);
        CU_TRY(r->cu, cu_scan(r->q->s, r->offset[*off ^ 1], r->scan_blocks, NULL, r->offset[*off],
                              n_buckets, CU_SCAN_HALVES));
        cu_msm_level(&r->plan, bound, &p.blocks, &p.k);
        p.most = bound;
        CU_TRY(r->cu, cu_match(r->q->s, &p));
        CU_TRY(r->cu, r->g->pairs(r->q->s, &p));
        p.entries = NULL;
        p.points = p.out;
        *off ^= 1;
        l++;
        total = bound;
        most = (most + 1) / 2;
    }
    *level = (l + 1) & 1; /* of the last one; unused when there was none */
    return CUZK_OK;
}

static cuzk_status add_group(msm_run *r, unsigned first, unsigned n)
{
    const cu_msm_plan *p = &r->plan;
    uint32_t half = (uint32_t)1 << (p->c - 1), buckets = n * half;
    bool ones = first == 0;
    uint32_t all = buckets + (ones ? 1 : 0);
    size_t per = half / p->seg_len * r->g->sum_size;
    unsigned level = 0, off = 0;
    cu_windows w = {.digits = r->digits,
                    .first = first,
                    .n = n,
                    /* until pairs are added, where their sums will be */
                    .items = (cu_item *)(void *)r->level[0],
                    .digit = (uint32_t *)(void *)r->level[0] + 2 * n * p->max_elems,
                    .bin = r->bins[0],
                    .bin_start = r->bins[1],
                    .part_start = r->bins[2],
                    .scan_blocks = r->scan_blocks,
                    .count = r->count,
                    .offset = r->offset[0],
                    .entries = r->entries};

    TRY(cu_safe_point(r->s));
    cu_mark(r->s, SPAN_GPU_SORT);
    CU_TRY(r->cu, cudaMemsetAsync(r->count, 0, (size_t)all * 4, r->q->s));
    CU_TRY(r->cu, cudaMemsetAsync(r->stats, 0, 8, r->q->s));
    CU_TRY(r->cu, cu_split(r->q->s, &w, &r->chunk));
    CU_TRY(r->cu, cu_count(r->q->s, &w, &r->chunk));
    if (ones) CU_TRY(r->cu, cu_count_ones(r->q->s, r->count + buckets, &r->chunk));
    CU_TRY(r->cu,
           cu_scan(r->q->s, r->offset[0], r->scan_blocks, r->stats, r->count, all, CU_SCAN_COUNTS));
    CU_TRY(r->cu, cudaMemsetAsync(r->count, 0, (size_t)buckets * 4, r->q->s));
    CU_TRY(r->cu, cu_place(r->q->s, &w, &r->chunk, ones));
    TRY(add_levels(r, all, &level, &off));
    cu_mark(r->s, SPAN_GPU_SEGMENTS);
    CU_TRY(r->cu, r->g->segments(r->q->s, r->sums[0] + first * per, r->sums[1] + first * per,
                                 r->level[level], r->offset[off], n, half, p->seg_len));
    if (ones)
        CU_TRY(r->cu, r->g->bucket(r->q->s, r->sums[1] + p->segs * r->g->sum_size, r->level[level],
                                   r->offset[off] + buckets));
    return CUZK_OK;
}

/* ---- windows to the sum ---- */

/* acc += sum of 2^(c w) windows[w], by the CPU's kernels: XYZZ points are the same bytes there, and its products the faster. */
static void add_joined(msm_run *r, const void *windows, size_t n, unsigned c)
{
    static const _Alignas(64) uint8_t infinity[MSM_MAX_CELL];
    const msm_kernels *k = msm_kernels_get(r->cv->id, r->s->d->table, r->bases->g2);
    g2_any sum = {{0}};
    g1_any a, b;

    k->finish(&sum, windows, n, c, infinity);
    if (r->bases->g2) {
        r->cv->g2_add(&r->acc, &r->acc, &sum);
    } else {
        memcpy(&a, &r->acc, sizeof a);
        memcpy(&b, &sum, sizeof b);
        r->cv->g1_add(&a, &a, &b);
        memcpy(&r->acc, &a, sizeof a);
    }
}

static cuzk_status join_windows(msm_run *r)
{
    const cu_msm_plan *p = &r->plan;
    size_t size = r->g->sum_size;
    uint32_t m = ((uint32_t)1 << (p->c - 1)) / p->seg_len, log_len = 0;
    unsigned in = 0;
    uint8_t *host = (uint8_t *)r->q->words;

    while ((uint32_t)1 << log_len < p->seg_len) log_len++;
    cu_mark(r->s, SPAN_GPU_JOIN);
    CU_TRY(r->cu, cudaMemcpyAsync(host, r->sums[1] + p->segs * size, size, cudaMemcpyDeviceToHost,
                                  r->q->s)); /* ones, before the buffer is used again */
    while (m > 1) {
        uint32_t len = m < COMBINE ? m : COMBINE;
        CU_TRY(r->cu, r->g->combine(r->q->s, r->sums[in ^ 2], r->sums[(in ^ 2) + 1], r->sums[in],
                                    r->sums[in + 1], p->windows * (m / len), len, log_len));
        in ^= 2;
        m /= len;
        for (; len > 1; len /= 2) log_len++;
    }
    CU_TRY(r->cu, cudaMemcpyAsync(host + size, r->sums[in + 1], p->windows * size,
                                  cudaMemcpyDeviceToHost, r->q->s));
    TRY(cu_wait(r->s));
    uint64_t began = clock_ns();
    add_joined(r, host + size, p->windows, p->c);
    add_joined(r, host, 1, 0);
    cu_host_was(r->s, SPAN_GPU_IDLE_JOIN, began);
    return CUZK_OK;
}

/* The chunk whose scalars and points are there; on any thread. */
static cuzk_status sum_chunk(void *ctx)
{
    msm_run *r = ctx;
    const cu_msm_plan *p = &r->plan;

    if (r->at.n_bases == 0) return CUZK_OK;
    TRY(cu_enter(r->cu));
    cu_mark(r->s, SPAN_GPU_SCALARS);
    CU_TRY(r->cu, cudaMemsetAsync(r->chunk.counts, 0, 8, r->q->s));
    CU_TRY(r->cu, r->f->prepare(r->q->s, &r->chunk, &r->in, &r->digits));
    for (unsigned w = 0; w < p->windows; w += p->group)
        TRY(add_group(r, w, p->windows - w < p->group ? p->windows - w : p->group));
    return join_windows(r);
}

/* Each chunk is summed while the points of the next one come in. */
static cuzk_status run_all(msm_run *r)
{
    msm_chunk next = chunk_at(r, 0, r->base0);

    r->digits = (cu_digits){.c = r->plan.c, .windows = r->plan.windows};
    for (unsigned w = 0; w + 1 < r->plan.windows; w++) {
        unsigned bit = w * r->plan.c + r->plan.c - 1;
        r->digits.bias[bit / 32] |= (uint32_t)1 << (bit % 32);
    }
    TRY(cu_part_get(&r->next, r->s, &r->points, next.first_base, next.first_base + next.n_bases));
    while (next.pos < r->k->n) {
        TRY(cu_safe_point(r->s)); /* a safe point: inside a task there is none */
        r->at = next;
        cu_part_put(r->cu, &r->part);
        r->part = r->next;
        r->next = (cu_part){0};
        next = chunk_at(r, r->at.end, r->at.first_base + r->at.n_bases);
        TRY(upload_scalars(r, &r->in));
        TRY(cu_part_ahead(&r->next, r->s, &r->points, next.first_base,
                          next.first_base + next.n_bases, sum_chunk, r));
    }
    return CUZK_OK;
}

/* Points that are not kept take their room in the plan: once when all are summed at once, else twice. */
static cuzk_status plan_for(msm_run *r, size_t room)
{
    size_t point = r->g->point_size;
    size_t elem = r->k->elems != NULL && r->whole.values == NULL ? sizeof(fr) : 0;
    unsigned times = r->points.all ? 0 : 1;
    cu_msm_plan *p = &r->plan;

    TRY(cu_msm_plan_make(p, r->cu, r->g, r->k, r->cv->fr_bits, room, times * point, elem));
    if (times == 0 || p->chunk == r->k->n) return CUZK_OK;
    return cu_msm_plan_make(p, r->cu, r->g, r->k, r->cv->fr_bits, room, 2 * point, elem);
}

/* In what is free without what is wanted, or else with it. */
static cuzk_status choose_plan(msm_run *r)
{
    size_t idle = cu_kept_room(r->cu, RESIDENCY_IDLE);

    if (plan_for(r, idle) == CUZK_OK) return CUZK_OK;
    return plan_for(r, cu_kept_room(r->cu, RESIDENCY_WANTED));
}

static cuzk_status run(msm_run *r, void *out)
{
    cuzk_status st;

    TRY_OUT(cu_points_open(&r->points, r->s, r->cv->id, r->bases, r->base0,
                           r->base0 + taking_part(r->k, 0, r->k->n)));
    if (r->on_device == NULL) TRY_OUT(cu_scalars_get(&r->whole, r->s, r->k));
    TRY_OUT(choose_plan(r));
    uint64_t began = clock_ns();
    st = take_plan(r);
    if (st == CUZK_EBUDGET) { /* idle blocks that it got are larger than what it asked for */
        release_plan(r);
        cu_trim(r->cu);
        st = take_plan(r);
    }
    TRY_OUT(st);
    cu_host_was(r->s, SPAN_GPU_IDLE_MEMORY, began);
    TRY_OUT(run_all(r));
    TRY_OUT(cu_wait(r->s)); /* for the scalars of a chunk without points, too */
    memcpy(out, &r->acc, r->g->point_size);
out:
    if (st != CUZK_OK) (void)cudaStreamSynchronize(r->q->s); /* nothing of it still runs */
    release_all(r);
    explicit_bzero(&r->acc, sizeof r->acc);
    return st;
}

/* ---- a few elements, on the host ---- */

static cuzk_status add_product(const curve *cv, void *r, const dev_points *b, size_t i, const fr *k)
{
    const uint8_t *in = b->data + i * cv->point_size(b->g2, b->enc);
    point_err e;

    if (b->g2) {
        g2_any p;
        e = cv->g2_read(&p, in, b->enc);
        if (e == POINT_OK) {
            cv->g2_mul(&p, &p, k);
            cv->g2_add(r, r, &p);
        }
    } else {
        g1_any p;
        e = cv->g1_read(&p, in, b->enc);
        if (e == POINT_OK) {
            cv->g1_mul(&p, &p, k);
            cv->g1_add(r, r, &p);
        }
    }
    if (e != POINT_OK) return FAIL_DATA(MALFORMED, "", "point %zu: %s", i, point_err_text(e));
    return CUZK_OK;
}

/* ---- entry points ---- */

cuzk_status cu_msm(dev_stream *s, void *r, curve_id id, const dev_points *bases, size_t first_base,
                   const dev_scalars *k)
{
    msm_run run_of = {.s = s,
                      .q = cu_queue_of(s),
                      .cu = cu_of(s->d),
                      .cv = s->d->curves[id],
                      .g = cu_group_of(id, bases->g2),
                      .f = cu_fr_of(id),
                      .bases = bases,
                      .k = k,
                      .base0 = first_base};
    g2_any sum = {{0}}; /* room for either group; zero is infinity */

    TRY(cu_enter(run_of.cu));
    if (k->n <= HOST_MAX && k->is_elem == NULL && k->select == NULL && bases->data != NULL) {
        for (size_t i = 0; i < k->n; i++)
            TRY(add_product(run_of.cv, &sum, bases, first_base + i, &k->elems[i]));
    } else {
        TRY(run(&run_of, &sum));
    }
    memcpy(r, &sum, run_of.g->point_size);
    return CUZK_OK;
}

cuzk_status cu_msm_buf(dev_stream *s, void *r, curve_id id, const dev_points *bases,
                       size_t first_base, const dev_buf *k, size_t n)
{
    dev_scalars all = {.n = n};
    msm_run run_of = {.s = s,
                      .q = cu_queue_of(s),
                      .cu = cu_of(s->d),
                      .cv = s->d->curves[id],
                      .g = cu_group_of(id, bases->g2),
                      .f = cu_fr_of(id),
                      .bases = bases,
                      .k = &all,
                      .base0 = first_base,
                      .on_device = cu_buf_of(k)->p};
    g2_any sum = {{0}};

    TRY(cu_enter(run_of.cu));
    if (n != 0) TRY(run(&run_of, &sum));
    memcpy(r, &sum, run_of.g->point_size);
    return CUZK_OK;
}
