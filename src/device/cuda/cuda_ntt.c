/*
 * device/cuda/cuda_ntt.c - domains with their tables, kept for the next caller, and the kinds of transform
 *
 * A domain's table of twiddles takes 16 bytes a point. Powers of the shift are in two short tables (fr_ntt.cuh), each
 * kind of transform with its factor; the host makes them.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <cuda_runtime_api.h>
#include <string.h>

#include "device/cuda/cuda_int.h"

static size_t powers_len(unsigned log_n)
{
    unsigned low = (log_n + 1) / 2;
    return ((size_t)1 << low) + ((size_t)1 << (log_n - low));
}

/* base^e times factor, as power_at wants it: low powers, then high ones with the factor. */
static void fill_powers(const curve *cv, fr *out, unsigned log_n, const fr *base, const fr *factor)
{
    size_t low = (size_t)1 << (log_n + 1) / 2, n = powers_len(log_n);
    fr step, x = cv->fr_one;

    for (size_t i = 0; i < low; i++) {
        out[i] = x;
        cv->fr_mul(&x, &x, base);
    }
    step = x; /* base^low */
    x = *factor;
    for (size_t i = low; i < n; i++) {
        out[i] = x;
        cv->fr_mul(&x, &x, &step);
    }
}

/* Synchronous: a domain is made once. */
static cuzk_status put(cu_device *cu, uint32_t **out, const fr *src, size_t n)
{
    TRY(cu_alloc(cu, (void **)out, n * sizeof *src));
    CU_TRY(cu, cudaMemcpy(*out, src, n * sizeof *src, cudaMemcpyHostToDevice));
    return CUZK_OK;
}

static cuzk_status fill_domain(cu_device *cu, const curve *cv, cu_domain *x, fr *tmp)
{
    fr n_inv, shift_inv, w[DEV_MAX_LOG_N];
    const fr *base[POWERS_KINDS], *factor[POWERS_KINDS];
    uint32_t *roots = NULL;
    cuzk_status st;

    cv->fr_from_u64(&n_inv, (uint64_t)1 << x->log_n);
    cv->fr_inv(&n_inv, &n_inv);
    cv->fr_inv(&shift_inv, &x->shift);
    base[POWERS_TO_COSET] = base[POWERS_COSET] = &x->shift;
    base[POWERS_INVERSE] = &cv->fr_one;
    base[POWERS_COSET_INVERSE] = &shift_inv;
    factor[POWERS_COSET] = &cv->fr_one;
    factor[POWERS_TO_COSET] = factor[POWERS_INVERSE] = factor[POWERS_COSET_INVERSE] = &n_inv;
    for (int i = 0; i < POWERS_KINDS; i++) {
        fill_powers(cv, tmp, x->log_n, base[i], factor[i]);
        TRY(put(cu, &x->powers[i], tmp, powers_len(x->log_n)));
    }
    /* T[2^k] = w^(n / 2^(k + 2)): the root of order 2^(k + 2) */
    if (x->log_n < 2) cv->fr_root(&w[0], x->gen, 0);
    for (unsigned k = 0; k + 1 < x->log_n; k++) cv->fr_root(&w[k], x->gen, k + 2);
    TRY(cu_alloc(cu, (void **)&x->table, x->log_n == 0 ? 32 : sizeof(fr) << (x->log_n - 1)));
    st = put(cu, &roots, w, x->log_n < 2 ? 1 : x->log_n - 1);
    if (st != CUZK_OK) {
        cu_release(cu, roots);
        return st;
    }
    int err = cu_fr_of(x->id)->twiddles(0, x->table, roots, x->log_n);
    int end = (int)cudaDeviceSynchronize(); /* of what was launched before a failure as well */
    if (err == 0) err = end;
    st = err == 0 ? CUZK_OK : cu_fail(cu, err, "twiddles", __FILE__, __LINE__);
    cu_release(cu, roots);
    return st;
}

static void domain_clear_locked(cu_device *cu, cu_domain *x)
{
    for (int i = 0; i < POWERS_KINDS; i++) cu_release_locked(cu, x->powers[i]);
    cu_release_locked(cu, x->table);
    *x = (cu_domain){0};
}

static cu_domain *find_locked(cu_device *cu, const ntt_domain *dom)
{
    for (cu_domain *x = cu->domains; x < cu->domains + CU_DOMAINS; x++)
        if (x->ready && x->id == dom->id && x->gen == dom->gen && x->log_n == dom->log_n &&
            memcmp(&x->shift, &dom->shift, sizeof x->shift) == 0)
            return x;
    return NULL;
}

/* A record that nobody uses; the first that is empty, else any. */
static cu_domain *record_locked(cu_device *cu)
{
    for (cu_domain *x = cu->domains; x < cu->domains + CU_DOMAINS; x++)
        if (!x->ready && x->users == 0) return x;
    cu_domains_evict_locked(cu);
    for (cu_domain *x = cu->domains; x < cu->domains + CU_DOMAINS; x++)
        if (!x->ready && x->users == 0) return x;
    return NULL;
}

cuzk_status cu_domain_new(ntt_domain *dom)
{
    cu_device *cu = cu_of(dom->d);
    cuzk_status st = CUZK_OK;
    cu_domain *x;
    bool found;
    fr *tmp;

    TRY(cu_enter(cu));
    (void)pthread_mutex_lock(&cu->mu);
    x = find_locked(cu, dom);
    found = x != NULL;
    if (!found) x = record_locked(cu);
    if (x != NULL) x->users++;
    (void)pthread_mutex_unlock(&cu->mu);
    if (x == NULL) return FAIL(CUZK_EBUDGET, "%s: %d domains are in use", cu->name, CU_DOMAINS);
    dom->impl = x;
    if (found) return CUZK_OK;

    x->id = dom->id;
    x->gen = dom->gen;
    x->log_n = dom->log_n;
    x->shift = dom->shift;
    tmp = mem_new(dom->d->m, powers_len(x->log_n), sizeof *tmp, &st);
    if (tmp != NULL) st = fill_domain(cu, dom->d->curves[x->id], x, tmp);
    mem_free(dom->d->m, tmp);
    (void)pthread_mutex_lock(&cu->mu);
    x->ready = st == CUZK_OK;
    if (!x->ready) domain_clear_locked(cu, x);
    (void)pthread_mutex_unlock(&cu->mu);
    return st;
}

void cu_domain_free(ntt_domain *dom)
{
    cu_device *cu = cu_of(dom->d);
    cu_domain *x = dom->impl;

    (void)pthread_mutex_lock(&cu->mu);
    x->users--;
    (void)pthread_mutex_unlock(&cu->mu);
}

void cu_domains_evict_locked(cu_device *cu)
{
    (void)cudaDeviceSynchronize(); /* transforms over a freed domain may still run */
    for (cu_domain *x = cu->domains; x < cu->domains + CU_DOMAINS; x++)
        if (x->ready && x->users == 0) domain_clear_locked(cu, x);
}

void cu_domains_close(cu_device *cu)
{
    cu_domains_evict_locked(cu);
}

static cuzk_status transform(dev_stream *s, dev_buf *a, const ntt_domain *dom, ntt_kind kind)
{
    cu_queue *q = cu_queue_of(s);
    const cu_domain *x = dom->impl;
    const cu_fr_ops *f = cu_fr_of(x->id);
    uint32_t *p = cu_buf_of(a)->p;
    unsigned log_n = x->log_n;

    TRY(cu_safe_point(s));
    cu_mark(s, SPAN_GPU_NTT);
    switch (kind) {
    case NTT_FORWARD:
    case NTT_COSET_FORWARD:
        if (kind == NTT_COSET_FORWARD)
            CU_TRY(q->cu, f->scale(q->s, p, x->powers[POWERS_COSET], log_n));
        CU_TRY(q->cu, f->ntt(q->s, p, x->table, NULL, log_n, false, false));
        CU_TRY(q->cu, f->reverse(q->s, p, NULL, log_n));
        break;
    case NTT_INVERSE:
    case NTT_COSET_INVERSE:
        CU_TRY(q->cu, f->ntt(q->s, p, x->table, NULL, log_n, false, true));
        CU_TRY(q->cu,
               f->reverse(q->s, p,
                          x->powers[kind == NTT_INVERSE ? POWERS_INVERSE : POWERS_COSET_INVERSE],
                          log_n));
        break;
    case NTT_TO_COSET:
        CU_TRY(q->cu, f->ntt(q->s, p, x->table, x->powers[POWERS_TO_COSET], log_n, false, true));
        CU_TRY(q->cu, f->ntt(q->s, p, x->table, NULL, log_n, true, false));
        break;
    }
    cu_mark(s, SPAN_KINDS);
    return cu_buf_used(s, a);
}

cuzk_status cu_ntt(dev_stream *s, dev_buf *a, const ntt_domain *dom, ntt_kind kind)
{
    TRY(cu_enter(cu_of(s->d)));
    return cu_end(s, transform(s, a, dom, kind));
}
