/*
 * device/cpu/ntt_domain.c - tables of a domain: twiddles, powers of the coset's shift, the plan of passes
 *
 * Tables in bit-reversed order grow by doubling: the second half of a prefix is the first times one constant.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "device/cpu/ntt.h"

#define DOUBLE_GRAIN ((size_t)4096)
#define FIRST_LOG 6 /* the start of a table that is made element by element */

/* The table of twiddles takes 64 MiB, or 80, and a column of 2^11 rows still has 4 neighbours in a tile. */
#define TWO_PASSES 22

/* base^(2^i), i < n */
static void squares(fr *out, unsigned n, const fr *base, const curve *cv)
{
    for (unsigned i = 0; i < n; i++) {
        if (i == 0)
            out[i] = *base;
        else
            cv->fr_mul(&out[i], &out[i - 1], &out[i - 1]);
    }
}

typedef struct doubling {
    const cpu_kernels *kern;
    void *table;
    size_t half;
    const fr *k;
} doubling;

static void double_range(void *ctx, size_t from, size_t to)
{
    const doubling *w = ctx;
    w->kern->ntt_tw_double(w->table, w->half, from, to, w->k);
}

/* table[x] = first * product over the bits t of x of sq[top - t], x < 2^log */
static void fill_reversed(const curve *cv, fr *table, unsigned log, const fr *first, const fr *sq,
                          unsigned top)
{
    table[0] = *first;
    for (unsigned t = 0; t < log; t++) {
        size_t half = (size_t)1 << t;
        for (size_t i = 0; i < half; i++) cv->fr_mul(&table[half + i], &table[i], &sq[top - t]);
    }
}

static cuzk_status powers_new(ntt_powers *p, mem *m, const cpu_domain *dom, const fr *base,
                              unsigned bits)
{
    cuzk_status st = CUZK_OK;
    unsigned high = bits / 2;
    fr leap = *base;

    p->low = bits - high;
    p->lo = mem_new(m, (size_t)1 << p->low, sizeof(fr), &st);
    if (p->lo == NULL) return st;
    p->hi = mem_new(m, (size_t)1 << high, sizeof(fr), &st);
    if (p->hi == NULL) return st;
    for (unsigned i = 0; i < p->low; i++) dom->cv->fr_mul(&leap, &leap, &leap);
    dom->kern->powers(p->lo, (size_t)1 << p->low, &dom->cv->fr_one, base);
    dom->kern->powers(p->hi, (size_t)1 << high, &dom->cv->fr_one, &leap);
    return CUZK_OK;
}

static void plan(cpu_domain *dom, ntt_limits limits)
{
    unsigned left = dom->log_n, depth = 0;

    dom->n_passes = left <= limits.one_pass ? 1 : left <= limits.two_passes ? 2 : 3;
    for (unsigned i = 0; i < dom->n_passes; i++) {
        unsigned passes = dom->n_passes - i, k = (left + passes - 1) / passes;
        dom->pass[i] = (ntt_pass){depth, k};
        depth += k;
        left -= k;
    }
    dom->local_tw = dom->log_n > limits.two_passes;
}

/* Whether the kernels take tiles of the passes' shapes. */
static bool fits(const cpu_domain *dom)
{
    const cpu_kernels *kern = dom->kern;

    for (unsigned i = 0; i < dom->n_passes; i++) {
        const ntt_pass *p = &dom->pass[i];
        if (p->k > kern->max_log) return false;
        if (i + 1 == dom->n_passes) return p->k >= kern->tile_log;
        if ((size_t)1 << (dom->log_n - p->depth - p->k) < kern->tile_width) return false;
    }
    return true;
}

static cuzk_status twiddles_new(cpu_domain *dom, device *d, const fr *w)
{
    cuzk_status st = CUZK_OK;
    const ntt_pass *last = &dom->pass[dom->n_passes - 1];
    unsigned log = dom->log_n == 0 ? 0 : dom->log_n - 1;
    fr sq[DEV_MAX_LOG_N], first[1 << FIRST_LOG];

    if (dom->local_tw) { /* all of the passes before, and the start of a block's own */
        log = last->depth > last->k ? last->depth : last->k;
        TRY(powers_new(&dom->root, d->m, dom, w, last->depth));
    }
    dom->tw = mem_new(d->m, log < 3 ? 8 : (size_t)1 << log, dom->kern->tile_size, &st);
    if (dom->tw == NULL) return st;
    squares(sq, dom->log_n, w, dom->cv);
    /* bit t of b is bit log_n - 2 - t of the exponent */
    fill_reversed(dom->cv, first, log < FIRST_LOG ? log : FIRST_LOG, &dom->cv->fr_one, sq,
                  dom->log_n - 2);
    dom->kern->ntt_factors(dom->tw, first, (size_t)1 << (log < FIRST_LOG ? log : FIRST_LOG), false);
    for (unsigned t = FIRST_LOG; t < log; t++) {
        doubling x = {dom->kern, dom->tw, (size_t)1 << t, &sq[dom->log_n - 2 - t]};
        TRY(cpu_for_ranges(d, NULL, x.half, DOUBLE_GRAIN, double_range, &x));
    }
    return CUZK_OK;
}

static cuzk_status coset_new(cpu_domain *dom, device *d, const fr *shift, unsigned which)
{
    cuzk_status st = CUZK_OK;
    const ntt_pass *last = &dom->pass[dom->n_passes - 1];
    fr sq[DEV_MAX_LOG_N + 1], *row;

    TRY(powers_new(&dom->coset_block[which], d->m, dom, shift, last->depth));
    dom->coset_row[which] = mem_new(d->m, (size_t)1 << last->k, dom->kern->tile_size, &st);
    if (dom->coset_row[which] == NULL) return st;
    row = mem_new(d->m, (size_t)1 << last->k, sizeof *row, &st);
    if (row == NULL) return st;
    squares(sq, dom->log_n + 1, shift, dom->cv);
    /* bit t of j is bit k - 1 - t of rev(j), which weighs 2^depth more */
    fill_reversed(dom->cv, row, last->k, &dom->inv_n, sq, last->depth + last->k - 1);
    dom->kern->ntt_factors(dom->coset_row[which], row, (size_t)1 << last->k, true);
    mem_free(d->m, row);
    return CUZK_OK;
}

static cuzk_status fill(cpu_domain *dom, const ntt_domain *of, ntt_limits limits)
{
    const curve *cv = dom->cv;
    device *d = of->d;
    fr w, n;

    plan(dom, limits);
    if (dom->kern->small != NULL && !fits(dom)) dom->kern = dom->kern->small;
    cv->fr_root(&w, of->gen, dom->log_n);
    cv->fr_from_u64(&n, UINT64_C(1) << dom->log_n);
    cv->fr_inv(&dom->inv_n, &n);
    cv->fr_inv(&dom->shift_inv, &of->shift);
    TRY(twiddles_new(dom, d, &w));
    TRY(coset_new(dom, d, &of->shift, 0));
    return coset_new(dom, d, &dom->shift_inv, 1);
}

static void powers_free(ntt_powers *p, mem *m)
{
    mem_free(m, p->lo);
    mem_free(m, p->hi);
}

void cpu_domain_free(ntt_domain *of)
{
    cpu_domain *dom = of->impl;
    mem *m = of->d->m;

    if (dom == NULL) return;
    powers_free(&dom->root, m);
    for (unsigned i = 0; i < 2; i++) {
        powers_free(&dom->coset_block[i], m);
        mem_free(m, dom->coset_row[i]);
    }
    mem_free(m, dom->tw);
    mem_free(m, dom);
    of->impl = NULL;
}

cuzk_status ntt_domain_new_with(ntt_domain *of, ntt_limits limits)
{
    cuzk_status st = CUZK_OK;
    cpu_domain *dom = mem_new(of->d->m, 1, sizeof *dom, &st);

    if (dom == NULL) return st;
    dom->kern = cpu_kernels_of(of->d, of->id);
    dom->cv = of->d->curves[of->id];
    dom->log_n = of->log_n;
    of->impl = dom;
    st = fill(dom, of, limits);
    if (st != CUZK_OK) cpu_domain_free(of);
    return st;
}

cuzk_status cpu_domain_new(ntt_domain *of)
{
    ntt_limits limits = {cpu_kernels_of(of->d, of->id)->one_pass, TWO_PASSES};
    return ntt_domain_new_with(of, limits);
}
