/*
 * device/cpu/msm_tmpl.h - the MSM's additions for one group of one curve: buckets, running sums, windows
 *
 * A file msm_<curve>_<table>.c defines the curve and the table, includes algebra/curve_inl.h and then this twice,
 * with MSM_GROUP and MSM_FIELD g1 and fp, then g2 and fp2. It exports nothing; the file makes a table with MSM_TABLE.
 *
 * Rows are summed by trees. Points are gathered into a block of MSM_BLOCK, those of one row side by side; in round s
 * the elements s apart are added, all rows in one batch, until each row has one point. So no two additions of a batch
 * touch the same bucket whatever the scalars are, and equal and opposite points are ordinary pairs. A row longer than
 * a block is reduced to MSM_CARRY points, which are joined by what follows.
 *
 * Source: Pippenger's method as in Bernstein, Doumen, Lange, Oosterwijk, INDOCRYPT 2012
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#define MSM_JOIN2(a, b) a##_##b
#define MSM_JOIN(a, b) MSM_JOIN2(a, b)
#define MSM_G(name) MSM_JOIN(MSM_GROUP, name)
#define MSM_F(name) MSM_JOIN(MSM_FIELD, name)

#ifndef MSM_BLOCK
/* points: some 300 KiB of scratch for BLS12-381 G1; in eight lanes an inversion weighs more (bench_msm) */
#    define MSM_BLOCK (MSM_LANES ? 4096 : 2048)
#    define MSM_PAIRS (MSM_BLOCK / 2)
#    define MSM_CARRY (MSM_BLOCK / 16)
#    define MSM_AHEAD 16  /* entries that a prefetch runs ahead */
#    define MSM_ABREAST 4 /* pairs whose sums are made side by side (bench_msm) */

/* The points of one row in a block, and where their sum goes. */
typedef struct msm_seg {
    void *dst;
    uint32_t start, len;
} msm_seg;

#    if MSM_LANES
#        include "device/cpu/msm_octet_inl.h"
#    else
#        define MSM_MAX_LANES (MSM_PAIRS / 2)

/* Entries whose points will be loaded soon. Loading a block waits for memory at every point; each addition of the block
   before it can ask for one of them. */
typedef struct msm_ahead {
    const uint8_t *points;
    const uint32_t *entry, *end;
} msm_ahead;

static inline void msm_ahead_next(msm_ahead *a, size_t size)
{
    const uint8_t *p;

    if (a->entry == a->end) return;
    p = a->points + (size_t)(*a->entry++ >> 1) * size;
    for (size_t at = 0; at < size; at += 64) U128_PREFETCH_FAR(p + at);
    U128_PREFETCH_FAR(p + size - 1);
}
#    endif
#endif

#if MSM_LANES
#    include "device/cpu/msm_lanes_tmpl.h"

#    include "device/cpu/msm_eights_tmpl.h"
#else
#    include "device/cpu/msm_batch_tmpl.h"
#endif

typedef struct MSM_G(block) {
    MSM_G(batch) batch;
    size_t n, n_segs;
    MSM_G(cell) buf[MSM_BLOCK];
    msm_seg segs[MSM_BLOCK];
    uint32_t active[MSM_BLOCK]; /* segments that still have two points or more */
} MSM_G(block);

/* ---- trees ---- */

/* One round: adds elements `stride` apart in the active segments. The last segment, when it is open, stops at MSM_CARRY
   points; its stride is then noted. Returns the number of segments still active. */
static size_t MSM_G(block_round)(MSM_G(block) * k, size_t n_active, uint32_t stride, bool open,
                                 uint32_t *open_stride)
{
    size_t left = 0;

    for (size_t a = 0; a < n_active; a++) {
        const msm_seg *seg = &k->segs[k->active[a]];
        MSM_G(cell) *p = &k->buf[seg->start];

        if (open && k->active[a] == k->n_segs - 1) {
            *open_stride = stride;
            if ((seg->len - 1) / stride + 1 <= MSM_CARRY) continue;
        }
        for (uint32_t i = 0; i + stride < seg->len; i += 2 * stride)
            MSM_G(batch_add)(&k->batch, &p[i], &p[i + stride]);
        if (seg->len > 2 * stride) k->active[left++] = k->active[a];
    }
    MSM_G(batch_finish)(&k->batch);
    return left;
}

/* Sums every segment into its destination and empties the block; an open last segment stays, shortened, and is to be
   continued. */
static void MSM_G(block_flush)(MSM_G(block) * k, bool open)
{
    size_t n_active = 0, closed = k->n_segs - (open ? 1 : 0);
    uint32_t open_stride = 1;

    for (size_t i = 0; i < k->n_segs; i++)
        if (k->segs[i].len > 1) k->active[n_active++] = (uint32_t)i;
    for (uint32_t stride = 1; n_active > 0; stride *= 2)
        n_active = MSM_G(block_round)(k, n_active, stride, open, &open_stride);
    for (size_t i = 0; i < closed; i++)
        if (k->segs[i].len > 0) *(MSM_G(cell) *)k->segs[i].dst = k->buf[k->segs[i].start];
    k->n = k->n_segs = 0;
    if (open) {
        msm_seg *seg = &k->segs[closed];
        for (uint32_t i = 0; i < seg->len; i += open_stride)
            k->buf[k->n++] = k->buf[seg->start + i];
        k->segs[0] = (msm_seg){seg->dst, 0, (uint32_t)k->n};
        k->n_segs = 1;
    }
}

/* Opens a segment; *first, unless NULL or infinity, is its first point. */
static void MSM_G(block_open)(MSM_G(block) * k, MSM_G(cell) * dst, const MSM_G(cell) * first)
{
    msm_seg *seg;

    if (k->n == MSM_BLOCK || k->n_segs == MSM_BLOCK) MSM_G(block_flush)(k, false);
    seg = &k->segs[k->n_segs++];
    *seg = (msm_seg){dst, (uint32_t)k->n, 0};
    if (first != NULL && !MSM_G(cell_is_inf)(first)) {
        k->buf[k->n++] = *first;
        seg->len = 1;
    }
}

static void MSM_G(merge)(void *buckets, const uint32_t *rows, const void *partials, size_t n,
                         void *scratch)
{
    MSM_G(block) *k = scratch;
    MSM_G(cell) *b = buckets;
    const MSM_G(cell) *p = partials;

    MSM_G(batch_init)(&k->batch, false);
    k->n = k->n_segs = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || rows[i] != rows[i - 1]) MSM_G(block_open)(k, &b[rows[i]], &b[rows[i]]);
        if (k->n == MSM_BLOCK) MSM_G(block_flush)(k, true);
        if (MSM_G(cell_is_inf)(&p[i])) continue;
        k->buf[k->n++] = p[i];
        k->segs[k->n_segs - 1].len++;
    }
    MSM_G(block_flush)(k, false);
}

#if MSM_LANES
#    include "device/cpu/msm_rows_lanes_tmpl.h"
#else

typedef MSM_G(block) MSM_G(scratch);

/* Appends the points of n entries, at most what fits, to the last segment. limit: entries that exist. */
static void MSM_G(block_load)(MSM_G(block) * k, const msm_slice *s, size_t e, size_t n)
{
    msm_seg *seg = &k->segs[k->n_segs - 1];

    for (size_t i = e; i < e + n; i++) {
        const uint8_t *point = s->points + (size_t)(s->entries[i] >> 1) * sizeof(MSM_G(affine));
        if (i + MSM_AHEAD < s->end) {
            const uint8_t *ahead =
                s->points + (size_t)(s->entries[i + MSM_AHEAD] >> 1) * sizeof(MSM_G(affine));
            for (size_t at = 0; at < sizeof(MSM_G(affine)); at += 64) U128_PREFETCH(ahead + at);
        }
        if (!MSM_G(cell_load)(&k->buf[k->n], point, s->entries[i] & 1)) continue;
        k->n++;
        seg->len++;
    }
}

static bool MSM_G(rows)(const msm_slice *s, void *partial, void *scratch)
{
    MSM_G(block) *k = scratch;
    MSM_G(cell) *buckets = s->buckets;
    size_t e = s->begin, row = s->row;
    bool leads = row > 0 ? s->row_end[row - 1] < e : e > 0, has_partial = leads;

    MSM_G(batch_init)(&k->batch, false);
    k->n = k->n_segs = 0;
    MSM_G(cell_set_inf)(partial);
    for (; e < s->end; row++) {
        size_t stop = s->row_end[row] < s->end ? s->row_end[row] : s->end;
        if (e == stop) continue;
        if (leads) {
            MSM_G(block_open)(k, partial, NULL);
        } else {
            MSM_G(block_open)(k, &buckets[row], &buckets[row]);
        }
        leads = false;
        while (e < stop) {
            size_t room = MSM_BLOCK - k->n, n = stop - e < room ? stop - e : room;
            if (room == 0) {
                MSM_G(block_flush)(k, true);
                continue;
            }
            MSM_G(block_load)(k, s, e, n);
            e += n;
            n = s->end - e < MSM_BLOCK ? s->end - e : MSM_BLOCK;
            k->batch.ahead = (msm_ahead){s->points, s->entries + e, s->entries + e + n};
        }
    }
    MSM_G(block_flush)(k, false);
    return has_partial;
}

/* From the last bucket of each lane down: weighted += plain, plain += bucket; both in one batch, so weighted adds the
   plain sum before the bucket, from a copy. */
static void MSM_G(lanes)(void *plain_out, void *weighted_out, const msm_lanes *l, void *scratch)
{
    MSM_G(block) *k = scratch;
    MSM_G(cell) *plain = k->buf, *weighted = plain + l->n, *copy = weighted + l->n;
    const MSM_G(cell) *b = l->buckets;

    _Static_assert(3 * (MSM_PAIRS / 2) <= MSM_BLOCK, "room for three of max_lanes");
    MSM_G(batch_init)(&k->batch, true);
    for (size_t i = 0; i < l->n; i++) {
        plain[i] = b[msm_lane_begin(l, i) + (l->len - 1) * l->apart];
        MSM_G(cell_set_inf)(&weighted[i]);
    }
    for (size_t j = l->len - 1; j-- > 0;) {
        for (size_t i = 0; i < l->n; i++) {
            copy[i] = plain[i];
            MSM_G(batch_add)(&k->batch, &weighted[i], &copy[i]);
            MSM_G(batch_add)(&k->batch, &plain[i], &b[msm_lane_begin(l, i) + j * l->apart]);
        }
        MSM_G(batch_finish)(&k->batch);
    }
    memcpy(plain_out, plain, l->n * sizeof *plain);
    memcpy(weighted_out, weighted, l->n * sizeof *weighted);
}

#endif

/* ---- sums of multiples: windows, all ---- */

/* acc += the sum of n cells */
static void MSM_G(add_cells)(MSM_G(xyzz) * acc, const void *cells, size_t n)
{
    MSM_G(affine) a[MSM_TOP];

    MSM_G(cells_to_affine)(a, cells, n);
    for (size_t i = 0; i < n; i++) MSM_G(xyzz_add_affine)(acc, acc, &a[i]);
}

static void MSM_G(window)(void *sum, const msm_tops *t)
{
    MSM_G(affine) plain[MSM_TOP];
    MSM_G(xyzz) run, acc, times;

    MSM_G(xyzz_set_inf)(&run);
    MSM_G(xyzz_set_inf)(&acc);
    MSM_G(xyzz_set_inf)(&times);
    MSM_G(cells_to_affine)(plain, t->plain, t->n);
    for (size_t i = t->n; i-- > 0;) {
        MSM_G(xyzz_add_affine)(&run, &run, &plain[i]);
        MSM_G(xyzz_add)(&acc, &acc, &run);
    }
    if (t->total != NULL) MSM_G(add_cells)(&times, t->total, t->n);
    for (unsigned i = 0; i < t->log; i++) MSM_G(xyzz_dbl)(&times, &times);
    MSM_G(add_cells)(&times, t->weighted, t->n);
    for (size_t i = 1; i < t->n; i *= 2) MSM_G(xyzz_dbl)(&times, &times);
    MSM_G(xyzz_add)(&acc, &acc, &times);
    *(MSM_G(xyzz) *)sum = acc;
}

static void MSM_G(finish)(void *r, const void *windows, size_t n, unsigned c, const void *ones)
{
    const MSM_G(xyzz) *w = windows;
    MSM_G(xyzz) acc;
    MSM_G(affine) one;
    MSM_G(jac) j;

    MSM_G(xyzz_set_inf)(&acc);
    for (size_t i = n; i-- > 0;) {
        if (!MSM_G(xyzz_is_inf)(&acc)) {
            for (unsigned d = 0; d < c; d++) MSM_G(xyzz_dbl)(&acc, &acc);
        }
        MSM_G(xyzz_add)(&acc, &acc, &w[i]);
    }
    MSM_G(cells_to_affine)(&one, ones, 1);
    MSM_G(xyzz_add_affine)(&acc, &acc, &one);
    MSM_G(xyzz_to_jac)(&j, &acc);
    MSM_G(to_affine)(r, &j);
}

static void MSM_G(canon)(uint64_t (*out)[4], const fr *in, size_t n)
{
    for (size_t i = 0; i < n; i++) fr_to_limbs(out[i], &in[i]);
}

static point_err MSM_G(read_point)(void *out, const uint8_t *in, point_enc enc)
{
    return MSM_G(read)(out, in, enc);
}

static void MSM_G(write_point)(uint8_t *out, const void *a, point_enc enc)
{
    MSM_G(write)(out, a, enc);
}

#include "device/cpu/fixed_base_tmpl.h"

#if MSM_LANES
#    undef MSM_X8
#    undef MSM_WORDS
#    undef MSM_GROUPS
#endif
#undef MSM_G
#undef MSM_F
#undef MSM_JOIN
#undef MSM_JOIN2
