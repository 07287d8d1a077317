/*
 * circuit/poseidon_impl.h - what the files of Poseidon and its gadget share; not for other modules
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef CIRCUIT_POSEIDON_IMPL_H
#define CIRCUIT_POSEIDON_IMPL_H

#include "circuit/poseidon.h"

/** The permutation, compiled for one CPU table (poseidon_tmpl.h). */
typedef struct poseidon_kernel {
    void (*hash)(const poseidon *p, fr *out, const fr *in, const fr *tag);
    void (*trace)(const poseidon *p, fr *trace, const fr *in, const fr *tag);
} poseidon_kernel;

/** An element as limbs of 52 bits. */
typedef struct poseidon_limbs {
    uint64_t l[5];
} poseidon_limbs;

/** Constants of the form that eight lanes compute in (poseidon_ifma.c). Numbers of them: beside the arrays. */
typedef struct poseidon_scaled {
    uint64_t mds[2 * POSEIDON_MAX_T - 1]; /* L / (t + i + j), which are integers, at i + j */
    poseidon_limbs out;
    poseidon_limbs *keys;      /* n_keys, scaled as the state is where they are added */
    poseidon_limbs *true_keys; /* n_keys */
    poseidon_limbs *fix;       /* R_P */
    poseidon_limbs *unscale;   /* 1 + R_P */
    poseidon_limbs *rescale;   /* R_P */
} poseidon_scaled;

/** The permutation of POSEIDON_LANES inputs at once. */
typedef struct poseidon_lanes_kernel {
    void (*prepare)(const poseidon *p, poseidon_scaled *to); /* fills arrays that are there */
    void (*hash)(const poseidon *p, fr *const *out, const fr *const *in, const fr *tag);
    void (*trace)(const poseidon *p, fr *const *traces, const fr *const *in, const fr *tag);
} poseidon_lanes_kernel;

extern const poseidon_kernel poseidon_kernel_generic;
#if defined(__x86_64__)
extern const poseidon_kernel poseidon_kernel_adx;
extern const poseidon_lanes_kernel poseidon_lanes_ifma;
#endif

/** t = arity + 1 elements of state. Round keys are in the order in which rounds use them (section 7.1, "crc"). */
struct poseidon {
    mem *m;
    const curve *cv;
    const poseidon_kernel *kernel;
    const poseidon_lanes_kernel *lanes; /* NULL: this table has none */
    unsigned arity, t;
    unsigned n_partial; /* R_P */
    fr merkle_tag;
    uint32_t n_keys; /* 8 t + R_P */
    fr *keys;
    fr *mds;        /* t x t, row-major: new[j] = sum over i of mds[i][j] * old[i] */
    fr *pre_sparse; /* the same, for the fourth round */
    fr *sparse;     /* R_P times: t elements w_hat, then t - 1 v_rest */
    fr *mds_cols, *pre_sparse_cols; /* transposed, for dot products */
    poseidon_scaled *scaled;        /* NULL as lanes is; one block with its arrays */
};

/** Fills keys, mds, pre_sparse and sparse of p, whose sizes are set and arrays allocated. */
CUZK_STATUS poseidon_make_constants(poseidon *p);
/** The n round constants of width t before compression; for the tests too. */
void poseidon_round_constants(const curve *cv, fr *out, uint32_t n, unsigned t, unsigned n_partial);

#endif
