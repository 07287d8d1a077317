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
#define MAX_PARTS 2
#define GROUP_BYTES ((size_t)1 << 20)   /* of a task's buckets: a second-level cache */
#define MAX_POSITIONS ((size_t)1 << 16) /* of one sum: a task takes some 20 ms at most */
#define MAX_TOTAL ((size_t)1 << 18)     /* of all: their points are in memory at once */
#define MAX_GROUPS ((size_t)16 << 20)   /* of all threads' groups: no estimate has them */
#define CUTS 4 /* a sum is cut in so many tasks at least, where it has windows for them */
#define MIN_TOTAL ((size_t)1 << 10)
#define MIN_TASKS 4 /* for each thread */

typedef struct many many;

/* Scalars and points that are read for a sum. */
typedef struct many_part {
    const dev_sum *of;
    dev_scalars k;
    msm_run reader; /* of the arrays of the sum's r, from these places on */
    size_t first_pos, first_slot, first_base; /* the last one once it is listed */
} many_part;

/* One of the sums, or two that are added: their points are as one list. */
typedef struct many_sum {
    msm_run r; /* what groups of windows begin with */
    many_part part[MAX_PARTS];
    size_t n_parts;
    uint8_t ones[MSM_MAX_CELL];
    union {
        g1_any g1;
        g2_any g2;
    } result;
    size_t first_range, n_groups;
    double cost; /* of a group */
} many_sum;

struct many {
    dev_stream *s;
    const curve *cv;
    size_t n, n_ranges, n_groups;
    many_sum sums[MAX_SUMS]; /* the longest groups first */
    uint8_t *memory;         /* of thread i from i * per_thread on */
    size_t per_thread;
};

/* ---- what there is to do ---- */

static double group_cost(const msm_run *r, size_t positions)
{
    double unit = r->bases->g2 ? 2.3 : 1;

    return unit * (double)r->plan.group *
           ((double)positions + (double)((size_t)1 << (r->plan.c - 1)));
}

/* Windows of a task. */
static size_t group_of(const msm_plan *p, unsigned threads)
{
    size_t n = GROUP_BYTES / (p->cell_size << (p->c - 1));
    size_t most = threads > 1 ? (p->windows + CUTS - 1) / CUTS : p->windows;

    if (n > most) n = most;
    return n == 0 && p->windows != 0 ? 1 : n;
}

static msm_run run_of(const many *m, const dev_sum *of)
{
    return (msm_run){
        .s = m->s,
        .bases = of->bases,
        .first_base = of->first_base,
        .point_bytes = m->cv->point_size(of->bases->g2, of->bases->enc),
        .in_place = of->bases->enc == POINT_LEM,
    };
}

/* A sum that this one is added to before windows are summed: both have points that are decoded first, to one list. */
static many_sum *joinable(many *m, const dev_sum *of)
{
    for (size_t i = 0; i < m->n; i++) {
        many_sum *t = &m->sums[i];
        if (t->part[0].of->r == of->r && t->r.bases->g2 == of->bases->g2 &&
            t->n_parts < MAX_PARTS && !t->r.in_place && of->bases->enc != POINT_LEM)
            return t;
    }
    return NULL;
}

static void list_sum(many *m, const dev_sum *of)
{
    many_sum *t = joinable(m, of);
    many_part *p;

    if (t == NULL) {
        t = &m->sums[m->n++];
        t->r = run_of(m, of);
    }
    p = &t->part[t->n_parts++];
    p->of = of;
    p->k = dev_sum_scalars(of);
    p->reader = run_of(m, of);
}

static void plan_sum(many *m, many_sum *t)
{
    const device *d = m->s->d;
    msm_run *r = &t->r;
    const dev_scalars *all[MAX_PARTS];
    size_t positions = 0;

    for (size_t i = 0; i < t->n_parts; i++) {
        all[i] = &t->part[i].k;
        positions += t->part[i].k.n;
    }
    msm_run_choose(r, d, m->cv->id, r->bases->g2, positions);
    msm_plan_joined(&r->plan, r->k, m->cv, all, t->n_parts, r->in_place);
    r->plan.group = group_of(&r->plan, pool_threads(d->pool));
    r->threads = 1; /* of a group */
    msm_digits_init(&r->digits, m->cv, r->plan.c);
    t->n_groups = 1; /* of no windows: the scalars 1 */
    if (r->plan.windows != 0) t->n_groups = (r->plan.windows + r->plan.group - 1) / r->plan.group;
    t->cost = group_cost(r, positions);
}

/* ---- reading ---- */

/* A part's ranges, behind those of the part before. */
static void list_part(many_sum *t, size_t i)
{
    many_part *p = &t->part[i];
    msm_run *r = &p->reader;

    r->k = t->r.k;
    r->plan = t->r.plan;
    r->digits = t->r.digits;
    r->scalars = &p->k;
    r->end = p->k.n;
    r->ranges = t->r.ranges + p->first_pos / MSM_RANGE;
    r->ones = t->r.ones + p->first_pos;
    r->slot_entry = t->r.slot_entry;
    r->slot_value = t->r.slot_value;
    r->decoded = t->r.decoded;
    msm_list_ranges(r);
    r->base = r->first_base - p->first_base; /* entries count from the first part's */
    for (size_t k = 0; k < r->n_ranges; k++) {
        r->ranges[k].slot += p->first_slot;
        r->ranges[k].base += p->first_base;
    }
}

static cuzk_status list_ranges(void *ctx, size_t index, unsigned worker)
{
    many *m = ctx;
    many_sum *t = &m->sums[index];
    size_t pos = 0, slot = 0, base = 0;

    (void)worker;
    for (size_t i = 0; i < t->n_parts; i++) {
        many_part *p = &t->part[i];
        p->first_pos = pos;
        p->first_slot = slot;
        p->first_base = base;
        list_part(t, i);
        t->r.n_ranges += p->reader.n_ranges;
        pos += p->reader.n_ranges * MSM_RANGE;
        slot += msm_rank(&p->k, p->k.n);
        base += p->reader.n_bases;
    }
    t->r.base = t->r.first_base; /* of points in place: there is one part */
    return CUZK_OK;
}

static cuzk_status read_range(void *ctx, size_t i, unsigned worker)
{
    many *m = ctx;
    many_sum *t = m->sums;
    many_part *p;
    cuzk_status st;

    (void)worker;
    while (i >= t->r.n_ranges) i -= t++->r.n_ranges;
    for (p = t->part; i >= p->reader.n_ranges; p++) i -= p->reader.n_ranges;
    span sp = span_open(p->of->kind);
    st = msm_read_range(&p->reader, i);
    p->reader.ranges[i].pos += p->first_pos; /* from here on among all parts' */
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
    span sp = span_open(t->part[0].of->kind);
    cuzk_status st = sum_windows(t, i, m->memory + worker * m->per_thread);
    span_close(&sp);
    return st;
}

static cuzk_status finish_sum(void *ctx, size_t i, unsigned worker)
{
    many *m = ctx;
    many_sum *t = &m->sums[i];

    (void)worker;
    span sp = span_open(t->part[0].of->kind);
    t->r.k->finish(&t->result, t->r.sums, t->r.plan.windows, t->r.plan.c, t->ones);
    span_close(&sp);
    return CUZK_OK;
}

/* Results to their places; to those that an earlier sum has too, added. */
static void give_results(many *m)
{
    for (size_t i = 0; i < m->n; i++) {
        many_sum *t = &m->sums[i];
        void *r = t->part[0].of->r;
        bool again = false;

        for (size_t j = 0; j < i; j++) again = again || m->sums[j].part[0].of->r == r;
        if (!again)
            memcpy(r, &t->result, m->cv->point_size(t->r.bases->g2, POINT_LEM));
        else if (t->r.bases->g2)
            m->cv->g2_add(r, r, &t->result.g2);
        else
            m->cv->g1_add(r, r, &t->result.g1);
    }
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
}

static void plan_many(many *m, const dev_sum *sums, size_t n)
{
    for (size_t i = 0; i < n; i++) list_sum(m, &sums[i]);
    for (size_t i = 0; i < m->n; i++) {
        span sp = span_open(m->sums[i].part[0].of->kind);
        plan_sum(m, &m->sums[i]);
        m->n_groups += m->sums[i].n_groups;
        span_close(&sp);
    }
    sort_sums(m);
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

    TRY(pool_run(p, c, m->n, list_ranges, m));
    for (size_t i = 0; i < m->n; i++) m->n_ranges += m->sums[i].r.n_ranges;
    TRY(pool_run(p, c, m->n_ranges, read_range, m));
    TRY(pool_run(p, c, m->n_groups, sum_group, m));
    TRY(pool_run(p, c, m->n, finish_sum, m));
    give_results(m);
    return CUZK_OK;
}

/* Neither larger nor so small that memory for all of them takes longer than their sums. */
static bool are_small(const dev_sum *sums, size_t n)
{
    size_t total = 0;

    if (n > MAX_SUMS || n < 2) return false;
    for (size_t i = 0; i < n; i++) {
        size_t positions = dev_sum_scalars(&sums[i]).n;
        if (positions > MAX_POSITIONS) return false;
        total += positions;
    }
    return total >= MIN_TOTAL && total <= MAX_TOTAL;
}

/*
 * Not done is no failure: the sums are then made one after the other. That takes less memory than this, whose threads each have their own:
 * what a key is first estimated to need (engine/keys.c) knows of the former, so the latter is kept small, and where the budget has no room
 * for it, it is not taken. CUZK_ENOMEM is a failure: the machine has none.
 */
cuzk_status cpu_msm_many(dev_stream *s, curve_id id, const dev_sum *sums, size_t n, bool *done)
{
    unsigned threads = pool_threads(s->d->pool);
    uint8_t *block = NULL;
    cuzk_status st = CUZK_OK;
    size_t size;
    many *m;

    *done = false;
    if (!are_small(sums, n)) return CUZK_OK;
    span sp = span_open(SPAN_ALLOC);
    m = mem_new(s->d->m, 1, sizeof *m, &st);
    span_close(&sp);
    if (m == NULL) return st == CUZK_EBUDGET ? CUZK_OK : st;
    m->s = s;
    m->cv = s->d->curves[id];
    plan_many(m, sums, n);
    if (m->n_groups < MIN_TASKS * (size_t)threads) goto out;
    size = lay_out(m, NULL, threads);
    if (m->per_thread > MAX_GROUPS / threads) goto out;
    sp = span_open(SPAN_ALLOC);
    block = mem_new(s->d->m, size, 1, &st);
    span_close(&sp);
    if (st == CUZK_EBUDGET) st = CUZK_OK;
    if (block == NULL) goto out;
    (void)lay_out(m, block, threads);
    st = run_many(m, s->d->pool);
    *done = st == CUZK_OK;
out:
    sp = span_open(SPAN_FREE);
    mem_free(s->d->m, block);
    mem_free(s->d->m, m);
    span_close(&sp);
    return st;
}
