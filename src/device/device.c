/*
 * device/device.c - the door: what is wrong with a call is found here, then the backend runs it
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "device/device.h"

#include "base/u128.h"
#include "device/backend.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define MAX_SCALARS ((size_t)UINT32_MAX) /* ranks are 32 bits */

static const dev_backend *const backends[] = {
    &dev_backend_cpu,
#ifdef CUZK_CUDA
    &dev_backend_cuda,
#endif
};

uint64_t dev_points_id(void)
{
    static _Atomic uint64_t last; /* relaxed: only that no two are equal */

    return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

/* ---- devices and streams ---- */

static const dev_backend *find_backend(const char *name)
{
    size_t len = strcspn(name, ":"); /* what follows is the backend's own */

    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++)
        if (strlen(backends[i]->name) == len && strncmp(backends[i]->name, name, len) == 0)
            return backends[i];
    return NULL;
}

cuzk_status device_open(device **out, const device_config *config)
{
    cuzk_status st = CUZK_OK;
    const dev_backend *be;
    device *d;

    if (out == NULL || config == NULL || config->name == NULL || config->m == NULL)
        return FAIL(CUZK_EINVAL, "device: no name, no memory, or nowhere to put it");
    be = find_backend(config->name);
    if (be == NULL) return FAIL(CUZK_EINVAL, "device %s: no such backend", config->name);

    d = mem_new(config->m, 1, sizeof *d, &st);
    if (d == NULL) return st;
    d->be = be;
    d->table = config->table;
    d->pool = config->pool;
    d->m = config->m;
    st = be->open(d, config);
    if (st != CUZK_OK) {
        mem_free(d->m, d);
        return st;
    }
    *out = d;
    return CUZK_OK;
}

void device_close(device *d)
{
    if (d == NULL) return;
    d->be->close(d);
    mem_free(d->m, d);
}

const char *device_name(const device *d)
{
    return d->be->name;
}

bool device_has_backend(const char *name)
{
    return find_backend(name) != NULL;
}

cuzk_status device_count(unsigned *n, const char *backend)
{
    const dev_backend *be = find_backend(backend);

    *n = be == NULL ? 0 : 1;
    return be == NULL || be->count == NULL ? CUZK_OK : be->count(n);
}

void device_info_get(const device *d, device_info *out)
{
    *out = (device_info){0};
    (void)snprintf(out->label, sizeof out->label, "%s", d->be->name);
    if (d->be->info != NULL) d->be->info(d, out);
}

bool device_is_lost(const device *d)
{
    return d->be->lost != NULL && d->be->lost(d);
}

bool device_has_fixed(const device *d)
{
    return d->be->fixed_new != NULL;
}

uint64_t dev_points_kept(const device *d, uint64_t id)
{
    return id == 0 || d->be->points_kept == NULL ? 0 : d->be->points_kept(d, id);
}

void dev_points_forget(device *d, uint64_t id)
{
    if (id != 0 && d->be->points_forget != NULL) d->be->points_forget(d, id);
}

void dev_points_want(device *d, uint64_t set, dev_want what, bool begins)
{
    if (set != 0 && d->be->points_want != NULL) d->be->points_want(d, set, what, begins);
}

const curve *device_curve(const device *d, curve_id id)
{
    return (unsigned)id < CURVE_IDS ? d->curves[id] : NULL;
}

cuzk_status dev_stream_open(dev_stream **out, device *d, const cancel *c)
{
    return dev_stream_open_at(out, d, c, 0);
}

cuzk_status dev_stream_open_at(dev_stream **out, device *d, const cancel *c, unsigned level)
{
    cuzk_status st = CUZK_OK;
    dev_stream *s;

    if (out == NULL || d == NULL) return FAIL(CUZK_EINVAL, "stream: no device");
    s = mem_new(d->m, 1, sizeof *s, &st);
    if (s == NULL) return st;
    s->d = d;
    s->cancel = c;
    s->level = level < DEV_LEVELS ? level : DEV_LEVELS - 1;
    st = d->be->stream_open(s);
    if (st != CUZK_OK) {
        mem_free(d->m, s);
        return st;
    }
    *out = s;
    return CUZK_OK;
}

void dev_stream_close(dev_stream *s)
{
    if (s == NULL) return;
    s->d->be->stream_close(s);
    mem_free(s->d->m, s);
}

device *dev_stream_device(const dev_stream *s)
{
    return s->d;
}

cuzk_status dev_sync(dev_stream *s)
{
    if (s == NULL) return FAIL(CUZK_EINVAL, "sync: no stream");
    return s->d->be->sync(s);
}

void dev_work_begin(dev_stream *s)
{
    if (s->d->be->work_begin != NULL) s->d->be->work_begin(s, false);
}

void dev_share_begin(dev_stream *s)
{
    if (s->d->be->work_begin != NULL) s->d->be->work_begin(s, true);
}

void dev_work_end(dev_stream *s)
{
    if (s->d->be->work_end != NULL) s->d->be->work_end(s);
}

void dev_times_get(const device *d, dev_times *out)
{
    *out = (dev_times){0};
    if (d->be->times != NULL) d->be->times(d, out);
}

/* ---- what every operation checks ---- */

void dev_keep(dev_stream *s, bool keep)
{
    if (s != NULL && s->d->be->keep != NULL) s->d->be->keep(s, keep);
}

static cuzk_status check_stream(const dev_stream *s, const char *op)
{
    return s == NULL ? FAIL(CUZK_EINVAL, "%s: no stream", op) : CUZK_OK;
}

static cuzk_status check_buf(const dev_stream *s, const dev_buf *b, size_t off, size_t n,
                             const char *op)
{
    if (b == NULL) return FAIL(CUZK_EINVAL, "%s: no buffer", op);
    if (b->d != s->d) return FAIL(CUZK_EINVAL, "%s: buffer of another device", op);
    if (off > b->n || n > b->n - off)
        return FAIL(CUZK_EINVAL, "%s: elements %zu + %zu of a buffer of %zu", op, off, n, b->n);
    return CUZK_OK;
}

static cuzk_status check_curve(const device *d, curve_id id, const char *op)
{
    if (device_curve(d, id) == NULL)
        return FAIL(CUZK_EINVAL, "%s: curve %u is unknown", op, (unsigned)id);
    return CUZK_OK;
}

static cuzk_status has_op(bool has, const dev_stream *s, const char *op)
{
    return has ? CUZK_OK : FAIL(CUZK_EINVAL, "device %s has no %s", s->d->be->name, op);
}

/* ---- buffers ---- */

cuzk_status dev_buf_new(dev_buf **out, device *d, size_t n)
{
    cuzk_status st = CUZK_OK;
    dev_buf *b;

    if (out == NULL || d == NULL) return FAIL(CUZK_EINVAL, "buffer: no device");
    b = mem_new(d->m, 1, sizeof *b, &st);
    if (b == NULL) return st;
    b->d = d;
    b->n = n;
    st = d->be->buf_new(b);
    if (st != CUZK_OK) {
        mem_free(d->m, b);
        return st;
    }
    *out = b;
    return CUZK_OK;
}

void dev_buf_free(dev_buf *b)
{
    if (b == NULL) return;
    b->d->be->buf_free(b);
    mem_free(b->d->m, b);
}

size_t dev_buf_len(const dev_buf *b)
{
    return b->n;
}

fr *dev_buf_host(dev_buf *b)
{
    return b->host;
}

cuzk_status dev_upload(dev_stream *s, dev_buf *dst, size_t off, const fr *src, size_t n)
{
    TRY(check_stream(s, "upload"));
    TRY(check_buf(s, dst, off, n, "upload"));
    if (n == 0) return CUZK_OK;
    if (src == NULL) return FAIL(CUZK_EINVAL, "upload: no source");
    return s->d->be->upload(s, dst, off, src, n);
}

cuzk_status dev_download(dev_stream *s, fr *dst, const dev_buf *src, size_t off, size_t n)
{
    TRY(check_stream(s, "download"));
    TRY(check_buf(s, src, off, n, "download"));
    if (n == 0) return CUZK_OK;
    if (dst == NULL) return FAIL(CUZK_EINVAL, "download: no destination");
    return s->d->be->download(s, dst, src, off, n);
}

cuzk_status dev_copy(dev_stream *s, dev_buf *dst, size_t to, const dev_buf *src, size_t from,
                     size_t n)
{
    dev_stream of_src = {0};

    TRY(check_stream(s, "copy"));
    TRY(check_buf(s, dst, to, n, "copy"));
    if (src == NULL || src->d->be != s->d->be)
        return FAIL(CUZK_EINVAL, "copy: no buffer of another device of this kind");
    of_src.d = src->d;
    TRY(check_buf(&of_src, src, from, n, "copy"));
    if (n == 0) return CUZK_OK;
    TRY(cancel_check(s->cancel));
    if (s->d->be->copy != NULL) return s->d->be->copy(s, dst, to, src, from, n);
    return s->d->be->upload(s, dst, to, src->host + from, n);
}

/* ---- NTT and vectors ---- */

/* w = fr_root(gen, log_n) has order 2^log_n: so it is for a non-residue, and only then. */
static cuzk_status check_root(const curve *cv, unsigned gen, unsigned log_n)
{
    fr w, minus_one;

    if (log_n == 0) return CUZK_OK;
    cv->fr_root(&w, gen, log_n);
    for (unsigned i = 1; i < log_n; i++) cv->fr_mul(&w, &w, &w);
    cv->fr_neg(&minus_one, &cv->fr_one);
    if (!cv->fr_eq(&w, &minus_one))
        return FAIL(CUZK_EINVAL, "domain 2^%u: %u is a square in the field of %s", log_n, gen,
                    cv->name);
    return CUZK_OK;
}

cuzk_status ntt_domain_new(ntt_domain **out, device *d, curve_id id, unsigned gen, unsigned log_n,
                           const fr *shift)
{
    cuzk_status st = CUZK_OK;
    ntt_domain *dom;
    const curve *cv;
    unsigned limit;

    if (out == NULL || d == NULL) return FAIL(CUZK_EINVAL, "domain: no device");
    TRY(check_curve(d, id, "domain"));
    cv = d->curves[id];
    limit = cv->two_adicity < DEV_MAX_LOG_N ? cv->two_adicity : DEV_MAX_LOG_N;
    if (log_n > limit) return FAIL(CUZK_EINVAL, "domain: 2^%u points, limit 2^%u", log_n, limit);
    TRY(check_root(cv, gen, log_n));
    if (shift != NULL && cv->fr_is_zero(shift)) return FAIL(CUZK_EINVAL, "domain: coset shift 0");

    dom = mem_new(d->m, 1, sizeof *dom, &st);
    if (dom == NULL) return st;
    dom->d = d;
    dom->id = id;
    dom->gen = gen;
    dom->log_n = log_n;
    dom->shift = shift == NULL ? cv->fr_one : *shift;
    st = d->be->domain_new(dom);
    if (st != CUZK_OK) {
        mem_free(d->m, dom);
        return st;
    }
    *out = dom;
    return CUZK_OK;
}

void ntt_domain_free(ntt_domain *dom)
{
    if (dom == NULL) return;
    dom->d->be->domain_free(dom);
    mem_free(dom->d->m, dom);
}

cuzk_status dev_ntt(dev_stream *s, dev_buf *a, const ntt_domain *dom, ntt_kind kind)
{
    TRY(check_stream(s, "ntt"));
    TRY(has_op(s->d->be->ntt != NULL, s, "ntt"));
    if (dom == NULL || dom->d != s->d) return FAIL(CUZK_EINVAL, "ntt: no domain of this device");
    TRY(check_buf(s, a, 0, (size_t)1 << dom->log_n, "ntt"));
    if ((unsigned)kind > NTT_TO_COSET)
        return FAIL(CUZK_EINVAL, "ntt: kind %u is unknown", (unsigned)kind);
    return s->d->be->ntt(s, a, dom, kind);
}

cuzk_status dev_quotient(dev_stream *s, dev_buf *a, const dev_buf *b, const dev_buf *c, size_t n,
                         curve_id id, const fr *k)
{
    TRY(check_stream(s, "quotient"));
    TRY(has_op(s->d->be->quotient != NULL, s, "quotient"));
    TRY(check_curve(s->d, id, "quotient"));
    TRY(check_buf(s, a, 0, n, "quotient"));
    TRY(check_buf(s, b, 0, n, "quotient"));
    TRY(check_buf(s, c, 0, n, "quotient"));
    return s->d->be->quotient(s, a, b, c, n, id, k);
}

cuzk_status dev_mul(dev_stream *s, dev_buf *r, const dev_buf *a, const dev_buf *b, size_t n,
                    curve_id id)
{
    TRY(check_stream(s, "mul"));
    TRY(has_op(s->d->be->mul != NULL, s, "mul"));
    TRY(check_curve(s->d, id, "mul"));
    TRY(check_buf(s, r, 0, n, "mul"));
    TRY(check_buf(s, a, 0, n, "mul"));
    TRY(check_buf(s, b, 0, n, "mul"));
    return s->d->be->mul(s, r, a, b, n, id);
}

/* ---- sums of points ---- */

/* Elements among the first n positions. */
static size_t count_elems(const dev_scalars *k)
{
    size_t last;
    uint64_t mask;

    if (k->is_elem == NULL || k->n == 0) return k->n;
    last = (k->n - 1) / 64;
    mask = UINT64_MAX >> (63 - (k->n - 1) % 64);
    return k->rank64[last] + (size_t)u64_popcount(k->is_elem[last] & mask);
}

static size_t count_selected(const dev_scalars *k)
{
    size_t count = 0;

    if (k->select == NULL) return k->n;
    if (k->n_selected != 0) return k->n_selected;
    for (size_t i = 0; i < k->n / 64; i++) count += u64_popcount(k->select[i]);
    if (k->n % 64 != 0)
        count += u64_popcount(k->select[k->n / 64] & (UINT64_MAX >> (64 - k->n % 64)));
    return count;
}

static cuzk_status check_scalars(const dev_scalars *k, const char *op)
{
    size_t elems;

    if (k == NULL) return FAIL(CUZK_EINVAL, "%s: no scalars", op);
    if (k->n > MAX_SCALARS)
        return FAIL(CUZK_EINVAL, "%s: %zu scalars, limit %zu", op, k->n, MAX_SCALARS);
    if (k->n != 0 && k->is_elem != NULL && k->rank64 == NULL)
        return FAIL(CUZK_EINVAL, "%s: scalars without ranks", op);
    elems = count_elems(k);
    if ((elems != 0 && k->elems == NULL) || (elems != k->n && k->bits == NULL))
        return FAIL(CUZK_EINVAL, "%s: %zu elements and %zu bits, but no array of one", op, elems,
                    k->n - elems);
    return CUZK_OK;
}

static cuzk_status check_enc(curve_id id, point_enc enc, const char *op)
{
    if ((unsigned)enc > POINT_ZCASH_COMPRESSED || (enc != POINT_LEM && id != CURVE_ID_BLS12_381))
        return FAIL(CUZK_EINVAL, "%s: encoding %u, curve %u: no such points", op, (unsigned)enc,
                    (unsigned)id);
    return CUZK_OK;
}

static cuzk_status check_points(const device *d, const dev_points *p, bool g2, curve_id id,
                                const char *op)
{
    if (p == NULL) return FAIL(CUZK_EINVAL, "%s: no points", op);
    if (p->g2 != g2) return FAIL(CUZK_EINVAL, "%s: points of the other group", op);
    if (p->home != NULL && p->home != d)
        return FAIL(CUZK_EINVAL, "%s: points of another device", op);
    if (p->n != 0 && p->data == NULL && p->home == NULL)
        return FAIL(CUZK_EINVAL, "%s: %zu points at NULL", op, p->n);
    return check_enc(id, p->enc, op);
}

cuzk_status dev_points_load(dev_stream *s, curve_id id, const dev_points *b)
{
    TRY(check_stream(s, "points"));
    TRY(check_curve(s->d, id, "points"));
    if (b == NULL) return FAIL(CUZK_EINVAL, "points: none");
    TRY(check_points(s->d, b, b->g2, id, "points"));
    return b->home != NULL || s->d->be->points_load == NULL ? CUZK_OK
                                                            : s->d->be->points_load(s, id, b);
}

static cuzk_status check_msm(dev_stream *s, const void *r, bool g2, curve_id id,
                             const dev_points *bases, size_t first_base, const dev_scalars *k)
{
    size_t wanted;

    TRY(check_stream(s, "sum of points"));
    TRY(has_op(s->d->be->msm != NULL, s, "sum of points"));
    if (r == NULL) return FAIL(CUZK_EINVAL, "sum of points: nowhere to put it");
    TRY(check_curve(s->d, id, "sum of points"));
    TRY(check_points(s->d, bases, g2, id, "sum of points"));
    TRY(check_scalars(k, "sum of points"));
    wanted = count_selected(k);
    if (first_base > bases->n || wanted > bases->n - first_base)
        return FAIL(CUZK_EINVAL, "sum of points: %zu scalars from base %zu on, but %zu bases",
                    wanted, first_base, bases->n);
    return CUZK_OK;
}

static cuzk_status msm(dev_stream *s, void *r, bool g2, curve_id id, const dev_points *bases,
                       size_t first_base, const dev_scalars *k)
{
    TRY(check_msm(s, r, g2, id, bases, first_base, k));
    return s->d->be->msm(s, r, id, bases, first_base, k);
}

cuzk_status dev_msm_g1(dev_stream *s, g1_any *r, curve_id id, const dev_points *bases,
                       size_t first_base, const dev_scalars *k)
{
    return msm(s, r, false, id, bases, first_base, k);
}

cuzk_status dev_msm_g2(dev_stream *s, g2_any *r, curve_id id, const dev_points *bases,
                       size_t first_base, const dev_scalars *k)
{
    return msm(s, r, true, id, bases, first_base, k);
}

static cuzk_status check_msm_buf(dev_stream *s, const void *r, curve_id id, const dev_points *bases,
                                 size_t first_base, const dev_buf *k, size_t n)
{
    TRY(check_stream(s, "sum of points"));
    TRY(has_op(s->d->be->msm_buf != NULL, s, "sum of points over a buffer"));
    if (r == NULL) return FAIL(CUZK_EINVAL, "sum of points: nowhere to put it");
    TRY(check_curve(s->d, id, "sum of points"));
    TRY(check_points(s->d, bases, false, id, "sum of points"));
    TRY(check_buf(s, k, 0, n, "sum of points"));
    if (n > MAX_SCALARS)
        return FAIL(CUZK_EINVAL, "sum of points: %zu scalars, limit %zu", n, MAX_SCALARS);
    if (first_base > bases->n || n > bases->n - first_base)
        return FAIL(CUZK_EINVAL, "sum of points: %zu scalars from base %zu on, but %zu bases", n,
                    first_base, bases->n);
    return CUZK_OK;
}

cuzk_status dev_msm_g1_buf(dev_stream *s, g1_any *r, curve_id id, const dev_points *bases,
                           size_t first_base, const dev_buf *k, size_t n)
{
    TRY(check_msm_buf(s, r, id, bases, first_base, k, n));
    return s->d->be->msm_buf(s, r, id, bases, first_base, k, n);
}

static cuzk_status check_sum(dev_stream *s, curve_id id, const dev_sum *a)
{
    if (a->bases == NULL) return FAIL(CUZK_EINVAL, "sum of points: no points");
    return a->buf != NULL ? check_msm_buf(s, a->r, id, a->bases, a->first_base, a->buf, a->n)
                          : check_msm(s, a->r, a->bases->g2, id, a->bases, a->first_base, a->k);
}

/* To its place; added there when it has been given to a sum before. */
static cuzk_status one_sum(dev_stream *s, curve_id id, const dev_sum *a, bool again)
{
    const curve *cv = s->d->curves[id];
    union {
        g1_any g1;
        g2_any g2;
    } t;
    void *r = again ? &t : a->r;
    span sp = span_open(a->kind);
    cuzk_status st = a->buf != NULL
                         ? s->d->be->msm_buf(s, r, id, a->bases, a->first_base, a->buf, a->n)
                         : s->d->be->msm(s, r, id, a->bases, a->first_base, a->k);
    span_close(&sp);
    TRY(st);
    if (again && a->bases->g2) cv->g2_add(a->r, a->r, &t.g2);
    if (again && !a->bases->g2) cv->g1_add(a->r, a->r, &t.g1);
    return CUZK_OK;
}

static cuzk_status many(dev_stream *s, curve_id id, const dev_sum *sums, size_t n)
{
    bool done = false;

    for (size_t i = 0; i < n; i++) TRY(check_sum(s, id, &sums[i]));
    if (s->d->be->msm_many != NULL) TRY(s->d->be->msm_many(s, id, sums, n, &done));
    for (size_t i = 0; i < n && !done; i++) {
        bool again = false;
        for (size_t j = 0; j < i; j++) again = again || sums[j].r == sums[i].r;
        TRY(one_sum(s, id, &sums[i], again));
    }
    return CUZK_OK;
}

/* What is not a sum of another kind is the first one's. */
cuzk_status dev_msm_many(dev_stream *s, curve_id id, const dev_sum *sums, size_t n)
{
    if (n == 0) return CUZK_OK;
    span sp = span_open(sums[0].kind);
    cuzk_status st = many(s, id, sums, n);
    span_close(&sp);
    return st;
}

void dev_forget(device *d, uint64_t id)
{
    if (id != 0 && d->be->forget != NULL) d->be->forget(d, id);
}

void dev_system_forget(device *d, uint64_t id)
{
    if (id != 0 && d->be->system_forget != NULL) d->be->system_forget(d, id);
}

cuzk_status dev_points_new(dev_points *out, device *d, curve_id id, bool g2, size_t n)
{
    dev_points p = {.n = n, .enc = POINT_LEM, .g2 = g2, .trusted = true, .home = d};
    cuzk_status st = CUZK_OK;

    TRY(check_curve(d, id, "points"));
    if (n > MAX_SCALARS) return FAIL(CUZK_EINVAL, "points: %zu, limit %zu", n, MAX_SCALARS);
    p.id = dev_points_id();
    if (d->be->points_new != NULL) {
        TRY(d->be->points_new(&p, d, id));
    } else {
        p.data = mem_new(d->m, n, d->curves[id]->point_size(g2, POINT_LEM), &st);
        if (p.data == NULL) return st;
    }
    *out = p;
    return CUZK_OK;
}

void dev_points_free(dev_points *p)
{
    device *d = p->home;

    if (d != NULL && d->be->points_free != NULL) d->be->points_free(p);
    if (d != NULL && d->be->points_free == NULL) mem_free(d->m, (void *)(uintptr_t)p->data);
    memset(p, 0, sizeof *p);
}

cuzk_status dev_fixed_new(dev_fixed **out, dev_stream *s, curve_id id, bool g2, const void *base,
                          size_t n)
{
    cuzk_status st;
    dev_fixed *f;

    TRY(check_stream(s, "multiples of a point"));
    TRY(has_op(s->d->be->fixed_new != NULL, s, "multiples of a point"));
    TRY(check_curve(s->d, id, "multiples of a point"));
    if (base == NULL) return FAIL(CUZK_EINVAL, "multiples of a point: no point");
    f = mem_new(s->d->m, 1, sizeof *f, &st);
    if (f == NULL) return st;
    *f = (dev_fixed){.d = s->d, .id = id, .g2 = g2};
    st = s->d->be->fixed_new(s, f, base, n);
    if (st != CUZK_OK) {
        mem_free(s->d->m, f);
        return st;
    }
    *out = f;
    return CUZK_OK;
}

void dev_fixed_free(dev_fixed *f)
{
    if (f == NULL) return;
    f->d->be->fixed_free(f);
    mem_free(f->d->m, f);
}

cuzk_status dev_fixed_mul(dev_stream *s, uint8_t *out, point_enc enc, const dev_fixed *f,
                          const fr *k, size_t n, size_t *infinity_index)
{
    TRY(check_stream(s, "multiples of a point"));
    if (f == NULL || f->d != s->d)
        return FAIL(CUZK_EINVAL, "multiples of a point: no table, or another device's");
    TRY(check_enc(f->id, enc, "multiples of a point"));
    if (n != 0 && (out == NULL || k == NULL))
        return FAIL(CUZK_EINVAL, "multiples of a point: an argument is NULL");
    return s->d->be->fixed_mul(s, out, enc, f, k, n, infinity_index);
}

cuzk_status dev_fixed_keep(dev_stream *s, const dev_points *p, size_t at, const dev_fixed *f,
                           const fr *k, size_t n, size_t *infinity_index)
{
    TRY(check_stream(s, "multiples of a point"));
    if (f == NULL || f->d != s->d || p == NULL || p->home != s->d || p->g2 != f->g2)
        return FAIL(CUZK_EINVAL, "multiples of a point: another device's table or points");
    if (at > p->n || n > p->n - at || (n != 0 && k == NULL))
        return FAIL(CUZK_EINVAL, "multiples of a point: %zu from %zu on, of %zu points", n, at,
                    p->n);
    if (s->d->be->fixed_keep != NULL)
        return s->d->be->fixed_keep(s, p, at, f, k, n, infinity_index);
    /* made by dev_points_new, so they are ours to write */
    uint8_t *to =
        (uint8_t *)(uintptr_t)p->data + at * s->d->curves[f->id]->point_size(p->g2, p->enc);
    return s->d->be->fixed_mul(s, to, p->enc, f, k, n, infinity_index);
}

static cuzk_status fixed_base(dev_stream *s, uint8_t *out, point_enc enc, curve_id id, bool g2,
                              const void *base, const fr *k, size_t n, size_t *infinity_index)
{
    dev_fixed *f = NULL;

    TRY(dev_fixed_new(&f, s, id, g2, base, n));
    cuzk_status st = dev_fixed_mul(s, out, enc, f, k, n, infinity_index);
    dev_fixed_free(f);
    return st;
}

cuzk_status dev_fixed_base_g1(dev_stream *s, uint8_t *out, point_enc enc, curve_id id,
                              const g1_any *base, const fr *k, size_t n, size_t *infinity_index)
{
    return fixed_base(s, out, enc, id, false, base, k, n, infinity_index);
}

cuzk_status dev_fixed_base_g2(dev_stream *s, uint8_t *out, point_enc enc, curve_id id,
                              const g2_any *base, const fr *k, size_t n, size_t *infinity_index)
{
    return fixed_base(s, out, enc, id, true, base, k, n, infinity_index);
}

/* ---- points of which sums are taken again and again ---- */

cuzk_status dev_multiples_new(dev_multiples **out, dev_stream *s, curve_id id,
                              const dev_points *points, size_t max_bytes, mem *m)
{
    cuzk_status st;
    dev_multiples *t;

    TRY(check_stream(s, "multiples of points"));
    TRY(check_curve(s->d, id, "multiples of points"));
    TRY(check_points(s->d, points, false, id, "multiples of points"));
    if (points->enc != POINT_LEM || !points->trusted || points->n == 0)
        return FAIL(CUZK_EINVAL, "multiples of points: %zu points, to be checked and as in memory",
                    points->n);
    t = mem_new(m, 1, sizeof *t, &st);
    if (t == NULL) return st;
    *t = (dev_multiples){.m = m, .id = id, .n = points->n};
    if (s->d->be->multiples_new != NULL) st = s->d->be->multiples_new(s, t, points, max_bytes);
    if (st != CUZK_OK || t->points == NULL) {
        dev_multiples_free(t);
        t = NULL;
    }
    if (st == CUZK_OK) *out = t;
    return st;
}

void dev_multiples_free(dev_multiples *t)
{
    if (t == NULL) return;
    mem_free(t->m, t->points);
    mem_free(t->m, t);
}

bool dev_multiples_fit(const dev_multiples *t, const dev_stream *s)
{
    return t != NULL && s->d->be->multiples_sum != NULL;
}

cuzk_status dev_multiples_sum(dev_stream *s, g1_any *r, const dev_multiples *t, const fr *k)
{
    TRY(check_stream(s, "sum of multiples"));
    TRY(has_op(s->d->be->multiples_sum != NULL, s, "sum of multiples"));
    if (r == NULL || t == NULL || k == NULL)
        return FAIL(CUZK_EINVAL, "sum of multiples: nowhere to put it, no points or no scalars");
    return s->d->be->multiples_sum(s, r, t, k);
}

/* ---- constraint systems ---- */

static cuzk_status check_template(const dev_template *t, size_t index, bool c_wanted)
{
    if (t->n_rows == 0) return CUZK_OK;
    if (t->a.row_start == NULL || t->b.row_start == NULL)
        return FAIL(CUZK_EINVAL, "a, b, c: template %zu has no A or no B", index);
    if (t->c.row_start != NULL && !c_wanted)
        return FAIL(CUZK_EINVAL, "a, b, c: template %zu has C, but there is no c", index);
    return CUZK_OK;
}

static bool fits(uint32_t start, uint32_t n, uint32_t limit)
{
    return start <= limit && n <= limit - start;
}

static cuzk_status check_instance(const dev_system *sys, size_t index)
{
    const dev_instance *inst = &sys->instances[index];
    const dev_template *t;

    if (inst->tmpl >= sys->n_templates)
        return FAIL(CUZK_EINVAL, "a, b, c: instance %zu is of template %u of %zu", index,
                    inst->tmpl, sys->n_templates);
    t = &sys->templates[inst->tmpl];
    if (!fits(inst->aux_start, t->n_local, sys->n_aux) ||
        !fits(inst->pub_start, t->n_pub, sys->n_inputs) ||
        !fits(inst->row_start, t->n_rows, sys->n_rows))
        return FAIL(CUZK_EINVAL, "a, b, c: instance %zu lies outside of its system", index);
    if (t->n_in != 0 && sys->wires == NULL)
        return FAIL(CUZK_EINVAL, "a, b, c: instance %zu takes wires, but there are none", index);
    return CUZK_OK;
}

static cuzk_status check_system(const dev_system *sys, bool c_wanted)
{
    size_t rows = 0;

    if ((sys->n_templates != 0 && sys->templates == NULL) ||
        (sys->n_instances != 0 && sys->instances == NULL))
        return FAIL(CUZK_EINVAL, "a, b, c: templates or instances at NULL");
    if (sys->n_inputs == 0) return FAIL(CUZK_EINVAL, "a, b, c: no inputs, not even ONE");
    if (sys->n_instances != 0 && (sys->coeffs == NULL || sys->n_coeffs < 2))
        return FAIL(CUZK_EINVAL, "a, b, c: %zu coefficients, at least 2", sys->n_coeffs);
    for (size_t i = 0; i < sys->n_templates; i++)
        TRY(check_template(&sys->templates[i], i, c_wanted));
    for (size_t i = 0; i < sys->n_instances; i++) {
        TRY(check_instance(sys, i));
        rows += sys->templates[sys->instances[i].tmpl].n_rows;
    }
    if (rows != sys->n_rows)
        return FAIL(CUZK_EINVAL, "a, b, c: instances have %zu rows, the system %u", rows,
                    sys->n_rows);
    return CUZK_OK;
}

cuzk_status dev_abc(dev_stream *s, dev_buf *a, dev_buf *b, dev_buf *c, const dev_system *sys,
                    const fr *inputs, const dev_scalars *aux)
{
    size_t rows;

    TRY(check_stream(s, "a, b, c"));
    TRY(has_op(s->d->be->abc != NULL, s, "evaluation of a, b, c"));
    if (sys == NULL || inputs == NULL) return FAIL(CUZK_EINVAL, "a, b, c: no system or no inputs");
    TRY(check_curve(s->d, sys->id, "a, b, c"));
    TRY(check_scalars(aux, "a, b, c"));
    if (aux->n != sys->n_aux)
        return FAIL(CUZK_EINVAL, "a, b, c: %zu values for %u variables", aux->n, sys->n_aux);
    TRY(check_system(sys, c != NULL));
    rows = (size_t)sys->n_rows + (sys->input_rows ? sys->n_inputs : 0);
    TRY(check_buf(s, a, 0, rows, "a, b, c"));
    TRY(check_buf(s, b, 0, rows, "a, b, c"));
    if (c != NULL) TRY(check_buf(s, c, 0, rows, "a, b, c"));
    if (a == b || a == c || b == c) return FAIL(CUZK_EINVAL, "a, b, c: one buffer for two");
    return s->d->be->abc(s, a, b, c, sys, inputs, aux);
}
