/*
 * groth16/setup.h - what the writers of .params and .zkey share: columns combined with secrets, and points made of them
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef GROTH16_SETUP_H
#define GROTH16_SETUP_H

#include "groth16/internal.h"
#include "groth16/qap.h"

/** Multiples of the generators in chunks of at most EMIT_CHUNK, with progress. Secret buffers are wiped at the end. */
typedef struct emitter {
    dev_stream *s;
    const curve *cv;
    pool *p;
    mem *m;
    const groth16_setup_opts *o;
    const groth16_trapdoors *t;
    qap *q;
    size_t n_vars, n_inputs;
    dev_fixed *g1, *g2;
    point_enc enc;
    size_t cap;           /* elements in each of the following */
    fr *u, *v, *w, *k;    /* columns; scalars */
    uint8_t *buf;         /* points of G2 */
    uint64_t done, total; /* points */
} emitter;
#define EMIT_CHUNK ((size_t)1 << 17)

/** For `g1` and `g2` points in all; opens the columns of sys over the domain of 2^log_n with root fr_root(gen, log_n). */
CUZK_STATUS emitter_open(emitter *e, const r1cs_system *sys, unsigned gen, unsigned log_n,
                         uint64_t g1, uint64_t g2);
void emitter_close(emitter *e);

/** e->u, v, w = columns of variables [from, to), at most e->cap. */
CUZK_STATUS emit_columns(emitter *e, size_t from, size_t to);
/** e->k[i] = (beta u_i + alpha v_i + w_i) * scale, i < n. */
CUZK_STATUS emit_combine(emitter *e, const fr *scale, size_t n);
/** e->buf = k[i] * generator, i < n. They are entries [at, at + n) of `list`: unless infinity_ok, a zero scalar is an
 *  error that names list and index. */
CUZK_STATUS emit_points(emitter *e, bool g2, const fr *k, size_t n, bool infinity_ok,
                        const char *list, uint64_t at);

/** The same to points [at, at + n) of `to`, which has a home on the emitter's device; no infinity. */
CUZK_STATUS emit_keep(emitter *e, const dev_points *to, const fr *k, size_t n, const char *list,
                      uint64_t at);

/** The vk of these secrets; ic from the columns of the inputs. gamma is t->gamma. */
CUZK_STATUS setup_vk(groth16_vk **out, emitter *e);

#endif
