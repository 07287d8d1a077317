/*
 * device/cuda/cuda_points.c - a key's points in device memory: checked and decoded there once, kept while there is room
 *
 * Kept under dev_points.id, which names bytes that never change (cuda_kept.c). A list may be kept in part: its front, as long as
 * there is room (device/residency.h); the rest, and lists without an id, are brought in for each sum. Bytes go straight to
 * where the points will be and are decoded in place: a copy never waits for a kernel, and many fill the bus. What is kept
 * arrives block by block, by whoever wants it first, and sums go on as soon as what they need is there.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <cuda_runtime_api.h>
#include <string.h>

#include "base/clock.h"
#include "device/cuda/cuda_msm.h"

#define BLOCK ((size_t)1 << 30) /* bytes that arrive together */
#define IN_FLIGHT 8u            /* blocks that are being decoded */
#define FEW 16u                 /* a list's part of which less is brought in each time */

/* ---- bringing in ---- */

/* Points [from, to) of a list to memory whose first is point `first`. */
typedef struct load {
    dev_stream *s;
    const curve *cv;
    const cu_group_ops *g;
    const dev_points *b;
    size_t in_size;
    uint8_t *out;
    size_t first, from, to;
} load;

/* Compressed points: a root each, which keys never ask for, so the host does it. */
static cuzk_status decode_here(void *ctx, uint8_t *half, size_t at, size_t size)
{
    const load *l = ctx;
    size_t i = l->from + at / l->g->point_size;

    for (uint8_t *out = half; out < half + size; out += l->g->point_size, i++) {
        const uint8_t *in = l->b->data + i * l->in_size;
        g2_any p;
        g1_any q;
        point_err e;

        if (l->b->g2) {
            e = l->cv->g2_read(&p, in, l->b->enc);
            memcpy(out, &p, l->g->point_size);
        } else {
            e = l->cv->g1_read(&q, in, l->b->enc);
            memcpy(out, &q, l->g->point_size);
        }
        if (e != POINT_OK) return FAIL_DATA(MALFORMED, "", "point %zu: %s", i, point_err_text(e));
    }
    return CUZK_OK;
}

static bool by_host(const load *l)
{
    return l->b->enc == POINT_ZCASH_COMPRESSED;
}

/* The bytes, to where the points will be: these are as many bytes, whatever the form in a key. */
static cuzk_status copy_bytes(load *l, size_t ahead, cuzk_status (*beside)(void *ctx), void *ctx)
{
    size_t size = l->g->point_size;
    cu_many m = {.s = l->s,
                 .dst = l->out + (l->from - l->first) * size,
                 .src = l->b->data + l->from * l->in_size,
                 .size = (l->to - l->from) * size,
                 .part = CU_PORTER_HALF / size * size,
                 .fill = by_host(l) ? decode_here : NULL,
                 .ctx = l,
                 .ahead = ahead,
                 .beside = beside,
                 .beside_ctx = ctx};

    return cu_upload_many(&m);
}

/* Bytes that are points as they came. */
static bool is_ready(const load *l)
{
    return by_host(l) || (l->b->trusted && l->b->enc == POINT_LEM);
}

/* Enqueues; *bad, on the device, becomes as cu_group_ops.decode says, and then *word. */
static cuzk_status decode(const load *l, uint64_t *bad, uint64_t *word)
{
    cu_queue *q = cu_queue_of(l->s);
    uint8_t *at = l->out + (l->from - l->first) * l->g->point_size;

    cu_mark(l->s, SPAN_GPU_POINTS);
    CU_TRY(q->cu, cudaMemsetAsync(bad, 0xff, sizeof *bad, q->s));
    if (!is_ready(l))
        CU_TRY(q->cu, l->g->decode(q->s, at, (unsigned long long *)bad, at, l->to - l->from,
                                   l->from, l->b->enc == POINT_ZCASH, l->b->trusted));
    CU_TRY(q->cu, cudaMemcpyAsync(word, bad, sizeof *bad, cudaMemcpyDeviceToHost, q->s));
    cu_mark(l->s, SPAN_KINDS);
    return CUZK_OK;
}

static cuzk_status judge(uint64_t bad)
{
    if (bad == UINT64_MAX) return CUZK_OK;
    return FAIL_DATA(MALFORMED, "", "point %zu: %s", (size_t)(bad / 4),
                     point_err_text((point_err)(bad % 4)));
}

static load load_of(dev_stream *s, curve_id id, const dev_points *b)
{
    load l = {.s = s, .cv = s->d->curves[id], .g = cu_group_of(id, b->g2), .b = b};

    l.in_size = l.cv->point_size(b->g2, b->enc);
    return l;
}

/* All at once, while `beside` runs. */
static cuzk_status load_now(load *l, cuzk_status (*beside)(void *ctx), void *ctx)
{
    cu_queue *q = cu_queue_of(l->s);
    uint64_t *bad = NULL, *word = (uint64_t *)(void *)q->words, began = clock_ns();
    cuzk_status st;

    TRY(copy_bytes(l, 0, beside, ctx));
    cu_host_was(l->s, SPAN_GPU_IDLE_KEY, began);
    TRY(cu_alloc(q->cu, (void **)&bad, sizeof *bad));
    st = decode(l, bad, word);
    int err = (int)cudaStreamSynchronize(q->s);
    if (st == CUZK_OK && err != 0)
        st = cu_fail(q->cu, err, "cudaStreamSynchronize", __FILE__, __LINE__);
    cu_release(q->cu, bad);
    return st == CUZK_OK ? judge(*word) : st;
}

/* ---- what is kept: arriving ---- */

/* Blocks of one list whose bytes are there and whose decoding was enqueued. */
typedef struct arrival {
    load l;
    cu_kept *k;
    uint64_t *bad; /* on the device: one for each block in flight */
    cudaEvent_t done[IN_FLIGHT];
    size_t to[IN_FLIGHT];  /* where each ends */
    unsigned begun, ended; /* counts of blocks */
} arrival;

/* The eldest block in flight is there. */
static cuzk_status end_block(arrival *a)
{
    cu_device *cu = cu_of(a->l.s->d);
    unsigned i = a->ended % IN_FLIGHT;
    uint64_t word;

    CU_TRY(cu, cudaEventSynchronize(a->done[i]));
    memcpy(&word, cu_queue_of(a->l.s)->words + 2 * i, sizeof word);
    TRY(judge(word));
    a->ended++;
    (void)pthread_mutex_lock(&cu->mu);
    a->k->arrived = a->to[i] - a->l.first;
    (void)pthread_cond_broadcast(&cu->filled);
    (void)pthread_mutex_unlock(&cu->mu);
    return CUZK_OK;
}

static cuzk_status begin_block(arrival *a, size_t from, size_t to, size_t last)
{
    cu_queue *q = cu_queue_of(a->l.s);
    unsigned i = a->begun % IN_FLIGHT;
    size_t ahead = by_host(&a->l) ? 0 : (last - to) * a->l.in_size;

    a->l.from = from;
    a->l.to = to;
    TRY(copy_bytes(&a->l, ahead < BLOCK ? ahead : BLOCK, NULL, NULL));
    TRY(decode(&a->l, a->bad + i, (uint64_t *)(void *)(q->words + 2 * i)));
    CU_TRY(q->cu, cudaEventRecord(a->done[i], q->s));
    a->to[i] = to;
    a->begun++;
    return CUZK_OK;
}

/* What is not there yet stays as the thread's last error, where the next launch would find it. */
static bool has_come(cudaEvent_t e)
{
    bool come = cudaEventQuery(e) == cudaSuccess;

    if (!come) (void)cudaGetLastError();
    return come;
}

static cuzk_status fill_blocks(arrival *a, size_t from, size_t to)
{
    size_t per = BLOCK / a->l.g->point_size, end;

    for (size_t at = from; at < to; at = end) {
        end = to - at < per ? to : at + per;
        TRY(begin_block(a, at, end, to));
        while (a->begun - a->ended == IN_FLIGHT ||
               (a->begun != a->ended && has_come(a->done[a->ended % IN_FLIGHT])))
            TRY(end_block(a));
    }
    while (a->begun != a->ended) TRY(end_block(a));
    return CUZK_OK;
}

/* Points [from, to) of the list; what of it arrived stays, even when the rest fails. */
static cuzk_status fill(const cu_points *p, dev_stream *s, size_t from, size_t to)
{
    cu_device *cu = cu_of(s->d);
    arrival a = {.l = load_of(s, p->id, p->b), .k = p->kept};
    cuzk_status st = CUZK_OK;

    a.l.out = p->kept->data;
    a.l.first = p->first;
    TRY(cu_alloc(cu, (void **)&a.bad, IN_FLIGHT * sizeof *a.bad));
    for (unsigned i = 0; i < IN_FLIGHT; i++)
        CU_TRY_OUT(cu, cudaEventCreateWithFlags(&a.done[i], cudaEventDisableTiming));
    TRY_OUT(fill_blocks(&a, from, to));
out:
    if (st != CUZK_OK) (void)cudaStreamSynchronize(cu_queue_of(s)->s);
    for (unsigned i = 0; i < IN_FLIGHT; i++)
        if (a.done[i] != NULL) (void)cudaEventDestroy(a.done[i]);
    cu_release(cu, a.bad);
    return st;
}

/* Until what is kept is there up to point `to`; brings in what nobody else is at. */
static cuzk_status arrive(const cu_points *p, dev_stream *s, size_t to)
{
    cu_device *cu = cu_of(s->d);
    cu_kept *k = p->kept;
    cuzk_status st = CUZK_OK;
    uint64_t began = clock_ns();
    size_t from = 0;
    bool there;

    (void)pthread_mutex_lock(&cu->mu);
    while (st == CUZK_OK && k->first + k->arrived < to && k->filling) {
        cu_kept_wait_locked(cu);
        (void)pthread_mutex_unlock(&cu->mu);
        if (cancel_requested(s->cancel)) st = FAIL(CUZK_ECANCELLED, "cancelled");
        (void)pthread_mutex_lock(&cu->mu);
    }
    there = st != CUZK_OK || k->first + k->arrived >= to;
    if (!there) {
        k->filling = true;
        from = k->first + k->arrived;
    }
    (void)pthread_mutex_unlock(&cu->mu);
    if (!there) st = fill(p, s, from, p->end);
    cu_host_was(s, SPAN_GPU_IDLE_KEY, began);
    if (there) return st;
    (void)pthread_mutex_lock(&cu->mu);
    k->filling = false;
    (void)pthread_cond_broadcast(&cu->filled);
    (void)pthread_mutex_unlock(&cu->mu);
    return st;
}

/* ---- what is kept: how much ---- */

/* Memory that a sum over the longest list of the set takes when it is free to. */
static size_t plan_size(const cu_device *cu, curve_id id, size_t n, size_t room)
{
    dev_scalars all = {.n = n};
    cu_msm_plan p;

    if (cu_msm_plan_make(&p, cu, cu_group_of(id, false), &all, cu->d->curves[id]->fr_bits, room, 0,
                         0) != CUZK_OK)
        return SIZE_MAX;
    return p.bytes;
}

/* How many of n points of b are to stay, by what is kept now. */
static size_t to_stay(cu_device *cu, curve_id id, const dev_points *b, size_t n)
{
    size_t longest = b->keep.longest > b->n ? b->keep.longest : b->n;
    residency_room room = {.beside = b->keep.beside, .during = b->keep.during};

    (void)pthread_mutex_lock(&cu->mu);
    room.limit = cu->limit;
    for (const cu_kept *k = cu->kept; k < cu->kept + CU_KEPT; k++) {
        if (k->id == 0 || (k->kind == CU_KEPT_POINTS && k->id == b->id)) continue;
        if (k->kind == CU_KEPT_POINTS && k->r.set == b->keep.set && k->r.set != 0)
            room.of_set += k->r.size;
        else if (residency_hold_of(&k->r) != RESIDENCY_IDLE)
            room.others += k->r.size;
    }
    (void)pthread_mutex_unlock(&cu->mu);
    if (room.during >= room.limit) return 0;
    room.plan = plan_size(cu, id, longest, room.limit - room.during);
    return residency_points(&room, n, cu_group_of(id, b->g2)->point_size);
}

static cuzk_status fill_later(void *ctx, dev_stream *s, uint8_t *data)
{
    (void)ctx;
    (void)s;
    (void)data;
    return CUZK_OK;
}

/* The record, in use, of the n points from `first` on; NULL when there turned out to be no room. */
static cuzk_status make_record(cu_kept **out, dev_stream *s, curve_id id, const dev_points *b,
                               size_t first, size_t n)
{
    cu_keep keep = {b->keep, first, n};
    cuzk_status st = cu_kept_get(out, s, CU_KEPT_POINTS, b->id, &keep,
                                 n * cu_group_of(id, b->g2)->point_size, fill_later, NULL);

    if (st != CUZK_EBUDGET && st != CUZK_ENOMEM) return st;
    *out = NULL; /* others were faster: sums do without */
    return CUZK_OK;
}

/* How many of the points [from, to) k does not have. */
static size_t missing(const cu_kept *k, size_t from, size_t to)
{
    size_t a = k == NULL || from > k->first ? from : k->first;
    size_t b = k == NULL || to < k->first + k->n ? to : k->first + k->n;

    return k == NULL || a >= b ? to - from : to - from - (b - a);
}

/* A record for points [from, to), or for all where another part was kept and now all fit. Few points are not worth one. */
static cuzk_status keep_more(cu_points *p, dev_stream *s, size_t from, size_t to)
{
    cu_device *cu = cu_of(s->d);
    const dev_points *b = p->b;
    size_t n;

    if (p->kept != NULL) {
        from = 0;
        to = b->n;
    }
    n = to_stay(cu, p->id, b, to - from);
    if (p->kept != NULL) {
        if (n != b->n) return CUZK_OK;
        cu_kept_put(cu, p->kept);
        cu_kept_drop(cu, CU_KEPT_POINTS, b->id); /* unless another uses it */
        p->kept = NULL;
    }
    return n == 0 ? CUZK_OK : make_record(&p->kept, s, p->id, b, from, n);
}

cuzk_status cu_points_open(cu_points *p, dev_stream *s, curve_id id, const dev_points *b,
                           size_t from, size_t to)
{
    *p = (cu_points){.id = id, .b = b};
    if (b->id == 0) return CUZK_OK;
    p->kept = cu_kept_find(cu_of(s->d), CU_KEPT_POINTS, b->id);
    if (b->home == NULL && missing(p->kept, from, to) > b->n / FEW) TRY(keep_more(p, s, from, to));
    if (p->kept == NULL) return CUZK_OK;
    p->first = p->kept->first;
    p->end = p->first + p->kept->n;
    p->all = missing(p->kept, from, to) == 0;
    return CUZK_OK;
}

void cu_points_close(cu_device *cu, cu_points *p)
{
    cu_kept_put(cu, p->kept);
    *p = (cu_points){0};
}

cuzk_status cu_points_load(dev_stream *s, curve_id id, const dev_points *b)
{
    cuzk_status st = CUZK_OK;
    cu_points p;

    TRY(cu_enter(cu_of(s->d)));
    TRY(cu_points_open(&p, s, id, b, 0, b->n));
    if (p.kept != NULL) st = arrive(&p, s, p.end);
    cu_points_close(cu_of(s->d), &p);
    return st;
}

/* ---- a part of a list ---- */

/* Memory of its own for points [from, to), with those that are kept in place: [*a, *b), perhaps none. */
static cuzk_status own_part(cu_part *out, dev_stream *s, const cu_points *p, size_t from, size_t to,
                            size_t *a, size_t *b)
{
    cu_queue *q = cu_queue_of(s);
    size_t size = cu_group_of(p->id, p->b->g2)->point_size;

    *a = p->first > from ? p->first : from;
    *b = p->end < to ? p->end : to;
    TRY(cu_alloc(q->cu, &out->own, (to - from) * size));
    out->data = out->own;
    if (*a >= *b) {
        *a = *b = from;
        return CUZK_OK;
    }
    TRY(arrive(p, s, *b));
    CU_TRY(q->cu, cudaMemcpyAsync((uint8_t *)out->own + (*a - from) * size,
                                  p->kept->data + (*a - p->first) * size, (*b - *a) * size,
                                  cudaMemcpyDeviceToDevice, q->s));
    return CUZK_OK;
}

cuzk_status cu_part_ahead(cu_part *out, dev_stream *s, const cu_points *p, size_t from, size_t to,
                          cuzk_status (*beside)(void *ctx), void *ctx)
{
    load l = load_of(s, p->id, p->b);
    cuzk_status st = CUZK_OK;
    size_t a, b;

    *out = (cu_part){0};
    if (from == to ||
        (from >= p->first && to <= p->end)) { /* these come without this thread, or at once */
        if (beside != NULL) TRY(beside(ctx));
        if (from == to) return CUZK_OK;
        TRY(arrive(p, s, to));
        out->data = p->kept->data + (from - p->first) * l.g->point_size;
        return CUZK_OK;
    }
    TRY_OUT(own_part(out, s, p, from, to, &a, &b));
    l.out = out->own;
    l.first = l.from = from;
    l.to = a;
    if (a != from) {
        TRY_OUT(load_now(&l, beside, ctx));
        beside = NULL;
    }
    l.from = b;
    l.to = to;
    if (b != to) TRY_OUT(load_now(&l, beside, ctx));
    return CUZK_OK;
out:
    (void)cudaStreamSynchronize(cu_queue_of(s)->s);
    cu_part_put(cu_of(s->d), out);
    return st;
}

cuzk_status cu_part_get(cu_part *out, dev_stream *s, const cu_points *p, size_t from, size_t to)
{
    return cu_part_ahead(out, s, p, from, to, NULL, NULL);
}

void cu_part_put(cu_device *cu, cu_part *part)
{
    cu_release(cu, part->own);
    *part = (cu_part){0};
}

/* ---- points that live here alone ---- */

static cuzk_status clear(void *ctx, dev_stream *s, uint8_t *data)
{
    cu_device *cu = cu_of(s->d);

    CU_TRY(cu, cudaMemset(data, 0, *(const size_t *)ctx));
    CU_TRY(cu, cudaStreamSynchronize(0)); /* `s` is no stream */
    return CUZK_OK;
}

cuzk_status cu_points_new(dev_points *p, device *d, curve_id id)
{
    cu_device *cu = cu_of(d);
    size_t size = p->n * cu_group_of(id, p->g2)->point_size;
    dev_stream here = {.d = d};
    cu_kept *k;

    TRY(cu_enter(cu));
    /* in use from here on: nobody can bring them back */
    TRY(cu_kept_get(&k, &here, CU_KEPT_POINTS, p->id, NULL, size, clear, &size));
    if (k == NULL)
        return FAIL(CUZK_EBUDGET, "%s: %d lists of points are in use", cu->name, CU_KEPT);
    k->n = k->arrived = p->n;
    return CUZK_OK;
}

void cu_points_free(dev_points *p)
{
    cu_device *cu = cu_of(p->home);
    cu_kept *k = cu_kept_find(cu, CU_KEPT_POINTS, p->id);

    if (k == NULL) return;
    (void)cudaSetDevice(cu->index);
    cu_kept_put(cu, k);
    cu_kept_put(cu, k); /* the use that cu_points_new began */
    cu_kept_drop(cu, CU_KEPT_POINTS, p->id);
}

uint8_t *cu_points_home(cu_device *cu, const dev_points *p)
{
    cu_kept *k = p->home == cu->d ? cu_kept_find(cu, CU_KEPT_POINTS, p->id) : NULL;

    cu_kept_put(cu, k);
    return k != NULL ? k->data : NULL;
}
