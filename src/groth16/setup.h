/*
 * groth16/setup.h - what the writers of .params and .zkey share: QAP columns at tau, and points streamed to a file
 *
 * Columns are numbered over all variables: inputs (ONE first), then auxiliary ones.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef GROTH16_SETUP_H
#define GROTH16_SETUP_H

#include "groth16/internal.h"

typedef struct qap {
    const curve *cv;
    mem *m;
    size_t n_vars; /* inputs + aux */
    fr *u, *v, *w; /* A_i(tau), B_i(tau), C_i(tau) */
    fr z;          /* tau^n - 1 */
} qap;

/** Evaluates all columns at tau over the domain of 2^log_n points with root fr_root(gen, log_n). */
CUZK_STATUS qap_eval(qap *out, const r1cs_system *sys, const fr *tau, unsigned gen, unsigned log_n,
                     pool *p, mem *m);
void qap_clear(qap *q);
/** out[i] = (beta u_i + alpha v_i + w_i) * k over columns [from, to). */
void qap_combine(fr *out, const qap *q, const groth16_trapdoors *t, const fr *k, size_t from,
                 size_t to);

/** out[i - from] = Lagrange polynomial number first + step * i at tau, for i in [from, to), times `scale`; the domain is
 *  of size 2^log_n with root fr_root(gen, log_n). tmp: to - from elements. False: tau is in the domain. */
bool lagrange_at(fr *out, fr *tmp, const curve *cv, const fr *tau, unsigned gen, unsigned log_n,
                 uint64_t first, uint64_t step, size_t from, size_t to, const fr *scale);

/** Streams k[i] * generator to a file. */
typedef struct emitter {
    dev_stream *s;
    const curve *cv;
    file_out *f;
    point_enc enc;
    uint8_t *buf; /* EMIT_CHUNK points of G2 */
    const groth16_setup_opts *o;
    uint64_t done, total; /* points */
} emitter;
#define EMIT_CHUNK 32768

/** infinity_ok false: a zero scalar is an error that names list and index. */
CUZK_STATUS emit_points(emitter *e, bool g2, const fr *k, size_t n, bool infinity_ok,
                        const char *list);
CUZK_STATUS emit_u32le(emitter *e, uint32_t v);
CUZK_STATUS emit_u32be(emitter *e, uint32_t v);

/** The vk of these secrets; ic from the columns of the inputs. gamma is t->gamma. */
CUZK_STATUS setup_vk(groth16_vk **out, emitter *e, const qap *q, const groth16_trapdoors *t,
                     uint32_t n_inputs, mem *m);

#endif
