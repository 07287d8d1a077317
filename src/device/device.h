/*
 * device/device.h - heavy operations on arrays behind one table: NTT, MSM, sparse product, fixed base
 *
 * What the rooms above see. A device is opened once; work is issued on a stream. device.c checks sizes, aliasing and
 * stream once, then calls the backend (backend.h). The CPU backend runs each call to its end; a GPU backend may
 * return early, and dev_sync waits. Errors: CUZK_EINVAL (a size or alias is wrong), CUZK_ENOMEM/CUZK_EBUDGET,
 * CUZK_EDEVICE, CUZK_ECANCELLED, CUZK_EDATA (a point in a file is malformed: class malformed, names its index).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_DEVICE_H
#define DEVICE_DEVICE_H

#include "algebra/curve.h"
#include "base/pool.h"
#include "base/span.h"

#define DEV_MAX_LOG_N 28

typedef struct device device;
typedef struct dev_stream dev_stream;

typedef struct device_config {
    const char
        *name; /* "cpu"; "cuda" or "cuda:N", the N-th GPU that the driver shows, or its UUID */
    cpu_table table;      /* CPU backend */
    pool *pool;           /* borrowed until device_close; NULL: the calling thread alone */
    mem *m;               /* host memory for buffers and scratch */
    size_t device_memory; /* GPU: bytes of its memory to use at most; 0: nearly all that is free */
} device_config;

CUZK_STATUS device_open(device **out, const device_config *config);
void device_close(device *d);
/** Its backend's: "cpu", "cuda". */
const char *device_name(const device *d);
bool device_has_backend(const char *name);
/** How many devices a backend sees; 0: this build has no such backend, or its driver is not on this machine. CUZK_EDEVICE: a
 *  driver is there, but none of its devices can be used, with the reason. */
CUZK_STATUS device_count(unsigned *n, const char *backend);

/** What a device is, for rows and messages. */
typedef struct device_info {
    char label[24]; /* "cpu", "cuda:0": device_open takes it */
    char model[72]; /* "NVIDIA H200"; "": the CPU */
    char uuid[48];  /* "GPU-..."; "": none */
    unsigned ordinal;
    bool gpu;
    uint64_t memory_total; /* bytes of its own memory that may be used; 0: it uses the host's */
    uint64_t memory_free;  /* of these, not taken: keys that stay count as taken */
    uint64_t points_in, points_ns; /* bytes of points brought in so far, and how long that took */
} device_info;
void device_info_get(const device *d, device_info *out);
/** It failed in a way that does not heal: every further call fails. Never true of the CPU. */
bool device_is_lost(const device *d);
/** It can make multiples of one point (dev_fixed): what a setup needs. */
bool device_has_fixed(const device *d);
const curve *device_curve(const device *d, curve_id id);

/** c (may be NULL) is read between windows, passes and chunks. */
CUZK_STATUS dev_stream_open(dev_stream **out, device *d, const cancel *c);
/** The same, of a level (0: dev_stream_open's, the lowest; DEV_LEVELS and above: the highest): a GPU takes up what was given to a
 *  stream of a higher one first, whatever came before. */
#define DEV_LEVELS 4u
CUZK_STATUS dev_stream_open_at(dev_stream **out, device *d, const cancel *c, unsigned level);
void dev_stream_close(dev_stream *s);
device *dev_stream_device(const dev_stream *s);
CUZK_STATUS dev_sync(dev_stream *s);
/** keep: from now on a sum leaves its memory, charged to the budget, to the stream's next one: fresh pages cost more than a small sum's
 *  tenth. Not: it is given back, as when the stream is closed. */
void dev_keep(dev_stream *s, bool keep);

/* ---- the time of a GPU, by its own clock ---- */

/** Of the proofs that were on it, or shares of them, and have ended. */
typedef struct dev_times {
    uint64_t proofs;    /* shares not counted */
    uint64_t window_ns; /* from first kernel to last, of each; an instant counts once */
    uint64_t busy_ns;   /* of these: at work. The rest is in the causes of idling below. */
    uint64_t tail_ns, worst_tail_ns; /* from a proof's last kernel to dev_work_end: sum, longest */
    /* by kind: SPAN_GPU_* work (of all proofs, which may overlap) and idling; under a step of proving (SPAN_MSM_H) the work that was
       done for it */
    uint64_t n[SPAN_KINDS], ns[SPAN_KINDS];
    uint64_t before_n[SPAN_KINDS],
        before_ns[SPAN_KINDS]; /* idling between proofs, where its cause was known */
} dev_times;
void dev_times_get(const device *d, dev_times *out);
/** What comes on this stream is a proof's, until dev_work_end, which waits for it: a GPU measures it, and notes spans on the
 *  calling thread's recorder. All on the thread of the stream. */
void dev_work_begin(dev_stream *s);
/** The same for a share of a proof that is on another stream: work and gaps count, but it is no proof and its end no proof's. */
void dev_share_begin(dev_stream *s);
void dev_work_end(dev_stream *s);

/* ---- arrays of field elements ---- */

/** A device array of fr, Montgomery form. */
typedef struct dev_buf dev_buf;
CUZK_STATUS dev_buf_new(dev_buf **out, device *d, size_t n); /* zeroed */
void dev_buf_free(dev_buf *b);
size_t dev_buf_len(const dev_buf *b);
CUZK_STATUS dev_upload(dev_stream *s, dev_buf *dst, size_t off, const fr *src, size_t n);
CUZK_STATUS dev_download(dev_stream *s, fr *dst, const dev_buf *src, size_t off, size_t n);
/** dst[to + i] = src[from + i] for i < n, from a buffer of another device of the same kind (or of this one) to one of s's. What is in src
 *  is complete (dev_sync of the stream that made it) and stays until the return, when dst has it. Between GPUs directly where they
 *  see each other's memory, else through the host. */
CUZK_STATUS dev_copy(dev_stream *s, dev_buf *dst, size_t to, const dev_buf *src, size_t from,
                     size_t n);
/** The elements themselves where the host can read and write them (CPU backend), else NULL. */
fr *dev_buf_host(dev_buf *b);

/* ---- NTT ---- */

/** A domain of 2^log_n points w^i, w = fr_root(gen, log_n), with its twiddles; and the coset shift * <w>.
 *  Shared, immutable; a device may keep it for the next caller with the same parameters. */
typedef struct ntt_domain ntt_domain;
CUZK_STATUS ntt_domain_new(ntt_domain **out, device *d, curve_id id, unsigned gen, unsigned log_n,
                           const fr *shift);
void ntt_domain_free(ntt_domain *dom);

typedef enum ntt_kind {
    NTT_FORWARD,       /* coefficients -> values at w^i */
    NTT_INVERSE,       /* values at w^i -> coefficients, 1/n included */
    NTT_COSET_FORWARD, /* coefficients -> values at shift * w^i */
    NTT_COSET_INVERSE, /* values at shift * w^i -> coefficients */
    NTT_TO_COSET, /* values at w^i -> values at shift * w^i: inverse, scale, forward, without bit reversals */
} ntt_kind;
/** In place, natural order in and out, on elements [0, 2^log_n) of a. */
CUZK_STATUS dev_ntt(dev_stream *s, dev_buf *a, const ntt_domain *dom, ntt_kind kind);

/** a[i] = (a[i] * b[i] - c[i]) * k for i < n; k = NULL: 1. */
CUZK_STATUS dev_quotient(dev_stream *s, dev_buf *a, const dev_buf *b, const dev_buf *c, size_t n,
                         curve_id id, const fr *k);
/** r[i] = a[i] * b[i] */
CUZK_STATUS dev_mul(dev_stream *s, dev_buf *r, const dev_buf *a, const dev_buf *b, size_t n,
                    curve_id id);

/* ---- scalars: packed bits and elements together ---- */

/** A vector of n scalars in which some positions are bits. Position i is an element when is_elem bit i is set (or is_elem
 *  is NULL), then its value is elems[rank(i)], Montgomery; else its value is bit (i - rank(i)) of bits. rank(i) = number of
 *  elements before i = rank64[i / 64] + popcount(is_elem[i / 64] below i % 64).
 *  `select` (may be NULL: all) is a bitmap of positions that take part; the k-th position that takes part meets base
 *  `first_base + k`. */
typedef struct dev_scalars {
    size_t n;
    const fr *elems;
    const uint64_t *bits;
    const uint64_t *is_elem;
    const uint32_t *rank64; /* ceil(n/64) entries when is_elem is given */
    const uint64_t *select;
    size_t n_selected; /* how many take part, where the caller knows it; 0: counted */
    /* Under these a device may keep what it was given, so that it need not be brought twice. As dev_points.id: never the same
       for other bytes. 0: not to be kept. */
    uint64_t id;        /* of elems and bits, until dev_forget */
    uint64_t layout_id; /* of is_elem and rank64 */
    uint64_t select_id; /* of select */
} dev_scalars;

/** Values with this dev_scalars.id will not come again. */
void dev_forget(device *d, uint64_t id);
/** Nor will a layout, a selection or a system with this id. */
void dev_system_forget(device *d, uint64_t id);

/** How points stay on a device; lists of one key say the same. All zero: a list stands alone, and as long as nobody wants its room. */
typedef struct dev_keeping {
    uint64_t set;   /* the key's, from dev_points_id: lists of a set do not displace each other */
    size_t longest; /* points of its longest list */
    /* bytes of buffers that a proof has on the device, before its sums and during them: what stays leaves them free, and the sums'
       plan beside the latter */
    size_t beside, during;
    bool always; /* never given up for other memory */
} dev_keeping;

/** Points as they lie in a key (host memory, often a mapped file at any alignment): encoded, n of them. */
typedef struct dev_points {
    const uint8_t *data;
    size_t n;
    point_enc enc;
    bool g2;
    bool
        trusted; /* already checked to be canonical and on the curve (own memory): not checked again */
    uint64_t id;      /* from dev_points_id: a device may keep them under it; 0: not to be kept */
    dev_keeping keep; /* how */
    device *
        home; /* from dev_points_new: of this device alone; data NULL where the host cannot see them */
} dev_points;

/** Bytes of the points under this id that the device keeps; 0: they would have to be brought in. */
uint64_t dev_points_kept(const device *d, uint64_t id);
/** Nobody wants them any more: a device need not keep them. Those in use stay. */
void dev_points_forget(device *d, uint64_t id);

/** Brings points in before a sum wants them: as many as may stay, from the first on. Sums may be taken meanwhile; they wait for what
 *  they need. CUZK_OK too where none may stay. CUZK_EDATA: a malformed point. */
CUZK_STATUS dev_points_load(dev_stream *s, curve_id id, const dev_points *b);
/** Work over the lists of a set begins or ends; calls are counted. Lists that are wanted are not given up for other lists, and for
 *  buffers and sums only while a single proof is on the device. */
typedef enum dev_want { DEV_WANT_QUEUED, DEV_WANT_NOW /* a proof is on the device */ } dev_want;
void dev_points_want(device *d, uint64_t set, dev_want what, bool begins);

/** Never the same twice in a process. For points that do not change as long as anybody has them. */
uint64_t dev_points_id(void);

/** n points in the device's own memory, infinity until dev_fixed_keep: of keys that are made where they are used. Taken from
 *  the device's memory, and on the CPU from its mem. CUZK_EBUDGET, CUZK_ENOMEM. */
CUZK_STATUS dev_points_new(dev_points *out, device *d, curve_id id, bool g2, size_t n);
/** No sum over them is going on. Zeroes *p; points that were not made so are only forgotten. */
void dev_points_free(dev_points *p);

/** r = sum of scalars * bases (bases from first_base on). Needs first_base + popcount(select) <= bases->n. Infinity among
 *  bases is fine. Points are checked as they are read (canonical, on the curve), never for the subgroup;
 *  a GPU that brings in a key reads all of its points.
 *  Cost follows the scalars: 0 costs nothing, 1 one addition, small ones few windows. Result affine. */
CUZK_STATUS dev_msm_g1(dev_stream *s, g1_any *r, curve_id id, const dev_points *bases,
                       size_t first_base, const dev_scalars *k);
CUZK_STATUS dev_msm_g2(dev_stream *s, g2_any *r, curve_id id, const dev_points *bases,
                       size_t first_base, const dev_scalars *k);
/** The same with scalars [0, n) of a device buffer (all elements), which meet bases [first_base, first_base + n): the H sum, or a
 *  range of it. */
CUZK_STATUS dev_msm_g1_buf(dev_stream *s, g1_any *r, curve_id id, const dev_points *bases,
                           size_t first_base, const dev_buf *k, size_t n);

/** One of several sums: dev_msm_g1 or _g2, or where buf is given dev_msm_g1_buf. kind: the step that its time is shown as. */
typedef struct dev_sum {
    span_kind kind;
    void *r; /* a g1_any or g2_any, as bases are; the total of all sums that have the same r */
    const dev_points *bases;
    size_t first_base;
    const dev_scalars *k;
    const dev_buf *buf; /* or NULL */
    size_t n;           /* of buf */
} dev_sum;
/** n sums, to the same results as one after the other; small ones are made side by side. After a failure some may have been made. */
CUZK_STATUS dev_msm_many(dev_stream *s, curve_id id, const dev_sum *sums, size_t n);

/** A table for many multiples of one point (setups); immutable, may be shared. Sized for about n multiples in all: more
 *  cost more memory (at most 128 MiB) and less time. base: a g1_any, or with g2 a g2_any. */
typedef struct dev_fixed dev_fixed;
CUZK_STATUS dev_fixed_new(dev_fixed **out, dev_stream *s, curve_id id, bool g2, const void *base,
                          size_t n);
void dev_fixed_free(dev_fixed *f);
/** out[i] = k[i] * base, encoded as enc, for i < n. Constant time is not promised. infinity_index: the first i whose
 *  result is infinity, or SIZE_MAX; may be NULL. */
CUZK_STATUS dev_fixed_mul(dev_stream *s, uint8_t *out, point_enc enc, const dev_fixed *f,
                          const fr *k, size_t n, size_t *infinity_index);
/** The same to points [at, at + n) of p, which has a home. infinity_index counts from 0 for k[0]. */
CUZK_STATUS dev_fixed_keep(dev_stream *s, const dev_points *p, size_t at, const dev_fixed *f,
                           const fr *k, size_t n, size_t *infinity_index);
/** Both in one call. */
CUZK_STATUS dev_fixed_base_g1(dev_stream *s, uint8_t *out, point_enc enc, curve_id id,
                              const g1_any *base, const fr *k, size_t n, size_t *infinity_index);
CUZK_STATUS dev_fixed_base_g2(dev_stream *s, uint8_t *out, point_enc enc, curve_id id,
                              const g2_any *base, const fr *k, size_t n, size_t *infinity_index);

/* ---- points of which sums are taken again and again ---- */

/** Of each of n points of G1 its multiples by 2^(c w), one for each window of c bits of a scalar: a sum is then one window, whose entries are
 *  all digits of all scalars, with no doublings after it. In the host's memory; immutable, shared at will by streams of any device that
 *  takes them (CPU backend). */
typedef struct dev_multiples dev_multiples;
/** *out is NULL when they would take more than max_bytes, or the stream's device has no such operation. Made in m, which must outlive
 *  them, by 255 doublings a point. points: POINT_LEM, trusted; not needed after. */
CUZK_STATUS dev_multiples_new(dev_multiples **out, dev_stream *s, curve_id id,
                              const dev_points *points, size_t max_bytes, mem *m);
void dev_multiples_free(dev_multiples *t); /* NULL is fine */
/** Whether dev_multiples_sum can be called on this stream. */
bool dev_multiples_fit(const dev_multiples *t, const dev_stream *s);
/** r = sum of k[i] times point i, over all n points. */
CUZK_STATUS dev_multiples_sum(dev_stream *s, g1_any *r, const dev_multiples *t, const fr *k);

/* ---- constraint systems: blocks that are instances of templates, as plain arrays ---- */

/* A wire inside a template: 0 is the constant one, 1..n_in the wires passed in, then n_local own auxiliary variables,
   then n_pub own public inputs. */
typedef struct dev_matrix {
    const uint32_t *row_start; /* n_rows + 1 */
    const uint32_t *wire;      /* terms: template wire */
    const uint32_t *coeff; /* terms: index into the system's coefficient table; 0 is +1, 1 is -1 */
} dev_matrix;

typedef struct dev_template {
    uint32_t n_in, n_local, n_pub, n_rows;
    dev_matrix a, b, c; /* c.row_start NULL: C is not stored (zkey); then c = a * b */
} dev_template;

/* An instance. A global wire is an input's index, or DEV_WIRE_AUX | index of an auxiliary variable. */
#define DEV_WIRE_AUX 0x80000000u
typedef struct dev_instance {
    uint32_t tmpl;
    uint32_t aux_start, pub_start, row_start; /* where its own variables and rows begin */
    uint32_t wires; /* its n_in global wires begin at system.wires[wires] */
} dev_instance;

typedef struct dev_system {
    curve_id id;
    uint32_t n_inputs, n_aux; /* inputs include ONE */
    uint32_t n_rows;          /* rows of all instances */
    bool input_rows; /* n_inputs further rows Input(i) * 0 = 0 follow (bellperson, circom) */
    const dev_template *templates;
    size_t n_templates;
    const dev_instance *instances;
    size_t n_instances;
    const uint32_t *wires;
    const fr *coeffs;
    size_t n_coeffs;
    uint64_t
        shape_id; /* of all of this: a device may keep it under it, as dev_points.id; 0: not to be kept */
} dev_system;

/** a, b, c = A w, B w, C w for all rows, zero from there to the length of the buffers (which must hold all rows).
 *  inputs: n_inputs values; aux: n_aux scalars (select ignored). c may be NULL when no template has C: then the caller
 *  takes c = a * b (dev_mul). */
CUZK_STATUS dev_abc(dev_stream *s, dev_buf *a, dev_buf *b, dev_buf *c, const dev_system *sys,
                    const fr *inputs, const dev_scalars *aux);

#endif
