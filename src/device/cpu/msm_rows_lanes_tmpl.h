/*
 * device/cpu/msm_rows_lanes_tmpl.h - rows of entries summed eight rows side by side, and running sums of lanes of buckets
 *
 * Included by msm_tmpl.h for each group, in place of its own `rows` and `lanes`. A slice's rows are sorted by length; eight of nearly equal
 * length are an octet, lane i adding up row i. The points of an octet lie as eights (msm_eights_tmpl.h) in a tray and are summed by a tree: in
 * round s those s apart. Trays follow each other one round behind: a batch has the first round of the newest tray, the second of
 * the one before and so on, so an inversion is shared by as many sums as a tray has eights. Each row meets its bucket once, whatever the
 * scalars are; a row longer than MSM_ROW is cut, and its pieces are merged at the end.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

/* Some of a row's entries: one lane of an octet. */
#ifndef MSM_ROW_PIECES
#    define MSM_ROW_PIECES
typedef struct msm_piece {
    uint32_t begin, len;
    void *dst;
} msm_piece;
#endif

typedef struct MSM_G(tray) {
    size_t n_octets;
    uint32_t stride;
    msm_octet octets[MSM_TRAY];
    MSM_G(eight) eights[MSM_TRAY];
} MSM_G(tray);

typedef struct MSM_G(scratch) {
    union {
        MSM_G(block) block; /* of merges, when no tray is in work */
        struct {
            MSM_G(sums) sums;
            MSM_G(tray) trays[MSM_TRAYS];
        } work;
    } u;
    MSM_G(cell) none, trash; /* infinity; what nobody reads */
    bool fresh;              /* what pieces are added to is infinity */
    /* a wave: pieces, and their order by length */
    size_t n_pieces, n_sorted;
    msm_piece pieces[MSM_WAVE];
    uint16_t sorted[MSM_WAVE];
    /* sums of pieces that are not their row's last, and these rows; first those of the row that began before the slice */
    size_t n_cut, n_cut_first;
    MSM_G(cell) cut[MSM_CUT];
    uint32_t cut_rows[MSM_CUT];
} MSM_G(scratch);

/* The place in a slice that the next wave goes on from. */
typedef struct MSM_G(place) {
    size_t e, row;
    MSM_G(cell) *
        partial; /* where the row goes that began before the slice; NULL once it is over */
} MSM_G(place);

/* As many pieces as a wave holds. */
static void MSM_G(wave_take)(MSM_G(scratch) * k, const msm_slice *s, MSM_G(place) * at)
{
    MSM_G(cell) *buckets = s->buckets;

    k->n_pieces = 0;
    while (at->e < s->end && k->n_pieces < MSM_WAVE) {
        size_t stop = s->row_end[at->row] < s->end ? s->row_end[at->row] : s->end;
        size_t len = stop - at->e;
        MSM_G(cell) *dst = at->partial != NULL ? at->partial : &buckets[at->row];
        if (len > MSM_ROW) {
            if (k->n_cut == MSM_CUT) break;
            len = MSM_ROW;
            dst = &k->cut[k->n_cut];
            MSM_G(cell_set_inf)(dst);
            if (at->partial != NULL) k->n_cut_first++;
            k->cut_rows[k->n_cut++] = at->partial != NULL ? 0 : (uint32_t)at->row;
        }
        if (len > 0) k->pieces[k->n_pieces++] = (msm_piece){(uint32_t)at->e, (uint32_t)len, dst};
        at->e += len;
        if (at->e < stop) continue;
        at->row++;
        if (len > 0) at->partial = NULL;
    }
}

/* The longest first. */
static void MSM_G(wave_sort)(MSM_G(scratch) * k)
{
    uint32_t next[MSM_ROW + 1] = {0}, at = 0;

    for (size_t i = 0; i < k->n_pieces; i++) next[k->pieces[i].len]++;
    for (size_t len = MSM_ROW; len > 0; len--) {
        uint32_t n = next[len];
        next[len] = at;
        at += n;
    }
    for (size_t i = 0; i < k->n_pieces; i++) k->sorted[next[k->pieces[i].len]++] = (uint16_t)i;
    k->n_sorted = 0;
}

/* The next octets that fit the tray; none when the slice is over, or no more sums of cut rows can be kept. */
static void MSM_G(tray_plan)(MSM_G(scratch) * k, MSM_G(tray) * t, const msm_slice *s,
                             MSM_G(place) * at)
{
    size_t room = MSM_TRAY;

    t->n_octets = 0;
    t->stride = 1;
    for (;;) {
        msm_octet *o = &t->octets[t->n_octets];
        size_t need;
        if (k->n_sorted == k->n_pieces) {
            MSM_G(wave_take)(k, s, at);
            MSM_G(wave_sort)(k);
            if (k->n_pieces == 0) return;
        }
        need = k->pieces[k->sorted[k->n_sorted]].len + 1; /* and the bucket */
        if (need > room) return;
        *o = (msm_octet){.start = (uint32_t)(MSM_TRAY - room)};
        for (size_t l = 0; l < LANES; l++) {
            o->dst[l] = &k->trash;
            if (k->n_sorted == k->n_pieces) continue;
            const msm_piece *piece = &k->pieces[k->sorted[k->n_sorted++]];
            o->begin[l] = piece->begin;
            o->len[l] = piece->len;
            o->dst[l] = piece->dst;
        }
        room -= need;
        t->n_octets++;
    }
}

/* What an octet's rows are added to, unless all of it is infinity. */
static bool MSM_G(tray_old)(MSM_G(eight) * e, const MSM_G(scratch) * k, const msm_octet *o)
{
    const MSM_G(cell) * old[LANES];

    for (size_t l = 0; l < LANES; l++) old[l] = o->len[l] != 0 ? o->dst[l] : &k->none;
    return MSM_G(eight_from_cells)(e, old);
}

/* Points and buckets of the tray's octets into its eights. */
static void MSM_G(tray_load)(const MSM_G(scratch) * k, MSM_G(tray) * t, const msm_slice *s)
{
    for (size_t i = 0; i < t->n_octets; i++) {
        msm_octet *o = &t->octets[i];
        MSM_G(eight) *e = &t->eights[o->start];
        if (!k->fresh && MSM_G(tray_old)(e, k, o)) e++;
        for (uint32_t j = 0; j < o->len[0]; j++) {
            const uint8_t *p[LANES];
            uint32_t neg = 0;
            for (size_t l = 0; l < LANES; l++) {
                p[l] = (const uint8_t *)&k->none;
                if (j >= o->len[l]) continue;
                uint32_t entry = s->entries[o->begin[l] + j];
                p[l] = s->points + (size_t)(entry >> 1) * sizeof(MSM_G(affine));
                neg |= (entry & 1) << l;
            }
            MSM_G(eight_load)(e++, p, (__mmask8)neg);
        }
        o->n = (uint32_t)(e - &t->eights[o->start]);
    }
}

static void MSM_G(tray_round)(MSM_G(tray) * t, MSM_G(sums) * sums)
{
    for (size_t i = 0; i < t->n_octets; i++) {
        const msm_octet *o = &t->octets[i];
        MSM_G(eight) *e = &t->eights[o->start];
        for (uint32_t a = 0; a + t->stride < o->n; a += 2 * t->stride)
            MSM_G(sums_add)(sums, &e[a], &e[a + t->stride]);
    }
}

/* After a round: octets that are summed up leave. */
static void MSM_G(tray_store)(MSM_G(tray) * t)
{
    size_t left = 0;

    t->stride *= 2;
    for (size_t i = 0; i < t->n_octets; i++) {
        const msm_octet *o = &t->octets[i];
        MSM_G(cell) * dst[LANES];
        if (o->n > t->stride) {
            t->octets[left++] = *o;
            continue;
        }
        for (size_t l = 0; l < LANES; l++) dst[l] = o->dst[l];
        MSM_G(eight_to_cells)(dst, &t->eights[o->start]);
    }
    t->n_octets = left;
}

/* The slice from that place on, as far as sums of cut rows can be kept. */
static void MSM_G(pieces_sum)(MSM_G(scratch) * k, const msm_slice *s, MSM_G(place) * at)
{
    size_t first = 0, end = 0; /* the trays in work */

    MSM_G(sums_init)(&k->u.work.sums);
    k->n_cut = k->n_cut_first = k->n_pieces = k->n_sorted = 0;
    MSM_G(tray_plan)(k, &k->u.work.trays[0], s, at);
    for (;;) {
        MSM_G(tray) *next = &k->u.work.trays[end % MSM_TRAYS];
        msm_fetch fetch = {.s = s};
        if (next->n_octets > 0) {
            MSM_G(tray_load)(k, next, s);
            next = &k->u.work.trays[++end % MSM_TRAYS];
            VERIFY(end - first < MSM_TRAYS);
            MSM_G(tray_plan)(k, next, s, at);
        }
        if (first == end) return;
        fetch.octet = next->octets;
        fetch.end = next->octets + next->n_octets;
        for (size_t i = first; i < end; i++)
            MSM_G(tray_round)(&k->u.work.trays[i % MSM_TRAYS], &k->u.work.sums);
        MSM_G(sums_finish)(&k->u.work.sums, &fetch);
        for (size_t i = first; i < end; i++) MSM_G(tray_store)(&k->u.work.trays[i % MSM_TRAYS]);
        while (first < end && k->u.work.trays[first % MSM_TRAYS].n_octets == 0) first++;
    }
}

static bool MSM_G(rows)(const msm_slice *s, void *partial, void *scratch)
{
    MSM_G(scratch) *k = scratch;
    bool leads = s->row > 0 ? s->row_end[s->row - 1] < s->begin : s->begin > 0;
    MSM_G(place) at = {s->begin, s->row, leads ? partial : NULL};

    MSM_G(cell_set_inf)(&k->none);
    MSM_G(cell_set_inf)(partial);
    k->fresh = s->fresh;
    while (at.e < s->end) {
        MSM_G(pieces_sum)(k, s, &at);
        k->fresh = false; /* the row that goes on may have a sum */
        if (k->n_cut_first > 0)
            MSM_G(merge)(partial, k->cut_rows, k->cut, k->n_cut_first, &k->u.block);
        if (k->n_cut > k->n_cut_first) MSM_G(merge)
        (s->buckets, k->cut_rows + k->n_cut_first, k->cut + k->n_cut_first,
         k->n_cut - k->n_cut_first, &k->u.block);
    }
    return leads;
}

/* An eight that is added to is a copy as long as it has no points. */
static inline void MSM_G(lanes_add)(MSM_G(scratch) * k, MSM_G(eight) * p, const MSM_G(eight) * q)
{
    if (p->live != 0) {
        MSM_G(sums_add)(&k->u.work.sums, p, q);
    } else {
        *p = *q;
    }
}

/* Buckets of eight lanes, and what is asked for: those of the lanes that come MSM_LANES_AHEAD later. */
static bool MSM_G(lanes_load)(MSM_G(eight) * r, const MSM_G(scratch) * k,
                              const MSM_G(cell) *const *at, size_t i, size_t n, size_t back)
{
    const MSM_G(cell) * c[LANES];

    for (size_t l = i; l < i + LANES; l++) {
        const MSM_G(cell) * ahead;
        c[l - i] = l < n ? at[l] - back : &k->none;
        if (l + MSM_LANES_AHEAD >= n) continue;
        ahead = at[l + MSM_LANES_AHEAD] - back;
        for (size_t line = 0; line < sizeof *ahead; line += 64)
            U128_PREFETCH((const uint8_t *)ahead + line);
    }
    return MSM_G(eight_from_cells)(r, c);
}

/* From the last bucket of each lane down: weighted += plain, plain += bucket. Weighted's sum is done first (sums_add), and so has the
   plain sum before this bucket. */
static void MSM_G(lanes)(void *plain_out, void *weighted_out, const msm_lanes *l, void *scratch)
{
    MSM_G(scratch) *k = scratch;
    MSM_G(eight) *plain = k->u.work.trays[0].eights, *weighted = k->u.work.trays[1].eights,
                 *bucket = k->u.work.trays[2].eights;
    const MSM_G(cell) * at[MSM_MAX_LANES]; /* last buckets */
    size_t n_eights = (l->n + LANES - 1) / LANES;
    msm_fetch none = {0};

    MSM_G(sums_init)(&k->u.work.sums);
    MSM_G(cell_set_inf)(&k->none);
    memset(plain, 0, n_eights * sizeof *plain);
    memset(weighted, 0, n_eights * sizeof *weighted);
    for (size_t i = 0; i < l->n; i++)
        at[i] = (const MSM_G(cell) *)l->buckets + msm_lane_begin(l, i) + (l->len - 1) * l->apart;
    for (size_t back = 0; back < l->len * l->apart; back += l->apart) {
        for (size_t g = 0; g < n_eights; g++) {
            bool had = plain[g].live != 0;
            if (MSM_G(lanes_load)(&bucket[g], k, at, LANES * g, l->n, back))
                MSM_G(lanes_add)(k, &plain[g], &bucket[g]);
            if (had) MSM_G(lanes_add)(k, &weighted[g], &plain[g]);
        }
        MSM_G(sums_finish)(&k->u.work.sums, &none);
    }
    MSM_G(eights_to_some)(plain_out, plain, l->n, &k->trash);
    MSM_G(eights_to_some)(weighted_out, weighted, l->n, &k->trash);
}
