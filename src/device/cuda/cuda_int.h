/*
 * device/cuda/cuda_int.h - what the backend's host files share: the device, its memory, copies, points, domains
 *
 * A stream belongs to one thread; a cu_device is shared, and `mu` guards its tables, whose records are part of it: what a
 * device keeps takes no host memory of the caller's budget. Device memory comes from cu_alloc, which keeps what is given back. An error that sticks (a kernel's) marks the device dead: every later call fails.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_CUDA_CUDA_INT_H
#define DEVICE_CUDA_CUDA_INT_H

#include <pthread.h>
#include <stdatomic.h>

#include "device/backend.h"
#include "device/cuda/kernels.h"
#include "device/dev_time.h"
#include "device/residency.h"

/** Runs a call of the CUDA runtime (a cudaError_t) and returns its failure from the function. */
#define CU_TRY(cu, call) \
    do { \
        int cu_err_ = (int)(call); \
        if (cu_err_ != 0) return cu_fail((cu), cu_err_, #call, __FILE__, __LINE__); \
    } while (0)
#define CU_TRY_OUT(cu, call) \
    do { \
        int cu_err_ = (int)(call); \
        if (cu_err_ != 0) { \
            st = cu_fail((cu), cu_err_, #call, __FILE__, __LINE__); \
            goto out; \
        } \
    } while (0)

/* Device memory from the driver. p NULL: this record is free. */
typedef struct cu_block {
    void *p;
    size_t size;
    bool taken;
} cu_block;
#define CU_BLOCKS 1024

/* What stays on the device beyond a call, and under what: ids of one kind are never the same for other bytes. */
typedef enum cu_kept_kind {
    CU_KEPT_POINTS, /* of a key: dev_points.id */
    CU_KEPT_SYSTEM, /* templates, instances: dev_system.id */
    CU_KEPT_LAYOUT, /* is_elem, rank64: dev_scalars.layout_id */
    CU_KEPT_SELECT, /* a bitmap and its ranks: dev_scalars.select_id */
    CU_KEPT_VALUES, /* elems, bits: dev_scalars.id */
} cu_kept_kind;

/* id 0: this record is free. data NULL: somebody is filling it. */
typedef struct cu_kept {
    uint64_t id;
    cu_kept_kind kind;
    bool ready;
    uint8_t *data;
    residency r;
    /* of CU_KEPT_POINTS: those from `first` on, n, of which the first `arrived` are there; filling: somebody brings in more */
    size_t first, n, arrived;
    bool filling;
} cu_kept;
#define CU_KEPT 256

/* Sets that somebody wants (dev_points_want). set 0: this record is free. */
typedef struct cu_wanted {
    uint64_t set;
    unsigned n[DEV_WANT_NOW + 1];
} cu_wanted;
#define CU_WANTED 64

/* What ntt_domain->impl is; table NULL: this record is free, or being filled by its one user. */
enum { POWERS_TO_COSET, POWERS_INVERSE, POWERS_COSET, POWERS_COSET_INVERSE, POWERS_KINDS };
typedef struct cu_domain {
    /* fixed after init */
    curve_id id;
    unsigned gen, log_n;
    fr shift;
    uint32_t *table, *powers[POWERS_KINDS];
    /* guarded by mu */
    unsigned users;
    bool ready;
} cu_domain;
#define CU_DOMAINS 32

/* Pinned host memory for copies, in two halves: one is filled while the other travels. half[0] NULL: none. */
#define CU_STAGE_HALF ((size_t)16 << 20)
typedef struct cu_stage {
    uint8_t *half[2];
    void *done[2]; /* cudaEvent_t: the half's last copy has ended */
    unsigned turn; /* the half that is next */
} cu_stage;
#define CU_STAGES 8

/* Marks of the proof that is on a stream (cuda_time.c). Events stay when it has gone. */
#define CU_MARKS 512u
#define CU_HOST_NOTES 256u
typedef struct cu_lane {
    /* the thread of the proof's alone */
    int index;
    unsigned n, n_host;
    struct {
        void *event; /* cudaEvent_t */
        span_kind kind, within;
    } mark[CU_MARKS];
    void *now;
    span_noted work[CU_MARKS], host[CU_HOST_NOTES];
} cu_lane;
/* One of several threads that copy to the device at once: each fills one half while its other one travels. */
#define CU_PORTER_HALF \
    ((size_t)4 << 20) /* smaller copies cost the bus: half a MiB, more than half of its speed */
typedef struct cu_porter {
    cu_stream s; /* NULL: none */
    uint8_t *half[2];
    void *done[2]; /* cudaEvent_t */
} cu_porter;
#define CU_PORTERS 32
#define CU_PORTERS_AT_ONCE 12u

/* Whether an error stuck. CU_LOSING: somebody is about to write why. */
enum { CU_FINE, CU_LOSING, CU_LOST };

/* What a stream is made of, kept for the next one of its level: pinning memory and giving it back wait for the device. */
#define CU_AHEAD 2u /* safe points that the host may be ahead of the device */
typedef struct cu_line {
    cu_stream s; /* NULL: none */
    unsigned level;
    uint32_t *words; /* pinned, for small results: CU_WORDS of them */
    void *past
        [CU_AHEAD]; /* cudaEvent_t: what came before a safe point has ended; NULL: not yet used */
    unsigned turn;  /* of past, the oldest */
} cu_line;
#define CU_WORDS ((size_t)8192)
#define CU_LINES 16

typedef struct cu_device {
    /* fixed after init */
    device *d;
    int index;
    unsigned sms;
    char name[96]; /* "cuda:0 (NVIDIA ...)" */
    char model[72], uuid[48];
    size_t full;        /* of device memory: what may be used */
    cu_stream clearing; /* of the highest level: for what is done before any stream is known */
    /* atomic: acquire and release, with `why` from CU_LOST on; relaxed elsewhere, as a hint that is looked at before work */
    _Atomic int lost;
    char why[160]; /* what the failure said that it was lost by */
    pthread_mutex_t mu;
    /* guarded by mu */
    cu_block blocks[CU_BLOCKS];
    size_t limit;                 /* less than `full` while others have some of it */
    size_t allocated, used, peak; /* from the driver; of it given out; the most that was */
    cu_kept kept[CU_KEPT];
    uint64_t uses;         /* of what is kept, so far */
    pthread_cond_t filled; /* a record became ready, or free again */
    cu_domain domains[CU_DOMAINS];
    cu_stage stages[CU_STAGES]; /* that no stream has */
    unsigned n_stages;
    cu_line lines[CU_LINES]; /* that no stream has */
    unsigned n_lines;
    /* each on its own: */
    dev_time time;
    cu_lane lanes[DEV_LANES];      /* as time.lanes */
    cu_porter porters[CU_PORTERS]; /* that no thread has */
    unsigned n_porters;
    cu_wanted wanted[CU_WANTED];
    unsigned proofs;               /* on the device now, of those that say so */
    uint64_t points_in, points_ns; /* as device_info */
} cu_device;

/* What dev_stream->impl is. */
typedef struct cu_queue {
    cu_device *cu;
    cu_stream s; /* the line's, as words */
    uint32_t *words;
    cu_line line;
    cu_stage stage; /* none until something large is copied */
    cu_lane *lane;  /* NULL: no proof is on it, or it is not measured */
} cu_queue;

/* What dev_buf->impl is. */
typedef struct cu_buf {
    uint32_t *p;
    void *last; /* cudaEvent_t: the last use has ended */
} cu_buf;

static inline cu_device *cu_of(const device *d)
{
    return d->impl;
}
static inline cu_queue *cu_queue_of(const dev_stream *s)
{
    return s->impl;
}
static inline cu_buf *cu_buf_of(const dev_buf *b)
{
    return b->impl;
}

/** Records the failure of a call and yields CUZK_ENOMEM or CUZK_EDEVICE. */
cuzk_status cu_fail(cu_device *cu, int err, const char *call, const char *file, int line);
/** Makes the device current on this thread; fails when it is dead. */
CUZK_STATUS cu_enter(cu_device *cu);

/* ---- streams (cuda_line.c) ---- */

CUZK_STATUS cu_stream_open(dev_stream *s);
void cu_stream_close(dev_stream *s);
/** A stream of the highest level, by the device's own priorities. */
CUZK_STATUS cu_line_clearing(cu_device *cu);
void cu_lines_close(cu_device *cu);
/** Between launches: waits until the device has come near to what was enqueued, so that a stream of a higher level never finds long
 *  work before it that has not begun; then as cancel_check. */
CUZK_STATUS cu_safe_point(dev_stream *s);

/* ---- memory (cuda_mem.c) ---- */

/** size bytes of device memory, 256-byte aligned; not cleared. CUZK_EBUDGET with the numbers when the limit is in the way
 *  even without kept points and domains that may go, CUZK_ENOMEM when the driver has no more. */
CUZK_STATUS cu_alloc(cu_device *cu, void **out, size_t size);
/** The same, but nothing that is wanted goes for it: for what is kept. */
CUZK_STATUS cu_alloc_kept(cu_device *cu, void **out, size_t size);
/** Idle blocks go back to the driver: what is asked for next gets blocks of its own size. */
void cu_trim(cu_device *cu);
/** Nothing on the device may still use it. NULL is fine. */
void cu_release(cu_device *cu, void *p);
/** The same with mu held. */
void cu_release_locked(cu_device *cu, void *p);
void cu_mem_close(cu_device *cu);

/* ---- copies (cuda_copy.c) ---- */

/** Enqueues; src may change after the return. */
CUZK_STATUS cu_upload(dev_stream *s, void *dst, const void *src, size_t size);
/** Returns when dst is complete. */
CUZK_STATUS cu_download(dev_stream *s, void *dst, const void *src, size_t size);
/** The next half of the stage, once it is free; *which goes to cu_stage_sent after the copy from it was enqueued. */
CUZK_STATUS cu_stage_next(dev_stream *s, uint8_t **out, unsigned *which);
CUZK_STATUS cu_stage_sent(dev_stream *s, unsigned which);
void cu_stage_return(cu_queue *q);
void cu_stages_close(cu_device *cu);
/** memcpy by all threads of the pool. */
void cu_copy_host(pool *p, void *dst, const void *src, size_t size);

/** Bytes to the device by several threads at once, each filling pinned halves of its own: as fast as the bus. `fill` (NULL: a
 *  copy) writes `size` bytes, those from `at` on, to half. */
typedef struct cu_many {
    dev_stream *s;
    uint8_t *dst;
    const uint8_t *src;
    size_t size, part; /* part: bytes at a time, at most CU_PORTER_HALF */
    cuzk_status (*fill)(void *ctx, uint8_t *half, size_t at, size_t size);
    void *ctx;
    size_t
        ahead; /* bytes behind src + size that will be wanted next: a mapped file is read ahead */
    cuzk_status (*beside)(void *ctx); /* may be NULL: runs meanwhile, once, on one of the threads */
    void *beside_ctx;
} cu_many;
/** All bytes are there when it returns; after a failure nothing is under way. */
CUZK_STATUS cu_upload_many(const cu_many *m);
void cu_porters_close(cu_device *cu);

/* ---- time (cuda_time.c) ---- */

/** What is enqueued from here on is work of this kind, SPAN_GPU_*; SPAN_KINDS: nothing is until the next mark. Costs an event where the
 *  kind changes, and nothing where no proof is on the stream. */
void cu_mark(dev_stream *s, span_kind kind);
/** Waits for all that was enqueued; then nothing is until the next mark. */
CUZK_STATUS cu_wait(dev_stream *s);
/** Since `from` (clock_ns) the thread was at what SPAN_GPU_IDLE_* names: the cause, should the device have had nothing. */
void cu_host_was(dev_stream *s, span_kind idle, uint64_t from);
void cu_work_begin(dev_stream *s, bool share);
void cu_work_end(dev_stream *s);
void cu_times(const device *d, dev_times *out);
void cu_lanes_close(cu_device *cu);

/* ---- what is kept (cuda_kept.c) ---- */

/** Fills `data` on the device; what it enqueued has ended when it returns. Others wait for it: it never stands aside for them. */
typedef cuzk_status (*cu_fill)(void *ctx, dev_stream *s, uint8_t *data);
/** Of a list of points: how it is kept, and which of its points. */
typedef struct cu_keep {
    dev_keeping how;
    size_t first, n;
} cu_keep;
/** The record of (kind, id), filled by `fill` when there was none; one thread fills, others wait for it. In use until
 *  cu_kept_put. keep: NULL, it stands alone. *out NULL: the table is full of records in use. */
CUZK_STATUS cu_kept_get(cu_kept **out, dev_stream *s, cu_kept_kind kind, uint64_t id,
                        const cu_keep *keep, size_t size, cu_fill fill, void *ctx);
/** The record if it is there and ready, in use; else NULL. */
cu_kept *cu_kept_find(cu_device *cu, cu_kept_kind kind, uint64_t id);
void cu_kept_put(cu_device *cu, cu_kept *k); /* NULL is fine */
/** Gives the record up when nobody uses it. */
void cu_kept_drop(cu_device *cu, cu_kept_kind kind, uint64_t id);
/** Until something changed among the records, or it is time to look at the cancel token; mu is held. */
void cu_kept_wait_locked(cu_device *cu);
/** Gives up records that are held no firmer than this, as residency.h says which first, until `size` bytes are free or none is left;
 *  mu is held. */
void cu_kept_evict_locked(cu_device *cu, size_t size, residency_hold hold);
/** What work may take at most: what is wanted too, unless several proofs are on the device; mu is held. */
residency_hold cu_kept_work_hold_locked(const cu_device *cu);
void cu_kept_close(cu_device *cu);
/** What others took and have given back since is ours again. mu is held. */
void cu_limit_locked(cu_device *cu);
/** Bytes that are free, or are taken by records that are held no firmer than this. */
size_t cu_kept_room(cu_device *cu, residency_hold hold);
void cu_kept_want(device *d, uint64_t set, dev_want what, bool begins);

/* ---- points (cuda_points.c) ---- */

/** A list as a sum uses it: its points [first, end) are kept, in use until cu_points_close; the others are brought in. */
typedef struct cu_points {
    curve_id id;
    const dev_points *b;
    cu_kept *kept; /* NULL: none are */
    size_t first, end;
    bool all; /* that were asked for are kept */
} cu_points;
/** Points [from, to) are wanted: decides what is kept; brings in nothing yet. */
CUZK_STATUS cu_points_open(cu_points *p, dev_stream *s, curve_id id, const dev_points *b,
                           size_t from, size_t to);
void cu_points_close(cu_device *cu, cu_points *p);
/** Points [from, to) in device memory, as affine of the group: data[i] is point from + i. */
typedef struct cu_part {
    const uint8_t *data;
    void *own; /* to be released; NULL: they are kept */
} cu_part;
/** CUZK_EDATA: a malformed point, by its index. */
CUZK_STATUS cu_part_get(cu_part *out, dev_stream *s, const cu_points *p, size_t from, size_t to);
/** The same while `beside` runs, once, maybe on another thread; a failure of either is returned. */
CUZK_STATUS cu_part_ahead(cu_part *out, dev_stream *s, const cu_points *p, size_t from, size_t to,
                          cuzk_status (*beside)(void *ctx), void *ctx);
void cu_part_put(cu_device *cu, cu_part *part);
/** dev_points_load */
CUZK_STATUS cu_points_load(dev_stream *s, curve_id id, const dev_points *b);
/** Points that live here alone: dev_points_new. */
CUZK_STATUS cu_points_new(dev_points *p, device *d, curve_id id);
void cu_points_free(dev_points *p);
/** Their memory; NULL when p is not of this device. */
uint8_t *cu_points_home(cu_device *cu, const dev_points *p);

/* ---- scalars (cuda_scalars.c) ---- */

/** Parts of dev_scalars that are on the device as a whole, in use until cu_scalars_put; pointers of the others are NULL. */
typedef struct cu_whole {
    const uint32_t *elems;
    const uint64_t *bits;
    const uint64_t *is_elem;
    const uint32_t *rank64;
    const uint64_t *select;
    const uint32_t *select_rank; /* one more than words of select */
    cu_kept *values, *layout, *selected;
} cu_whole;
/** Brings in those parts that have an id and take little of the room. */
CUZK_STATUS cu_scalars_get(cu_whole *out, dev_stream *s, const dev_scalars *k);
void cu_scalars_put(cu_device *cu, cu_whole *w);
void cu_scalars_forget(device *d, uint64_t id);
void cu_system_forget(device *d, uint64_t id);
size_t cu_scalars_elems(const dev_scalars *k);

/* ---- operations ---- */

static inline const cu_fr_ops *cu_fr_of(curve_id id)
{
    return id == CURVE_ID_BLS12_381 ? &cu_fr_bls : &cu_fr_bn;
}
static inline const cu_group_ops *cu_group_of(curve_id id, bool g2)
{
    if (id == CURVE_ID_BLS12_381) return g2 ? &cu_g2_bls : &cu_g1_bls;
    return g2 ? &cu_g2_bn : &cu_g1_bn;
}

/** Notes that what was enqueued so far may use b. */
CUZK_STATUS cu_buf_used(dev_stream *s, const dev_buf *b);
/** Yields st. After a failure nothing that was enqueued goes on: whoever comes next may have the memory it works on. */
CUZK_STATUS cu_end(dev_stream *s, cuzk_status st);

CUZK_STATUS cu_domain_new(ntt_domain *dom);
void cu_domain_free(ntt_domain *dom);
void cu_domains_evict_locked(cu_device *cu);
void cu_domains_close(cu_device *cu);
CUZK_STATUS cu_ntt(dev_stream *s, dev_buf *a, const ntt_domain *dom, ntt_kind kind);

CUZK_STATUS cu_msm(dev_stream *s, void *r, curve_id id, const dev_points *bases, size_t first_base,
                   const dev_scalars *k);
CUZK_STATUS cu_msm_buf(dev_stream *s, void *r, curve_id id, const dev_points *bases,
                       size_t first_base, const dev_buf *k, size_t n);
CUZK_STATUS cu_fixed_new(dev_stream *s, dev_fixed *f, const void *base, size_t n);
void cu_fixed_free(dev_fixed *f);
CUZK_STATUS cu_fixed_mul(dev_stream *s, uint8_t *out, point_enc enc, const dev_fixed *f,
                         const fr *k, size_t n, size_t *infinity_index);
CUZK_STATUS cu_fixed_keep(dev_stream *s, const dev_points *p, size_t at, const dev_fixed *f,
                          const fr *k, size_t n, size_t *infinity_index);
CUZK_STATUS cu_abc(dev_stream *s, dev_buf *a, dev_buf *b, dev_buf *c, const dev_system *sys,
                   const fr *inputs, const dev_scalars *aux);

/** Known answers: every field, group, transform and sum once, against the host. A device that fails is refused. */
CUZK_STATUS cu_check_device(device *d);

#endif
