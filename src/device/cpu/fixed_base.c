/*
 * device/cpu/fixed_base.c - many multiples of one point: windows of a table, added in batches
 *
 * The table has a row for each window of c bits: 1 .. 2^(c-1) times 2^(c w) * base, affine. A block of scalars takes one
 * entry from each row (signed digits, msm_digits.h), all its additions of a row sharing one inversion; then it is
 * encoded. A block is one task. Variable time: setups alone use this.
 *
 * Cost in additions, n scalars: n * windows for the blocks, windows * 2^(c-1) for the table.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdatomic.h>

#include "device/cpu/msm.h"
#include "device/cpu/msm_digits.h"
#include "device/cpu/msm_kernels.h"

/* table rows of 2^12 points: 400 KB for BLS12-381 G1, which a second-level cache holds */
#define FIXED_MAX_C 13

typedef struct fixed_run {
    /* fixed after init */
    const msm_kernels *k;
    msm_digits digits;
    const fr *scalars;
    size_t n, block;
    point_enc enc;
    size_t point_bytes;
    uint8_t *out;
    uint8_t *table, *bases; /* windows * half points; the first of each row */
    uint8_t *work;          /* of each worker: work_size bytes */
    size_t work_size;
    /* atomic: relaxed, read after the run */
    _Atomic size_t infinity;
} fixed_run;

/* A worker's part of `work`. */
typedef struct fixed_work {
    void *acc, *scratch;
    uint64_t (*value)[4];
    bool *negative;
    int32_t *digit;
} fixed_work;

static size_t lines(size_t size)
{
    return (size + 63) / 64 * 64;
}

static size_t work_size(const msm_kernels *k)
{
    size_t n = k->fixed_block;
    return lines(n * k->point_size) + lines(k->scratch_size) + lines(n * sizeof(uint64_t[4])) +
           lines(n * sizeof(bool)) + lines(n * sizeof(int32_t));
}

static fixed_work work_of(const fixed_run *f, unsigned worker)
{
    uint8_t *p = f->work + worker * f->work_size;
    size_t n = f->k->fixed_block;
    fixed_work w;

    w.acc = p;
    p += lines(n * f->k->point_size);
    w.scratch = p;
    p += lines(f->k->scratch_size);
    w.value = (void *)p;
    p += lines(n * sizeof(uint64_t[4]));
    w.negative = (void *)p;
    p += lines(n * sizeof(bool));
    w.digit = (void *)p;
    return w;
}

static unsigned fixed_c(const curve *cv, size_t n)
{
    unsigned best = MSM_MIN_C;
    double best_cost = 0;

    for (unsigned c = MSM_MIN_C; c <= FIXED_MAX_C; c++) {
        double cost = (double)msm_windows(cv, c) * ((double)n + (double)((size_t)1 << (c - 1)));
        if (c == MSM_MIN_C || cost < best_cost) {
            best = c;
            best_cost = cost;
        }
    }
    return best;
}

static cuzk_status make_row(void *ctx, size_t w, unsigned worker)
{
    fixed_run *f = ctx;
    size_t size = f->k->point_size, half = (size_t)f->digits.half;

    f->k->table_row(f->table + w * half * size, f->bases + w * size, half,
                    work_of(f, worker).scratch);
    return CUZK_OK;
}

static bool all_zero(const uint8_t *p, size_t n)
{
    uint8_t any = 0;
    for (size_t i = 0; i < n; i++) any |= p[i];
    return any == 0;
}

static void encode_block(fixed_run *f, const uint8_t *acc, size_t first, size_t n)
{
    size_t size = f->k->point_size, none = SIZE_MAX;

    for (size_t i = 0; i < n; i++) {
        if (none == SIZE_MAX && all_zero(acc + i * size, size)) none = first + i;
        f->k->write(f->out + (first + i) * f->point_bytes, acc + i * size, f->enc);
    }
    if (none == SIZE_MAX) return;
    size_t old = atomic_load_explicit(&f->infinity, memory_order_relaxed);
    while (none < old &&
           !atomic_compare_exchange_weak_explicit(&f->infinity, &old, none, memory_order_relaxed,
                                                  memory_order_relaxed)) {
    }
}

static cuzk_status multiply_block(void *ctx, size_t index, unsigned worker)
{
    fixed_run *f = ctx;
    fixed_work w = work_of(f, worker);
    size_t size = f->k->point_size, first = index * f->block;
    size_t n = f->n - first < f->block ? f->n - first : f->block;

    f->k->canon(w.value, f->scalars + first, n);
    for (size_t i = 0; i < n; i++) {
        w.negative[i] = msm_take_sign(&f->digits, w.value[i]);
        msm_add_bias(&f->digits, w.value[i], w.value[i]);
    }
    memset(w.acc, 0, n * size);
    for (size_t row = 0; row < f->digits.windows; row++) {
        msm_window x = msm_window_at(&f->digits, row);
        for (size_t i = 0; i < n; i++) {
            int32_t d = msm_digit(&x, w.value[i]);
            w.digit[i] = w.negative[i] ? -d : d;
        }
        f->k->table_add(w.acc, f->table + row * (size_t)f->digits.half * size, w.digit, n,
                        w.scratch);
    }
    encode_block(f, w.acc, first, n);
    explicit_bzero(w.value, n * sizeof w.value[0]);
    explicit_bzero(w.digit, n * sizeof w.digit[0]);
    return CUZK_OK;
}

static size_t block_size(const msm_kernels *k, size_t n, unsigned threads)
{
    size_t block = n / (4 * (size_t)threads) + 1;
    return block < k->fixed_block ? block : k->fixed_block;
}

CUZK_STATUS cpu_fixed_base_run(dev_stream *s, uint8_t *out, point_enc enc, curve_id id, bool g2,
                               const void *base, const fr *k, size_t n, size_t *infinity_index)
{
    const curve *cv = s->d->curves[id];
    mem *m = s->d->m;
    pool *p = s->d->pool;
    unsigned threads = p != NULL ? pool_threads(p) : 1;
    fixed_run f = {
        .k = msm_kernels_get(id, s->d->table, g2), .scalars = k, .n = n, .enc = enc, .out = out};
    cuzk_status st = CUZK_OK;
    size_t size = f.k->point_size, rows;

    atomic_init(&f.infinity, SIZE_MAX);
    f.block = block_size(f.k, n, threads);
    f.point_bytes = cv->point_size(g2, enc);
    f.work_size = work_size(f.k);
    msm_digits_init(&f.digits, cv, fixed_c(cv, n));
    rows = f.digits.windows;
    f.table = mem_new(m, rows * (size_t)f.digits.half, size, &st);
    if (f.table == NULL) goto out;
    f.bases = mem_new(m, rows, size, &st);
    if (f.bases == NULL) goto out;
    f.work = mem_new(m, threads, f.work_size, &st);
    if (f.work == NULL) goto out;

    memcpy(f.bases, base, size);
    for (size_t w = 1; w < rows; w++)
        f.k->shift(f.bases + w * size, f.bases + (w - 1) * size, f.digits.c);
    TRY_OUT(pool_run(p, s->cancel, rows, make_row, &f));
    TRY_OUT(pool_run(p, s->cancel, (n + f.block - 1) / f.block, multiply_block, &f));
    if (infinity_index != NULL)
        *infinity_index = atomic_load_explicit(&f.infinity, memory_order_relaxed);
out:
    mem_free(m, f.work);
    mem_free(m, f.bases);
    mem_free(m, f.table);
    return st;
}
