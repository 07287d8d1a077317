/*
 * groth16/derive_compare.c - derived points against the key that they were made of, by random combinations
 *
 * What the prover relies on, for vectors it will never see (x^k, x random: a wrong point is missed for fewer than 2^29 of
 * some 2^255 x):
 *   h'  sum over the coset of v_k h'_k = 1/Z * sum over i < n - 1 of i-th coefficient of v times h_i
 *   l'  sum over variables of w_j l'_j = sum of w_j l_j - 1/Z * the same sum for c = C w
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "groth16/internal.h"

static cuzk_status powers(fr *out, size_t n, const curve *cv)
{
    fr x, k = cv->fr_one;

    if (!cv->fr_random(&x)) return FAIL(CUZK_EIO, "the system's random generator failed");
    for (size_t i = 0; i < n; i++) {
        out[i] = k;
        cv->fr_mul(&k, &k, &x);
    }
    return CUZK_OK;
}

/** r = 1/Z * sum of coefficients times the key's h; v: values, at first on the coset or the domain. */
static cuzk_status published_h(dev_stream *s, g1_any *r, const groth16_pk *pk, dev_buf *v,
                               ntt_kind kind)
{
    const curve *cv = pk->cv;
    ntt_domain *dom;
    fr z;

    TRY(groth16_domain(&dom, dev_stream_device(s), pk->form, cv, pk->log_n));
    cuzk_status st = dev_ntt(s, v, dom, kind);
    ntt_domain_free(dom);
    TRY(st);
    TRY(dev_msm_g1_buf(s, r, cv->id, &pk->h, 0, v, pk->h.n));
    coset_z_inverse(cv, pk->log_n, &z);
    cv->g1_mul(r, r, &z);
    return CUZK_OK;
}

static cuzk_status agree(const curve *cv, const g1_any *a, const g1_any *b, const char *list)
{
    if (cv->g1_eq(a, b)) return CUZK_OK;
    return FAIL_DATA(INCONSISTENT, list,
                     "the derived points of list %s are not the key's: the key has points outside "
                     "the subgroup, or memory or disk failed",
                     list);
}

static cuzk_status compare_h(dev_stream *s, const groth16_pk *pk, const dev_points *h, dev_buf *v)
{
    const curve *cv = pk->cv;
    g1_any ours, theirs;

    TRY(powers(dev_buf_host(v), h->n, cv));
    TRY(dev_msm_g1_buf(s, &ours, cv->id, h, 0, v, h->n));
    TRY(published_h(s, &theirs, pk, v, NTT_COSET_INVERSE));
    return agree(cv, &ours, &theirs, "h");
}

static cuzk_status compare_l(dev_stream *s, const groth16_pk *pk, const r1cs_system *sys,
                             const dev_points *l, const fr *w, dev_buf *const abc[3], mem *m)
{
    const curve *cv = pk->cv;
    const dev_scalars all = {.n = l->n, .elems = w};
    const dev_scalars aux = {.n = pk->n_aux, .elems = w + pk->n_inputs};
    g1_any ours, theirs, part;
    dev_template *tmpl;
    dev_system view;

    TRY(system_view(&view, &tmpl, sys, m));
    cuzk_status st = dev_abc(s, abc[0], abc[1], abc[2], &view, w, &aux);
    mem_free(m, tmpl);
    TRY(st);
    TRY(dev_msm_g1(s, &ours, cv->id, l, 0, &all));
    TRY(published_h(s, &part, pk, abc[2], NTT_INVERSE));
    cv->g1_add(&ours, &ours, &part);
    TRY(dev_msm_g1(s, &theirs, cv->id, &pk->l, 0, &aux));
    return agree(cv, &ours, &theirs, "l");
}

cuzk_status derived_compare(dev_stream *s, const groth16_pk *pk, const r1cs_system *sys,
                            const dev_points *h, const dev_points *l, mem *m)
{
    dev_buf *abc[3] = {NULL, NULL, NULL};
    cuzk_status st;
    fr *w = mem_new(m, l->n, sizeof *w, &st);

    if (w == NULL) return st;
    for (size_t i = 0; i < 3; i++) TRY_OUT(dev_buf_new(&abc[i], dev_stream_device(s), h->n));
    TRY_OUT(powers(w, l->n, pk->cv));
    TRY_OUT(compare_h(s, pk, h, abc[0]));
    st = compare_l(s, pk, sys, l, w, abc, m);
out:
    for (size_t i = 0; i < 3; i++) dev_buf_free(abc[i]);
    mem_free(m, w);
    return st;
}
