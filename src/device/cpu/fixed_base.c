/*
 * device/cpu/fixed_base.c - many multiples of one point: windows of a table, added in batches
 *
 * The table has a row for each window of c bits: 1 .. 2^(c-1) times 2^(c w) * base, affine. A block of scalars takes one
 * entry from each row (signed digits, msm_digits.h), all its additions of a row sharing one inversion; then it is
 * encoded. A block is one task. Variable time: setups alone use this.
 *
 * Cost in additions, n scalars: n * windows for the blocks, windows * 2^(c-1) for the table. Entries are prefetched, so
 * a row need not fit a cache: the table may take FIXED_MAX_BYTES.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdatomic.h>

#include "device/cpu/msm.h"
#include "device/cpu/msm_digits.h"
#include "device/cpu/msm_kernels.h"

#define FIXED_MAX_BYTES ((size_t)128 << 20)

/* What dev_fixed->impl is; fixed after init. */
typedef struct fixed_table {
    const msm_kernels *k;
    msm_digits digits;
    uint8_t *rows, *bases; /* windows * half points; the first of each row */
} fixed_table;

typedef struct fixed_run {
    /* fixed after init */
    const msm_kernels *k;
    const fixed_table *t;
    const fr *scalars;
    size_t n, block;
    point_enc enc;
    size_t point_bytes;
    uint8_t *out;
    uint8_t *work; /* of each worker: work_size bytes */
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
    return lines(n * k->cell_size) + lines(k->scratch_size) + lines(n * sizeof(uint64_t[4])) +
           lines(n * sizeof(bool)) + lines(n * sizeof(int32_t));
}

static fixed_work work_of(const fixed_run *f, unsigned worker)
{
    uint8_t *p = f->work + worker * f->work_size;
    size_t n = f->k->fixed_block;
    fixed_work w;

    w.acc = p;
    p += lines(n * f->k->cell_size);
    w.scratch = p;
    p += lines(f->k->scratch_size);
    w.value = (void *)p;
    p += lines(n * sizeof(uint64_t[4]));
    w.negative = (void *)p;
    p += lines(n * sizeof(bool));
    w.digit = (void *)p;
    return w;
}

static unsigned fixed_c(const curve *cv, size_t cell_size, size_t n)
{
    unsigned best = MSM_MIN_C;
    double best_cost = 0;

    for (unsigned c = MSM_MIN_C; c <= MSM_MAX_C; c++) {
        size_t row = (size_t)1 << (c - 1);
        double cost = (double)msm_windows(cv, c) * ((double)n + (double)row);
        if (msm_windows(cv, c) * row * cell_size > FIXED_MAX_BYTES) break;
        if (c == MSM_MIN_C || cost < best_cost) {
            best = c;
            best_cost = cost;
        }
    }
    return best;
}

typedef struct row_run {
    fixed_table *t;
    uint8_t *scratch; /* of each worker */
} row_run;

static cuzk_status make_row(void *ctx, size_t w, unsigned worker)
{
    const row_run *r = ctx;
    const msm_kernels *k = r->t->k;
    size_t row_size = (size_t)r->t->digits.half * k->cell_size;

    k->table_row(r->t->rows + w * row_size, r->t->bases + w * k->point_size,
                 (size_t)r->t->digits.half, r->scratch + worker * lines(k->scratch_size));
    return CUZK_OK;
}

void cpu_fixed_free(dev_fixed *f)
{
    fixed_table *t = f->impl;

    if (t == NULL) return;
    mem_free(f->d->m, t->bases);
    mem_free(f->d->m, t->rows);
    mem_free(f->d->m, t);
}

static cuzk_status fill_table(dev_stream *s, fixed_table *t, const void *base)
{
    pool *p = s->d->pool;
    cuzk_status st;
    size_t size = t->k->point_size;
    row_run r = {.t = t};

    r.scratch = mem_new(s->d->m, pool_threads(p), lines(t->k->scratch_size), &st);
    if (r.scratch == NULL) return st;
    memcpy(t->bases, base, size);
    for (size_t w = 1; w < t->digits.windows; w++)
        t->k->shift(t->bases + w * size, t->bases + (w - 1) * size, t->digits.c);
    st = pool_run(p, s->cancel, t->digits.windows, make_row, &r);
    mem_free(s->d->m, r.scratch);
    return st;
}

cuzk_status cpu_fixed_new(dev_stream *s, dev_fixed *f, const void *base, size_t n)
{
    const curve *cv = s->d->curves[f->id];
    mem *m = s->d->m;
    cuzk_status st = CUZK_OK;
    fixed_table *t = mem_new(m, 1, sizeof *t, &st);

    if (t == NULL) return st;
    f->impl = t;
    t->k = msm_kernels_get(f->id, s->d->table, f->g2);
    msm_digits_init(&t->digits, cv, fixed_c(cv, t->k->cell_size, n));
    t->rows = mem_new(m, t->digits.windows * (size_t)t->digits.half, t->k->cell_size, &st);
    if (t->rows == NULL) goto out;
    t->bases = mem_new(m, t->digits.windows, t->k->point_size, &st);
    if (t->bases == NULL) goto out;
    st = fill_table(s, t, base);
out:
    if (st != CUZK_OK) {
        cpu_fixed_free(f);
        f->impl = NULL;
    }
    return st;
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
    const msm_digits *digits = &f->t->digits;
    fixed_work w = work_of(f, worker);
    size_t size = f->k->cell_size, first = index * f->block;
    size_t n = f->n - first < f->block ? f->n - first : f->block;

    f->k->canon(w.value, f->scalars + first, n);
    for (size_t i = 0; i < n; i++) {
        w.negative[i] = msm_take_sign(digits, w.value[i]);
        msm_add_bias(digits, w.value[i], w.value[i]);
    }
    memset(w.acc, 0, n * size);
    for (size_t row = 0; row < digits->windows; row++) {
        msm_window x = msm_window_at(digits, row);
        for (size_t i = 0; i < n; i++) {
            int32_t d = msm_digit(&x, w.value[i]);
            w.digit[i] = w.negative[i] ? -d : d;
        }
        f->k->table_add(w.acc, f->t->rows + row * (size_t)digits->half * size, w.digit, n,
                        w.scratch);
    }
    f->k->to_affine(w.acc, w.acc, n);
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

cuzk_status cpu_fixed_mul(dev_stream *s, uint8_t *out, point_enc enc, const dev_fixed *fixed,
                          const fr *k, size_t n, size_t *infinity_index)
{
    const fixed_table *t = fixed->impl;
    pool *p = s->d->pool;
    unsigned threads = pool_threads(p);
    fixed_run f = {.k = t->k, .t = t, .scalars = k, .n = n, .enc = enc};
    cuzk_status st = CUZK_OK;

    atomic_init(&f.infinity, SIZE_MAX);
    f.out = out;
    f.block = block_size(f.k, n, threads);
    f.point_bytes = s->d->curves[fixed->id]->point_size(fixed->g2, enc);
    f.work_size = work_size(f.k);
    f.work = mem_new(s->d->m, threads, f.work_size, &st);
    if (f.work == NULL) return st;
    st = pool_run(p, s->cancel, (n + f.block - 1) / f.block, multiply_block, &f);
    if (st == CUZK_OK && infinity_index != NULL)
        *infinity_index = atomic_load_explicit(&f.infinity, memory_order_relaxed);
    mem_free(s->d->m, f.work);
    return st;
}
