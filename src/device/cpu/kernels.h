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

typedef struct cpu_kernels {
    /* ---- NTT (ntt_tmpl.h explains) on a tile: 2^k rows of `width` elements each, one behind the other ---- */

    /** k levels from the top of block `block`: natural order to bit-reversed. tw: twiddles in bit-reversed order. */
    void (*ntt_down)(fr *x, unsigned k, size_t width, const fr *tw, size_t block, bool inverse);
    /** The same levels undone (but for a factor 2^k) when `inverse` differs; else their transpose. */
    void (*ntt_up)(fr *x, unsigned k, size_t width, const fr *tw, size_t block, bool inverse);

    /** x[i] *= f[i]; x[i] *= f: factors canonical. */
    void (*ntt_scale)(fr *x, const fr *f, size_t n);
    void (*ntt_scale_by)(fr *x, const fr *f, size_t n);
    /** r[i] = x[i], canonical. Values of the kernels above are lazy: they may be anything below twice the modulus. */
    void (*ntt_settle)(fr *r, const fr *x, size_t n);

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
} cpu_kernels;

extern const cpu_kernels cpu_kernels_bls_generic, cpu_kernels_bls_adx;
extern const cpu_kernels cpu_kernels_bn_generic, cpu_kernels_bn_adx;

#endif
