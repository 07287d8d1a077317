/*
 * device/cpu/msm_plan.c - the cost model: window, groups, chunks and lanes of an MSM; and what it takes of the memory
 *
 * Unit: one batch-affine addition. A window of c bits has h = 2^(c-1) buckets. With e entries in a window,
 *
 *     e - min(e, h)         into buckets (the first point of a bucket is a copy)
 *     h + min(e, h)         running sums over buckets, in lanes: of these h are counted as cost_bucket h, since buckets are stored and
 *                           loaded, and their batches are small
 *     cost_sort * e         reading the digit twice, placing an entry
 *     11 cost_lane          the part of a window that is not batched: its top lanes' sums, its doublings
 *
 * where e = the number of full scalars, plus that of small ones in the first 64 bits. Ones cost the same for every c. The
 * classes are counted in a sample of SAMPLE elements; a sample that misleads costs time, not correctness.
 *
 * Buckets and entries of a group of windows are in memory at once. One chunk: groups as small as keeps all threads busy
 * and is within GROUP_BYTES. More chunks: points would be read again for each group, so there is one group.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "device/cpu/msm.h"
#include "device/cpu/msm_int.h"

#define LANES_A_WINDOW 11 /* roughly: those of a window that are summed one by one */
#define SAMPLE 512
#define GROUP_BYTES ((size_t)12 << 20)
/* positions in a chunk: the points decoded at once, or scalars and entries alone */
#define CHUNK_DECODED ((size_t)1 << 17)
#define CHUNK_IN_PLACE ((size_t)1 << 18)
#define PART ((size_t)1 << 17) /* 12 MiB of BLS12-381 G1 */

#define TINY 24 /* positions (bench_msm): below, eight lanes lose to one */

typedef struct msm_classes {
    double full, small;
} msm_classes;

void msm_run_choose(msm_run *r, const device *d, curve_id id, bool g2, size_t n)
{
    bool tiny = n <= TINY;

    r->k = msm_kernels_get(id, tiny && d->table == CPU_TABLE_IFMA ? CPU_TABLE_ADX : d->table, g2);
    r->pool = tiny ? NULL : d->pool;
    r->threads = r->pool != NULL ? pool_threads(r->pool) : 1;
}

static double min_of(double a, double b)
{
    return a < b ? a : b;
}

static size_t round_up(size_t a, size_t b)
{
    return (a + b - 1) / b * b;
}

static double window_cost(const msm_kernels *k, double e, double h)
{
    return e == 0 ? 0 : e * (1 + k->cost_sort) + h * k->cost_bucket + LANES_A_WINDOW * k->cost_lane;
}

static double plan_cost(const msm_kernels *k, const msm_classes *n, const curve *cv, unsigned c)
{
    size_t windows = msm_windows(cv, c), small = (64 + c - 1) / c;
    double h = (double)((size_t)1 << (c - 1)), cost = 0;

    if (small > windows) small = windows;
    cost += (double)small * window_cost(k, n->full + n->small, h);
    cost += (double)(windows - small) * window_cost(k, n->full, h);
    return cost;
}

/* The smallest window within 2% of the cheapest: half the buckets for nearly nothing. */
static unsigned best_c(const msm_kernels *k, const msm_classes *n, const curve *cv)
{
    double best = plan_cost(k, n, cv, MSM_MIN_C);

    for (unsigned c = MSM_MIN_C + 1; c <= MSM_MAX_C; c++)
        best = min_of(best, plan_cost(k, n, cv, c));
    for (unsigned c = MSM_MIN_C; c < MSM_MAX_C; c++)
        if (plan_cost(k, n, cv, c) <= 1.02 * best) return c;
    return MSM_MAX_C;
}

static msm_classes count_classes(const msm_kernels *k, const curve *cv, const fr *elems, size_t n)
{
    size_t sample = n < SAMPLE ? n : SAMPLE, full = 0, small = 0;
    msm_digits d;

    msm_digits_init(&d, cv, MSM_MIN_C);
    for (size_t i = 0; i < sample; i++) {
        uint64_t v[1][4];
        /* one of each of `sample` equal parts, not always its first */
        k->canon(v, &elems[i * (n / sample) + i * 7919 % (n / sample)], 1);
        (void)msm_take_sign(&d, v[0]); /* the sign does not matter here */
        if ((v[0][1] | v[0][2] | v[0][3]) != 0 || v[0][0] >> MSM_SMALL_BITS != 0) {
            full++;
        } else if (v[0][0] > 1) {
            small++;
        }
    }
    if (sample == 0) return (msm_classes){0, 0};
    return (msm_classes){(double)full * (double)n / (double)sample,
                         (double)small * (double)n / (double)sample};
}

static size_t group_size(size_t windows, size_t window_bytes, unsigned threads)
{
    size_t n_groups = (windows * window_bytes + GROUP_BYTES - 1) / GROUP_BYTES, group;

    if (n_groups == 0) return windows;
    group = round_up((windows + n_groups - 1) / n_groups, threads);
    if (group < 2 * (size_t)threads) group = 2 * (size_t)threads;
    return group < windows ? group : windows;
}

static void add_classes(msm_classes *sum, msm_classes n)
{
    sum->full += n.full;
    sum->small += n.small;
}

static void plan_with_c(msm_plan *p, const msm_kernels *k, const curve *cv, unsigned c, size_t n,
                        bool has_elems, bool in_place)
{
    size_t max_chunk = in_place ? CHUNK_IN_PLACE : CHUNK_DECODED;

    *p = (msm_plan){.c = c};
    p->windows = has_elems ? msm_windows(cv, c) : 0;
    p->chunk = n < max_chunk ? round_up(n, MSM_RANGE) : max_chunk;
    if (p->chunk == 0) p->chunk = MSM_RANGE;
    p->n_chunks = (n + p->chunk - 1) / p->chunk;
    p->part = p->chunk < PART ? p->chunk : PART;
    p->cell_size = k->cell_size;
}

/* once p->part_elems is known */
static void plan_groups(msm_plan *p, unsigned threads)
{
    p->group = p->windows;
    if (p->n_chunks <= 1)
        p->group = group_size(p->windows,
                              (p->cell_size << (p->c - 1)) + 2 * p->part_elems * sizeof(uint32_t),
                              threads);
}

/* Elements in `step` positions at most, of those that begin at a multiple of step. */
static size_t most_elems(const dev_scalars *scalars, size_t step)
{
    size_t most = 0;

    for (size_t pos = 0; pos < scalars->n; pos += step) {
        size_t end = scalars->n - pos < step ? scalars->n : pos + step;
        size_t n = msm_rank(scalars, end) - msm_rank(scalars, pos);
        if (n > most) most = n;
    }
    return most;
}

void msm_plan_make(msm_plan *p, const msm_kernels *k, const curve *cv, const dev_scalars *scalars,
                   bool in_place, unsigned threads)
{
    size_t n_elems = msm_rank(scalars, scalars->n);
    msm_classes n = count_classes(k, cv, scalars->elems, n_elems);

    plan_with_c(p, k, cv, best_c(k, &n, cv), scalars->n, n_elems > 0, in_place);
    p->elems = most_elems(scalars, p->chunk);
    p->part_elems = most_elems(scalars, p->part); /* a chunk is parts, but for the last one */
    plan_groups(p, threads);
}

void msm_plan_joined(msm_plan *p, const msm_kernels *k, const curve *cv,
                     const dev_scalars *const *parts, size_t n_parts, bool in_place)
{
    size_t n_elems = 0, positions = 0;
    msm_classes n = {0, 0};

    for (size_t i = 0; i < n_parts; i++) {
        size_t elems = msm_rank(parts[i], parts[i]->n);
        add_classes(&n, count_classes(k, cv, parts[i]->elems, elems));
        n_elems += elems;
        positions += round_up(parts[i]->n, MSM_RANGE);
    }
    VERIFY(positions <= PART);
    plan_with_c(p, k, cv, best_c(k, &n, cv), positions, n_elems > 0, in_place);
    p->elems = p->part_elems = n_elems;
    p->group = p->windows;
}

size_t msm_lane_tasks(const msm_kernels *k, size_t lanes, unsigned threads)
{
    size_t tasks = (lanes + k->max_lanes - 1) / k->max_lanes;

    if (tasks >= threads) return tasks;
    return lanes < threads ? lanes : threads;
}

static double level_cost(const msm_kernels *k, size_t lanes, size_t len, unsigned threads)
{
    size_t tasks = msm_lane_tasks(k, lanes, threads), per_task = (lanes + tasks - 1) / tasks;

    return (double)((tasks + threads - 1) / threads) * (double)len *
           (k->cost_inversion + 2 * (double)per_task);
}

double msm_lanes_cost(const msm_kernels *k, size_t windows, size_t half, size_t len,
                      unsigned threads)
{
    size_t apart = half / len, top = apart < MSM_TOP ? apart : MSM_TOP;
    double cost = level_cost(k, windows * apart, len, threads);

    if (apart > MSM_TOP) cost += level_cost(k, 2 * windows * MSM_TOP, apart / MSM_TOP, threads);
    return cost + (double)((windows + threads - 1) / threads) * (double)top * k->cost_lane;
}

/* Long lanes make few of them, whose sums are not batched; short ones make long batches. */
size_t msm_lane_len(const msm_kernels *k, size_t windows, size_t half, unsigned threads)
{
    size_t best = 1;
    double best_cost = 0;

    for (size_t len = 1; len <= half; len *= 2) {
        double cost = msm_lanes_cost(k, windows, half, len, threads);
        if (len == 1 || cost < best_cost) {
            best = len;
            best_cost = cost;
        }
    }
    return best;
}

typedef struct carver {
    uint8_t *base; /* NULL: only counting */
    size_t used;
} carver;

static void *carve(carver *c, size_t n, size_t size)
{
    uint8_t *p = c->base == NULL ? NULL : c->base + c->used;

    c->used += round_up(n * size, 64);
    return p;
}

/* Lanes of a group at most: the last one may have fewer windows, and then shorter lanes. */
static size_t most_lanes(const msm_plan *p, const msm_kernels *k, unsigned threads)
{
    size_t half = (size_t)1 << (p->c - 1), most = 0;
    const size_t sizes[] = {p->group, p->group == 0 ? 0 : p->windows % p->group};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t lanes;
        if (sizes[i] == 0) continue;
        lanes = sizes[i] * (half / msm_lane_len(k, sizes[i], half, threads));
        if (lanes > most) most = lanes;
    }
    return most;
}

size_t msm_lay_out_chunk(msm_run *r, uint8_t *base)
{
    const msm_plan *p = &r->plan;
    carver c = {.base = base};

    r->sums = carve(&c, p->windows, r->k->sum_size);
    r->ranges = carve(&c, p->chunk / MSM_RANGE, sizeof *r->ranges);
    r->ones = carve(&c, p->chunk, sizeof *r->ones);
    r->slot_entry = carve(&c, p->elems, sizeof *r->slot_entry);
    r->slot_value = carve(&c, p->elems, sizeof *r->slot_value);
    r->decoded = r->in_place ? NULL : carve(&c, p->chunk, r->k->point_size);
    return c.used;
}

size_t msm_lay_out_group(msm_run *r, uint8_t *base)
{
    const msm_plan *p = &r->plan;
    const msm_kernels *k = r->k;
    size_t rows = msm_rows(p->group, p->c), entries = p->part_elems * p->group + p->part;
    size_t slices = msm_slice_count(entries, r->threads) + 1;
    size_t lanes = most_lanes(p, k, r->threads);
    carver c = {.base = base};

    r->scratch = carve(&c, r->threads, k->scratch_size);
    r->buckets = carve(&c, rows, k->cell_size);
    r->partials = carve(&c, slices, k->cell_size);
    r->lanes = carve(&c, 2 * lanes, k->cell_size);
    r->tops = carve(&c, 4 * MSM_TOP * p->group, k->cell_size);
    r->part_keys = carve(&c, p->part_elems * p->group, sizeof *r->part_keys);
    r->row_end = carve(&c, rows, sizeof *r->row_end);
    r->entries = carve(&c, entries, sizeof *r->entries);
    r->partial_rows = carve(&c, slices, sizeof *r->partial_rows);
    return c.used;
}

size_t msm_lay_out(msm_run *r, uint8_t *base)
{
    size_t used = msm_lay_out_group(r, base);

    return used + msm_lay_out_chunk(r, base == NULL ? NULL : base + used);
}

/* The window follows from the scalars, which are not known yet: every one up to the largest that a mixture of n scalars
   may get. */
size_t cpu_msm_memory(const device *d, curve_id id, bool g2, point_enc enc, size_t n)
{
    const curve *cv = d->curves[id];
    const msm_classes mixtures[] = {{(double)n, 0}, {0, (double)n}, {(double)n / 2, (double)n / 2}};
    unsigned max_c = MSM_MIN_C;
    size_t most = 0;
    msm_run r = {.in_place = enc == POINT_LEM};

    msm_run_choose(&r, d, id, g2, n);
    for (size_t i = 0; i < sizeof mixtures / sizeof *mixtures; i++) {
        unsigned c = best_c(r.k, &mixtures[i], cv);
        if (c > max_c) max_c = c;
    }
    for (unsigned c = MSM_MIN_C; c <= max_c; c++) {
        size_t bytes;
        plan_with_c(&r.plan, r.k, cv, c, n, true, r.in_place);
        r.plan.elems = n < r.plan.chunk ? n : r.plan.chunk;
        r.plan.part_elems = n < r.plan.part ? n : r.plan.part;
        plan_groups(&r.plan, r.threads);
        bytes = mem_cost(MSM_BLOCK_HEAD + msm_lay_out(&r, NULL));
        if (bytes > most) most = bytes;
    }
    return most;
}
