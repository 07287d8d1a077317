/*
 * device/backend.h - what a backend fills in
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_BACKEND_H
#define DEVICE_BACKEND_H

#include "device/device.h"

/** Operations are called with sizes already checked by device.c. NULL: the backend has no such operation. */
typedef struct dev_backend {
    const char *name;
    CUZK_STATUS (*open)(device *d, const device_config *config);
    void (*close)(device *d);
    CUZK_STATUS (*count)(unsigned *n);                     /* NULL: one */
    void (*info)(const device *d, device_info *out);       /* NULL: it is named as its backend */
    bool (*lost)(const device *d);                         /* NULL: never */
    uint64_t (*points_kept)(const device *d, uint64_t id); /* NULL: it keeps none */
    void (*points_forget)(device *d, uint64_t id);
    CUZK_STATUS (*points_load)(dev_stream *s, curve_id id, const dev_points *b); /* as kept */
    void (*points_want)(device *d, uint64_t set, dev_want what, bool begins);
    CUZK_STATUS (*stream_open)(dev_stream *s);
    void (*stream_close)(dev_stream *s);
    CUZK_STATUS (*sync)(dev_stream *s);
    void (*work_begin)(dev_stream *s, bool share); /* NULL, these three: its time is not measured */
    void (*work_end)(dev_stream *s);
    void (*times)(const device *d, dev_times *out);
    void (*keep)(dev_stream *s, bool keep); /* NULL: nothing to keep, or kept anyway */
    CUZK_STATUS (*buf_new)(dev_buf *b);
    void (*buf_free)(dev_buf *b);
    CUZK_STATUS (*upload)(dev_stream *s, dev_buf *dst, size_t off, const fr *src, size_t n);
    CUZK_STATUS (*download)(dev_stream *s, fr *dst, const dev_buf *src, size_t off, size_t n);
    /* src: of any device of this backend; done when it returns. NULL: the host sees its buffers */
    CUZK_STATUS(*copy)
    (dev_stream *s, dev_buf *dst, size_t to, const dev_buf *src, size_t from, size_t n);
    CUZK_STATUS (*domain_new)(ntt_domain *dom);
    void (*domain_free)(ntt_domain *dom);
    CUZK_STATUS (*ntt)(dev_stream *s, dev_buf *a, const ntt_domain *dom, ntt_kind kind);
    CUZK_STATUS(*quotient)
    (dev_stream *s, dev_buf *a, const dev_buf *b, const dev_buf *c, size_t n, curve_id id,
     const fr *k);
    CUZK_STATUS(*mul)
    (dev_stream *s, dev_buf *r, const dev_buf *a, const dev_buf *b, size_t n, curve_id id);
    CUZK_STATUS(*msm)
    (dev_stream *s, void *r, curve_id id, const dev_points *bases, size_t first_base,
     const dev_scalars *k);
    CUZK_STATUS(*msm_buf)
    (dev_stream *s, void *r, curve_id id, const dev_points *bases, size_t first_base,
     const dev_buf *k, size_t n);
    /* All of them at once, with spans of their kinds; *done false: it would not. NULL: one after the other. */
    CUZK_STATUS (*msm_many)(dev_stream *s, curve_id id, const dev_sum *sums, size_t n, bool *done);
    /* NULL, both: in the host's memory. p has n, g2, id, enc POINT_LEM, trusted and home. */
    CUZK_STATUS (*points_new)(dev_points *p, device *d, curve_id id);
    void (*points_free)(dev_points *p);
    void (*forget)(device *d, uint64_t id); /* NULL, both: nothing is kept */
    void (*system_forget)(device *d, uint64_t id);
    CUZK_STATUS (*fixed_new)(dev_stream *s, dev_fixed *f, const void *base, size_t n);
    void (*fixed_free)(dev_fixed *f);
    CUZK_STATUS(*fixed_mul)
    (dev_stream *s, uint8_t *out, point_enc enc, const dev_fixed *f, const fr *k, size_t n,
     size_t *infinity_index);
    CUZK_STATUS(*fixed_keep) /* with points_new */
    (dev_stream *s, const dev_points *p, size_t at, const dev_fixed *f, const fr *k, size_t n,
     size_t *infinity_index);
    /* NULL, both: sums are taken without. t has id, n and m; fills c, windows and points, which stay NULL beyond max_bytes. */
    CUZK_STATUS(*multiples_new)
    (dev_stream *s, dev_multiples *t, const dev_points *points, size_t max_bytes);
    CUZK_STATUS (*multiples_sum)(dev_stream *s, g1_any *r, const dev_multiples *t, const fr *k);
    CUZK_STATUS(*abc)
    (dev_stream *s, dev_buf *a, dev_buf *b, dev_buf *c, const dev_system *sys, const fr *inputs,
     const dev_scalars *aux);
} dev_backend;

struct device {
    const dev_backend *be;
    cpu_table table;
    pool *pool;
    mem *m;
    const curve *curves[CURVE_IDS];
    void *impl;
};

struct dev_stream {
    device *d;
    const cancel *cancel;
    unsigned level; /* below DEV_LEVELS */
    void *impl;
};

struct dev_buf {
    device *d;
    size_t n;
    fr *host; /* NULL where the host cannot see it */
    void *impl;
};

struct ntt_domain {
    device *d;
    curve_id id;
    unsigned gen, log_n;
    fr shift;
    void *impl;
};

struct dev_fixed {
    device *d;
    curve_id id;
    bool g2;
    void *impl;
};

struct dev_multiples {
    mem *m;
    curve_id id;
    size_t n;
    unsigned c;
    size_t windows;
    uint8_t *points; /* as in memory: point i times 2^(c w) is the (w n + i)-th */
};

/** The scalars of a sum in the host's memory. */
static inline dev_scalars dev_sum_scalars(const dev_sum *a)
{
    return a->buf == NULL ? *a->k : (dev_scalars){.n = a->n, .elems = a->buf->host};
}

extern const dev_backend dev_backend_cpu;
extern const dev_backend dev_backend_cuda; /* in builds with CUZK_CUDA */

#endif
