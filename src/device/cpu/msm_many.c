/*
 * device/cpu/msm_many.c - several small sums at once, each window on one thread from its digits to its sum
 *
 * A sum alone is a dozen steps that all threads begin and end together (msm.c), and a small one is over before these waits are worth
 * their while. Here all sums' scalars and points are read first; then a task is a few windows of one sum: sorted, added up and brought
 * to their sums in memory of the thread's own, which is small enough to stay in its second-level cache. Tasks wait for nothing, and the
 * longest go first, so threads run out of them at nearly the same time.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "device/cpu/msm.h"

#include <string.h>

#include "device/cpu/msm_int.h"

#define MAX_SUMS 16
#define GROUP_BYTES ((size_t)1 << 20)   /* of a task's buckets: a second-level cache */
#define MAX_POSITIONS ((size_t)1 << 16) /* of one sum: a task takes some 20 ms at most */
#define MAX_TOTAL ((size_t)1 << 18)     /* of all: their points are in memory at once */
#define CUTS 4      /* a sum is cut in so many tasks at least, where it has windows for them */
#define MIN_TASKS 4 /* for each thread */

typedef struct many many;

/* One of the sums. */
typedef struct many_sum {
    msm_run r;
    const dev_sum *of;
    dev_scalars k;
    uint8_t ones[MSM_MAX_CELL];
    size_t first_range, n_groups;
    double cost; /* of a group */
} many_sum;

struct many {
    dev_stream *s;
    size_t n, n_ranges, n_groups;
    many_sum sums[MAX_SUMS]; /* the longest groups first */
    uint8_t *memory;         /* of thread i from i * per_thread on */
    size_t per_thread;
};

static double group_cost(const msm_run *r)
{
    double unit = r->bases->g2 ? 2.3 : 1;

    return unit * (double)r->plan.group *
           ((double)r->scalars->n + (double)((size_t)1 << (r->plan.c - 1)));
}

/* Windows of a task. */
static size_t group_of(const msm_plan *p, unsigned threads)
{
    size_t n = GROUP_BYTES / (p->cell_size << (p->c - 1));
    size_t most = threads > 1 ? (p->windows + CUTS - 1) / CUTS : p->windows;

    if (n > most) n = most;
    return n == 0 && p->windows != 0 ? 1 : n;
}

static void plan_sum(many_sum *t, dev_stream *s, curve_id id, const dev_sum *of)
{
    const curve *cv = s->d->curves[id];
    msm_run *r = &t->r;

    t->of = of;
    t->k = dev_sum_scalars(of);
    *r = (msm_run){
        .s = s,
        .bases = of->bases,
        .scalars = &t->k,
        .first_base = of->first_base,
        .point_bytes = cv->point_size(of->bases->g2, of->bases->enc),
        .in_place = of->bases->enc == POINT_LEM,
    };
    msm_run_choose(r, s->d, id, of->bases->g2, t->k.n);
    msm_plan_make(&r->plan, r->k, cv, r->scalars, r->in_place, r->threads);
    r->plan.group = group_of(&r->plan, pool_threads(s->d->pool));
    r->threads = 1; /* of a group */
    msm_digits_init(&r->digits, cv, r->plan.c);
    r->pos = 0;
    r->end = t->k.n;
    r->base = of->first_base;
    t->n_groups = 1; /* of no windows: the scalars 1 */
    if (r->plan.windows != 0) t->n_groups = (r->plan.windows + r->plan.group - 1) / r->plan.group;
    t->cost = group_cost(r);
}

/* ---- reading ---- */

static cuzk_status read_range(void *ctx, size_t i, unsigned worker)
{
    many *m = ctx;
    size_t t = 0;

    (void)worker;
    while (t + 1 < m->n && i >= m->sums[t + 1].first_range) t++;
    span sp = span_open(m->sums[t].of->kind);
    cuzk_status st = msm_read_range(&m->sums[t].r, i - m->sums[t].first_range);
    span_close(&sp);
    return st;
}

/* ---- sums ---- */

static cuzk_status sum_windows(many_sum *t, size_t group, uint8_t *memory)
{
    msm_run r = t->r;
    size_t w0 = group * r.plan.group;

    r.pool = NULL;
    msm_lay_out_group(&r, memory);
    msm_group_begin(&r, w0, group == 0);
    r.first_range = r.first_slot = 0;
    r.end_range = r.n_ranges;
    TRY(msm_sort_part(&r));
    TRY(msm_fill_buckets(&r));
    if (r.with_ones)
        memcpy(t->ones, r.buckets + (msm_rows(r.n_windows, r.plan.c) - 1) * r.k->cell_size,
               r.k->cell_size);
    return msm_sum_buckets(&r);
}

static cuzk_status sum_group(void *ctx, size_t i, unsigned worker)
{
    many *m = ctx;
    many_sum *t = m->sums;

    while (i >= t->n_groups) i -= t++->n_groups;
    span sp = span_open(t->of->kind);
    cuzk_status st = sum_windows(t, i, m->memory + worker * m->per_thread);
    span_close(&sp);
    return st;
}

static cuzk_status finish_sum(void *ctx, size_t i, unsigned worker)
{
    many *m = ctx;
    many_sum *t = &m->sums[i];

    (void)worker;
    span sp = span_open(t->of->kind);
    t->r.k->finish(t->of->r, t->r.sums, t->r.plan.windows, t->r.plan.c, t->ones);
    span_close(&sp);
    return CUZK_OK;
}

/* ---- all ---- */

static void sort_sums(many *m)
{
    for (size_t i = 1; i < m->n; i++) {
        many_sum t = m->sums[i];
        size_t j = i;
        for (; j > 0 && m->sums[j - 1].cost < t.cost; j--) m->sums[j] = m->sums[j - 1];
        m->sums[j] = t;
    }
    for (size_t i = 0; i < m->n; i++) m->sums[i].r.scalars = &m->sums[i].k;
}

/* Lays out what all groups of a sum read, and one thread's memory after another; base NULL: the size alone. */
static size_t lay_out(many *m, uint8_t *base, unsigned threads)
{
    size_t used = 0;

    m->per_thread = 0;
    for (size_t i = 0; i < m->n; i++) {
        msm_run *r = &m->sums[i].r;
        size_t size = msm_lay_out_group(r, NULL);
        if (size > m->per_thread) m->per_thread = size;
        used += msm_lay_out_chunk(r, base == NULL ? NULL : base + used);
    }
    m->memory = base == NULL ? NULL : base + used;
    return used + threads * m->per_thread;
}

static cuzk_status run_many(many *m, pool *p)
{
    const cancel *c = m->s->cancel;

    for (size_t i = 0; i < m->n; i++) {
        msm_list_ranges(&m->sums[i].r);
        m->sums[i].first_range = m->n_ranges;
        m->n_ranges += m->sums[i].r.n_ranges;
    }
    TRY(pool_run(p, c, m->n_ranges, read_range, m));
    TRY(pool_run(p, c, m->n_groups, sum_group, m));
    return pool_run(p, c, m->n, finish_sum, m);
}

static bool are_small(const dev_sum *sums, size_t n)
{
    size_t total = 0;

    if (n > MAX_SUMS || n < 2) return false;
    for (size_t i = 0; i < n; i++) {
        size_t positions = dev_sum_scalars(&sums[i]).n;
        if (positions > MAX_POSITIONS) return false;
        total += positions;
    }
    return total <= MAX_TOTAL;
}

cuzk_status cpu_msm_many(dev_stream *s, curve_id id, const dev_sum *sums, size_t n, bool *done)
{
    unsigned threads = pool_threads(s->d->pool);
    uint8_t *block = NULL;
    cuzk_status st = CUZK_OK;
    many *m;

    *done = false;
    if (!are_small(sums, n)) return CUZK_OK;
    m = mem_new(s->d->m, 1, sizeof *m, &st);
    if (m == NULL) return st;
    m->s = s;
    for (; m->n < n; m->n++) {
        span sp = span_open(sums[m->n].kind);
        plan_sum(&m->sums[m->n], s, id, &sums[m->n]);
        m->n_groups += m->sums[m->n].n_groups;
        span_close(&sp);
    }
    if (m->n_groups < MIN_TASKS * (size_t)threads) goto out;
    sort_sums(m);
    block = mem_new(s->d->m, lay_out(m, NULL, threads), 1, &st);
    if (block == NULL) goto out;
    (void)lay_out(m, block, threads);
    st = run_many(m, s->d->pool);
    *done = st == CUZK_OK;
out:
    mem_free(s->d->m, block);
    mem_free(s->d->m, m);
    return st;
}
