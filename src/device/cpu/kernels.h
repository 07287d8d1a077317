/*
 * device/cpu/kernels.h - the hot loops over Fr, once for each curve and CPU table
 *
 * Schedulers (ntt.c, vec.c, abc.c) know neither curve nor CPU: they cut the work and call these, which check nothing,
 * allocate nothing and cannot fail. kernels_<curve>_<table>.c makes one table each from the *_tmpl.h files.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_CPU_KERNELS_H
#define DEVICE_CPU_KERNELS_H

#include "device/backend.h"

/* What abc.c writes down for each wire of an instance: 0, 1, or where its element is, 2 (index + 1) + (1: an input). */
#define ABC_ZERO 0u
#define ABC_ONE 1u
#define ABC_ELEM(index) (2 * ((uint32_t)(index) + 1))
#define ABC_INPUT(index) (ABC_ELEM(index) + 1)
#define ABC_MAX_INDEX 0x7ffffffdu

/** Where the wires of an instance have their values. */
typedef struct abc_scope {
    const fr *inputs, *coeffs;
    const dev_scalars *aux;
    const uint32_t
        *code; /* one for each wire; NULL: all of aux are elements and the fields below tell */
    const uint32_t *in; /* global wires passed in */
    uint32_t n_in, n_local, aux_start, pub_start;
} abc_scope;

typedef struct cpu_kernels cpu_kernels;
struct cpu_kernels {
    /* ---- NTT (ntt_tmpl.h explains) on a tile: 2^k rows of `width` elements each, one behind the other ---- */

    /* A tile's elements, twiddles and factors have a form and an order of their own, of tile_size bytes each. Values in tiles
       are lazy, and in memory below twice the modulus unless `final`. */
    size_t tile_size;
    size_t tile_width;        /* widths are multiples of this, but for 1 */
    unsigned tile_log;        /* least k for width 1 */
    unsigned max_log;         /* greatest k */
    bool in_place;            /* a tile is plain elements: blocks need not be copied */
    unsigned one_pass;        /* log2 of the largest size that is done in one pass */
    const cpu_kernels *small; /* for shapes that do not fit; NULL: all do */

    void (*ntt_load)(void *tile, const fr *a, size_t rows, size_t width, size_t stride);
    void (*ntt_store)(fr *a, const void *tile, size_t rows, size_t width, size_t stride,
                      bool final);
    /** The same for n elements of a tile of width 1 in the order that ntt_down leaves. */
    void (*ntt_store_down)(fr *a, const void *tile, size_t n, bool final);

    /** k levels from the top of block `block`: natural order to bit-reversed. tw: twiddles in bit-reversed order. */
    void (*ntt_down)(void *x, unsigned k, size_t width, const void *tw, size_t block, bool inverse);
    /** The same levels undone (but for a factor 2^k) when `inverse` differs; else their transpose. */
    void (*ntt_up)(void *x, unsigned k, size_t width, const void *tw, size_t block, bool inverse);

    /** x[i] *= f[i]; x[i] *= f: factors canonical. */
    void (*ntt_scale)(void *x, const void *f, size_t n);
    void (*ntt_scale_by)(void *x, const fr *f, size_t n);

    /** Twiddles, or with `down` factors in the order that ntt_down leaves, from elements. n < 8 fills 8. */
    void (*ntt_factors)(void *out, const fr *f, size_t n, bool down);
    /** table[half + i] = k table[i] for i in [from, to); multiples of 8. */
    void (*ntt_tw_double)(void *table, size_t half, size_t from, size_t to, const fr *k);
    /** local[2^j + x] = g[j] tw[x] for j < k, x < 2^j. */
    void (*ntt_tw_local)(void *local, const void *tw, const fr *g, unsigned k);
    void (*ntt_tw_get)(fr *r, const void *tw, size_t b);

    /* ---- vectors ---- */

    void (*mul)(fr *r, const fr *a, const fr *b, size_t n);
    void (*mul_const)(fr *r, const fr *a, const fr *k, size_t n);
    /** x[i] *= start * step^i */
    void (*mul_powers)(fr *x, size_t n, const fr *start, const fr *step);
    /** x[i] = start * step^i */
    void (*powers)(fr *x, size_t n, const fr *start, const fr *step);
    /** a[i] = (a[i] * b[i] - c[i]) * k; k NULL: 1 */
    void (*quotient)(fr *a, const fr *b, const fr *c, size_t n, const fr *k);

    /* ---- rows of a constraint system ---- */

    /** out[i] = sum of the terms of row first + i, i < n. */
    void (*abc_rows)(fr *out, const dev_matrix *m, size_t first, size_t n, const abc_scope *sc);
};

extern const cpu_kernels cpu_kernels_bls_generic, cpu_kernels_bls_adx;
extern const cpu_kernels cpu_kernels_bn_generic, cpu_kernels_bn_adx;
extern const cpu_kernels cpu_kernels_bls_ifma, cpu_kernels_bn_ifma;

#endif
