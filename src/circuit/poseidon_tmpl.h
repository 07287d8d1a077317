/*
 * circuit/poseidon_tmpl.h - the permutation, for one CPU table
 *
 * Before inclusion: the field (algebra/field_inl.h) and POSEIDON_KERNEL, the name of the table to define.
 *
 * Cost for t = 9: 8 full rounds of 9 S-boxes (3 products each) and a dense 9 x 9 step, 57 partial rounds of one S-box and a
 * sparse step (a dot product of 9, and 8 products): 1,323 products with reduction, and 1,161 without one
 * inside dot products.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit/poseidon_impl.h"

#include <string.h>

/* x := x^5 + post; its square, fourth power and itself go to *at when there is a trace. */
U128_INLINE void sbox(fr *x, const fr *post, fr **at)
{
    fr x2, x4;

    fr_sqr(&x2, x);
    fr_sqr(&x4, &x2);
    fr_mul(x, &x4, x);
    if (post != NULL) fr_add(x, x, post);
    if (at == NULL) return;
    (*at)[0] = x2;
    (*at)[1] = x4;
    (*at)[2] = *x;
    *at += 3;
}

/* The same for a variable that the circuit allocates first. */
U128_INLINE void sbox_allocated(fr *x, const fr *post, fr **at)
{
    if (at != NULL) *(*at)++ = *x;
    sbox(x, post, at);
}

U128_INLINE void mix_dense(fr *s, const fr *cols, size_t t)
{
    fr r[POSEIDON_MAX_T];

    for (size_t j = 0; j < t; j++) fr_dot(&r[j], s, &cols[j * t], t);
    memcpy(s, r, t * sizeof *s);
}

/* w: w_hat (t), v_rest (t - 1) */
U128_INLINE void mix_sparse(fr *s, const fr *w, size_t t)
{
    fr first, x;

    fr_dot(&first, s, w, t);
    for (size_t j = 1; j < t; j++) {
        fr_mul(&x, &s[0], &w[t + j - 1]);
        fr_add(&s[j], &s[j], &x);
    }
    s[0] = first;
}

/* s[1..t) holds the inputs; on return s[1] is the hash. */
U128_INLINE void permute(const poseidon *p, fr *s, const fr *tag, fr **at, size_t t)
{
    const fr *key = p->keys + 2 * t;

    fr_add(&s[0], tag, &p->keys[0]);
    sbox(&s[0], &p->keys[t], NULL); /* a constant in the circuit: no variables */
    for (size_t i = 1; i < t; i++) {
        fr_add(&s[i], &s[i], &p->keys[i]);
        sbox(&s[i], &p->keys[t + i], at);
    }
    mix_dense(s, p->mds_cols, t);

    for (unsigned r = 1; r < POSEIDON_FULL_ROUNDS / 2; r++, key += t) {
        for (size_t i = 0; i < t; i++) sbox_allocated(&s[i], &key[i], at);
        mix_dense(s, r + 1 < POSEIDON_FULL_ROUNDS / 2 ? p->mds_cols : p->pre_sparse_cols, t);
    }
    for (unsigned r = 0; r < p->n_partial; r++, key++) {
        sbox_allocated(&s[0], key, at);
        mix_sparse(s, &p->sparse[r * (2 * t - 1)], t);
    }
    for (unsigned r = 1; r < POSEIDON_FULL_ROUNDS / 2; r++, key += t) {
        for (size_t i = 0; i < t; i++) sbox_allocated(&s[i], &key[i], at);
        mix_dense(s, p->mds_cols, t);
    }
    for (size_t i = 0; i < t; i++) sbox_allocated(&s[i], NULL, at);
    fr_dot(&s[1], s, &p->mds_cols[t], t); /* nothing else of the last product is used */
}

/* One copy for each width, so that the loops have constant bounds. */
U128_INLINE void permute_any(const poseidon *p, fr *s, const fr *tag, fr **at)
{
    switch (p->t) {
    case 3: permute(p, s, tag, at, 3); break;
    case 5: permute(p, s, tag, at, 5); break;
    case 9: permute(p, s, tag, at, 9); break;
    default: permute(p, s, tag, at, 12); break;
    }
}

static void hash(const poseidon *p, fr *out, const fr *in, const fr *tag)
{
    fr s[POSEIDON_MAX_T];

    memcpy(&s[1], in, p->arity * sizeof s[0]);
    permute_any(p, s, tag, NULL);
    *out = s[1];
}

static void trace(const poseidon *p, fr *to, const fr *in, const fr *tag)
{
    fr s[POSEIDON_MAX_T];

    memcpy(&s[1], in, p->arity * sizeof s[0]);
    permute_any(p, s, tag, &to);
    *to = s[1];
}

const poseidon_kernel POSEIDON_KERNEL = {hash, trace};
